// G: metadata and conntrack.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/quirks/quirk.h"

namespace nftjit::testing {
namespace {

TEST_CASE("G1 without an output device oif is 0 and its name empty, the rest breaks") {
  Quirk quirk;
  quirk.Matches({Meta(MetaKey::kOif, R1), Eq(R1, "00000000")});
  quirk.Matches({Meta(MetaKey::kOifname, R1), Eq(R1, "00000000000000000000000000000000")});
  for (const MetaKey key : {MetaKey::kOiftype, MetaKey::kOifgroup, MetaKey::kOifkind}) quirk.Breaks({Meta(key, R1)});
  quirk.Matches({Meta(MetaKey::kIif, R1), Eq(R1, "02000000")});
  quirk.Matches({Meta(MetaKey::kIifname, R1), Eq(R1, "696e3000000000000000000000000000")});
  quirk.Matches({Meta(MetaKey::kIifkind, R1), Eq(R1, "74756e00000000000000000000000000")});
  quirk.Run(PacketPU());
}

TEST_CASE("G2 both devices are known in forward") {
  Quirk quirk({Family::kIp, nft::kForward, 0});
  quirk.Matches({Meta(MetaKey::kIif, R1), Eq(R1, "02000000")});
  quirk.Matches({Meta(MetaKey::kOif, R1), Eq(R1, "03000000")});
  quirk.Matches({Meta(MetaKey::kIiftype, R1), Eq(R1, "feff")});
  quirk.Matches({Meta(MetaKey::kOiftype, R1), Eq(R1, "feff")});
  quirk.Run(PacketFW());
}

TEST_CASE("G5 link loads in forward and postrouting read the received header") {
  for (const uint8_t hook : {nft::kForward, nft::kPostrouting}) {
    Quirk quirk({Family::kIp, hook, 0, Topology::kRoutedEthernet});
    quirk.Matches({Load(Base::kLink, 6, 6, R1), Eq(R1, "020000000002")});
    quirk.Matches({Load(Base::kLink, 12, 2, R1), Eq(R1, "0800")});
    quirk.Run(Frame(PacketFW()));
  }
}

TEST_CASE("G6 rtclassid breaks in prerouting and is 0 in input") {
  Quirk prerouting;
  prerouting.Breaks({Meta(MetaKey::kRtclassid, R1)});
  prerouting.Run(PacketPU());
  Quirk input({Family::kIp, nft::kInput, 0});
  input.facts.has_rtclassid = true;  // A route is attached.
  input.Matches({Meta(MetaKey::kRtclassid, R1), Eq(R1, "00000000")});
  input.Run(Stack(Ipv4().Dst("192.0.2.1")) / Udp());
}

TEST_CASE("G9 before conntrack the state is invalid and every other key breaks") {
  Quirk quirk;
  quirk.Matches({Ct(nft::CtKey::kState, R1), Eq(R1, "01000000")});
  for (const nft::CtKey key : {nft::CtKey::kDirection, nft::CtKey::kStatus, nft::CtKey::kMark, nft::CtKey::kHelper,
                               nft::CtKey::kExpiration, nft::CtKey::kZone, nft::CtKey::kPackets}) {
    quirk.Breaks({Ct(key, R1)});
  }
  quirk.Breaks({Ct(nft::CtKey::kSrc, R1, nft::Direction::kOriginal)});
  quirk.Run(PacketPU());
}

TEST_CASE("G18 ct wants a direction where it says so, and a family that has it") {
  const auto ct = [](Family family, uint32_t key) { return RawRule(family).Expression("ct").U32(1, 1).U32(2, key); };
  ct(Family::kIp, 8).Gives(EINVAL);
  ct(Family::kIp, 8).U8(3, 0).Gives(0);
  ct(Family::kIp, 8).U8(3, 2).Gives(EINVAL);
  ct(Family::kIp, 0).U8(3, 0).Gives(EINVAL);
  ct(Family::kIp, 10).U8(3, 0).Gives(0);
  ct(Family::kNetdev, 0).Gives(EPROTO);
}

TEST_CASE("G7 the packet type is set to what a packet may have, and to nothing else") {
  for (const uint8_t type : {0, 1, 2, 3, 4, 7}) {
    Quirk quirk({Family::kIp, nft::kPrerouting, 0, Topology::kRoutedEthernet});
    quirk.Matches({Set(R1, "03"), SetMeta(MetaKey::kPkttype, R1), Meta(MetaKey::kPkttype, R1), Eq(R1, "03")});
    quirk.Matches({Set(R1, ToHex(Bytes{type})), SetMeta(MetaKey::kPkttype, R1)});
    quirk.Matches({Meta(MetaKey::kPkttype, R1), Eq(R1, ToHex(Bytes{type <= 3 ? type : uint8_t{3}}))});
    quirk.Matches({Set(R1, "00"), SetMeta(MetaKey::kPkttype, R1)});
    quirk.Run(Frame(PacketPU(), {}));
  }
}

TEST_CASE("Marks and priorities set by a rule are seen by the next one") {
  Quirk quirk;
  quirk.Matches({Set(R1, "01020304"), SetMeta(MetaKey::kMark, R1)});
  quirk.Matches({Meta(MetaKey::kMark, R1), Eq(R1, "01020304")});
  quirk.Matches({Set(R1, "05000000"), SetMeta(MetaKey::kPriority, R1), Meta(MetaKey::kPriority, R3), Eq(R3, "05")});
  quirk.Run(PacketPU());
}

}  // namespace
}  // namespace nftjit::testing
