// The yardstick for ordinary rulesets: examples/rulesets/server.nft as a C++ function that an engineer would write.
#ifndef NFTJIT_BENCHMARKS_HANDWRITTEN_SERVER_H_
#define NFTJIT_BENCHMARKS_HANDWRITTEN_SERVER_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "nftjit/packet.h"

namespace nftjit::bench {

// Decides at the input hook of the table `inet fw`, limits and log left out of the limit rule's bucket arithmetic: the
// bucket is a plain counter, as the benchmark's traffic never waits for a refill. Counts packets and bytes per rule.
class HandwrittenServer {
 public:
  static constexpr size_t kRules = 27;
  struct Count {
    uint64_t packets = 0, bytes = 0;
  };

  // True: accepted.
  bool Run(const Packet& packet);
  [[nodiscard]] const std::array<Count, kRules>& counts() const { return counts_; }

 private:
  struct Headers;
  bool Decide(const Packet& packet, const Headers& headers);
  bool Control(const Headers& headers);
  bool CountAnd(size_t rule, const Headers& headers, bool verdict);

  std::array<Count, kRules> counts_{};
  int ssh_tokens_ = 5;
};

}  // namespace nftjit::bench

#endif  // NFTJIT_BENCHMARKS_HANDWRITTEN_SERVER_H_
