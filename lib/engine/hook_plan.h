// Which base chains a packet meets at a hook, in the order of the kernel (vm-semantics 6).
#ifndef NFTJIT_LIB_ENGINE_HOOK_PLAN_H_
#define NFTJIT_LIB_ENGINE_HOOK_PLAN_H_

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/engine/engine.h"
#include "lib/ir/ir.h"
#include "lib/runtime/parse.h"
#include "nftjit/worker.h"

namespace nftjit {

// Which of a packet's devices chains of a hook are bound to.
enum class DeviceRole : uint8_t { kNone, kIif, kOif };

// One base chain of a hook.
struct PlanStep {
  ir::ChainId chain;
  ChainEntry entry;
  HookPoint point{};  // How the headers are parsed: its `pf` is kInet for inet chains at ingress.
  bool policy_accepts = true;
  uint32_t policy_counter = UINT32_MAX;  // Counter slot for packets that reach the policy; UINT32_MAX: not counted.
  std::span<const nft::Device> devices;  // Ingress and egress: the chain runs for these only, so for none if empty.
};

struct HookPlan {
  std::vector<PlanStep> steps;
  bool needs_clock = false;  // A rule that the steps can reach depends on time.
};

// The plans of a Program. Dormant tables have no part in them, nor have nat-type chains, which are not ordinary hooks:
// one with rules is unsupported at lowering, one without does nothing.
class HookPlans {
 public:
  HookPlans() = default;
  // `program` must outlive the plans. Chains are ordered by ascending priority, at equal priority the most recently
  // registered first. Policy counters get the slots after the program's own, in order of ChainId.
  HookPlans(const ir::Program& program, const CompiledProgram& code);

  // The base chains at `site`; empty where there is no such hook. kInet is kNetdev's at ingress and empty elsewhere.
  [[nodiscard]] const HookPlan& At(HookSite site) const {
    const size_t index = IndexOf(site);
    return index < plans_.size() ? plans_[index] : kEmpty;
  }

  static DeviceRole RoleOf(HookSite site) {
    return site.hook == Hook::kIngress ? DeviceRole::kIif
                                       : (site.hook == Hook::kEgress ? DeviceRole::kOif : DeviceRole::kNone);
  }

 private:
  static constexpr size_t kHooks = 7, kFamilies = 5;  // ip, ip6, arp, bridge, netdev.
  static size_t IndexOf(HookSite site);
  static const HookPlan kEmpty;
  std::array<HookPlan, kHooks * kFamilies> plans_;
};

// The hook sites that the base chain `chain` is run at: none if it is dormant or of type nat, two for inet tables.
std::vector<HookSite> SitesOf(const ir::Chain& chain);

// True if the step's chain is bound to `device`, which may be null.
bool BoundTo(const PlanStep& step, const Interface* device) noexcept;

}  // namespace nftjit

#endif  // NFTJIT_LIB_ENGINE_HOOK_PLAN_H_
