// Random rulesets with near-miss packets, and the reference engine's account of what they do.
#ifndef NFTJIT_TESTS_OPT_RANDOM_CASE_H_
#define NFTJIT_TESTS_OPT_RANDOM_CASE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/ir.h"
#include "lib/nft/ruleset.h"
#include "nftjit/instance.h"
#include "tests/support/packet_case.h"

namespace nftjit::opt {

struct RandomCase {
  nft::Ruleset ruleset;
  ir::Program lowered;
  std::vector<testing::PacketCase> packets;
};
// Kinds of rulesets and packets take turns with `seed`.
RandomCase MakeRandomCase(uint64_t seed);

// Packets and bytes by what the counter is called: table, chain, rule and place in the rule, or set and element.
using Counts = std::map<std::string, std::pair<uint64_t, uint64_t>>;

// A program on the reference engine, unoptimised, with its own state.
class ReferenceRun {
 public:
  explicit ReferenceRun(const ir::Program& program);
  // The first `length` bytes of the packet along its path; everything observable but counters, as text.
  std::string Run(const testing::PacketCase& packet, size_t length);
  [[nodiscard]] Counts Counters() const;

 private:
  ClockTime clock_{.monotonic_ns = 1000000000000, .wall_ns = 1700000000000000000};
  std::optional<Instance> instance_;
  std::optional<Worker> worker_;
};

// The first packet that two programs disagree about, as what they saw; nothing if they agree. Counters that `program`
// does not have must not have moved.
// Some packets are cut.
enum class Packets : uint8_t { kAll, kWithNetworkHeader };
std::optional<std::string> Difference(const RandomCase& random_case, const ir::Program& program,
                                      Packets which = Packets::kAll);

}  // namespace nftjit::opt

#endif  // NFTJIT_TESTS_OPT_RANDOM_CASE_H_
