#include "lib/runtime/limit.h"

#include <algorithm>

namespace nftjit {
namespace {

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;
constexpr uint32_t kDefaultPacketBurst = 5;
// Workers read the clock once per burst, so one may come with a time that is older than another's last evaluation.
constexpr uint64_t kMostSkew = uint64_t{1} << 42;  // Over an hour, ns.

}  // namespace

void LimitState::Start(const ir::LimitInfo& info, uint64_t now_ns) noexcept {
  rate = info.rate;
  nsecs = info.unit_s * kNanosecondsPerSecond;
  bytes = info.type == nft::LimitType::kBytes;
  inverted = info.inverted;
  // Loading refuses rate 0; a limit that has it all the same lets nothing pass.
  cost = UINT64_MAX;
  max = 0;
  if (rate != 0) {
    if (bytes) {
      max = nsecs * (rate + info.burst) / rate;
    } else {
      cost = nsecs / rate;
      max = cost * (info.burst == 0 ? kDefaultPacketBurst : info.burst);
    }
  }
  empty_at.store(now_ns - max, std::memory_order_relaxed);
}

bool LimitState::Pass(uint64_t now_ns, uint32_t length) noexcept {
  const uint64_t price = bytes && rate != 0 ? nsecs * length / rate : cost;
  uint64_t empty = empty_at.load(std::memory_order_relaxed);
  while (true) {
    const uint64_t behind = empty - now_ns;
    // In this worker's past the bucket is empty. The state stays: time must not run backwards. (A bucket of centuries
    // may be that full.)
    if (behind != 0 && behind < kMostSkew && max <= INT64_MAX) return (price == 0) != inverted;
    const uint64_t tokens = std::min(now_ns - empty, max);
    const bool under = tokens >= price;
    const uint64_t next = now_ns - (under ? tokens - price : tokens);
    if (next == empty || empty_at.compare_exchange_weak(empty, next, std::memory_order_relaxed)) {
      return under != inverted;
    }
  }
}

}  // namespace nftjit
