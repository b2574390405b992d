// Frames of packets at hooks: vm-semantics 7, 8; kernel-quirks C, G.
#include <catch2/catch.hpp>

#include "tests/runtime/probe.h"

namespace nftjit::testing {
namespace {

Bytes EthernetHeader(std::string_view type) { return Join(FromHex("020000000001020000000002"), FromHex(type)); }
Bytes Ethernet(std::string_view type, const Bytes& l3) { return Join(EthernetHeader(type), l3); }

TEST_CASE("C1 C2 C5 C6 aligned transport loads read later fragments, others break", "[runtime][parse]") {
  Probe probe = Probe::L3(FromHex(kLaterFragment), kIpPrerouting);
  CHECK(probe.Transport(0, 1) == "04");
  CHECK(probe.Transport(1, 1) == "57");
  CHECK(probe.Transport(0, 2) == "0457");
  CHECK(probe.Transport(2, 2) == "08ae");
  CHECK(probe.Transport(0, 4) == "045708ae");
  CHECK(probe.Transport(4, 4) == "003060f5");
  for (const auto& [offset, length] : {std::pair{1, 2}, {0, 3}, {1, 4}, {2, 4}, {0, 8}, {8, 8}}) {
    CHECK(probe.Transport(offset, length) == kBreak);
  }
  CHECK(probe.L4proto() == "11");
  CHECK(probe.Inner(0, 2) == kBreak);
}

TEST_CASE("C3 far offsets of a later fragment", "[runtime][parse]") {
  const Bytes bytes = Ipv4().Protocol(17).FragmentUnits(1).MoreFragments(true) / Raw(Bytes(408, 0x5a));
  REQUIRE(bytes.size() == 428);
  Probe probe = Probe::L3(bytes, kIpPrerouting);
  CHECK(probe.Transport(300, 2) == "5a5a");
  CHECK(probe.Transport(300, 3) == kBreak);
}

TEST_CASE("C4 the same at netdev ingress and egress", "[runtime][parse]") {
  for (const HookPoint& point : {kNetdevIngress, kNetdevEgress}) {
    Probe probe = Probe::Frame(Ethernet("0800", FromHex(kLaterFragment)), point);
    CHECK(probe.Transport(0, 4) == "045708ae");
    CHECK(probe.Transport(0, 3) == kBreak);
    CHECK(probe.L4proto() == "11");
  }
}

TEST_CASE("C12 transport loads end at the packet's end", "[runtime][parse]") {
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  CHECK(probe.Transport(9, 4) == "656c6c6f");
  CHECK(probe.Transport(8, 6) == kBreak);
  CHECK(probe.Network(29, 4) == "656c6c6f");
  CHECK(probe.Network(30, 4) == kBreak);
}

TEST_CASE("C13 devices without link header break link loads", "[runtime][parse]") {
  for (const HookPoint& point : {kIpPrerouting, kNetdevIngress, kNetdevEgress}) {
    CHECK(Probe::L3(FromHex(kUdp), point).Link(0, 2) == kBreak);
  }
}

TEST_CASE("C18 broken IPv4 at netdev ingress has no transport but runs", "[runtime][parse]") {
  const Bytes udp = FromHex(kUdp);
  struct {
    const char* what;
    Bytes bytes;
    std::string network;
  } cases[] = {
      {"total length 200", With(udp, 2, "00c8"), "450000c8"}, {"total length 10", With(udp, 2, "000a"), "4500000a"},
      {"total length 0", With(udp, 2, "0000"), "45000000"},   {"ihl 4", With(udp, 0, "44"), "44000021"},
      {"version 5", With(udp, 0, "55"), "55000021"},          {"ten bytes", First(udp, 10), "45000021"},
      {"three bytes", First(udp, 3), std::string(kBreak)},
  };
  for (const auto& broken : cases) {
    INFO(broken.what);
    for (const HookPoint& point : {kNetdevIngress, kNetdevEgress, kBridgePrerouting}) {
      Probe probe = Probe::Frame(Ethernet("0800", broken.bytes), point);
      CHECK(probe.result() == EnterResult::kRun);
      CHECK(probe.L4proto() == kBreak);
      CHECK(probe.Transport(0, 1) == kBreak);
      CHECK(probe.Network(0, 4) == broken.network);
    }
  }
}

TEST_CASE("C19 broken headers at inet ingress drop the packet", "[runtime][parse]") {
  const Bytes udp = FromHex(kUdp);
  const Bytes udp6 = Ipv6() / Udp() / Raw("hello");
  const auto enter = [](std::string_view type, const Bytes& l3) {
    return Probe::Frame(Ethernet(type, l3), kInetIngress).result();
  };
  CHECK(enter("0800", udp) == EnterResult::kRun);
  CHECK(enter("0800", With(udp, 2, "00c8")) == EnterResult::kDrop);
  CHECK(enter("0800", With(udp, 0, "44")) == EnterResult::kDrop);
  CHECK(enter("0800", First(udp, 10)) == EnterResult::kDrop);
  CHECK(enter("0800", With(udp, 10, "ffff")) == EnterResult::kRun);  // The header checksum does not count.
  CHECK(enter("86dd", udp6) == EnterResult::kRun);
  CHECK(enter("86dd", With(udp6, 4, "00ff")) == EnterResult::kDrop);
  CHECK(enter("86dd", With(udp6, 0, "50")) == EnterResult::kDrop);
  CHECK(enter("86dd", First(udp6, 39)) == EnterResult::kDrop);
  // A fragment header cut short cannot be walked.
  CHECK(enter("86dd", With(First(udp6, 42), 4, "00022c")) == EnterResult::kDrop);
  CHECK(enter("0806", Bytes(28)) == EnterResult::kAccept);
  CHECK(enter("0800", udp) == EnterResult::kRun);

  CHECK(Probe::Frame(Ethernet("0800", udp), kInetIngress).frame().nfproto == 2);
  CHECK(Probe::Frame(Ethernet("86dd", udp6), kInetIngress).frame().nfproto == 10);
}

TEST_CASE("C20 C33 padding counts at ingress and not at the L3 hooks", "[runtime][parse]") {
  const Bytes padded = Join(FromHex(kUdp), Bytes(4, 0xee));
  CHECK(Probe::Frame(Ethernet("0800", padded), kNetdevIngress).Len() == 37);
  CHECK(Probe::Frame(Ethernet("0800", padded), kNetdevIngress).Network(33, 4) == "eeeeeeee");
  CHECK(Probe::Frame(Ethernet("0800", padded), kIpPrerouting).Len() == 33);
  CHECK(Probe::Frame(Ethernet("0800", padded), kIpPrerouting).Network(33, 1) == kBreak);
  CHECK(Probe::Frame(Ethernet("0800", padded), kIpPrerouting).Link(47, 1) == kBreak);

  const Bytes udp6 = Ipv6() / Udp() / Raw("hello");
  REQUIRE(udp6.size() == 53);
  CHECK(Probe::L3(Join(udp6, Bytes(12)), kIp6Prerouting).Len() == 53);
  CHECK(Probe::Frame(Ethernet("86dd", Join(udp6, Bytes(12))), kNetdevIngress).Len() == 65);
}

TEST_CASE("C31 C32 G8 lengths per hook", "[runtime][parse]") {
  const Bytes arp(28, 0), padded_arp(46, 0);
  constexpr HookPoint kArpInput{nft::Family::kArp, Hook::kInput}, kArpOutput{nft::Family::kArp, Hook::kOutput};
  CHECK(Probe::Frame(Ethernet("0806", arp), kArpInput).Len() == 28);
  CHECK(Probe::Frame(Ethernet("0806", padded_arp), kArpInput).Len() == 46);
  CHECK(Probe::Frame(Ethernet("0806", padded_arp), kNetdevIngress).Len() == 46);
  CHECK(Probe::Frame(Ethernet("0806", arp), kArpOutput).Len() == 42);
  CHECK(Probe::Frame(Ethernet("0806", arp), kNetdevEgress).Len() == 42);
  CHECK(Probe::Frame(Ethernet("0806", arp), kArpInput).Link(12, 2) == "0806");
  CHECK(Probe::Frame(Ethernet("0806", arp), kArpOutput).Link(12, 2) == kBreak);
  CHECK(Probe::Frame(Ethernet("0806", arp), kNetdevEgress).Link(12, 2) == "0806");

  const Bytes padded = Join(FromHex(kUdp), Bytes(12));
  CHECK(Probe::Frame(Ethernet("0800", padded), kBridgePrerouting).Len() == 45);
}

TEST_CASE("C34 netdev egress counts the link header and starts at it", "[runtime][parse]") {
  const Bytes fragment =
      Ipv4().Protocol(17).FragmentUnits(1).MoreFragments(true) / Raw(FromHex("045708ae003060f50001020304050607"));
  REQUIRE(fragment.size() == 36);
  Probe probe = Probe::Frame(Ethernet("0800", fragment), kNetdevEgress);
  CHECK(probe.Len() == 50);
  CHECK(probe.Transport(0, 2) == "0457");
  CHECK(probe.Transport(0, 3) == kBreak);
  CHECK(probe.Network(6, 2) == "2001");
  CHECK(probe.Link(20, 2) == "2001");
}

TEST_CASE("G1 G2 G3 G24 devices per hook", "[runtime][parse]") {
  Interface in = MakeInterface("in0", 3), out = MakeInterface("out0", 7);
  out.type = 0xfffe;
  struct {
    HookPoint point;
    uint32_t iif, oif;
    std::string iiftype, oiftype;
  } cases[] = {
      {kIpPrerouting, 3, 0, "0100", std::string(kBreak)},
      {{nft::Family::kIp, Hook::kInput}, 3, 0, "0100", std::string(kBreak)},
      {{nft::Family::kIp, Hook::kForward}, 3, 7, "0100", "feff"},
      {{nft::Family::kIp, Hook::kOutput}, 0, 7, std::string(kBreak), "feff"},
      {{nft::Family::kIp, Hook::kPostrouting}, 3, 7, "feff", "feff"},
      {{nft::Family::kBridge, Hook::kPostrouting}, 0, 7, "feff", "feff"},
      {kNetdevIngress, 3, 0, "0100", std::string(kBreak)},
      {kNetdevEgress, 0, 7, "feff", "feff"},
      {{nft::Family::kArp, Hook::kInput}, 3, 0, "0100", std::string(kBreak)},
      {{nft::Family::kArp, Hook::kOutput}, 0, 7, "feff", "feff"},
  };
  for (const auto& expected : cases) {
    INFO("family " << int(expected.point.pf) << " hook " << int(expected.point.hook));
    Probe probe = Probe::L3(FromHex(kUdp), expected.point);
    probe.packet().iif = &in;
    probe.packet().oif = &out;
    probe.Enter();
    const auto index = [&](nft::MetaKey key) { return LoadNative<uint32_t>(FromHex(probe.Meta(key, 4)).data()); };
    CHECK(index(nft::MetaKey::kIif) == expected.iif);
    CHECK(index(nft::MetaKey::kOif) == expected.oif);
    CHECK(probe.Meta(nft::MetaKey::kIiftype, 2) == expected.iiftype);
    CHECK(probe.Meta(nft::MetaKey::kOiftype, 2) == expected.oiftype);
  }
}

TEST_CASE("G5 link loads of received frames work up to postrouting, never in output", "[runtime][parse]") {
  for (const Hook hook : {Hook::kPrerouting, Hook::kInput, Hook::kForward, Hook::kPostrouting}) {
    Probe probe = Probe::Frame(Ethernet("0800", FromHex(kUdp)), {nft::Family::kIp, hook});
    CHECK(probe.Link(0, 14) == "0200000000010200000000020800");
    CHECK(probe.Link(14, 2) == "4500");
  }
  CHECK(Probe::Frame(Ethernet("0800", FromHex(kUdp)), {nft::Family::kIp, Hook::kOutput}).Link(0, 2) == kBreak);
  CHECK(Probe::Frame(Ethernet("0800", FromHex(kUdp)), {nft::Family::kBridge, Hook::kOutput}).Link(12, 2) == "0800");
}

TEST_CASE("L3 hooks take lying headers for what bytes there are", "[runtime][parse]") {
  const Bytes udp = FromHex(kUdp);
  // A total length that is wrong does not trim, nor make bytes of the air.
  for (const char* total : {"00c8", "0000", "0013"}) {
    Probe probe = Probe::L3(With(udp, 2, total), kIpPrerouting);
    CHECK(probe.Len() == 33);
    CHECK(probe.Transport(8, 5) == "68656c6c6f");
  }
  CHECK(Probe::L3(With(udp, 2, "0018"), kIpPrerouting).Len() == 24);
  CHECK(Probe::L3(With(udp, 2, "0018"), kIpPrerouting).Transport(4, 1) == kBreak);
  // ihl * 4 is where the transport header is, wherever that is.
  CHECK(Probe::L3(With(udp, 0, "46"), kIpPrerouting).Transport(0, 2) == "000d");
  CHECK(Probe::L3(With(udp, 0, "4f"), kIpPrerouting).Transport(0, 1) == kBreak);
  CHECK(Probe::L3(With(udp, 0, "4f"), kIpPrerouting).L4proto() == "11");
  CHECK(Probe::L3(With(udp, 0, "40"), kIpPrerouting).Transport(0, 2) == "4000");
  // Less than a header.
  CHECK(Probe::L3(First(udp, 19), kIpPrerouting).L4proto() == kBreak);
  CHECK(Probe::L3(First(udp, 19), kIpPrerouting).Network(0, 1) == kBreak);
  CHECK(Probe::L3(First(udp, 19), kIpPrerouting).Len() == 19);
  CHECK(Probe::L3({}, kIpPrerouting).Len() == 0);
  CHECK(Probe::L3({}, kIpPrerouting).L4proto() == kBreak);
}

TEST_CASE("the ethertype of L3 hooks is their own, elsewhere the packet's or its version's", "[runtime][parse]") {
  const auto protocol = [](Probe probe, uint16_t given) {
    probe.packet().protocol = given;
    probe.Enter();
    return probe.Meta(nft::MetaKey::kProtocol, 2);
  };
  const Bytes udp6 = Ipv6() / Udp();
  CHECK(protocol(Probe::L3(FromHex(kUdp), kIpPrerouting), 0) == "0800");
  CHECK(protocol(Probe::L3(FromHex(kUdp), kIpPrerouting), 0x8100) == "0800");
  CHECK(protocol(Probe::L3(udp6, kIp6Prerouting), 0) == "86dd");
  CHECK(protocol(Probe::L3(Bytes(28), {nft::Family::kArp, Hook::kInput}), 0) == "0806");
  CHECK(protocol(Probe::L3(udp6, kNetdevIngress), 0) == "86dd");
  CHECK(protocol(Probe::L3(FromHex(kUdp), kNetdevIngress), 0) == "0800");
  CHECK(protocol(Probe::L3(FromHex(kUdp), kNetdevIngress), 0x1234) == "1234");
  CHECK(protocol(Probe::L3({}, kNetdevIngress), 0) == "0000");
}

TEST_CASE("nfproto is the family of the hook", "[runtime][parse]") {
  CHECK(Probe::L3(FromHex(kUdp), kIpPrerouting).Meta(nft::MetaKey::kNfproto, 4) == "02000000");
  CHECK(Probe::L3(FromHex(kUdp), kIp6Prerouting).Meta(nft::MetaKey::kNfproto, 1) == "0a");
  CHECK(Probe::L3(FromHex(kUdp), kNetdevIngress).Meta(nft::MetaKey::kNfproto, 1) == "05");
  CHECK(Probe::L3(FromHex(kUdp), kBridgePrerouting).Meta(nft::MetaKey::kNfproto, 1) == "07");
  CHECK(Probe::L3(FromHex(kUdp), {nft::Family::kArp, Hook::kInput}).Meta(nft::MetaKey::kNfproto, 1) == "03");
}

}  // namespace
}  // namespace nftjit::testing
