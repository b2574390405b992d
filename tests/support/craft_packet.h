// Seeded random packets: well-formed ones over every header that rules can look at, and near misses made from them.
#ifndef NFTJIT_TESTS_SUPPORT_CRAFT_PACKET_H_
#define NFTJIT_TESTS_SUPPORT_CRAFT_PACKET_H_

#include "tests/support/packets.h"
#include "tests/support/random.h"

namespace nftjit::testing {

struct CraftOptions {
  bool ethernet = false;    // Begin with an Ethernet header.
  bool arp = true;          // Frames other than IP among them (Ethernet only).
  bool for_kernel = false;  // What an IP stack takes: good header checksums, honest header lengths, no martians.
  bool for_bridge = false;  // Destination addresses of other stations, as a bridge sees them.
};

// A packet and where its headers stand, for generators that want to meet it. Offsets are from the first byte.
struct CraftedPacket {
  static constexpr size_t kNone = SIZE_MAX;
  Bytes bytes;
  size_t link = kNone, network = 0, transport = kNone, inner = kNone;
  uint16_t ethertype = 0x0800;
  uint8_t protocol = 0;  // Of the transport header, where there is one.
};

CraftedPacket CraftPacket(Random& random, const CraftOptions& options);

// A packet near `original`: a bit flipped, cut, grown, made a fragment, a length that lies …; sometimes unchanged.
// With `options.for_kernel` the IP header is then repaired so far that the stack runs the hooks.
Bytes NearMiss(Random& random, const CraftedPacket& original, const CraftOptions& options);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_CRAFT_PACKET_H_
