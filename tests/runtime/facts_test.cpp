// Metadata and conntrack facts: vm-semantics 10.9-10.11; kernel-quirks G.
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/runtime/probe.h"

namespace nftjit::testing {
namespace {

using nft::CtKey;
using nft::MetaKey;

TEST_CASE("G1 facts of devices that are not there", "[runtime][facts]") {
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  CHECK(probe.Meta(MetaKey::kOif, 4) == "00000000");
  CHECK(probe.Meta(MetaKey::kOifname, 16) == std::string(32, '0'));
  CHECK(probe.Meta(MetaKey::kIif, 4) == "00000000");
  for (const MetaKey key : {MetaKey::kOiftype, MetaKey::kOifgroup, MetaKey::kOifkind, MetaKey::kIiftype,
                            MetaKey::kIifgroup, MetaKey::kIifkind}) {
    CHECK(probe.Meta(key, 4) == kBreak);
  }
}

TEST_CASE("facts of devices", "[runtime][facts]") {
  Interface device = MakeInterface("veth7", 0x01020304);
  device.group = 9;
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  probe.packet().iif = &device;
  probe.Enter();
  CHECK(probe.Meta(MetaKey::kIif, 4) == "04030201");
  CHECK(probe.Meta(MetaKey::kIifname, 16) == "76657468370000000000000000000000");
  CHECK(probe.Meta(MetaKey::kIifgroup, 4) == "09000000");
  CHECK(probe.Meta(MetaKey::kIiftype, 2) == "0100");
  CHECK(probe.Meta(MetaKey::kIiftype, 4) == "01000000");
  CHECK(probe.Meta(MetaKey::kIifkind, 16) == kBreak);  // A device of no kind.
  std::copy_n("veth", 4, device.kind.begin());
  CHECK(probe.Meta(MetaKey::kIifkind, 16) == "76657468000000000000000000000000");
}

TEST_CASE("G4 G6 facts that the caller may not have", "[runtime][facts]") {
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  Packet& packet = probe.packet();
  packet.skuid = 1000;
  packet.skgid = 100;
  packet.cgroup = 7;
  packet.rtclassid = 5;
  for (const MetaKey key : {MetaKey::kSkuid, MetaKey::kSkgid, MetaKey::kCgroup, MetaKey::kRtclassid}) {
    CHECK(probe.Meta(key, 4) == kBreak);
  }
  packet.has_socket = true;
  packet.has_rtclassid = true;
  CHECK(probe.Meta(MetaKey::kSkuid, 4) == "e8030000");
  CHECK(probe.Meta(MetaKey::kSkgid, 4) == "64000000");
  CHECK(probe.Meta(MetaKey::kCgroup, 4) == "07000000");
  CHECK(probe.Meta(MetaKey::kRtclassid, 4) == "05000000");
}

TEST_CASE("plain facts", "[runtime][facts]") {
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  Packet& packet = probe.packet();
  packet.mark = 0x0a0b0c0d;
  packet.priority = 6;
  packet.secmark = 8;
  packet.secpath = true;
  packet.pkttype = 2;
  packet.sdif = 4;
  probe.frame().cpu = 3;
  CHECK(probe.Meta(MetaKey::kLen, 4) == "21000000");
  CHECK(probe.Meta(MetaKey::kMark, 4) == "0d0c0b0a");
  CHECK(probe.Meta(MetaKey::kPriority, 4) == "06000000");
  CHECK(probe.Meta(MetaKey::kSecmark, 4) == "08000000");
  CHECK(probe.Meta(MetaKey::kSecpath, 1) == "01");
  CHECK(probe.Meta(MetaKey::kPkttype, 1) == "02");
  CHECK(probe.Meta(MetaKey::kSdif, 4) == "04000000");
  CHECK(probe.Meta(MetaKey::kSdifname, 16) == std::string(32, '0'));
  CHECK(probe.Meta(MetaKey::kCpu, 4) == "03000000");
  CHECK(probe.Meta(MetaKey::kNftrace, 1) == kBreak);
}

TEST_CASE("time, day and hour", "[runtime][facts]") {
  constexpr uint64_t kSecond = 1'000'000'000;
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  const auto at = [&](uint64_t seconds) {
    probe.frame().wall_ns = seconds * kSecond + 5;
    return probe.Meta(MetaKey::kDay, 1) + ' ' + probe.Meta(MetaKey::kHour, 4);
  };
  CHECK(at(0) == "04 00000000");           // 1970-01-01 was a Thursday.
  CHECK(at(86399) == "04 7f510100");       // 23:59:59
  CHECK(at(3 * 86400) == "00 00000000");   // Sunday.
  CHECK(at(1709210096) == "04 f0b00000");  // 2024-02-29 12:34:56
  probe.frame().wall_ns = 0x0102030405060708;
  CHECK(probe.Meta(MetaKey::kTime, 8) == "0807060504030201");
  probe.packet().time_ns = 86400 * kSecond;  // The packet's own time goes first.
  CHECK(probe.Meta(MetaKey::kDay, 1) == "05");
}

TEST_CASE("prandom is spread over its range", "[runtime][facts]") {
  static uint64_t state = 0;  // Outlives the frame that points to it.
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  probe.frame().random = &state;
  constexpr int kCalls = 1 << 16;
  int ones[32]{};
  for (int i = 0; i < kCalls; ++i) {
    const uint32_t value = LoadNative<uint32_t>(FromHex(probe.Meta(MetaKey::kPrandom, 4)).data());
    for (int bit = 0; bit < 32; ++bit) ones[bit] += int(value >> bit & 1);
  }
  // Six standard deviations of a fair coin.
  for (const int count : ones) CHECK(std::abs(count - kCalls / 2) < 6 * int(std::sqrt(kCalls) / 2));
}

TEST_CASE("G7 meta set", "[runtime][facts]") {
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  const auto set = [&](MetaKey key, std::string_view value) {
    calls::nftjit_meta_store(&probe.frame(), uint32_t(key), FromHex(value).data());
  };
  set(MetaKey::kMark, "01020304");
  set(MetaKey::kPriority, "05000000");
  set(MetaKey::kSecmark, "06000000");
  CHECK(probe.packet().mark == 0x04030201);
  CHECK(probe.packet().priority == 5);
  CHECK(probe.packet().secmark == 6);
  for (const uint8_t type : {3, 2, 1, 0}) {
    set(MetaKey::kPkttype, ToHex({&type, 1}));
    CHECK(probe.packet().pkttype == type);
  }
  for (const char* type : {"04", "05", "07", "ff"}) set(MetaKey::kPkttype, type);
  CHECK(probe.packet().pkttype == 0);
  probe.packet().pkttype = 4;  // Outgoing stays so.
  set(MetaKey::kPkttype, "00");
  CHECK(probe.packet().pkttype == 4);
}

TEST_CASE("G9 G10 without a conntrack entry only the state is known", "[runtime][facts]") {
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  CHECK(probe.Ct(CtKey::kState, 4) == "01000000");
  Conntrack untracked;
  untracked.state = kCtUntracked;
  probe.packet().ct = &untracked;
  probe.Enter();
  CHECK(probe.Ct(CtKey::kState, 4) == "40000000");
  for (uint8_t key = 1; key < nft::kCtKeyCount; ++key) CHECK(probe.Ct(CtKey(key), 4) == kBreak);
}

TEST_CASE("G12 G13 G17 facts of a conntrack entry", "[runtime][facts]") {
  Conntrack ct;
  ct.state = kCtEstablished;
  ct.has_entry = true;
  ct.direction = 1;
  ct.status = 0x0a;
  ct.protocol = 17;
  ct.mark = 0x11223344;
  ct.zone = 0x0102;
  ct.id = 0xdeadbeef;
  ct.expiration_ms = 1000;
  ct.label[15] = 0x80;
  ct.original.src = {10, 0, 0, 2};
  ct.original.dst = {10, 0, 0, 1};
  ct.original.proto_src = {0x04, 0x57};
  ct.original.proto_dst = {0x08, 0xae};
  ct.reply.src = {10, 0, 0, 1};
  ct.original.packets = 3;
  ct.original.bytes = 100;
  ct.reply.packets = 2;
  ct.reply.bytes = 33;
  Probe probe = Probe::L3(FromHex(kUdp), kIpPrerouting);
  probe.packet().ct = &ct;
  probe.Enter();

  CHECK(probe.Ct(CtKey::kState, 4) == "02000000");
  CHECK(probe.Ct(CtKey::kDirection, 1) == "01");
  CHECK(probe.Ct(CtKey::kStatus, 4) == "0a000000");
  CHECK(probe.Ct(CtKey::kMark, 4) == "44332211");
  CHECK(probe.Ct(CtKey::kZone, 2) == "0201");
  CHECK(probe.Ct(CtKey::kId, 4) == "efbeadde");
  CHECK(probe.Ct(CtKey::kExpiration, 4) == "e8030000");
  CHECK(probe.Ct(CtKey::kL3protocol, 1) == "02");
  CHECK(probe.Ct(CtKey::kProtocol, 1) == "11");
  CHECK(probe.Ct(CtKey::kLabel, 16) == "00000000000000000000000000000080");
  CHECK(probe.Ct(CtKey::kSrc, 4, ir::kDirectionOriginal) == "0a000002");
  CHECK(probe.Ct(CtKey::kSrc, 4, ir::kDirectionReply) == "0a000001");
  CHECK(probe.Ct(CtKey::kSrc, 16, ir::kDirectionOriginal) == "0a000002000000000000000000000000");
  CHECK(probe.Ct(CtKey::kDst, 4, ir::kDirectionOriginal) == "0a000001");
  CHECK(probe.Ct(CtKey::kSrcIp, 4, ir::kDirectionOriginal) == "0a000002");
  CHECK(probe.Ct(CtKey::kSrcIp6, 16, ir::kDirectionOriginal) == kBreak);
  CHECK(probe.Ct(CtKey::kProtoSrc, 2, ir::kDirectionOriginal) == "0457");
  CHECK(probe.Ct(CtKey::kProtoDst, 2, ir::kDirectionOriginal) == "08ae");
  CHECK(probe.Ct(CtKey::kPackets, 8) == "0500000000000000");
  CHECK(probe.Ct(CtKey::kPackets, 8, ir::kDirectionOriginal) == "0300000000000000");
  CHECK(probe.Ct(CtKey::kBytes, 8, ir::kDirectionReply) == "2100000000000000");
  CHECK(probe.Ct(CtKey::kAvgpkt, 8) == "1a00000000000000");
  CHECK(probe.Ct(CtKey::kAvgpkt, 8, ir::kDirectionReply) == "1000000000000000");
  CHECK(probe.Ct(CtKey::kHelper, 16) == kBreak);
  CHECK(probe.Ct(CtKey::kEvent, 4) == kBreak);

  std::copy_n("ftp", 3, ct.helper.begin());
  CHECK(probe.Ct(CtKey::kHelper, 16) == "66747000000000000000000000000000");
  ct.l3protocol = 10;
  CHECK(probe.Ct(CtKey::kSrcIp, 4, ir::kDirectionOriginal) == kBreak);
  CHECK(probe.Ct(CtKey::kDstIp6, 16, ir::kDirectionOriginal) == "0a000001000000000000000000000000");
  ct.reply.packets = ct.original.packets = 0;
  CHECK(probe.Ct(CtKey::kAvgpkt, 8) == "0000000000000000");
}

}  // namespace
}  // namespace nftjit::testing
