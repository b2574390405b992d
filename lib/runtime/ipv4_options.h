// The options of an IPv4 header, as the kernel reads them for `exthdr` (vm-semantics 10.31).
#ifndef NFTJIT_LIB_RUNTIME_IPV4_OPTIONS_H_
#define NFTJIT_LIB_RUNTIME_IPV4_OPTIONS_H_

#include <cstdint>

#include "lib/support/bytes.h"

namespace nftjit {

inline constexpr uint8_t kIpv4RecordRoute = 7, kIpv4LooseRoute = 131, kIpv4StrictRoute = 137, kIpv4RouterAlert = 148;

// The offset from `bytes` of the first option `type` (one of the above), or -1: absent, or any option is malformed.
// `bytes` begin with an IPv4 header, whose version is not looked at.
int32_t FindIpv4Option(ByteSpan bytes, uint8_t type) noexcept;

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_IPV4_OPTIONS_H_
