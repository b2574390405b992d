// D: VLAN tags.
#include <catch2/catch.hpp>

#include "tests/quirks/quirk.h"

namespace nftjit::testing {
namespace {

const QuirkSite kTaggedIngress{Family::kNetdev, nft::kNetdevIngress, 0, Topology::kRoutedEthernet};
constexpr std::string_view kTag = "81006005";  // Priority 3, VLAN 5.

nft::Expression Link(uint16_t offset, uint8_t len) { return Load(Base::kLink, offset, len, R1); }

void SeesTag(Quirk& quirk) {
  quirk.Matches({Link(12, 2), Eq(R1, "8100")});
  quirk.Matches({Link(14, 2), Eq(R1, "6005")});
  quirk.Matches({Link(16, 2), Eq(R1, "0800")});
  quirk.Matches({Link(18, 2), Eq(R1, "4500")});
}

TEST_CASE("D1 link loads see the tag that the kernel took out") {
  Quirk quirk(kTaggedIngress);
  SeesTag(quirk);
  quirk.Run(Frame(PacketPU(), kTag));
}

TEST_CASE("D2 link loads may straddle addresses, tag and payload") {
  Quirk quirk(kTaggedIngress);
  quirk.Matches({Link(10, 8), Eq(R1, "0002810060050800")});
  quirk.Matches({Link(0, 20), Eq(R1, "02000000000102000000000281006005"), Eq(R2, "08004500")});
  quirk.Run(Frame(PacketPU(), kTag));
}

TEST_CASE("D3 the tag does not count for protocol, transport header and length") {
  Quirk quirk(kTaggedIngress);
  quirk.Matches({Meta(MetaKey::kProtocol, R1), Eq(R1, "0800")});
  quirk.Matches({Meta(MetaKey::kL4proto, R1), Eq(R1, "11")});
  quirk.Matches({Load(Base::kTransport, 2, 2, R1), Eq(R1, "08ae")});
  quirk.Matches({Meta(MetaKey::kLen, R1), Eq(R1, "21000000")});
  quirk.Run(Frame(PacketPU(), kTag));
}

TEST_CASE("D4 a second tag hides the packet") {
  for (const auto& [outer, tags] :
       std::vector<std::pair<std::string, std::string>>{{"88a8", "88a86005 81000007"}, {"8100", "81006005 81000007"}}) {
    Quirk quirk(kTaggedIngress);
    quirk.Matches({Link(12, 2), Eq(R1, outer)});
    quirk.Matches({Link(16, 2), Eq(R1, "8100")});
    quirk.Matches({Meta(MetaKey::kProtocol, R1), Eq(R1, "8100")});
    quirk.Matches({Load(Base::kNetwork, 0, 4, R1), Eq(R1, "00070800")});
    quirk.Breaks({Meta(MetaKey::kL4proto, R1)});
    quirk.Run(Frame(PacketPU(), tags));
  }
}

TEST_CASE("D5 bridge chains see the tag the same way") {
  Quirk quirk({Family::kBridge, nft::kPrerouting, -300, Topology::kBridged});
  SeesTag(quirk);
  quirk.Matches({Meta(MetaKey::kL4proto, R1), Eq(R1, "11")});
  quirk.Run(Frame(PacketPU(), kTag));
}

TEST_CASE("D10 a priority tag is there at ingress and gone in ip prerouting") {
  Quirk ingress(kTaggedIngress);
  ingress.Matches({Link(12, 2), Eq(R1, "8100")});
  ingress.Matches({Link(14, 2), Eq(R1, "6000")});
  ingress.Matches({Link(16, 2), Eq(R1, "0800")});
  ingress.Run(Frame(PacketPU(), "81006000"));
  Quirk prerouting({Family::kIp, nft::kPrerouting, -300, Topology::kRoutedEthernet});
  prerouting.Matches({Link(12, 2), Eq(R1, "0800")});
  prerouting.Run(Frame(PacketPU(), "81006000"));
}

TEST_CASE("D13 a frame with an 802.3 length field") {
  Quirk quirk(kTaggedIngress);
  quirk.Matches({Meta(MetaKey::kProtocol, R1), Eq(R1, "0004")});
  quirk.Matches({Link(12, 2), Eq(R1, "0026")});
  quirk.Breaks({Meta(MetaKey::kL4proto, R1)});
  quirk.Run(Frame(PacketPU(), {}, 0x0026));
}

TEST_CASE("D13 behind a tag, the load sees the type that the kernel made of the length") {
  Quirk quirk(kTaggedIngress);
  quirk.Matches({Link(16, 2), Eq(R1, "0004")});
  quirk.Matches({Link(12, 8), Eq(R1, "8100600500044500")});
  quirk.Run(Frame(PacketPU(), kTag, 0x0026));
}

}  // namespace
}  // namespace nftjit::testing
