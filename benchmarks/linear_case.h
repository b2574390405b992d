// N distinct prefix-and-port rules: every engine and the switch interpreter on the same packets.
#ifndef NFTJIT_BENCHMARKS_LINEAR_CASE_H_
#define NFTJIT_BENCHMARKS_LINEAR_CASE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/engine_lane.h"
#include "benchmarks/prefix_rules.h"
#include "benchmarks/switch_interpreter.h"
#include "nftjit/engine.h"

namespace nftjit::bench {

class LinearCase {
 public:
  // Ends the program if an engine and the yardstick disagree on what they drop: their times would mean nothing.
  LinearCase(size_t rules, PrefixTraffic traffic);

  // "x86", "x86_noopt", "interp", "reference" (up to 1000 rules), "switch". They live as long as this.
  [[nodiscard]] std::vector<NamedLane> lanes();
  [[nodiscard]] const Program& x86() const { return engines_[0]->program(); }

 private:
  void CheckAgreement();

  std::vector<uint8_t> bytes_;
  std::vector<Packet> packets_;
  std::vector<std::unique_ptr<EngineLane>> engines_;
  std::unique_ptr<SwitchInterpreter> yardstick_;
  uint64_t accepted_ = 0;  // By the yardstick: keeps its result alive.
};

std::shared_ptr<const Program> MustCompile(const nft::Ruleset& ruleset, const EngineInterface& engine, bool optimise);

}  // namespace nftjit::bench

#endif  // NFTJIT_BENCHMARKS_LINEAR_CASE_H_
