// Ethernet frames and their VLAN tags: kernel-quirks D.
#include <catch2/catch.hpp>

#include "tests/runtime/probe.h"

namespace nftjit::testing {
namespace {

const Bytes& Udp4() {
  static const Bytes kBytes = FromHex(kUdp);
  return kBytes;
}

// Addresses, then `tags` up to and with the ethertype, then the packet.
Bytes VlanFrame(std::string_view tags, const Bytes& l3 = Udp4()) {
  return Join(Join(FromHex("020000000001020000000002"), FromHex(tags)), l3);
}
constexpr std::string_view kTag = "810060050800";

TEST_CASE("D1 D2 D3 link loads see the tag, everything else does not", "[runtime][link]") {
  Probe probe = Probe::Frame(VlanFrame(kTag), kNetdevIngress);
  CHECK(probe.Link(12, 2) == "8100");
  CHECK(probe.Link(14, 2) == "6005");
  CHECK(probe.Link(16, 2) == "0800");
  CHECK(probe.Link(18, 2) == "4500");
  CHECK(probe.Link(0, 20) == "0200000000010200000000028100600508004500");
  CHECK(probe.Link(10, 8) == "0002810060050800");
  CHECK(probe.Meta(nft::MetaKey::kProtocol, 2) == "0800");
  CHECK(probe.L4proto() == "11");
  CHECK(probe.Transport(0, 4) == "045708ae");
  CHECK(probe.Len() == 33);
}

TEST_CASE("D4 of two tags only the outer one is taken off", "[runtime][link]") {
  for (const char* outer : {"88a8", "8100"}) {
    Probe probe = Probe::Frame(VlanFrame(std::string(outer) + "0007"
                                                              "8100"
                                                              "0009"
                                                              "0800"),
                               kNetdevIngress);
    CHECK(probe.Link(12, 2) == outer);
    CHECK(probe.Link(16, 2) == "8100");
    CHECK(probe.Meta(nft::MetaKey::kProtocol, 2) == "8100");
    CHECK(probe.Network(0, 4) == "00090800");
    CHECK(probe.L4proto() == kBreak);
  }
}

TEST_CASE("D5 bridge hooks see tags as ingress does", "[runtime][link]") {
  Probe probe = Probe::Frame(VlanFrame(kTag), kBridgePrerouting);
  CHECK(probe.Link(12, 6) == "810060050800");
  CHECK(probe.L4proto() == "11");
  CHECK(probe.Len() == 33);
}

TEST_CASE("D10 the tag is gone at L3 hooks", "[runtime][link]") {
  for (const Hook hook : {Hook::kPrerouting, Hook::kForward, Hook::kPostrouting}) {
    Probe probe = Probe::Frame(VlanFrame("810060000800"), {nft::Family::kIp, hook});
    CHECK(probe.Link(0, 14) == "0200000000010200000000020800");
    CHECK(probe.Link(12, 2) == "0800");
    CHECK(probe.Link(14, 4) == "45000021");
    CHECK(probe.Link(46, 1) == "6f");
    CHECK(probe.Link(47, 1) == kBreak);
    CHECK(probe.Len() == 33);
  }
  CHECK(Probe::Frame(VlanFrame("810060000800"), kNetdevIngress).Link(14, 2) == "6000");
}

TEST_CASE("the untagged view of a long frame ends after 256 bytes", "[runtime][link]") {
  const Bytes l3 = Ipv4() / Udp() / Raw(Bytes(1000, 0x5a));
  Probe probe = Probe::Frame(VlanFrame("810000000800", l3), kIpPrerouting);
  CHECK(probe.Link(255, 1) == "5a");
  CHECK(probe.Link(256, 1) == kBreak);
  CHECK(probe.Network(1027, 1) == "5a");
}

TEST_CASE("D11 a tag is not counted at egress, but seen", "[runtime][link]") {
  Probe probe = Probe::Frame(VlanFrame(kTag), kNetdevEgress);
  CHECK(probe.Len() == 14 + 33);
  CHECK(probe.Link(12, 6) == "810060050800");
  CHECK(probe.Transport(0, 2) == "0457");
  // What starts where the packet data starts does not see it.
  Probe fragment = Probe::Frame(VlanFrame("8100600586dd", FromHex(kLaterFragment6)), kNetdevEgress);
  CHECK(fragment.Transport(12, 4) == "86dd6000");
}

TEST_CASE("D13 frames with a length in place of a type", "[runtime][link]") {
  for (const HookPoint& point : {kNetdevIngress, kBridgePrerouting}) {
    Probe probe = Probe::Frame(VlanFrame("0026", Join(FromHex("424203"), Bytes(35))), point);
    CHECK(probe.Meta(nft::MetaKey::kProtocol, 2) == "0004");
    CHECK(probe.Link(12, 2) == "0026");
    CHECK(probe.L4proto() == kBreak);
  }
  CHECK(Probe::Frame(VlanFrame("0026", FromHex("ffff")), kNetdevIngress).Meta(nft::MetaKey::kProtocol, 2) == "0001");
  CHECK(Probe::Frame(VlanFrame("0026", {}), kNetdevIngress).Meta(nft::MetaKey::kProtocol, 2) == "0004");
  CHECK(Probe::Frame(VlanFrame("0600", {}), kNetdevIngress).Meta(nft::MetaKey::kProtocol, 2) == "0600");
}

TEST_CASE("D13 behind a tag the type that the kernel made of a length is seen", "[runtime][link]") {
  for (const HookPoint& point : {kNetdevIngress, kBridgePrerouting, kNetdevEgress}) {
    Probe probe = Probe::Frame(VlanFrame("810060050026", Join(FromHex("424203"), Bytes(35))), point);
    CHECK(probe.Meta(nft::MetaKey::kProtocol, 2) == "0004");
    CHECK(probe.Link(10, 10) == "00028100600500044242");
    CHECK(probe.Link(55, 1) == "00");
    CHECK(probe.Link(56, 1) == kBreak);
  }
  CHECK(Probe::Frame(VlanFrame("810060050026", FromHex("ffff")), kNetdevIngress).Link(16, 4) == "0001ffff");
  CHECK(Probe::Frame(VlanFrame("810060050026", {}), kNetdevIngress).Link(16, 2) == "0004");
}

TEST_CASE("the composed frame parses as the written one", "[runtime][link]") {
  Bytes frame = Ether().Type(0x8100) / Raw(Join(FromHex("60050800"), Udp4()));
  CHECK(Probe::Frame(frame, kNetdevIngress).Link(12, 6) == "810060050800");
}

TEST_CASE("packet types of Ethernet frames", "[runtime][link]") {
  const auto pkttype = [](std::string_view destination) {
    Bytes bytes = With(VlanFrame("0800"), 0, destination);
    Packet packet;
    packet.data = bytes.data();
    packet.length = uint32_t(bytes.size());
    packet.pkttype = 3;
    ParseEthernet(packet);
    return packet.pkttype;
  };
  CHECK(pkttype("020000000001") == 0);
  CHECK(pkttype("01005e000001") == 2);
  CHECK(pkttype("ffffffffffff") == 1);
  CHECK(pkttype("ffffffffff00") == 2);
}

TEST_CASE("frames too short for their headers", "[runtime][link]") {
  const Bytes frame = VlanFrame(kTag);
  for (size_t size = 0; size <= frame.size(); ++size) {
    INFO(size << " bytes");
    GuardedBytes bytes(First(frame, size));
    Packet packet;
    packet.data = bytes.data();
    packet.length = uint32_t(size);
    ParseEthernet(packet);
    CHECK(packet.link_offset == 0);
    CHECK(packet.network_offset == (size < 18 ? size : 18));
    CHECK(packet.protocol == (size < 18 ? 0 : 0x0800));
    CHECK(packet.vlan_tagged == (size >= 18));
  }
}

}  // namespace
}  // namespace nftjit::testing
