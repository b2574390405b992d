// Runs once per packet and protocol family of a hook, so what it knows of the packet is kept in locals (stores to the
// frame would make the compiler read the packet's fields again), the family is a constant of each copy of Enter, and
// what every packet goes through is inlined there. What it takes to know that bytes are missing is in copies of its
// own, `short_packet`.
#include "lib/runtime/parse.h"

#include <algorithm>
#include <cstring>

#include "lib/runtime/ethertypes.h"
#include "lib/runtime/ipv6_walk.h"
#include "lib/support/bytes.h"

namespace nftjit {
namespace {

constexpr size_t kLink = size_t(ir::Base::kLink), kNetwork = size_t(ir::Base::kNetwork),
                 kTransport = size_t(ir::Base::kTransport);
constexpr uint32_t kIpv4Bytes = 20, kIpv6Bytes = 40;
constexpr Conntrack kNoConntrack{};

// What the caller's packet says, made safe: `network` and `end` lie inside `data`, network <= end.
struct Extent {
  const uint8_t* data;
  uint32_t link, network, end;
  uint32_t present;  // Bytes at `data`; fewer than `end` if some are missing.
  bool tagged;

  [[nodiscard]] uint32_t l3_bytes() const { return end - network; }
  [[nodiscard]] const uint8_t* l3() const { return data + network; }
  [[nodiscard]] bool has_link() const { return link < network; }  // False for Packet::kNoOffset, too.
  // A VLAN tag, as the caller declared, with room for addresses, tag and type in front of the network header.
  [[nodiscard]] bool has_tag() const { return tagged && has_link() && network - link >= kEthernetBytes + kVlanBytes; }
};

// --- what does not depend on the L3 header ---

constexpr bool IsL3(nft::Family pf) { return pf == nft::Family::kIp || pf == nft::Family::kIp6; }

// `meta iif` and `oif` per hook, and the device whose type `meta iiftype` loads (vm-semantics 10.9).
template <nft::Family pf>
[[gnu::always_inline]] inline void SetDevices(Hook hook, const Interface* iif, const Interface* oif, Frame& frame) {
  const bool sees_iif =
      hook != Hook::kOutput && hook != Hook::kEgress && !(pf == nft::Family::kBridge && hook == Hook::kPostrouting);
  const bool sees_oif = hook != Hook::kPrerouting && hook != Hook::kInput && hook != Hook::kIngress;
  frame.iif = sees_iif ? iif : nullptr;
  frame.oif = sees_oif ? oif : nullptr;
  // An output packet of IP is at no device yet. A bridge has switched devices when it forwards, a router has not.
  const bool at_iif = !sees_oif || (pf != nft::Family::kBridge && hook == Hook::kForward);
  frame.device = at_iif ? iif : IsL3(pf) && hook == Hook::kOutput ? nullptr : oif;
}

template <nft::Family pf>
[[gnu::always_inline]] inline uint16_t EtherType(const Extent& extent, uint16_t given) {
  if (pf == nft::Family::kIp) return kEtherIpv4;
  if (pf == nft::Family::kIp6) return kEtherIpv6;
  if (pf == nft::Family::kArp) return kEtherArp;
  if (given != 0 || extent.l3_bytes() == 0) return given;
  const uint8_t version = *extent.l3() >> 4;
  return version == 4 ? kEtherIpv4 : version == 6 ? kEtherIpv6 : 0;
}

// Writes the untagged frame to link_view and returns its full length, which may be more than what the view holds.
uint32_t BuildLinkView(const Extent& extent, Frame& frame) {
  const uint32_t rest_bytes = extent.l3_bytes() + 2;  // From the ethertype on.
  std::memcpy(frame.link_view, extent.data + extent.link, kAddressBytes);
  const uint32_t copied =
      std::min({rest_bytes, extent.present + 2 - extent.network, Frame::kLinkViewBytes - kAddressBytes});
  std::memcpy(frame.link_view + kAddressBytes, extent.l3() - 2, copied);
  frame.view_bytes = kAddressBytes + copied;
  return kAddressBytes + rest_bytes;
}

// The kernel puts the tag back in front of skb->protocol, which of an 802.3 frame is not the length that stands there.
bool IsTypeReplaced(const Extent& extent, uint16_t ethertype) {
  return extent.has_tag() && ethertype != 0 && LoadBig16(extent.l3() - 2) != ethertype;
}

// Writes the frame with its tag and `ethertype` to link_view and returns what of its length the view holds.
uint32_t BuildTaggedView(const Extent& extent, uint16_t ethertype, Frame& frame) {
  const uint8_t* link = extent.data + extent.link;
  frame.view_bytes = std::min(std::min(extent.present, extent.end) - extent.link, Frame::kLinkViewBytes);
  std::memcpy(frame.link_view, link, frame.view_bytes);
  StoreBig16(frame.link_view + kEthernetBytes + kVlanBytes - 2, ethertype);
  return std::min(extent.end - extent.link, Frame::kLinkViewBytes);
}

// Where link loads count from: the bytes as they are, where the kernel keeps the tag, or the frame without it.
template <nft::Family pf>
[[gnu::always_inline]] inline void SetLink(Hook hook, uint16_t ethertype, const Extent& extent, Frame& frame) {
  // Packets made here have no link header yet; ARP replies have one, but the kernel does not know where.
  const bool unknown = hook == Hook::kOutput && (IsL3(pf) || pf == nft::Family::kArp);
  if (!extent.has_link() || unknown) {
    frame.base[kLink] = extent.data;
    frame.room[kLink] = 0;
  } else if (IsL3(pf) && extent.has_tag()) {
    frame.room[kLink] = std::min(BuildLinkView(extent, frame), Frame::kLinkViewBytes);
    frame.base[kLink] = frame.link_view;
  } else if (!IsL3(pf) && pf != nft::Family::kArp && IsTypeReplaced(extent, ethertype)) {
    frame.room[kLink] = BuildTaggedView(extent, ethertype, frame);
    frame.base[kLink] = frame.link_view;
  } else {
    frame.base[kLink] = extent.data + extent.link;
    frame.room[kLink] = extent.end - extent.link;
  }
}

// The kernel's skb->data and skb->len: from the network header, but from the link header on the way out (section 8).
template <nft::Family pf>
[[gnu::always_inline]] inline void SetStart(Hook hook, const Extent& extent, Frame& frame) {
  const bool way_out = hook == Hook::kEgress || (pf == nft::Family::kArp && hook == Hook::kOutput);
  if (!way_out || !extent.has_link()) {
    frame.start = extent.l3();
    frame.start_size = frame.length = extent.l3_bytes();
  } else if (extent.has_tag()) {
    frame.length = BuildLinkView(extent, frame);
    frame.start = frame.link_view;
    frame.start_size = std::min(frame.length, Frame::kLinkViewBytes);
  } else {
    frame.start = extent.data + extent.link;
    frame.start_size = frame.length = extent.end - extent.link;
  }
}

// --- transport information ---

[[gnu::always_inline]] inline void SetTransport(const Extent& extent, uint8_t protocol, uint64_t thoff,
                                                uint32_t fragoff, Frame& frame) {
  const bool inside = thoff < extent.end;
  frame.base[kTransport] = inside ? extent.data + thoff : extent.data;
  frame.room[kTransport] = inside ? extent.end - static_cast<uint32_t>(thoff) : 0;
  frame.l4_valid = true;
  frame.l4proto = protocol;
  frame.thoff = static_cast<uint32_t>(thoff);
  frame.fragoff = fragoff;
  frame.unfragmented = fragoff == 0;
}

[[gnu::always_inline]] inline void ClearTransport(const Extent& extent, Frame& frame) {
  frame.base[kTransport] = extent.data;
  frame.room[kTransport] = 0;
  frame.l4_valid = false;
  frame.l4proto = 0;
  frame.thoff = 0;
  frame.fragoff = 0;
  frame.unfragmented = true;
}

// The IPv4 header is there, 20 bytes of it at least.
[[gnu::always_inline]] inline void SetIpv4Transport(const Extent& extent, Frame& frame) {
  const uint8_t* header = extent.l3();
  SetTransport(extent, header[9], extent.network + (header[0] & 0xfU) * 4, LoadBig16(header + 6) & 0x1fffU, frame);
}

// The IPv6 header is there, 40 bytes. False, and no transport information, if the walk fails.
template <bool short_packet>
bool SetIpv6Transport(const Extent& extent, Frame& frame) {
  const uint32_t end = short_packet ? std::min(extent.end, extent.present) : extent.end;
  const Ipv6Walk walk = WalkIpv6(extent.data, extent.network, end, kAnyHeader);
  if (short_packet && walk.result == Ipv6Walk::Result::kBroken && walk.offset <= extent.end) {
    frame.transport_unknown = true;
  }
  // The kernel keeps the transport offset, which counts from the start of the packet data, in 16 bits and refuses what
  // does not fit.
  const uint64_t link_bytes = frame.length - extent.l3_bytes();
  if (walk.result == Ipv6Walk::Result::kFound && walk.offset - extent.network + link_bytes <= UINT16_MAX) {
    SetTransport(extent, walk.header, walk.offset, walk.fragoff, frame);
    return true;
  }
  if (walk.result == Ipv6Walk::Result::kLaterFragment) {
    // The transport offset stays 0: aligned "transport" loads read from where the packet data starts.
    SetTransport(extent, walk.header, extent.network, walk.fragoff, frame);
    frame.base[kTransport] = frame.start;
    frame.room[kTransport] = frame.start_size;
    return true;
  }
  ClearTransport(extent, frame);
  return false;
}

// At bridge, netdev and inet ingress hooks nobody has looked at the header yet: the kernel checks it there.
// False, and no transport information, if it is broken or of neither version.
template <bool short_packet>
bool SetCheckedTransport(const Extent& extent, uint16_t ethertype, Frame& frame) {
  const uint8_t* header = extent.l3();
  const uint32_t bytes = extent.l3_bytes();
  if (ethertype == kEtherIpv4 && bytes >= kIpv4Bytes && header[0] >> 4 == 4) {
    const uint32_t header_bytes = (header[0] & 0xfU) * 4, total = LoadBig16(header + 2);
    if (header_bytes >= kIpv4Bytes && total <= bytes && total >= header_bytes) {
      SetIpv4Transport(extent, frame);
      return true;
    }
  } else if (ethertype == kEtherIpv6 && bytes >= kIpv6Bytes && header[0] >> 4 == 6) {
    if (kIpv6Bytes + LoadBig16(header + 4) <= bytes) return SetIpv6Transport<short_packet>(extent, frame);
  }
  ClearTransport(extent, frame);
  return false;
}

// --- L3 hooks ---

// Where the packet ends that the kernel's stack has cut to the length that its IP header tells.
template <nft::Family pf>
[[gnu::always_inline]] inline uint32_t TrimmedEnd(const Extent& extent) {
  const uint8_t* header = extent.l3();
  const uint32_t bytes = extent.l3_bytes();
  uint32_t total = bytes, least = 0;
  if (pf == nft::Family::kIp && bytes >= kIpv4Bytes) {
    total = LoadBig16(header + 2);
    least = std::max(kIpv4Bytes, (header[0] & 0xfU) * 4);
  } else if (pf == nft::Family::kIp6 && bytes >= kIpv6Bytes) {
    const uint32_t payload = LoadBig16(header + 4);
    const bool jumbogram = payload == 0 && header[6] == 0;  // The length is in a hop-by-hop option.
    if (!jumbogram) total = kIpv6Bytes + payload;
  }
  return total >= least && total <= bytes ? extent.network + total : extent.end;
}

// The kernel's stack has checked the header. A packet too short for one has none here, neither of L3 nor of L4.
template <nft::Family pf, bool short_packet>
[[gnu::always_inline]] inline void SetUncheckedTransport(const Extent& extent, Frame& frame) {
  if (pf == nft::Family::kIp && extent.l3_bytes() >= kIpv4Bytes) {
    SetIpv4Transport(extent, frame);
  } else if (pf == nft::Family::kIp6 && extent.l3_bytes() >= kIpv6Bytes) {
    SetIpv6Transport<short_packet>(extent, frame);
  } else {
    ClearTransport(extent, frame);
    frame.room[kNetwork] = 0;
  }
}

// --- packets with missing bytes ---

// True if the L3 header, as far as it is parsed here, is missing; then it may be that the link header is, too.
template <nft::Family pf>
bool IsHeaderMissing(const Extent& extent, uint16_t given_ethertype) {
  if (extent.present >= extent.end) return false;
  if (extent.present <= extent.network) return true;
  const uint32_t present = extent.present - extent.network;
  const uint16_t ethertype = EtherType<pf>(extent, given_ethertype);
  constexpr uint32_t kIpv4Parsed = 10, kIpv6Parsed = 7;  // To the protocol, to the next header.
  return (ethertype == kEtherIpv4 && extent.l3_bytes() >= kIpv4Bytes && present < kIpv4Parsed) ||
         (ethertype == kEtherIpv6 && extent.l3_bytes() >= kIpv6Bytes && present < kIpv6Parsed);
}

// Leaves nothing to read.
template <nft::Family pf>
EnterResult EnterUnknown(const Extent& extent, uint16_t ethertype, Frame& frame) {
  frame.cut = frame.headers_unknown = frame.transport_unknown = true;
  std::fill(std::begin(frame.base), std::end(frame.base), extent.data);
  std::fill(std::begin(frame.room), std::end(frame.room), 0);
  frame.inner_known = true;
  ClearTransport(extent, frame);
  frame.start = extent.data;
  frame.start_size = 0;
  frame.length = extent.l3_bytes();
  if (pf != nft::Family::kInet) return EnterResult::kRun;
  const bool other = ethertype != 0 && ethertype != kEtherIpv4 && ethertype != kEtherIpv6;
  return other ? EnterResult::kAccept : EnterResult::kUnknown;
}

// --- all of it ---

template <nft::Family pf, bool short_packet>
EnterResult Enter(Hook hook, Packet& packet, Frame& frame) {
  const uint32_t present = packet.data == nullptr ? 0 : packet.length;
  const uint32_t size = short_packet ? present + std::min(packet.missing, UINT32_MAX - present) : present;
  Extent extent{packet.data, packet.link_offset, std::min(packet.network_offset, size), size,
                present,     packet.vlan_tagged};
  const bool unknown = short_packet && IsHeaderMissing<pf>(extent, packet.protocol);
  const uint16_t ethertype = unknown ? packet.protocol : EtherType<pf>(extent, packet.protocol);
  if (IsL3(pf) && !unknown) extent.end = TrimmedEnd<pf>(extent);

  frame.packet = &packet;
  frame.ct = packet.ct != nullptr ? packet.ct : &kNoConntrack;
  frame.hook = static_cast<uint8_t>(hook);
  frame.protocol = ethertype;
  frame.is_ipv4 = ethertype == kEtherIpv4;
  frame.is_ipv6 = ethertype == kEtherIpv6;
  frame.nfproto = static_cast<uint8_t>(pf);
  frame.inner_known = false;
  frame.network_offset = extent.network;
  frame.data_end = extent.end;
  frame.base[kNetwork] = extent.l3();
  frame.room[kNetwork] = extent.l3_bytes();
  SetDevices<pf>(hook, packet.iif, packet.oif, frame);
  if (short_packet) {
    if (unknown) return EnterUnknown<pf>(extent, ethertype, frame);
    frame.cut = extent.end > present;
    frame.headers_unknown = frame.transport_unknown = false;
  }
  SetStart<pf>(hook, extent, frame);
  SetLink<pf>(hook, ethertype, extent, frame);

  if (IsL3(pf)) {
    SetUncheckedTransport<pf, short_packet>(extent, frame);
  } else if (pf == nft::Family::kArp) {
    ClearTransport(extent, frame);
  } else {
    const bool sound = SetCheckedTransport<short_packet>(extent, ethertype, frame);
    if (pf == nft::Family::kInet) {  // Ingress: the only hook of this family.
      if (ethertype != kEtherIpv4 && ethertype != kEtherIpv6) return EnterResult::kAccept;
      frame.nfproto = static_cast<uint8_t>(ethertype == kEtherIpv4 ? nft::Family::kIp : nft::Family::kIp6);
      if (short_packet && frame.transport_unknown) return EnterResult::kUnknown;
      if (!sound) return EnterResult::kDrop;
    }
  }
  return EnterResult::kRun;
}

template <bool short_packet>
EnterResult EnterAt(const HookPoint& point, Packet& packet, Frame& frame) {
  switch (point.pf) {
    case nft::Family::kIp:
      return Enter<nft::Family::kIp, short_packet>(point.hook, packet, frame);
    case nft::Family::kIp6:
      return Enter<nft::Family::kIp6, short_packet>(point.hook, packet, frame);
    case nft::Family::kInet:
      return Enter<nft::Family::kInet, short_packet>(point.hook, packet, frame);
    case nft::Family::kNetdev:
      return Enter<nft::Family::kNetdev, short_packet>(point.hook, packet, frame);
    case nft::Family::kBridge:
      return Enter<nft::Family::kBridge, short_packet>(point.hook, packet, frame);
    case nft::Family::kArp:
    case nft::Family::kUnspec:
      break;
  }
  return Enter<nft::Family::kArp, short_packet>(point.hook, packet, frame);
}

}  // namespace

EnterResult EnterChain(const HookPoint& point, Packet& packet, Frame& frame) noexcept {
  return EnterAt<false>(point, packet, frame);
}

EnterResult EnterShortChain(const HookPoint& point, Packet& packet, Frame& frame) noexcept {
  return EnterAt<true>(point, packet, frame);
}

int64_t FindIpv6Header(const Frame& frame, uint8_t target) noexcept {
  if (frame.data_end - frame.network_offset < kIpv6Bytes) return kHeadersBroken;
  const uint32_t end = std::min(frame.data_end, frame.packet->length);
  const Ipv6Walk walk = WalkIpv6(frame.packet->data, frame.network_offset, end, target);
  switch (walk.result) {
    case Ipv6Walk::Result::kFound:
      return static_cast<int64_t>(walk.offset);
    case Ipv6Walk::Result::kLaterFragment:
    case Ipv6Walk::Result::kNotFound:
      return kHeaderNotFound;
    case Ipv6Walk::Result::kBroken:
      return walk.offset <= frame.data_end ? kHeadersMissing : kHeadersBroken;
  }
  return kHeadersBroken;
}

}  // namespace nftjit
