// The walk over IPv6 extension headers: vm-semantics 7.1; kernel-quirks C7-C11, C25-C30, H7-H10.
#include <catch2/catch.hpp>

#include "tests/runtime/probe.h"

namespace nftjit::testing {
namespace {

using nft::ExthdrOp;

// An IPv6 packet whose first next header is `next`, with `rest` after the fixed header and an honest payload length.
Probe Walk(uint8_t next, std::string_view rest) {
  return Probe::L3(Ipv6().NextHeader(next) / Raw(FromHex(rest)), kIp6Prerouting);
}

TEST_CASE("C7 C8 H10 later IPv6 fragments: transport loads read the IPv6 header", "[runtime][ipv6]") {
  Probe probe = Probe::L3(FromHex(kLaterFragment6), kIp6Prerouting);
  CHECK(probe.Transport(0, 2) == "6000");
  CHECK(probe.Transport(2, 2) == "0000");
  CHECK(probe.Transport(0, 4) == "60000000");
  CHECK(probe.Transport(4, 4) == "00382c40");
  CHECK(probe.Transport(0, 3) == kBreak);
  CHECK(probe.Transport(0, 8) == kBreak);
  CHECK(probe.Inner(0, 2) == kBreak);
  CHECK(probe.L4proto() == "11");
  CHECK(probe.Present(ExthdrOp::kIpv6, 44) == "01");
  CHECK(probe.Present(ExthdrOp::kIpv6, 17) == "00");
}

TEST_CASE("later IPv6 fragments at netdev egress: transport loads read the link header", "[runtime][ipv6]") {
  const Bytes frame = Join(FromHex("02000000000102000000000286dd"), FromHex(kLaterFragment6));
  CHECK(Probe::Frame(frame, kNetdevEgress).Transport(0, 4) == "02000000");
  CHECK(Probe::Frame(frame, kNetdevIngress).Transport(0, 4) == "60000000");
}

TEST_CASE("C9 a later fragment followed by an extension header has no transport", "[runtime][ipv6]") {
  Probe probe = Walk(44,
                     "3c00000900000001"
                     "1100010400000000"
                     "045708ae00080000");
  CHECK(probe.L4proto() == kBreak);
  CHECK(probe.Transport(0, 2) == kBreak);
}

TEST_CASE("C10 an extension header longer than the packet", "[runtime][ipv6]") {
  Probe probe = Probe::L3(FromHex(kLongOptions6), kIp6Prerouting);
  CHECK(probe.L4proto() == "11");
  CHECK(probe.Transport(0, 2) == kBreak);
}

TEST_CASE("C11 C30 authentication headers are transport, exthdr skips them", "[runtime][ipv6]") {
  const std::string udp = "045708ae00080000";
  Probe plain = Walk(51,
                     "1104000000000001000000020000000300000004"
                     "00000000" +
                         udp);
  CHECK(plain.L4proto() == "33");
  CHECK(plain.Transport(0, 2) == "1104");

  Probe options = Walk(51,
                       "3c04000000000001000000020000000300000004"
                       "00000000"
                       "1100010400000000" +
                           udp);
  CHECK(options.Present(ExthdrOp::kIpv6, 51) == "01");
  CHECK(options.Present(ExthdrOp::kIpv6, 60) == "01");
  CHECK(options.Present(ExthdrOp::kIpv6, 17) == "01");
  CHECK(options.L4proto() == "33");

  Probe zero_length = Walk(51, "1100000000000001" + udp);
  CHECK(zero_length.Present(ExthdrOp::kIpv6, 51) == "01");
  CHECK(zero_length.Present(ExthdrOp::kIpv6, 60) == "00");
  CHECK(zero_length.Present(ExthdrOp::kIpv6, 17) == "01");
  CHECK(zero_length.L4proto() == "33");
}

TEST_CASE("C25 an atomic fragment header is walked like any other", "[runtime][ipv6]") {
  Probe probe = Walk(44,
                     "1100000000000001"
                     "045708ae00080000");
  CHECK(probe.Present(ExthdrOp::kIpv6, 44) == "01");
  CHECK(probe.L4proto() == "11");
  CHECK(probe.Transport(0, 2) == "0457");
  CHECK(probe.Transport(1, 2) == "5708");
}

TEST_CASE("C26 later fragments before no-next-header and AH", "[runtime][ipv6]") {
  Probe no_next = Walk(44,
                       "3b00000900000001"
                       "0000000000000000");
  CHECK(no_next.L4proto() == "3b");
  CHECK(no_next.Transport(0, 2) == "6000");
  CHECK(no_next.Present(ExthdrOp::kIpv6, 59) == "00");
  CHECK(no_next.Present(ExthdrOp::kIpv6, 44) == "01");
  Probe authentication = Walk(44,
                              "3300000900000001"
                              "0000000000000000");
  CHECK(authentication.L4proto() == kBreak);
  CHECK(authentication.Transport(0, 2) == kBreak);
}

TEST_CASE("C27 two fragment headers", "[runtime][ipv6]") {
  Probe probe = Walk(44,
                     "2c00000000000001"
                     "1100000900000002"
                     "045708ae00080000");
  CHECK(probe.L4proto() == "11");
  CHECK(probe.Transport(0, 2) == "6000");
  CHECK(probe.Exthdr(ExthdrOp::kIpv6, 44, 2, 2) == "0000");
}

TEST_CASE("C28 headers cut short", "[runtime][ipv6]") {
  Probe two_bytes = Walk(44, "1100");
  CHECK(two_bytes.L4proto() == kBreak);
  CHECK(two_bytes.Present(ExthdrOp::kIpv6, 44) == "00");
  CHECK(two_bytes.Present(ExthdrOp::kIpv6, 17) == "00");
  Probe four_bytes = Walk(44, "11000000");
  CHECK(four_bytes.L4proto() == "11");
  CHECK(four_bytes.Present(ExthdrOp::kIpv6, 44) == "01");
  CHECK(four_bytes.Present(ExthdrOp::kIpv6, 17) == "01");
  CHECK(Walk(43, "1100").L4proto() == kBreak);
  CHECK(Walk(43, "11000000").L4proto() == "11");
}

TEST_CASE("C29 no next header", "[runtime][ipv6]") {
  Probe probe = Walk(60,
                     "3b00010400000000"
                     "0102030405060708");
  CHECK(probe.Present(ExthdrOp::kIpv6, 59) == "01");
  CHECK(probe.Present(ExthdrOp::kIpv6, 60) == "01");
  CHECK(probe.L4proto() == "3b");
  CHECK(probe.Transport(0, 2) == "0102");
}

TEST_CASE("hop-by-hop, routing and destination options are skipped in any order", "[runtime][ipv6]") {
  Probe probe = Walk(60,
                     "0000010400000000"
                     "2b00010400000000"
                     "1102000000000000"
                     "0000000000000000"
                     "0000000000000000"
                     "045708ae00080000");
  CHECK(probe.L4proto() == "11");
  CHECK(probe.Transport(0, 4) == "045708ae");
}

TEST_CASE("mobility, ESP and unknown numbers are upper layers", "[runtime][ipv6]") {
  for (const uint8_t number : {50, 135, 139, 253, 255}) {
    Probe probe = Walk(number, "aabbccddeeff0011");
    CHECK(probe.L4proto() == ToHex({&number, 1}));
    CHECK(probe.Transport(0, 2) == "aabb");
  }
}

TEST_CASE("H7 H8 H9 exthdr of IPv6", "[runtime][ipv6]") {
  Probe udp = Walk(17, "045708ae00080000");
  CHECK(udp.Present(ExthdrOp::kIpv6, 17) == "01");
  CHECK(udp.Exthdr(ExthdrOp::kIpv6, 17, 0, 2) == "0457");
  CHECK(udp.Exthdr(ExthdrOp::kIpv6, 60, 0, 1) == kBreak);
  Probe options = Walk(60,
                       "1100010400000000"
                       "045708ae00080000");
  CHECK(options.Exthdr(ExthdrOp::kIpv6, 60, 0, 16) == "1100010400000000045708ae00080000");
  CHECK(options.Exthdr(ExthdrOp::kIpv6, 60, 1, 16) == kBreak);
  Probe ipv4 = Probe::L3(FromHex(kUdp), kIpPrerouting);
  CHECK(ipv4.Present(ExthdrOp::kIpv6, 17) == kBreak);
  CHECK(ipv4.Exthdr(ExthdrOp::kIpv6, 17, 0, 2) == kBreak);
}

TEST_CASE("jumbograms are not trimmed", "[runtime][ipv6]") {
  const Bytes hop_by_hop = Ipv6().NextHeader(0).PayloadLength(0) / Raw(FromHex("1100010400000000045708ae00080000"));
  CHECK(Probe::L3(hop_by_hop, kIp6Prerouting).Len() == 56);
  const Bytes empty = Ipv6().NextHeader(59).PayloadLength(0) / Raw("padding");
  CHECK(Probe::L3(empty, kIp6Prerouting).Len() == 40);
}

TEST_CASE("a transport offset above 65535 is none", "[runtime][ipv6]") {
  // 33 destination options of 2048 bytes.
  Bytes rest;
  for (int i = 0; i < 33; ++i) {
    Bytes header(2048);
    header[0] = i == 32 ? 17 : 60;
    header[1] = 255;
    rest = Join(rest, header);
  }
  Bytes bytes = Ipv6().NextHeader(60).PayloadLength(0) / Raw(Join(rest, Bytes(8)));
  Probe far = Probe::L3(bytes, kNetdevIngress);
  CHECK(far.L4proto() == kBreak);
}

}  // namespace
}  // namespace nftjit::testing
