// Our engines judged by the live kernel: the same ruleset, the same packets one by one, all counters and the verdict of
// every hook compared after each.
//
// Where a packet goes after a hook (to this host, on to the output device, or nowhere) is the kernel's routing, which
// is not judged: our side runs the hooks that the kernel's packet entered, with the packet as the stack has it there.
#ifndef NFTJIT_TESTS_SUPPORT_KERNEL_JUDGE_H_
#define NFTJIT_TESTS_SUPPORT_KERNEL_JUDGE_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "nftjit/instance.h"
#include "tests/support/engine_tester.h"
#include "tests/support/live_kernel.h"

namespace nftjit::testing {

// What a run covered; printed, and checked for classes that stayed empty.
struct KernelCoverage {
  uint64_t rulesets = 0, packets = 0;
  uint64_t refused_by_device = 0;
  uint64_t dropped_early = 0;  // By the stack, before any hook that the ruleset has a chain at.
  uint64_t beyond_model = 0;   // Judged up to a hook before which the stack rewrites the packet (route options).
  uint64_t rules = 0, rules_matched = 0;
  uint64_t counter_steps = 0;                                               // How often a counter moved.
  std::array<uint64_t, kStationCount> passed{}, dropped{};                  // Judged verdicts by station.
  uint64_t ct_new = 0, ct_established = 0, ct_related = 0, ct_invalid = 0;  // Hooks with such a fact of conntrack.
};
std::string Print(const KernelCoverage& coverage);

class KernelJudge {
 public:
  // Loads `ruleset` into `kernel`, which must outlive the judge, and compiles it for every engine choice.
  // Errors: of the kernel and of the compilers.
  static absl::StatusOr<std::unique_ptr<KernelJudge>> Make(LiveKernel& kernel, const nft::Ruleset& ruleset);
  ~KernelJudge();

  // Returns what differs, or nothing. Errors: of the socket.
  absl::StatusOr<std::optional<std::string>> Run(ByteSpan packet, KernelCoverage* coverage = nullptr);
  // The counters of all set elements; to be called when all packets are through.
  absl::StatusOr<std::optional<std::string>> CompareElements();
  // Adds the ruleset's rules and those that some packet passed to the end.
  void CountRules(KernelCoverage& coverage) const;

 private:
  struct Side;
  KernelJudge(LiveKernel& kernel, const nft::Ruleset& ruleset);
  absl::Status Compile();
  std::optional<std::string> RunSide(Side& side, ByteSpan packet, const Observation& seen, KernelCoverage* coverage);
  std::optional<std::string> CompareCounters(Side& side, const Observation& seen) const;

  LiveKernel& kernel_;
  nft::Ruleset ruleset_;
  std::vector<std::unique_ptr<Side>> sides_;
  std::set<Station> stations_;  // That the ruleset has a base chain at.
  std::vector<bool> moved_;     // By counter.
  bool beyond_ = false;         // A packet was judged in part: what elements count in all cannot be compared.
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_KERNEL_JUDGE_H_
