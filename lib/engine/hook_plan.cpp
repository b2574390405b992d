#include "lib/engine/hook_plan.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "lib/engine/clock_use.h"
#include "lib/support/fault.h"

namespace nftjit {
namespace {

constexpr std::array<Family, 5> kPlanFamilies = {Family::kIp, Family::kIp6, Family::kArp, Family::kBridge,
                                                 Family::kNetdev};

Hook L3HookOf(uint8_t hook) {
  constexpr std::array<Hook, 5> kHooks = {Hook::kPrerouting, Hook::kInput, Hook::kForward, Hook::kOutput,
                                          Hook::kPostrouting};
  return kHooks[hook];
}

// Ascending priority, at equal priority the most recently registered first.
bool RunsBefore(const ir::BaseChainInfo& a, const ir::BaseChainInfo& b) {
  return a.priority != b.priority ? a.priority < b.priority : a.registration > b.registration;
}

// The family whose rules of header parsing hold for a chain at `site` (vm-semantics 7).
nft::Family ParsedAs(const ir::Chain& chain, HookSite site) {
  if (site.hook == Hook::kIngress && chain.family == nft::Family::kInet) return nft::Family::kInet;
  return static_cast<nft::Family>(site.family);
}

}  // namespace

const HookPlan HookPlans::kEmpty;

std::vector<HookSite> SitesOf(const ir::Chain& chain) {
  if (!chain.base || chain.dormant || chain.base->type == nft::ChainType::kNat) return {};
  const uint8_t hook = chain.base->hook;
  switch (chain.family) {
    case nft::Family::kIp:
    case nft::Family::kIp6:
    case nft::Family::kBridge:
      if (hook > nft::kPostrouting) return {};
      return {{static_cast<Family>(chain.family), L3HookOf(hook)}};
    case nft::Family::kInet:
      if (hook == nft::kInetIngress) return {{Family::kNetdev, Hook::kIngress}};
      if (hook > nft::kPostrouting) return {};
      return {{Family::kIp, L3HookOf(hook)}, {Family::kIp6, L3HookOf(hook)}};
    case nft::Family::kArp:
      if (hook > nft::kArpOutput) return {};
      return {{Family::kArp, hook == nft::kArpInput ? Hook::kInput : Hook::kOutput}};
    case nft::Family::kNetdev:
      if (hook > nft::kNetdevEgress) return {};
      return {{Family::kNetdev, hook == nft::kNetdevIngress ? Hook::kIngress : Hook::kEgress}};
    case nft::Family::kUnspec:
      return {};
  }
  return {};
}

size_t HookPlans::IndexOf(HookSite site) {
  if (site.family == Family::kInet && site.hook == Hook::kIngress) site.family = Family::kNetdev;
  const auto* family = std::find(kPlanFamilies.begin(), kPlanFamilies.end(), site.family);
  if (family == kPlanFamilies.end() || static_cast<size_t>(site.hook) >= kHooks) return SIZE_MAX;
  return static_cast<size_t>(family - kPlanFamilies.begin()) * kHooks + static_cast<size_t>(site.hook);
}

HookPlans::HookPlans(const ir::Program& program, const CompiledProgram& code) {
  auto next_policy_counter = static_cast<uint32_t>(program.counters.size());
  for (uint32_t i = 0; i < program.chains.size(); ++i) {
    const ir::Chain& chain = program.chains[i];
    if (!chain.base) continue;
    PlanStep step;
    step.chain = ir::ChainId(i);
    step.policy_accepts = chain.base->policy != nft::VerdictCode::kDrop;
    if (chain.base->counters) step.policy_counter = next_policy_counter++;
    step.devices = chain.base->devices;
    for (const HookSite site : SitesOf(chain)) {
      step.entry = code.Entry(step.chain);
      step.point = {ParsedAs(chain, site), site.hook};
      HookPlan& plan = plans_[IndexOf(site)];
      plan.steps.push_back(step);
      plan.needs_clock = plan.needs_clock || DependsOnTime(program, step.chain);
    }
  }
  for (HookPlan& plan : plans_) {
    std::sort(plan.steps.begin(), plan.steps.end(), [&program](const PlanStep& a, const PlanStep& b) {
      return RunsBefore(*program.chains[a.chain.index].base, *program.chains[b.chain.index].base);
    });
    if (Has(Fault::kPriority)) std::reverse(plan.steps.begin(), plan.steps.end());
  }
}

bool BoundTo(const PlanStep& step, const Interface* device) noexcept {
  if (device == nullptr) return false;
  const std::string_view name(device->name.data(), strnlen(device->name.data(), device->name.size()));
  for (const nft::Device& wanted : step.devices) {
    // Old netlink clients leave a final NUL in the name.
    std::string_view text = wanted.name;
    if (!text.empty() && text.back() == '\0') text.remove_suffix(1);
    if (wanted.prefix ? name.substr(0, text.size()) == text : name == text) return true;
  }
  return false;
}

}  // namespace nftjit
