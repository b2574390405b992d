#include "lib/runtime/ipv6_walk.h"

#include "lib/support/bytes.h"

namespace nftjit {
namespace {

constexpr uint32_t kIpv6Header = 40;
constexpr uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kAuthentication = 51, kDestination = 60;

// Headers that the walk can skip; "no next header" ends it like an upper layer.
bool IsSkippable(uint8_t header) {
  return header == kHopByHop || header == kRouting || header == kFragment || header == kAuthentication ||
         header == kDestination;
}

}  // namespace

Ipv6Walk WalkIpv6(const uint8_t* data, uint32_t network_offset, uint32_t end, int target) noexcept {
  using Result = Ipv6Walk::Result;
  const bool any = target == kAnyHeader;
  uint64_t start = uint64_t{network_offset} + kIpv6Header;  // 64 bits: lengths in headers cannot make it wrap.
  uint8_t next = data[network_offset + 6];
  const auto has = [&](uint64_t bytes) { return start + bytes <= end; };
  const auto broken = [&](uint64_t bytes) { return Ipv6Walk{Result::kBroken, 0, start + bytes}; };

  // Every turn but the last moves `start` on by at least 8 bytes, so the packet's length bounds the walk.
  while (true) {
    const bool found = !any && next == target;
    const auto here = [&](uint32_t fragoff) { return Ipv6Walk{Result::kFound, next, start, fragoff}; };
    if (!IsSkippable(next)) return any || found ? here(0) : Ipv6Walk{Result::kNotFound};
    if (const uint64_t bytes = next == kRouting ? 4 : 2; !has(bytes)) return broken(bytes);
    const uint8_t* header = data + start;
    uint32_t header_bytes = 0;
    if (next == kFragment) {
      if (!has(4)) return broken(4);
      const uint32_t fragoff = LoadBig16(header + 2) & 0xfff8U;
      if (fragoff != 0) {
        if (any && !IsSkippable(header[0])) return {Result::kLaterFragment, header[0], 0, fragoff};
        return found ? here(fragoff) : Ipv6Walk{Result::kNotFound};
      }
      header_bytes = 8;
    } else if (next == kAuthentication) {
      if (any) return here(0);
      header_bytes = (header[1] + 2U) * 4;
    } else {
      header_bytes = (header[1] + 1U) * 8;
    }
    if (found) return here(0);
    next = header[0];
    start += header_bytes;
  }
}

}  // namespace nftjit
