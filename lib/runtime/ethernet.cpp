// Ethernet frames: where the packet begins and what it is (vm-semantics 7; kernel-quirks D).
#include <cstring>

#include "lib/runtime/ethertypes.h"
#include "lib/support/bytes.h"
#include "nftjit/packet.h"

namespace nftjit {
namespace {

constexpr uint8_t kUnicast = 0, kBroadcast = 1, kMulticast = 2;  // Packet::pkttype

}  // namespace

void ParseEthernet(Packet& packet) {
  const uint32_t size = packet.data == nullptr ? 0 : packet.length;
  packet.link_offset = 0;
  packet.network_offset = size;
  packet.protocol = 0;
  packet.vlan_tagged = false;
  packet.pkttype = kUnicast;
  if (size < kEthernetBytes) return;

  const uint8_t* frame = packet.data;
  constexpr uint8_t kAllOnes[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  if ((frame[0] & 1) != 0) packet.pkttype = std::memcmp(frame, kAllOnes, 6) == 0 ? kBroadcast : kMulticast;

  uint32_t type_offset = kAddressBytes;
  uint16_t type = LoadBig16(frame + type_offset);
  if (type == kEtherVlan || type == kEtherServiceVlan) {
    if (size < kEthernetBytes + kVlanBytes) return;
    packet.vlan_tagged = true;
    type_offset += kVlanBytes;
    type = LoadBig16(frame + type_offset);
  }
  const uint32_t header_bytes = type_offset + 2;
  if (type < kFirstEtherType && size < header_bytes + 2 && packet.missing != 0) return;  // Which of two, is not known.
  packet.network_offset = header_bytes;
  if (type < kFirstEtherType) {
    // 802.3: a length. Raw IPX begins with ffff, everything else with an LLC header.
    const bool raw = size >= packet.network_offset + 2 && LoadBig16(frame + packet.network_offset) == 0xffff;
    type = raw ? kEther8023 : kEther8022;
  }
  packet.protocol = type;
}

}  // namespace nftjit
