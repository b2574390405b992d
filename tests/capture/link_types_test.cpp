// Where the packet is in the frames of each link type, and that nothing outside a frame is read.
#include "tools/capture/link_types.h"

#include <catch2/catch.hpp>

#include "tests/capture/capture_file.h"
#include "tests/support/guarded_bytes.h"

namespace nftjit {
namespace {

const std::string kIp6 = std::string("\x60\0\0\0\0\0\x3b\x40", 8) + std::string(32, '\1');

// A string literal with zeros in it.
template <size_t size>
std::string Literal(const char (&bytes)[size]) {
  return {bytes, size - 1};
}

// An attribute of nfnetlink_log as this machine writes it.
std::string Attribute(uint16_t type, const std::string& value) {
  const auto size = static_cast<uint16_t>(4 + value.size());
  std::string bytes(reinterpret_cast<const char*>(&size), 2);
  bytes.append(reinterpret_cast<const char*>(&type), 2).append(value);
  return bytes + std::string((4 - value.size() % 4) % 4, '\0');
}

struct Case {
  std::string_view name;
  uint32_t link;  // As files number it.
  std::string frame;
  uint32_t link_offset, network_offset, length;
  uint16_t protocol;
  uint8_t pkttype = 0;
};

// A frame whose packet starts behind `header`.
Case Of(std::string_view name, uint32_t link, const std::string& header, const std::string& packet, uint16_t protocol,
        uint8_t pkttype = 0) {
  const auto offset = static_cast<uint32_t>(header.size()), length = static_cast<uint32_t>(packet.size()) + offset;
  return {name, link, header + packet, Packet::kNoOffset, offset, length, protocol, pkttype};
}
// A frame without a packet.
Case None(std::string_view name, uint32_t link, const std::string& frame) {
  const auto size = static_cast<uint32_t>(frame.size());
  return {name, link, frame, Packet::kNoOffset, size, size, 0};
}
Case Ethernet(Case it) {
  it.link_offset = 0;
  return it;
}

std::vector<Case> Cases() {
  const std::string nflog4 = Literal("\2\0\0\1") + Attribute(1, Literal("\x86\xdd\2\0"));
  const std::string nflog7 = Literal("\7\0\0\1") + Attribute(3, "12345") + Attribute(1, Literal("\x08\x06\2\0"));
  const std::string payload_header = Attribute(9, kIp).substr(0, 4);
  Case logged = Of("NFLOG, more attributes behind", 239, nflog4 + payload_header, kIp, 0x0800);
  logged.frame += Attribute(5, "1234");
  Case pppoe = Of("PPPoE, padded", 51, Literal("\x11\0\0\5\0\x16\0\x21"), kIp, 0x0800);
  pppoe.frame += "padding";
  return {
      Ethernet(Of("Ethernet", 1, kMacs + Literal("\x08\0"), kIp, 0x0800)),
      Ethernet(Of("Ethernet", 1, std::string(6, '\xff') + kMacs.substr(6) + Literal("\x08\x06"), kIp, 0x0806, 1)),
      Ethernet(Of("Ethernet", 1, kMacs + Literal("\x81\0\0\5\x08\0"), kIp, 0x0800)),
      Of("raw IP", 101, "", kIp, 0x0800),
      Of("raw IP", 101, "", kIp6, 0x86dd),
      Of("raw IP", 228, "", kIp, 0x0800),
      Of("raw IP", 229, "", kIp6, 0x86dd),
      Of("raw IP of neither version", 228, "", "\x50...", 0),
      Of("cooked v1", 113, Literal("\0\4\0\1\0\6") + std::string(8, '\0') + Literal("\x08\0"), kIp, 0x0800, 4),
      Of("cooked v1, packet type unknown", 113, Literal("\0\5\0\1\0\6") + std::string(8, '\0') + Literal("\x08\0"), kIp,
         0x0800),
      Of("cooked v2", 276, Literal("\x86\xdd\0\0\0\0\0\1\0\1\2\6") + std::string(8, '\0'), kIp6, 0x86dd, 2),
      Of("BSD null, little-endian", 0, Literal("\2\0\0\0"), kIp, 0x0800),
      Of("BSD null, big-endian", 0, Literal("\0\0\0\2"), kIp, 0x0800),
      Of("BSD null, IPv6 of NetBSD", 0, Literal("\x18\0\0\0"), kIp6, 0x86dd),
      Of("BSD null, IPv6 of FreeBSD", 0, Literal("\0\0\0\x1c"), kIp6, 0x86dd),
      Of("BSD null, IPv6 of Darwin", 0, Literal("\x1e\0\0\0"), kIp6, 0x86dd),
      None("BSD null, AppleTalk", 0, Literal("\x10\0\0\0") + kIp),
      Of("BSD loop", 108, Literal("\0\0\0\2"), kIp, 0x0800),
      Of("BSD loop, IPv6", 108, Literal("\0\0\0\x18"), kIp6, 0x86dd),
      None("BSD loop, the wrong way round", 108, Literal("\2\0\0\0") + kIp),
      Of("PPP", 9, Literal("\0\x21"), kIp, 0x0800),
      Of("PPP, protocol compressed", 9, Literal("\x57"), kIp6, 0x86dd),
      Of("PPP, framed", 9, Literal("\xff\3\0\x57"), kIp6, 0x86dd),
      Of("PPP, framed and compressed", 9, Literal("\xff\3\x21"), kIp, 0x0800),
      None("PPP, LCP", 9, Literal("\xff\3\xc0\x21\1\1\0\4")),
      Of("PPP in HDLC", 50, Literal("\xff\3\0\x21"), kIp, 0x0800),
      Of("Cisco HDLC among PPP", 50, Literal("\x0f\0\x86\xdd"), kIp6, 0x86dd),
      Of("Cisco HDLC among PPP, to all", 50, Literal("\x8f\0\x08\0"), kIp, 0x0800),
      Of("Cisco HDLC", 104, Literal("\x0f\0\x08\0"), kIp, 0x0800),
      None("Cisco HDLC, SLARP", 104, Literal("\x8f\0\x80\x35") + kIp),
      pppoe,
      None("PPPoE, discovery", 51, Literal("\x11\x09\0\0\0\x02\0\x21")),
      None("PPPoE, LCP", 51, Literal("\x11\0\0\5\0\6\xc0\x21\1\1\0\4")),
      Of("NFLOG, IPv4", 239, nflog4 + payload_header, kIp, 0x0800),
      logged,
      Of("NFLOG, IPv6", 239, Literal("\x0a\0\0\1") + Attribute(9, kIp6).substr(0, 4), kIp6, 0x86dd),
      Of("NFLOG, of a bridge", 239, nflog7 + payload_header, kIp, 0x0806),
      None("NFLOG, no payload", 239, nflog7 + Attribute(5, "1234")),
      None("NFLOG, an attribute that does not end", 239, Literal("\2\0\0\0\xff\xff\0\1") + kIp),
      None("NFLOG, an attribute that does not move on", 239, Literal("\2\0\0\0\0\0\0\1") + kIp),
      Of("IP over InfiniBand", 242, std::string(40, '\7') + Literal("\x08\0\0\0"), kIp, 0x0800),
  };
}

TEST_CASE("each link type gives packets with their headers found") {
  for (const Case& it : Cases()) {
    INFO(it.name << ", link type " << it.link << ", protocol " << it.protocol);
    const TemporaryFile file(FileHeader(it.link) + WholeRecord(it.frame));
    absl::StatusOr<Capture> capture = Capture::FromFile(file.path());
    REQUIRE(capture.ok());
    REQUIRE(capture->size() == 1);
    const Packet packet = capture->At(0);
    CHECK(packet.length == it.length);
    CHECK(std::string(reinterpret_cast<const char*>(packet.data), packet.length) == it.frame.substr(0, it.length));
    CHECK(packet.link_offset == it.link_offset);
    CHECK(packet.network_offset == it.network_offset);
    CHECK(packet.protocol == it.protocol);
    CHECK(packet.pkttype == it.pkttype);
    CHECK(packet.time_ns == 1'000'000'005'000);
    CHECK(capture->short_packets() == 0);
  }
}

TEST_CASE("frames cut at every length are read to their end and no further") {
  for (const Case& it : Cases()) {
    const int number = it.link == 101 ? 12 : static_cast<int>(it.link);  // libpcap's own number of raw IP.
    const LinkType* type = FindLinkType(number);
    REQUIRE(type != nullptr);
    testing::GuardedBytes guarded({reinterpret_cast<const uint8_t*>(it.frame.data()), it.frame.size()});
    for (size_t size = it.frame.size(); size-- > 0;) {
      INFO(it.name << ", " << size << " bytes");
      guarded.Truncate(size);
      Packet packet;
      packet.data = guarded.data();
      packet.length = static_cast<uint32_t>(size);
      type->find_packet(packet);
      CHECK(packet.length <= size);
      // The same packet less what was cut, or none.
      const bool whole_header = packet.network_offset == it.network_offset && packet.protocol == it.protocol;
      CHECK((packet.network_offset == packet.length || whole_header));
    }
  }
}

}  // namespace
}  // namespace nftjit
