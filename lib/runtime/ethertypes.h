// Ethertypes in host order, and the sizes of link headers.
#ifndef NFTJIT_LIB_RUNTIME_ETHERTYPES_H_
#define NFTJIT_LIB_RUNTIME_ETHERTYPES_H_

#include <cstdint>

namespace nftjit {

inline constexpr uint16_t kEtherIpv4 = 0x0800, kEtherArp = 0x0806, kEtherIpv6 = 0x86dd;
inline constexpr uint16_t kEtherVlan = 0x8100, kEtherServiceVlan = 0x88a8;
// skb->protocol of frames with a length in place of the type.
inline constexpr uint16_t kEther8023 = 0x0001, kEther8022 = 0x0004;
inline constexpr uint16_t kFirstEtherType = 0x0600;  // Below: lengths.
inline constexpr uint32_t kAddressBytes = 12, kEthernetBytes = 14, kVlanBytes = 4;

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_ETHERTYPES_H_
