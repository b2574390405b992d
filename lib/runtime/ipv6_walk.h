// The walk over IPv6 extension headers (vm-semantics 7.1), for packet information and for `exthdr`.
#ifndef NFTJIT_LIB_RUNTIME_IPV6_WALK_H_
#define NFTJIT_LIB_RUNTIME_IPV6_WALK_H_

#include <cstdint>

namespace nftjit {

struct Ipv6Walk {
  enum class Result : uint8_t {
    kFound,          // The header starts at `offset`.
    kLaterFragment,  // Any header wanted, and the packet is a later fragment: its protocol is known, its place is not.
    kNotFound,
    kBroken,  // A header that the walk needs to look into is not there; `offset` is where its bytes would end.
  };
  Result result = Result::kNotFound;
  uint8_t header = 0;    // The number of the header found.
  uint64_t offset = 0;   // From `data`; may lie past `end`, and does if broken.
  uint32_t fragoff = 0;  // Bytes; 0 unless a later fragment.
};

inline constexpr int kAnyHeader = -1;

// `data`: the packet; loads end at `end`. At least 40 bytes must lie there from `network_offset` on.
// `target`: the header wanted, or kAnyHeader for the first that is no extension header (AH counts as one that is not).
Ipv6Walk WalkIpv6(const uint8_t* data, uint32_t network_offset, uint32_t end, int target) noexcept;

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_IPV6_WALK_H_
