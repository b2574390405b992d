// The token bucket of `limit` (vm-semantics 10.19) as one atomic word.
//
// The kernel keeps {tokens, last}; after an evaluation at `now` only `now - tokens` matters for the future, so that
// difference is the whole state (`empty_at`: when the bucket would have been empty), updated by compare-exchange.
// All arithmetic wraps at 64 bits exactly as the kernel's does.
#ifndef NFTJIT_LIB_RUNTIME_LIMIT_H_
#define NFTJIT_LIB_RUNTIME_LIMIT_H_

#include <atomic>
#include <cstdint>

#include "lib/ir/ir.h"

namespace nftjit {

struct alignas(64) LimitState {
  std::atomic<uint64_t> empty_at{0};
  uint64_t max = 0;              // Tokens of a full bucket, ns.
  uint64_t cost = 0;             // Per packet (packet limits).
  uint64_t nsecs = 0, rate = 0;  // Byte limits: cost = nsecs * length / rate.
  bool bytes = false, inverted = false;

  // A full bucket at `now_ns`.
  void Start(const ir::LimitInfo& info, uint64_t now_ns) noexcept;
  // True: the rule goes on. False: BREAK.
  bool Pass(uint64_t now_ns, uint32_t length) noexcept;
};

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_LIMIT_H_
