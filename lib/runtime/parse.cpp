#include "lib/runtime/parse.h"

#include <algorithm>
#include <cstring>

#include "lib/runtime/ipv6_walk.h"
#include "lib/support/bytes.h"

namespace nftjit {
namespace {

constexpr uint16_t kEtherIpv4 = 0x0800, kEtherArp = 0x0806, kEtherIpv6 = 0x86dd;
constexpr uint16_t kEtherVlan = 0x8100, kEtherServiceVlan = 0x88a8;
constexpr uint16_t kEther8023 = 0x0001, kEther8022 = 0x0004;  // skb->protocol of frames with a length for a type.
constexpr uint16_t kFirstEtherType = 0x0600;
constexpr uint32_t kAddressBytes = 12, kEthernetBytes = 14, kVlanBytes = 4;
constexpr uint32_t kIpv4Bytes = 20, kIpv6Bytes = 40;
constexpr uint8_t kUnicast = 0, kBroadcast = 1, kMulticast = 2;  // Packet::pkttype
constexpr Conntrack kNoConntrack{};

uint32_t Size(const Packet& packet) { return packet.data == nullptr ? 0 : packet.length; }

// Version nibble of the L3 header, 0 if there is none.
uint8_t IpVersion(const Frame& frame) {
  return frame.network_offset < frame.data_end ? frame.packet->data[frame.network_offset] >> 4 : 0;
}

// --- what does not depend on the L3 header ---

// `meta iif` and `oif` per hook, and the device whose type `meta iiftype` loads (vm-semantics 10.9).
void SetDevices(const HookPoint& point, const Packet& packet, Frame& frame) {
  const bool bridge = point.pf == nft::Family::kBridge;
  const bool arp = point.pf == nft::Family::kArp;
  switch (point.hook) {
    case Hook::kPrerouting:
    case Hook::kInput:
    case Hook::kIngress:
      frame.iif = packet.iif;
      frame.oif = nullptr;
      frame.device = packet.iif;
      return;
    case Hook::kForward:
      frame.iif = packet.iif;
      frame.oif = packet.oif;
      frame.device = bridge ? packet.oif : packet.iif;  // A bridge has switched devices already.
      return;
    case Hook::kOutput:
      frame.iif = nullptr;
      frame.oif = packet.oif;
      frame.device = bridge || arp ? packet.oif : nullptr;
      return;
    case Hook::kPostrouting:
      frame.iif = bridge ? nullptr : packet.iif;
      frame.oif = packet.oif;
      frame.device = packet.oif;
      return;
    case Hook::kEgress:
      frame.iif = nullptr;
      frame.oif = packet.oif;
      frame.device = packet.oif;
      return;
  }
}

// Is there a link header whose VLAN tag the caller declared, with room for addresses, tag and type in front of L3?
bool HasTag(const Packet& packet, const Frame& frame) {
  return packet.vlan_tagged && packet.link_offset < frame.network_offset &&
         frame.network_offset - packet.link_offset >= kEthernetBytes + kVlanBytes;
}

// Writes the untagged frame to link_view and returns its full length, which may be more than what the view holds.
uint32_t BuildLinkView(const Packet& packet, Frame& frame) {
  const uint8_t* link = packet.data + packet.link_offset;
  const uint8_t* rest = packet.data + frame.network_offset - 2;
  const uint32_t rest_bytes = frame.data_end - frame.network_offset + 2;
  std::memcpy(frame.link_view, link, kAddressBytes);
  std::memcpy(frame.link_view + kAddressBytes, rest, std::min(rest_bytes, Frame::kLinkViewBytes - kAddressBytes));
  return kAddressBytes + rest_bytes;
}

// Where link loads count from: the bytes as they are, where the kernel keeps the tag, or the frame without it.
void SetLink(const HookPoint& point, const Packet& packet, Frame& frame) {
  frame.base[size_t(ir::Base::kLink)] = packet.data;
  frame.room[size_t(ir::Base::kLink)] = 0;
  if (packet.link_offset >= frame.network_offset) return;  // No link header: `kNoOffset` too.
  const bool l3 = point.pf == nft::Family::kIp || point.pf == nft::Family::kIp6;
  // Packets made here have no link header yet; ARP replies have one, but the kernel does not know where.
  if (point.hook == Hook::kOutput && (l3 || point.pf == nft::Family::kArp)) return;
  if (l3 && HasTag(packet, frame)) {
    const uint32_t bytes = BuildLinkView(packet, frame);
    frame.base[size_t(ir::Base::kLink)] = frame.link_view;
    frame.room[size_t(ir::Base::kLink)] = std::min(bytes, Frame::kLinkViewBytes);
    return;
  }
  frame.base[size_t(ir::Base::kLink)] = packet.data + packet.link_offset;
  frame.room[size_t(ir::Base::kLink)] = frame.data_end - packet.link_offset;
}

// The kernel's skb->data and skb->len: from the network header, but from the link header on the way out (section 8).
void SetStart(const HookPoint& point, const Packet& packet, Frame& frame) {
  const bool with_link = point.hook == Hook::kEgress || (point.pf == nft::Family::kArp && point.hook == Hook::kOutput);
  frame.start = packet.data + frame.network_offset;
  frame.start_size = frame.length = frame.data_end - frame.network_offset;
  if (!with_link || packet.link_offset >= frame.network_offset) return;
  if (HasTag(packet, frame)) {
    frame.length = BuildLinkView(packet, frame);
    frame.start = frame.link_view;
    frame.start_size = std::min(frame.length, Frame::kLinkViewBytes);
    return;
  }
  frame.start = packet.data + packet.link_offset;
  frame.start_size = frame.length = frame.data_end - packet.link_offset;
}

// --- transport information ---

void ClearTransport(Frame& frame) {
  frame.base[size_t(ir::Base::kTransport)] = frame.packet->data;
  frame.room[size_t(ir::Base::kTransport)] = 0;
  frame.l4_valid = false;
  frame.l4proto = 0;
  frame.thoff = 0;
  frame.fragoff = 0;
  frame.unfragmented = true;
}

void SetTransport(Frame& frame, uint8_t protocol, uint64_t thoff, uint32_t fragoff) {
  const bool inside = thoff < frame.data_end;
  frame.base[size_t(ir::Base::kTransport)] = inside ? frame.packet->data + thoff : frame.packet->data;
  frame.room[size_t(ir::Base::kTransport)] = inside ? frame.data_end - static_cast<uint32_t>(thoff) : 0;
  frame.l4_valid = true;
  frame.l4proto = protocol;
  frame.thoff = static_cast<uint32_t>(thoff);
  frame.fragoff = fragoff;
  frame.unfragmented = fragoff == 0;
}

// The IPv4 header is there, 20 bytes of it at least.
void SetIpv4Transport(Frame& frame, const uint8_t* header) {
  SetTransport(frame, header[9], frame.network_offset + (header[0] & 0xfU) * 4, LoadBig16(header + 6) & 0x1fffU);
}

// The IPv6 header is there, 40 bytes. False, and no transport information, if the walk fails.
bool SetIpv6Transport(Frame& frame) {
  const Ipv6Walk walk = WalkIpv6(frame.packet->data, frame.network_offset, frame.data_end, kAnyHeader);
  // The kernel keeps the transport offset in 16 bits and refuses what does not fit.
  const uint64_t start_offset = frame.network_offset - (frame.length - (frame.data_end - frame.network_offset));
  if (walk.result == Ipv6Walk::Result::kFound && walk.offset - start_offset <= UINT16_MAX) {
    SetTransport(frame, walk.header, walk.offset, walk.fragoff);
    return true;
  }
  if (walk.result == Ipv6Walk::Result::kLaterFragment) {
    // The transport offset stays 0: aligned "transport" loads read from where the packet data starts.
    SetTransport(frame, walk.header, frame.network_offset, walk.fragoff);
    frame.base[size_t(ir::Base::kTransport)] = frame.start;
    frame.room[size_t(ir::Base::kTransport)] = frame.start_size;
    return true;
  }
  ClearTransport(frame);
  return false;
}

// Packet information at bridge, netdev and inet ingress hooks, where nobody has looked at the header yet.
// False, and no transport information, if the L3 header is broken or of neither version.
bool SetCheckedTransport(Frame& frame) {
  const uint8_t* header = frame.packet->data + frame.network_offset;
  const uint32_t bytes = frame.data_end - frame.network_offset;
  ClearTransport(frame);
  if (frame.is_ipv4) {
    if (bytes < kIpv4Bytes || header[0] >> 4 != 4) return false;
    const uint32_t header_bytes = (header[0] & 0xfU) * 4, total = LoadBig16(header + 2);
    if (header_bytes < kIpv4Bytes || total > bytes || total < header_bytes) return false;
    SetIpv4Transport(frame, header);
    return true;
  }
  if (frame.is_ipv6) {
    if (bytes < kIpv6Bytes || header[0] >> 4 != 6) return false;
    if (kIpv6Bytes + LoadBig16(header + 4) > bytes) return false;
    return SetIpv6Transport(frame);
  }
  return false;
}

// --- per family ---

// The kernel's stack has cut the packet to the length that its IP header tells.
void Trim(Frame& frame, uint32_t total, uint32_t least) {
  const uint32_t bytes = frame.data_end - frame.network_offset;
  if (total >= least && total <= bytes) frame.data_end = frame.network_offset + total;
}

void TrimIpv4(Frame& frame) {
  const uint8_t* header = frame.packet->data + frame.network_offset;
  if (frame.data_end - frame.network_offset < kIpv4Bytes) return;
  Trim(frame, LoadBig16(header + 2), std::max(kIpv4Bytes, (header[0] & 0xfU) * 4));
}

void TrimIpv6(Frame& frame) {
  const uint8_t* header = frame.packet->data + frame.network_offset;
  if (frame.data_end - frame.network_offset < kIpv6Bytes) return;
  const uint32_t payload = LoadBig16(header + 4);
  const bool jumbogram = payload == 0 && header[6] == 0;  // The length is in a hop-by-hop option.
  if (!jumbogram) Trim(frame, kIpv6Bytes + payload, kIpv6Bytes);
}

void SetUncheckedTransport(Frame& frame) {
  const uint8_t* header = frame.packet->data + frame.network_offset;
  const uint32_t bytes = frame.data_end - frame.network_offset;
  if (frame.is_ipv4 && bytes >= kIpv4Bytes) {
    SetIpv4Transport(frame, header);
  } else if (frame.is_ipv6 && bytes >= kIpv6Bytes) {
    SetIpv6Transport(frame);
  } else {
    ClearTransport(frame);
    frame.room[size_t(ir::Base::kNetwork)] = 0;
  }
}

uint16_t EtherType(const HookPoint& point, const Frame& frame) {
  switch (point.pf) {
    case nft::Family::kIp:
      return kEtherIpv4;
    case nft::Family::kIp6:
      return kEtherIpv6;
    case nft::Family::kArp:
      return kEtherArp;
    default:
      break;
  }
  if (frame.packet->protocol != 0) return frame.packet->protocol;
  const uint8_t version = IpVersion(frame);
  return version == 4 ? kEtherIpv4 : version == 6 ? kEtherIpv6 : 0;
}

}  // namespace

void ParseEthernet(Packet& packet) {
  const uint32_t size = Size(packet);
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
  packet.network_offset = type_offset + 2;
  if (type < kFirstEtherType) {
    // 802.3: a length. Raw IPX begins with ffff, everything else with an LLC header.
    const bool raw = size >= packet.network_offset + 2 && LoadBig16(frame + packet.network_offset) == 0xffff;
    type = raw ? kEther8023 : kEther8022;
  }
  packet.protocol = type;
}

EnterResult EnterChain(const HookPoint& point, Packet& packet, Frame& frame) noexcept {
  frame.packet = &packet;
  frame.ct = packet.ct != nullptr ? packet.ct : &kNoConntrack;
  frame.hook = static_cast<uint8_t>(point.hook);
  frame.data_end = Size(packet);
  frame.network_offset = std::min(packet.network_offset, frame.data_end);
  frame.protocol = EtherType(point, frame);
  frame.is_ipv4 = frame.protocol == kEtherIpv4;
  frame.is_ipv6 = frame.protocol == kEtherIpv6;
  frame.nfproto = static_cast<uint8_t>(point.pf);
  frame.inner_known = false;
  SetDevices(point, packet, frame);
  if (point.pf == nft::Family::kIp) TrimIpv4(frame);
  if (point.pf == nft::Family::kIp6) TrimIpv6(frame);
  SetStart(point, packet, frame);
  SetLink(point, packet, frame);
  frame.base[size_t(ir::Base::kNetwork)] = packet.data + frame.network_offset;
  frame.room[size_t(ir::Base::kNetwork)] = frame.data_end - frame.network_offset;

  switch (point.pf) {
    case nft::Family::kIp:
    case nft::Family::kIp6:
      SetUncheckedTransport(frame);
      return EnterResult::kRun;
    case nft::Family::kInet:  // Ingress: the only hook of this family.
      ClearTransport(frame);
      if (!frame.is_ipv4 && !frame.is_ipv6) return EnterResult::kAccept;
      frame.nfproto = static_cast<uint8_t>(frame.is_ipv4 ? nft::Family::kIp : nft::Family::kIp6);
      return SetCheckedTransport(frame) ? EnterResult::kRun : EnterResult::kDrop;
    case nft::Family::kNetdev:
    case nft::Family::kBridge:
      SetCheckedTransport(frame);
      return EnterResult::kRun;
    case nft::Family::kArp:
    case nft::Family::kUnspec:
      ClearTransport(frame);
      return EnterResult::kRun;
  }
  return EnterResult::kRun;
}

int64_t FindIpv6Header(const Frame& frame, uint8_t target) noexcept {
  if (frame.data_end - frame.network_offset < kIpv6Bytes) return -2;
  const Ipv6Walk walk = WalkIpv6(frame.packet->data, frame.network_offset, frame.data_end, target);
  switch (walk.result) {
    case Ipv6Walk::Result::kFound:
      return static_cast<int64_t>(walk.offset);
    case Ipv6Walk::Result::kLaterFragment:
    case Ipv6Walk::Result::kNotFound:
      return -1;
    case Ipv6Walk::Result::kBroken:
      return -2;
  }
  return -2;
}

}  // namespace nftjit
