// Made-up traffic for a ruleset: distinct headers that match its rules, or none, built from the rules' own constants.
#ifndef NFTJIT_TOOLS_TRAFFIC_TRAFFIC_H_
#define NFTJIT_TOOLS_TRAFFIC_TRAFFIC_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "lib/ir/ir.h"
#include "nftjit/packet.h"

namespace nftjit {

enum class TrafficKind : uint8_t {
  kMiss,   // No rule ends the packet's way with a verdict.
  kHit,    // A rule does.
  kMixed,  // Both, as they come: half aimed at rules chosen uniformly, half random headers.
};

// Raw IP packets, their bytes end to end in one buffer.
class Traffic {
 public:
  [[nodiscard]] size_t size() const { return offsets_.size(); }
  // The bytes stay in this object.
  [[nodiscard]] Packet At(size_t i);
  void Append(const std::vector<uint8_t>& bytes);

 private:
  std::vector<uint8_t> bytes_;
  std::vector<size_t> offsets_;
};

// Makes packets aimed at the rules of one unoptimised program. Deterministic for a seed.
class TrafficMaker {
 public:
  TrafficMaker(const ir::Program& lowered, uint64_t seed);

  // A valid IPv4 or IPv6 packet with random addresses and ports.
  std::vector<uint8_t> Random();
  // One whose headers satisfy the tests of a rule chosen uniformly, as far as they are about packet bytes.
  std::vector<uint8_t> Aimed();

  // `count` distinct packets of `kind`; `matches` tells whether a rule decides the packet. Errors: FailedPrecondition
  // when the ruleset leaves (nearly) no packet of that kind, naming how many of how many were found.
  absl::StatusOr<Traffic> Make(TrafficKind kind, size_t count, const std::function<bool(Packet&)>& matches);

 private:
  uint64_t Next();
  const ir::Program& program_;
  std::vector<uint32_t> rule_items_;
  uint64_t state_;
};

}  // namespace nftjit

#endif  // NFTJIT_TOOLS_TRAFFIC_TRAFFIC_H_
