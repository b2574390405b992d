// Names, lengths and comments of the model.
#include <catch2/catch.hpp>

#include "lib/nft/ruleset.h"

namespace nftjit::nft {
namespace {

TEST_CASE("family names read back", "[nft]") {
  for (const Family family :
       {Family::kInet, Family::kIp, Family::kArp, Family::kNetdev, Family::kBridge, Family::kIp6}) {
    REQUIRE(FamilyFromName(Name(family)) == family);
  }
  REQUIRE(Name(Family::kUnspec) == "unspec");
  REQUIRE(FamilyFromName("ipx") == std::nullopt);
}

TEST_CASE("hooks are named by family", "[nft]") {
  REQUIRE(HookName(Family::kInet, kInetIngress) == "ingress");
  REQUIRE(HookName(Family::kIp, kInetIngress) == "unknown");
  REQUIRE(HookName(Family::kArp, kArpOutput) == "output");
  REQUIRE(HookName(Family::kNetdev, kNetdevEgress) == "egress");
  REQUIRE(HookFromName(Family::kBridge, "forward") == kForward);
  REQUIRE(HookFromName(Family::kArp, "forward") == std::nullopt);
  REQUIRE(HookFromName(Family::kUnspec, "input") == std::nullopt);
}

TEST_CASE("keys have the lengths of the kernel's register check", "[nft]") {
  REQUIRE(MetaLength(MetaKey::kL4proto) == 4);
  REQUIRE(MetaLength(MetaKey::kIifname) == 16);
  REQUIRE(MetaLength(MetaKey::kNftrace) == 0);
  REQUIRE(MetaLength(static_cast<MetaKey>(200)) == 0);
  REQUIRE(CtLength(CtKey::kSrc, Family::kIp) == 4);
  REQUIRE(CtLength(CtKey::kSrc, Family::kInet) == 16);
  REQUIRE(CtLength(CtKey::kSrc, Family::kBridge) == 0);
  REQUIRE(CtLength(CtKey::kEvent, Family::kIp) == 0);
  REQUIRE(CtLength(static_cast<CtKey>(200), Family::kIp) == 0);
  REQUIRE(Name(MetaKey::kBriIifhwaddr) == "ibrhwaddr");
  REQUIRE(Name(CtKey::kId) == "id");
}

TEST_CASE("expressions carry the kernel's names", "[nft]") {
  REQUIRE(Name(Immediate{}) == "immediate");
  REQUIRE(Name(ExthdrStrip{}) == "exthdr");
  REQUIRE(Name(Rt{}) == "rt");
  REQUIRE(Name(Synproxy{}) == "synproxy");
  REQUIRE(Name(CompatTarget{}) == "target");
}

TEST_CASE("comments are found in user data", "[nft]") {
  using std::string_literals::operator""s;
  REQUIRE(Comment("\x00\x03rc\0"s) == "rc");
  REQUIRE(Comment("\x01\x02xy\x00\x02h\0"s) == "h");
  REQUIRE(Comment("\x00\x09rc\0"s) == std::nullopt);  // Longer than the data.
  REQUIRE(Comment("\x00"s) == std::nullopt);
  REQUIRE(Comment("") == std::nullopt);
  // A set numbers its byte order 0 and its comment 7.
  const std::string set = "\x00\x04\x02\x00\x00\x00\x07\x03sc\0"s;
  REQUIRE(SetComment(set) == "sc");
}

}  // namespace
}  // namespace nftjit::nft
