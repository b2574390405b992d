// Options and chunks: vm-semantics 10.31; kernel-quirks H1-H6, H11-H17.
#include <catch2/catch.hpp>

#include "tests/runtime/probe.h"

namespace nftjit::testing {
namespace {

using nft::ExthdrOp;
constexpr ExthdrOp kTcp = ExthdrOp::kTcpOption, kIpv4 = ExthdrOp::kIpv4, kSctp = ExthdrOp::kSctp;

// A TCP SYN with these option bytes, a multiple of four.
Probe Syn(std::string_view options) { return Probe::L3(Ipv4() / Tcp().Options(FromHex(options)), kIpPrerouting); }
Probe SynOfWords(std::string_view options, uint8_t words) {
  return Probe::L3(Ipv4() / Tcp().Options(FromHex(options)).HeaderWords(words), kIpPrerouting);
}

TEST_CASE("H1 end-of-options does not stop the scan of TCP options", "[runtime][exthdr]") {
  Probe probe = Syn("00000000020405b4");
  CHECK(probe.Present(kTcp, 2) == "01");
  CHECK(probe.Exthdr(kTcp, 2, 2, 2) == "05b4");
}

TEST_CASE("H2 a TCP option of length 0 is one byte long", "[runtime][exthdr]") {
  Probe probe = Syn("020005b4");
  CHECK(probe.Present(kTcp, 2) == "01");
  CHECK(probe.Exthdr(kTcp, 2, 2, 2) == kBreak);
  CHECK(probe.Exthdr(kTcp, 2, 0, 1) == "02");
}

TEST_CASE("H3 no TCP option where there is no whole TCP header", "[runtime][exthdr]") {
  CHECK(Syn("022805b4").Present(kTcp, 2) == "00");  // Longer than the header.
  CHECK(Syn("022805b4").Exthdr(kTcp, 2, 2, 2) == kBreak);
  CHECK(SynOfWords("020405b4", 15).Present(kTcp, 2) == "00");  // The header longer than the packet.
  CHECK(SynOfWords("020405b4", 4).Present(kTcp, 2) == "00");
  CHECK(SynOfWords("020405b4", 5).Present(kTcp, 2) == "00");
  CHECK(Probe::L3(FromHex(kUdp), kIpPrerouting).Present(kTcp, 2) == "00");
  CHECK(Probe::L3(FromHex(kUdp), kIpPrerouting).Exthdr(kTcp, 2, 0, 1) == kBreak);
  const Bytes fragment = Ipv4().FragmentUnits(1) / Tcp().Options(FromHex("020405b4"));
  CHECK(Probe::L3(fragment, kIpPrerouting).Present(kTcp, 2) == "00");
  CHECK(Probe::L3(First(FromHex(kUdp), 12), kIpPrerouting).Present(kTcp, 2) == "00");
}

TEST_CASE("H4 a TCP option kind in the last header byte is not seen", "[runtime][exthdr]") {
  CHECK(Syn("01010102").Present(kTcp, 2) == "00");
  CHECK(Syn("01010201").Present(kTcp, 2) == "01");  // Its length byte is 1.
}

TEST_CASE("H5 padding is an option of one byte", "[runtime][exthdr]") {
  Probe probe = Syn("01010000");
  CHECK(probe.Present(kTcp, 1) == "01");
  CHECK(probe.Present(kTcp, 0) == "01");
  CHECK(probe.Exthdr(kTcp, 1, 0, 1) == "01");
  CHECK(probe.Exthdr(kTcp, 1, 0, 2) == kBreak);
  CHECK(probe.Exthdr(kTcp, 1, 1, 1) == kBreak);
}

TEST_CASE("H6 an unknown TCP option of length 0", "[runtime][exthdr]") {
  Probe probe = Syn("fe00020405b40000");
  CHECK(probe.Present(kTcp, 254) == "01");
  CHECK(probe.Exthdr(kTcp, 254, 0, 1) == "fe");
  CHECK(probe.Exthdr(kTcp, 2, 2, 2) == "05b4");
}

TEST_CASE("H11 router alert after padding", "[runtime][exthdr]") {
  Probe probe = Probe::L3(Ipv4().Options(FromHex("0101940400000000")) / Udp(), kIpPrerouting);
  CHECK(probe.Present(kIpv4, 148) == "01");
  CHECK(probe.Exthdr(kIpv4, 148, 0, 4) == "94040000");
  CHECK(probe.Present(kIpv4, 7) == "00");
  CHECK(probe.Exthdr(kIpv4, 7, 0, 1) == kBreak);
}

TEST_CASE("H12 at egress the link header is looked at in place of the IPv4 header", "[runtime][exthdr]") {
  const Bytes frame = Ether() / Ipv4().Options(FromHex("94040000")) / Udp();
  CHECK(Probe::Frame(frame, kNetdevIngress).Present(kIpv4, 148) == "01");
  CHECK(Probe::Frame(frame, kNetdevEgress).Present(kIpv4, 148) == "00");
}

TEST_CASE("H13 H14 SCTP chunks", "[runtime][exthdr]") {
  const std::string header = "0457162e0000000100000000", data = "000300140000000100000000000000006162636400000000";
  const auto carry = [](const std::string& payload, uint16_t fragment_units) {
    return Probe::L3(Ipv4().Protocol(132).FragmentUnits(fragment_units) / Raw(FromHex(payload)), kIpPrerouting);
  };
  CHECK(carry(header + data, 0).Present(kSctp, 0) == "01");
  CHECK(carry(header + data, 0).Exthdr(kSctp, 0, 4, 4) == "00000001");
  CHECK(carry(header + data, 0).Exthdr(kSctp, 0, 16, 4) == "61626364");
  CHECK(carry(header + data, 0).Exthdr(kSctp, 0, 17, 4) == kBreak);  // Past the chunk's 20 bytes.
  CHECK(carry(header + data, 0).Present(kSctp, 1) == "00");
  CHECK(carry(header + data, 0).Exthdr(kSctp, 1, 0, 1) == kBreak);
  CHECK(carry(header + data, 1).Present(kSctp, 0) == "01");
  // A chunk of 5 bytes takes 8.
  CHECK(carry(header + "0a000005ff000000" + data, 0).Exthdr(kSctp, 0, 4, 4) == "00000001");
  // After a chunk of length 0 there is nothing, and it is nothing itself.
  CHECK(carry(header + "06000000" + data, 0).Present(kSctp, 0) == "00");
  CHECK(carry(header + "06000000" + data, 0).Present(kSctp, 6) == "00");
  // A chunk that says to be longer than the packet is present, but cannot be loaded.
  CHECK(carry(header + "0600ffff" + data, 0).Present(kSctp, 6) == "01");
  CHECK(carry(header + "0600ffff" + data, 0).Exthdr(kSctp, 6, 0, 1) == kBreak);
  CHECK(Probe::L3(FromHex(kUdp), kIpPrerouting).Present(kSctp, 0) == "00");
  CHECK(Probe::L3(FromHex(kUdp), kIpPrerouting).Exthdr(kSctp, 0, 0, 1) == kBreak);
}

TEST_CASE("H16 TCP options that overlap, repeat or are cut", "[runtime][exthdr]") {
  Probe overlap = Syn("0501020405b40000");
  CHECK(overlap.Present(kTcp, 5) == "01");
  CHECK(overlap.Present(kTcp, 2) == "01");
  CHECK(Syn("020405b4020405a0").Exthdr(kTcp, 2, 2, 2) == "05b4");
  CHECK(Syn("01020305").Present(kTcp, 2) == "01");
  CHECK(Syn("01020305").Exthdr(kTcp, 2, 2, 2) == kBreak);
}

TEST_CASE("H17 end-of-options stops the scan of IPv4 options; loads may run past them", "[runtime][exthdr]") {
  Probe stopped = Probe::L3(Ipv4().Options(FromHex("0000000094040000")) / Udp(), kIpPrerouting);
  CHECK(stopped.Present(kIpv4, 148) == "00");
  Probe plain = Probe::L3(Ipv4().Options(FromHex("94040000")) / Raw(FromHex("0102030405060708")), kIpPrerouting);
  CHECK(plain.Exthdr(kIpv4, 148, 0, 8) == "9404000001020304");
  CHECK(plain.Exthdr(kIpv4, 148, 8, 5) == kBreak);
}

// Each seen on the kernel, with rights to send raw packets.
TEST_CASE("any malformed IPv4 option hides all", "[runtime][exthdr]") {
  struct {
    const char* what;
    const char* options;  // After a router alert.
    const char* present;
  } cases[] = {
      {"record route", "0707040000000001", "01"},
      {"record route, pointer below 4", "0707030000000001", "00"},
      {"record route, no whole slot left", "0707050000000001", "00"},
      {"record route, full", "0707080000000001", "01"},
      {"record route, twice", "0703040703040101", "00"},
      {"source route", "8307040000000001", "01"},
      {"source route, travelled", "8307080000000001", "00"},
      {"source route, not of whole addresses", "8306040000000101", "00"},
      {"source route, loose and strict", "83070400000000890704000000000101", "00"},
      {"timestamp", "4408050000000000", "01"},
      {"timestamp, pointer below 5", "4408040000000000", "00"},
      {"timestamp, full, and the overflow counter too", "440809f100000000", "00"},
      {"timestamp, full", "440809e100000000", "01"},
      {"timestamp of given addresses, full", "440809f300000000", "01"},
      {"timestamp, no room for address and time", "4408050100000000", "00"},
      {"timestamp of unknown kind", "4408050500000000", "01"},
      {"CIPSO", "86080000000101020000", "00"},
      {"an unknown option", "020a00000000000000000001", "01"},
      {"length 1", "02010101", "00"},
      {"longer than the header", "02090101", "00"},
      {"another router alert, with a value", "94040001", "01"},
  };
  const auto alert = [](const std::string& options) {
    return Probe::L3(Ipv4().Options(FromHex(options)) / Udp(), kIpPrerouting).Present(kIpv4, 148);
  };
  for (const auto& option : cases) {
    INFO(option.what);
    CHECK(alert(std::string("94040000") + option.options) == option.present);
  }
  CHECK(alert("94040001") == "00");  // A router alert with another value than 0 is none.
  CHECK(alert("94020101") == "00");
}

TEST_CASE("source routes are told apart", "[runtime][exthdr]") {
  Probe loose = Probe::L3(Ipv4().Options(FromHex("01830704 0a000001")) / Udp(), kIpPrerouting);
  CHECK(loose.Present(kIpv4, 131) == "01");
  CHECK(loose.Present(kIpv4, 137) == "00");
  CHECK(loose.Exthdr(kIpv4, 131, 3, 4) == "0a000001");
  CHECK(Probe::L3(Ipv4() / Udp(), kIpPrerouting).Present(kIpv4, 131) == "00");
  CHECK(Probe::L3(Ipv6() / Udp(), kIp6Prerouting).Present(kIpv4, 131) == kBreak);
}

}  // namespace
}  // namespace nftjit::testing
