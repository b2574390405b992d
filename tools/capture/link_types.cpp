// Offsets and values are those of libpcap's list of link types. Headers are read only as far as the frame reaches.
#include "tools/capture/link_types.h"

#include <pcap/dlt.h>

#include <algorithm>
#include <vector>

#include "lib/runtime/ethertypes.h"
#include "lib/support/bytes.h"

namespace nftjit {
namespace {

constexpr uint8_t kOutgoing = 4;  // Packet::pkttype

void SetPacket(Packet& packet, uint32_t offset, uint16_t protocol) {
  packet.network_offset = std::min(offset, packet.length);
  packet.protocol = protocol;
}

// The header does not end here.
void SetCut(Packet& packet) { SetPacket(packet, packet.length, 0); }

// The header says that there is no packet, so nothing is missing either.
void SetNoPacket(Packet& packet) {
  SetCut(packet);
  packet.missing = 0;
}

// The packet ends `bytes` behind `offset`, if the frame reaches that far on the wire.
void EndPacket(Packet& packet, uint32_t offset, uint32_t bytes) {
  const uint32_t present = std::min(bytes, packet.length - offset);
  packet.missing = std::min(bytes - present, packet.missing);
  packet.length = offset + present;
}

void FindRawIp(Packet& packet) {
  const uint8_t version = packet.length == 0 ? 0 : packet.data[0] >> 4;
  SetPacket(packet, 0, version == 4 ? kEtherIpv4 : version == 6 ? kEtherIpv6 : 0);
}

// A cooked header tells packet type and protocol.
void FindCooked1(Packet& packet) {
  if (packet.length < 16) return SetCut(packet);
  const uint16_t type = LoadBig16(packet.data);
  packet.pkttype = static_cast<uint8_t>(type <= kOutgoing ? type : 0);
  SetPacket(packet, 16, LoadBig16(packet.data + 14));
}

void FindCooked2(Packet& packet) {
  if (packet.length < 20) return SetCut(packet);
  packet.pkttype = packet.data[10] <= kOutgoing ? packet.data[10] : 0;
  SetPacket(packet, 20, LoadBig16(packet.data));
}

// The address family of the system that captured, whatever that was.
void SetByAddressFamily(Packet& packet, uint32_t offset, uint32_t family) {
  constexpr uint32_t kInet = 2,
                     kInet6[] = {10 /* Linux */, 24 /* NetBSD, OpenBSD */, 28 /* FreeBSD */, 30 /* Darwin */};
  if (family == kInet) return SetPacket(packet, offset, kEtherIpv4);
  if (std::find(std::begin(kInet6), std::end(kInet6), family) != std::end(kInet6)) {
    return SetPacket(packet, offset, kEtherIpv6);
  }
  SetNoPacket(packet);
}

// The byte order is that of the machine that captured; families are small numbers.
void FindBsdNull(Packet& packet) {
  if (packet.length < 4) return SetCut(packet);
  const auto family = LoadNative<uint32_t>(packet.data);
  SetByAddressFamily(packet, 4, family > UINT16_MAX ? __builtin_bswap32(family) : family);
}

void FindBsdLoop(Packet& packet) {
  if (packet.length < 4) return SetCut(packet);
  SetByAddressFamily(packet, 4, LoadBig32(packet.data));
}

// A PPP protocol number at `offset`, of two bytes or compressed to one; the low bit marks its last byte.
void SetByPppProtocol(Packet& packet, uint32_t offset) {
  if (packet.length <= offset) return SetCut(packet);
  const uint32_t bytes = (packet.data[offset] & 1) != 0 ? 1 : 2;
  if (packet.length < offset + bytes) return SetCut(packet);
  constexpr uint16_t kPppIpv4 = 0x21, kPppIpv6 = 0x57;
  const uint16_t protocol = bytes == 1 ? packet.data[offset] : LoadBig16(packet.data + offset);
  if (protocol != kPppIpv4 && protocol != kPppIpv6) return SetNoPacket(packet);
  SetPacket(packet, offset + bytes, protocol == kPppIpv4 ? kEtherIpv4 : kEtherIpv6);
}

// Address and control of HDLC framing may have been left out.
void FindPpp(Packet& packet) {
  const bool framed = packet.length >= 2 && packet.data[0] == 0xff && packet.data[1] == 0x03;
  SetByPppProtocol(packet, framed ? 2 : 0);
}

void FindCiscoHdlc(Packet& packet) {
  if (packet.length < 4) return SetCut(packet);
  const uint16_t type = LoadBig16(packet.data + 2);
  if (type != kEtherIpv4 && type != kEtherIpv6) return SetNoPacket(packet);
  SetPacket(packet, 4, type);
}

// PPP, or Cisco's HDLC with its own addresses of one station and of all.
void FindPppSerial(Packet& packet) {
  const bool cisco = packet.length != 0 && (packet.data[0] == 0x0f || packet.data[0] == 0x8f);
  cisco ? FindCiscoHdlc(packet) : FindPpp(packet);
}

// PPPoE without the Ethernet header: version and type, code, session, length.
void FindPppoe(Packet& packet) {
  constexpr uint32_t kHeader = 6;
  constexpr uint8_t kVersionAndType = 0x11, kSession = 0;
  if (packet.length < kHeader) return SetCut(packet);
  if (packet.data[0] != kVersionAndType || packet.data[1] != kSession) return SetNoPacket(packet);
  EndPacket(packet, kHeader, LoadBig16(packet.data + 4));
  SetByPppProtocol(packet, kHeader);
}

// A netlink message of nfnetlink_log: family, version, group, then attributes padded to four bytes. Attribute headers
// are in the byte order of this machine: libpcap sees to that.
void FindNflog(Packet& packet) {
  constexpr uint32_t kHeader = 4, kAttributeHeader = 4;
  constexpr uint16_t kPacketHeader = 1, kPayload = 9;
  constexpr uint8_t kInet = 2, kInet6 = 10;
  if (packet.length < kHeader) return SetCut(packet);
  uint16_t protocol = packet.data[0] == kInet ? kEtherIpv4 : packet.data[0] == kInet6 ? kEtherIpv6 : 0;
  for (uint32_t at = kHeader; packet.length - at >= kAttributeHeader;) {
    const uint32_t bytes = LoadNative<uint16_t>(packet.data + at);
    const auto type = LoadNative<uint16_t>(packet.data + at + 2);
    if (bytes < kAttributeHeader) return SetNoPacket(packet);
    const uint32_t value = at + kAttributeHeader;
    if (type == kPacketHeader && protocol == 0 && bytes >= kAttributeHeader + 2 && packet.length - value >= 2) {
      protocol = LoadBig16(packet.data + value);
    }
    if (type == kPayload) {
      EndPacket(packet, value, bytes - kAttributeHeader);
      return SetPacket(packet, value, protocol);
    }
    at += std::min((bytes + 3) & ~3U, packet.length - at);
  }
  SetCut(packet);
}

// A pseudo header of 40 bytes in place of InfiniBand's, then the encapsulation header of RFC 4391.
void FindIpOverInfiniband(Packet& packet) {
  constexpr uint32_t kType = 40, kHeader = 44;
  if (packet.length < kHeader) return SetCut(packet);
  SetPacket(packet, kHeader, LoadBig16(packet.data + kType));
}

constexpr LinkType kLinkTypes[] = {
    {DLT_EN10MB, "Ethernet", ParseEthernet},
    {DLT_RAW, "raw IP", FindRawIp},
    {DLT_IPV4, "raw IP", FindRawIp},
    {DLT_IPV6, "raw IP", FindRawIp},
    {DLT_LINUX_SLL, "Linux cooked v1", FindCooked1},
    {DLT_LINUX_SLL2, "Linux cooked v2", FindCooked2},
    {DLT_NULL, "BSD loopback", FindBsdNull},
    {DLT_LOOP, "BSD loopback", FindBsdLoop},
    {DLT_PPP, "PPP", FindPpp},
    {DLT_PPP_SERIAL, "PPP", FindPppSerial},
    {DLT_PPP_ETHER, "PPPoE", FindPppoe},
    {DLT_C_HDLC, "Cisco HDLC", FindCiscoHdlc},
    {DLT_NFLOG, "NFLOG", FindNflog},
    {DLT_IPOIB, "IP over InfiniBand", FindIpOverInfiniband},
};

}  // namespace

const LinkType* FindLinkType(int number) {
  const LinkType* end = std::end(kLinkTypes);
  const LinkType* type =
      std::find_if(std::begin(kLinkTypes), end, [&](const LinkType& it) { return it.number == number; });
  return type != end ? type : nullptr;
}

std::string LinkTypeNames() {
  std::vector<std::string_view> names;
  for (const LinkType& type : kLinkTypes) {
    if (names.empty() || names.back() != type.name) names.push_back(type.name);
  }
  std::string text(names[0]);
  for (size_t i = 1; i < names.size(); ++i) {
    text.append(i + 1 < names.size() ? ", " : " and ").append(names[i]);
  }
  return text;
}

}  // namespace nftjit
