// C: payload loads, packet information.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/quirks/quirk.h"

namespace nftjit::testing {
namespace {

const QuirkSite kIngress{Family::kNetdev, nft::kNetdevIngress, 0};

nft::Expression L4proto() { return Meta(MetaKey::kL4proto, R1); }
nft::Expression Transport(uint16_t offset, uint8_t len) { return Load(Base::kTransport, offset, len, R1); }
nft::Expression Inner(uint16_t offset, uint8_t len) { return Load(Base::kInner, offset, len, R1); }

void LoadsRawFragment(Quirk& quirk) {
  quirk.Matches({Transport(0, 1), Eq(R1, "04")});
  quirk.Matches({Transport(1, 1), Eq(R1, "57")});
  quirk.Matches({Transport(0, 2), Eq(R1, "0457")});
  quirk.Matches({Transport(2, 2), Eq(R1, "08ae")});
  quirk.Matches({Transport(0, 4), Eq(R1, "045708ae")});
  quirk.Matches({Transport(4, 4), Eq(R1, "003060f5")});
}
void BreaksOnFragment(Quirk& quirk) {
  for (const auto& [offset, len] :
       std::vector<std::pair<uint16_t, uint8_t>>{{1, 2}, {0, 3}, {1, 4}, {2, 4}, {0, 8}, {8, 8}}) {
    quirk.Breaks({Transport(offset, len)});
  }
}

TEST_CASE("C1 aligned transport loads of 1, 2 and 4 bytes read later fragments raw") {
  Quirk quirk;
  LoadsRawFragment(quirk);
  quirk.Run(PacketPF());
}

TEST_CASE("C2 all other transport loads break on later fragments") {
  Quirk quirk;
  BreaksOnFragment(quirk);
  quirk.Run(PacketPF());
}

TEST_CASE("C3 that holds at any offset") {
  Quirk quirk;
  quirk.Matches({Transport(300, 2)});
  quirk.Breaks({Transport(300, 3)});
  quirk.Run(Stack(Ipv4().FragmentUnits(1).MoreFragments(true).Protocol(17)) / Raw(Bytes(408, 0x33)));
}

TEST_CASE("C4 the same at netdev ingress") {
  Quirk quirk(kIngress);
  LoadsRawFragment(quirk);
  BreaksOnFragment(quirk);
  quirk.Run(PacketPF());
}

TEST_CASE("C5 l4proto is known on later fragments") {
  Quirk quirk;
  quirk.Matches({L4proto(), Eq(R1, "11")});
  quirk.Run(PacketPF());
}

TEST_CASE("C6 there is no inner header in a later fragment") {
  Quirk quirk;
  quirk.Breaks({Inner(0, 1)});
  quirk.Run(PacketPF());
}

TEST_CASE("C7 the transport header of a later IPv6 fragment is the IPv6 header itself") {
  Quirk quirk(kIpv6Early);
  quirk.Matches({Transport(0, 2), Eq(R1, "6000")});
  quirk.Matches({Transport(2, 2), Eq(R1, "0000")});
  quirk.Matches({Transport(0, 4), Eq(R1, "60000000")});
  quirk.Matches({Transport(4, 4), Eq(R1, "00382c40")});
  quirk.Run(PacketP6F());
}

TEST_CASE("C8 slow loads break there, l4proto is known") {
  Quirk quirk(kIpv6Early);
  quirk.Breaks({Transport(0, 3)});
  quirk.Breaks({Transport(0, 8)});
  quirk.Matches({L4proto(), Eq(R1, "11")});
  quirk.Run(PacketP6F());
}

TEST_CASE("C9 a later fragment followed by an extension header has no transport header at all") {
  Quirk quirk(kIpv6Early);
  quirk.Breaks({L4proto()});
  quirk.Breaks({Transport(0, 2)});
  Bytes packet = PacketP6F();
  packet[40] = 60;
  quirk.Run(packet);
}

TEST_CASE("C10 an extension header longer than the packet is no error") {
  Quirk quirk(kIpv6Early);
  quirk.Matches({L4proto(), Eq(R1, "11")});
  quirk.Breaks({Transport(0, 2)});
  quirk.Run(PacketP6D());
}

TEST_CASE("C11 an authentication header is the transport header") {
  Quirk quirk(kIpv6Early);
  quirk.Matches({L4proto(), Eq(R1, "33")});
  quirk.Matches({Transport(0, 2), Eq(R1, "1104")});
  quirk.Run(Stack(Ipv6()) / Ipv6Extension(51).Body(Bytes(22)).LengthField(4) / Udp());
}

TEST_CASE("C12 a load may end at the packet's end, not one byte later") {
  Quirk quirk;
  quirk.Matches({Transport(9, 4), Eq(R1, "656c6c6f")});
  quirk.Breaks({Transport(8, 6)});
  quirk.Run(PacketPU());
}

TEST_CASE("C13 there is no link header on a TUN device") {
  Quirk quirk;
  quirk.Breaks({Load(Base::kLink, 0, 2, R1)});
  quirk.Run(PacketPU());
}

TEST_CASE("C14 the inner offset of TCP takes any data offset") {
  Quirk three;
  three.Matches({Inner(0, 2), Transport(12, 2), Eq(R1, "3002")});
  three.Matches({Inner(0, 2), Eq(R1, "3002")});
  three.Run(Stack(Ipv4()) / Tcp().HeaderWords(3) / Raw("01234567"));
  Quirk fifteen;
  fifteen.Breaks({Inner(0, 2)});
  fifteen.Run(Stack(Ipv4()) / Tcp().HeaderWords(15));
}

TEST_CASE("C15 protocols without an inner header") {
  Quirk quirk;
  quirk.Breaks({Inner(0, 1)});
  quirk.Run({Stack(Ipv4()) / Icmp() / Raw("01234567"), Stack(Ipv4().Protocol(255)) / Raw("0123456789"),
             Stack(Ipv4().Protocol(47)) / Raw(FromHex("00010800000000000000000000000000")),
             Stack(Ipv4().Protocol(47)) / Raw(FromHex("40000800000000000000000000000000"))});
}

TEST_CASE("C16 the inner header behind GRE options, and of IP in IP") {
  Quirk gre;
  gre.Matches({Inner(0, 2), Eq(R1, "abcd")});
  gre.Run(Stack(Ipv4().Protocol(47)) / Raw(FromHex("b0000800 11111111 22222222 33333333 abcdef01")));
  Quirk ipip;
  ipip.Matches({Inner(0, 1), Eq(R1, "45")});
  ipip.Run(Stack(Ipv4().Protocol(4)) / Raw(FromHex("4500001c000000004011000001020304050607080000000000000000")));
}

TEST_CASE("C17 payload offsets go to 65535") {
  Quirk quirk;
  quirk.Matches({Load(Base::kNetwork, 300, 4, R1), Eq(R1, "61616161")});
  quirk.Breaks({Load(Base::kNetwork, 65535, 1, R1)});
  quirk.Run(Stack(Ipv4()) / Udp() / Raw(Bytes(356, 0x61)));
  RawRule().Expression("payload").U32(1, 1).U32(2, 1).U32(3, 65535).U32(4, 1).Gives(0);
  RawRule().Expression("payload").U32(1, 1).U32(2, 1).U32(3, 65536).U32(4, 1).Gives(ERANGE);
}

std::vector<Bytes> LyingPackets() {
  std::vector<Bytes> packets;
  for (const uint16_t total : {uint16_t{200}, uint16_t{10}, uint16_t{0}}) {
    Bytes packet = PacketPU();
    packet[2] = static_cast<uint8_t>(total >> 8);
    packet[3] = static_cast<uint8_t>(total);
    packets.push_back(packet);
  }
  Bytes short_header = PacketPU();
  short_header[0] = 0x44;
  packets.push_back(short_header);
  return packets;
}

TEST_CASE("C18 at netdev ingress a broken L3 header leaves the network header readable") {
  Quirk quirk(kIngress);
  quirk.Matches({});
  quirk.Breaks({L4proto()});
  quirk.Breaks({Transport(0, 2)});
  quirk.Matches({Load(Base::kNetwork, 0, 4, R1)});
  quirk.Run(LyingPackets());
  Quirk cut(kIngress);
  cut.Breaks({L4proto()});
  cut.Matches({Load(Base::kNetwork, 4, 4, R1), Eq(R1, "00010000")});
  cut.Breaks({Load(Base::kNetwork, 8, 4, R1)});
  Bytes ten = PacketPU();
  ten.resize(10);
  cut.Run(ten);
}

TEST_CASE("C19 at inet ingress a broken L3 header is dropped before the chain") {
  Quirk quirk({Family::kInet, nft::kInetIngress, 0});
  quirk.Counts({}, 0);
  quirk.Ends(nftjit::Verdict::kDrop);
  std::vector<Bytes> packets = LyingPackets();
  Bytes ipv6 = Stack(Ipv6()) / Udp();
  ipv6[5] = 200;
  packets.push_back(ipv6);
  quirk.Run(packets);
  Quirk checksum({Family::kInet, nft::kInetIngress, 0});
  checksum.Matches({});
  checksum.Run(Stack(Ipv4().Checksum(0x1234)) / Udp());
}

TEST_CASE("C20 netdev ingress sees bytes after the IP packet, ip prerouting does not") {
  Bytes packet = PacketPU();
  packet.resize(packet.size() + 4);
  Quirk ingress(kIngress);
  ingress.Matches({Meta(MetaKey::kLen, R1), Eq(R1, "25000000")});
  ingress.Matches({Load(Base::kNetwork, 33, 4, R1), Eq(R1, "00000000")});
  ingress.Run(packet);
  Quirk prerouting;
  prerouting.Matches({Meta(MetaKey::kLen, R1), Eq(R1, "21000000")});
  prerouting.Breaks({Load(Base::kNetwork, 33, 4, R1)});
  prerouting.Run(packet);
}

TEST_CASE("C21 netdev ingress does not look at the IP header checksum") {
  Quirk quirk(kIngress);
  quirk.Matches({L4proto(), Eq(R1, "11")});
  quirk.Run(Stack(Ipv4().Checksum(0x1234)) / Udp());
}

TEST_CASE("C22 a counter in front of a failing expression counts, one behind it does not") {
  Quirk quirk;
  const nft::Handle broken = quirk.rules().Chain("broken");
  quirk.Plain(quirk.chain(), {Give(VerdictCode::kJump, broken)});
  quirk.In(broken, {}, 1);
  quirk.In(broken, {Count(), Transport(100, 2)}, 0);
  quirk.Run(PacketPU());
}

TEST_CASE("C26 a later fragment of no next header, and of an authentication header") {
  Bytes packet = PacketP6F();
  packet[40] = 59;
  Quirk none(kIpv6Early);
  none.Matches({L4proto(), Eq(R1, "3b")});
  none.Matches({Transport(0, 2), Eq(R1, "6000")});
  none.Matches({ExthdrPresent(ExthdrOp::kIpv6, 59, R1), Eq(R1, "00")});
  none.Matches({ExthdrPresent(ExthdrOp::kIpv6, 44, R1), Eq(R1, "01")});
  none.Run(packet);
  packet[40] = 51;
  Quirk ah(kIpv6Early);
  ah.Breaks({L4proto()});
  ah.Breaks({Transport(0, 2)});
  ah.Run(packet);
}

TEST_CASE("C27 a second fragment header that is a later fragment's is not followed") {
  Quirk quirk(kIpv6Early);
  quirk.Matches({L4proto(), Eq(R1, "11")});
  quirk.Matches({Transport(0, 2), Eq(R1, "6000")});
  quirk.Matches({Exthdr(ExthdrOp::kIpv6, 44, 2, 2, R1), Eq(R1, "0000")});
  quirk.Run(Stack(Ipv6()) / Ipv6Fragment().NextHeader(44) / Ipv6Fragment().OffsetBytes(8).NextHeader(17) /
            Raw(Bytes(16, 0x77)));
}

TEST_CASE("C28 extension headers that are cut") {
  Quirk two(kIpv6Early);
  two.Breaks({L4proto()});
  two.Matches({ExthdrPresent(ExthdrOp::kIpv6, 44, R1), Eq(R1, "00")});
  two.Matches({ExthdrPresent(ExthdrOp::kIpv6, 17, R1), Eq(R1, "00")});
  two.Run(Stack(Ipv6().NextHeader(44)) / Raw(FromHex("1100")));
  Quirk four(kIpv6Early);
  four.Matches({L4proto(), Eq(R1, "11")});
  four.Matches({ExthdrPresent(ExthdrOp::kIpv6, 44, R1), Eq(R1, "01")});
  four.Matches({ExthdrPresent(ExthdrOp::kIpv6, 17, R1), Eq(R1, "01")});
  four.Run(Stack(Ipv6().NextHeader(44)) / Raw(FromHex("11000000")));
  Quirk routing(kIpv6Early);
  routing.Breaks({L4proto()});
  routing.Run(Stack(Ipv6().NextHeader(43)) / Raw(FromHex("1100")));
}

TEST_CASE("C29 bytes after no next header") {
  Quirk quirk(kIpv6Early);
  quirk.Matches({ExthdrPresent(ExthdrOp::kIpv6, 59, R1), Eq(R1, "01")});
  quirk.Matches({ExthdrPresent(ExthdrOp::kIpv6, 60, R1), Eq(R1, "01")});
  quirk.Matches({L4proto(), Eq(R1, "3b")});
  quirk.Matches({Transport(0, 2), Eq(R1, "3031")});
  quirk.Run(Stack(Ipv6()) / Ipv6Extension(60).Body(FromHex("010400000000")).NextHeader(59) / Raw("01234567"));
}

TEST_CASE("C30 exthdr walks over an authentication header, packet information does not") {
  Quirk quirk(kIpv6Early);
  for (const uint8_t type : {51, 60, 17}) quirk.Matches({ExthdrPresent(ExthdrOp::kIpv6, type, R1), Eq(R1, "01")});
  quirk.Matches({L4proto(), Eq(R1, "33")});
  quirk.Run(Stack(Ipv6()) / Ipv6Extension(51).Body(Bytes(22)).LengthField(4) /
            Ipv6Extension(60).Body(FromHex("010400000000")) / Udp());
  Quirk zero(kIpv6Early);
  zero.Matches({ExthdrPresent(ExthdrOp::kIpv6, 51, R1), Eq(R1, "01")});
  zero.Matches({ExthdrPresent(ExthdrOp::kIpv6, 60, R1), Eq(R1, "00")});
  zero.Matches({ExthdrPresent(ExthdrOp::kIpv6, 17, R1), Eq(R1, "01")});
  zero.Matches({L4proto(), Eq(R1, "33")});
  zero.Run(Stack(Ipv6()) / Ipv6Extension(51).Body(Bytes(6)).LengthField(0) / Udp());
}

TEST_CASE("C31 arp input and netdev ingress see a padded ARP packet whole") {
  const Bytes padded = FromHex(
      "0200000000010200000000020806 0001080006040001 020000000002 0a000002 000000000000 0a000001"
      "000000000000000000000000000000000000");
  Bytes plain = padded;
  plain.resize(42);
  for (const auto& [site, packet, len] : std::vector<std::tuple<QuirkSite, Bytes, std::string>>{
           {{Family::kNetdev, nft::kNetdevIngress, 0, Topology::kRoutedEthernet}, padded, "2e000000"},
           {{Family::kArp, nft::kArpInput, 0, Topology::kRoutedEthernet}, padded, "2e000000"},
           {{Family::kArp, nft::kArpInput, 0, Topology::kRoutedEthernet}, plain, "1c000000"}}) {
    Quirk quirk(site);
    quirk.Matches({Meta(MetaKey::kLen, R1), Eq(R1, len)});
    quirk.Breaks({L4proto()});
    quirk.Run(packet);
  }
}

TEST_CASE("C33 an IPv6 packet is trimmed to its payload length") {
  Bytes packet = Stack(Ipv6()) / Udp() / Raw("hello");
  packet.resize(packet.size() + 12);
  Quirk quirk(kIpv6Early);
  quirk.Matches({Meta(MetaKey::kLen, R1), Eq(R1, "35000000")});
  quirk.Run(packet);
}

TEST_CASE("C35 the inner header behind IP options, and protocols that have none") {
  Quirk udp;
  udp.Matches({Inner(0, 2), Eq(R1, "6869")});
  udp.Run(Stack(Ipv4().Options({1, 1, 1, 1})) / Udp() / Raw("hi"));
  Quirk none;
  none.Breaks({Inner(0, 2)});
  std::vector<Bytes> packets;
  for (const uint8_t protocol : {41, 50, 136, 132}) {
    packets.push_back(Stack(Ipv4().Protocol(protocol)) / Raw(Bytes(40, 0x60)));
  }
  none.Run(packets);
}

}  // namespace
}  // namespace nftjit::testing
