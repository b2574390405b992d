// H: extension headers and options.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/quirks/quirk.h"

namespace nftjit::testing {
namespace {

Bytes TcpWith(std::string_view options) { return Stack(Ipv4()) / Tcp().Options(FromHex(options)); }
nft::Expression Option(uint8_t kind, uint8_t offset, uint8_t len) {
  return Exthdr(ExthdrOp::kTcpOption, kind, offset, len, R1);
}
// `present` as a whole rule: which value it stores.
Expressions Has(ExthdrOp op, uint8_t type, bool there) {
  return {ExthdrPresent(op, type, R1), Eq(R1, there ? "01" : "00")};
}
Expressions HasOption(uint8_t kind, bool there) { return Has(ExthdrOp::kTcpOption, kind, there); }

TEST_CASE("H1 the end of the options does not stop the scan for TCP options") {
  Quirk quirk;
  quirk.Matches(HasOption(2, true));
  quirk.Matches({Option(2, 2, 2), Eq(R1, "05b4")});
  quirk.Run(TcpWith("00000000020405b4"));
}

TEST_CASE("H2 a TCP option of length 0 counts as one byte") {
  Quirk quirk;
  quirk.Matches(HasOption(2, true));
  quirk.Breaks({Option(2, 2, 2)});
  quirk.Run(TcpWith("020005b4"));
}

TEST_CASE("H3 broken or missing TCP headers have no options") {
  Quirk quirk;
  quirk.Matches(HasOption(2, false));
  quirk.Breaks({Option(2, 2, 2)});
  quirk.Run(
      {TcpWith("022805b4"), Stack(Ipv4()) / Tcp().HeaderWords(15), Stack(Ipv4()) / Tcp().HeaderWords(4), PacketPU(),
       Stack(Ipv4().FragmentUnits(1).Protocol(6)) / Raw(FromHex("000000000000000000000000600200000000020405b40000"))});
}

TEST_CASE("H4 an option in the last byte of the header is never seen") {
  Quirk quirk;
  quirk.Matches(HasOption(2, false));
  quirk.Run(TcpWith("01010102"));
}

TEST_CASE("H5 padding options can be matched") {
  Quirk quirk;
  quirk.Matches(HasOption(1, true));
  quirk.Matches({Option(1, 0, 1), Eq(R1, "01")});
  quirk.Matches(HasOption(0, true));
  quirk.Run(TcpWith("0101020405b40000"));
}

TEST_CASE("H6 an unknown option of length 0 is skipped as one byte") {
  Quirk quirk;
  quirk.Matches(HasOption(254, true));
  quirk.Matches({Option(254, 0, 1), Eq(R1, "fe")});
  quirk.Breaks({Option(254, 0, 2)});
  quirk.Matches({Option(2, 2, 2), Eq(R1, "05b4")});
  quirk.Run(TcpWith("fe00020405b40000"));
}

TEST_CASE("H7 exthdr finds the upper-layer header too") {
  Quirk quirk(kIpv6Early);
  quirk.Matches(Has(ExthdrOp::kIpv6, 17, true));
  quirk.Matches({Exthdr(ExthdrOp::kIpv6, 17, 0, 2, R1), Eq(R1, "0457")});
  quirk.Run(Stack(Ipv6()) / Udp().Sport(1111));
}

TEST_CASE("H8 exthdr loads past its header") {
  Quirk quirk(kIpv6Early);
  quirk.Matches({Exthdr(ExthdrOp::kIpv6, 60, 0, 16, R1), Eq(R1, "11000104000000000457")});
  quirk.Run(Stack(Ipv6()) / Ipv6Extension(60).Body(FromHex("010400000000")) / Udp().Sport(1111) / Raw("abcdefgh"));
}

TEST_CASE("H9 exthdr ipv6 breaks on IPv4 packets, also as a presence test") {
  Quirk quirk({Family::kInet, nft::kPrerouting, -300});
  quirk.Breaks({ExthdrPresent(ExthdrOp::kIpv6, 17, R1)});
  quirk.Breaks({Exthdr(ExthdrOp::kIpv6, 17, 0, 1, R1)});
  quirk.Run(PacketPU());
}

TEST_CASE("H10 headers behind a later fragment's header are not there") {
  Quirk quirk(kIpv6Early);
  quirk.Matches(Has(ExthdrOp::kIpv6, 44, true));
  quirk.Matches(Has(ExthdrOp::kIpv6, 17, false));
  quirk.Breaks({Exthdr(ExthdrOp::kIpv6, 17, 0, 1, R1)});
  quirk.Run(PacketP6F());
}

TEST_CASE("H11 the router alert of IPv4 behind padding") {
  Quirk quirk;
  quirk.Matches(Has(ExthdrOp::kIpv4, 148, true));
  quirk.Matches({Exthdr(ExthdrOp::kIpv4, 148, 0, 4, R1), Eq(R1, "94040000")});
  quirk.Run(Stack(Ipv4().Options(FromHex("0101940400000101"))) / Udp());
}

TEST_CASE("H12 at netdev ingress the IPv4 options are found") {
  Quirk quirk({Family::kNetdev, nft::kNetdevIngress, 0, Topology::kRoutedEthernet});
  quirk.Matches(Has(ExthdrOp::kIpv4, 148, true));
  quirk.Run(Frame(Stack(Ipv4().Options(FromHex("94040000"))) / Udp()));
}

TEST_CASE("H13 SCTP chunks are parsed in later fragments too") {
  Quirk quirk;
  quirk.Matches(Has(ExthdrOp::kSctp, 0, true));
  quirk.Matches({Exthdr(ExthdrOp::kSctp, 0, 4, 2, R1), Eq(R1, "abcd")});
  quirk.Run(Stack(Ipv4().FragmentUnits(3).Protocol(132)) / Raw(FromHex("000100020000000000000000 00030008abcd0000")));
}

TEST_CASE("H14 a chunk of length 0 ends the scan and is not found itself") {
  Quirk quirk;
  quirk.Matches(Has(ExthdrOp::kSctp, 3, false));
  quirk.Matches(Has(ExthdrOp::kSctp, 7, false));
  quirk.Run(Stack(Ipv4().Protocol(132)) / Raw(FromHex("000100020000000000000000 07000000 03000004")));
}

TEST_CASE("H15 exthdr parameters that are refused") {
  const auto exthdr = [](uint32_t offset, uint32_t len, uint32_t flags, uint32_t op) {
    return RawRule().Expression("exthdr").U32(1, 1).U8(2, 44).U32(3, offset).U32(4, len).U32(5, flags).U32(6, op);
  };
  exthdr(0, 1, 1, 0).Gives(0);
  exthdr(0, 2, 1, 0).Gives(EINVAL);
  exthdr(0, 1, 2, 0).Gives(EINVAL);
  exthdr(256, 1, 0, 0).Gives(ERANGE);
  exthdr(0, 1, 0, 5).Gives(EOPNOTSUPP);
}

TEST_CASE("H16 of two options of a kind the first is taken, and a broken one is still present") {
  Quirk both;
  both.Matches(HasOption(5, true));
  both.Matches(HasOption(2, true));
  both.Run(TcpWith("0501020405b40000"));
  Quirk twice;
  twice.Matches({Option(2, 2, 2), Eq(R1, "0102")});
  twice.Run(TcpWith("0204010202040304"));
  Quirk broken;
  broken.Matches(HasOption(2, true));
  broken.Breaks({Option(2, 2, 2)});
  broken.Run(TcpWith("01020305"));
}

TEST_CASE("H17 the end of the options stops the scan for IPv4 options") {
  Quirk ended;
  ended.Matches(Has(ExthdrOp::kIpv4, 148, false));
  ended.Run(Stack(Ipv4().Options(FromHex("0000000094040000"))) / Udp());
  Quirk past;
  past.Matches({Exthdr(ExthdrOp::kIpv4, 148, 0, 8, R1), Eq(R1, "9404000004570035")});
  past.Run(Stack(Ipv4().Options(FromHex("94040000"))) / Udp().Sport(1111).Dport(53));
}

}  // namespace
}  // namespace nftjit::testing
