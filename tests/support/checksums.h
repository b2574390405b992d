// Checksums of packets that were changed after they were built.
#ifndef NFTJIT_TESTS_SUPPORT_CHECKSUMS_H_
#define NFTJIT_TESTS_SUPPORT_CHECKSUMS_H_

#include "tests/support/packets.h"

namespace nftjit::testing {

// Of the IPv4 header at `network`; nothing if there is no room for it.
void FixIpv4Checksum(Bytes& packet, size_t network = 0);
// That, and the one of a TCP, UDP, UDP-Lite, ICMP or ICMPv6 header right behind the IP header, where the packet is
// whole (no fragment, honest lengths). Leaves alone what it does not understand.
void FixChecksums(Bytes& packet, size_t network = 0);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_CHECKSUMS_H_
