// examples/rulesets/server.nft on generated flows: two engines and the same rules as a C++ function, header parsing
// included on both sides.
#ifndef NFTJIT_BENCHMARKS_SERVER_CASE_H_
#define NFTJIT_BENCHMARKS_SERVER_CASE_H_

#include <memory>
#include <vector>

#include "benchmarks/engine_lane.h"
#include "benchmarks/handwritten_server.h"
#include "tools/traffic/traffic.h"

namespace nftjit::bench {

class ServerCase {
 public:
  // So many percent of the packets belong to established flows, the others begin one. Ends the program if engines and
  // function disagree.
  explicit ServerCase(int percent_established);
  ServerCase(const ServerCase&) = delete;
  ServerCase& operator=(const ServerCase&) = delete;

  // "x86", "interp", "handwritten". They live as long as this.
  [[nodiscard]] std::vector<NamedLane> lanes();

 private:
  Interface eth0_;
  Conntrack fresh_, established_;
  Traffic traffic_;
  std::vector<Packet> packets_;
  std::unique_ptr<EngineLane> x86_, interp_;
  HandwrittenServer handwritten_;
  uint64_t accepted_ = 0;  // By the function: keeps its result alive.
};

}  // namespace nftjit::bench

#endif  // NFTJIT_BENCHMARKS_SERVER_CASE_H_
