// A packet as the kernel's stack has it at a station of its way: what the stack itself changes in between.
#ifndef NFTJIT_TESTS_SUPPORT_STACK_VIEW_H_
#define NFTJIT_TESTS_SUPPORT_STACK_VIEW_H_

#include <optional>

#include "tests/support/live_kernel.h"
#include "tests/support/packets.h"

namespace nftjit::testing {

// The bytes at a station, and where they are run.
struct StackView {
  Bytes bytes;
  HookSite site;
  size_t network = 0;
  bool link = false;    // The bytes begin with a link header.
  uint8_t pkttype = 0;  // As the device gave it.
};

// Nothing where the stack rewrites the packet in a way that is not modelled: IPv4 route and timestamp options after
// prerouting, IPv4 fragments at input (local delivery puts them together before the hook).
//  - input and later: zeros behind the end of IPv4 options, the checksum still the old one until it is forwarded;
//  - forward and later: TTL or hop limit less one, IPv4 checksum adjusted;
//  - arp input, egress: a tag is gone;
//  - egress of routed devices: bytes behind the IP packet are gone, the Ethernet header is new.
std::optional<StackView> ViewAt(Station station, Topology topology, ByteSpan packet);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_STACK_VIEW_H_
