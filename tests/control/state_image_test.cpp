// A server that goes on from an image: as if it had never stopped, whatever the image holds.
#include <catch2/catch.hpp>

#include "lib/netlink/image.h"
#include "lib/netlink/image_format.h"
#include "tests/control/batches.h"

namespace nftjit::control {
namespace {

// A small ruleset of everything, with gaps in the handles.
std::vector<std::vector<TestMessage>> Batches() {
  const std::string counter = Expression("counter", {U64(1, 100), U64(2, 2)});
  const std::string verdict =
      Nest(netlink::kElementData, {Nest(netlink::kDataVerdict, {U32(1, static_cast<uint32_t>(-3)), Text(2, "c")})});
  const std::string dynset = Expression("dynset", {Text(1, "grown"), U32(3, 0), U32(4, 1)});
  const TestMessage bound =
      Make(netlink::kNewChain, {Text(1, "t"), U32(netlink::kChainFlags, 4), U32(netlink::kChainId, 5)});
  return {
      {AddTable(), AddChain("c"), AddBaseChain("b"), AddRule("c", {counter}), AddRule("c", {VerdictExpression(1)})},
      {Make(netlink::kNewObj, {Text(1, "t"), Text(2, "o"), U32(3, 1), Nest(4, {})}), AddSet("grown", 4),
       AddSet("m", 4, nft::kSetMap, {U32(netlink::kSetDataType, nft::kDataTypeVerdict), U32(netlink::kSetDataLen, 0)},
              2),
       AddElements("m", {ElementItem({Key("abcd"), verdict})}), AddRule("b", {LoadSourceAddress(), dynset}),
       AddRule("b", {LoadSourceAddress(), LookupExpression("m", std::nullopt, true)}), bound,
       AddRule("b", {JumpToId(5)})},
      {Make(netlink::kDelRule, {Text(1, "t"), Text(2, "b")}, 0), AddTable("gone")},
      {Make(netlink::kDelTable, {Text(1, "gone")}, 0)},
  };
}

std::string Request(const std::vector<TestMessage>& messages) {
  return Assemble({.messages = messages, .generation = std::nullopt});
}

void Send(Server& server, const std::string& request) {
  server.Handle({reinterpret_cast<const uint8_t*>(request.data()), request.size()});
}

Server Filled() {
  Server server;
  for (const std::vector<TestMessage>& batch : Batches()) Send(server, Request(batch));
  return server;
}

TEST_CASE("a server that was kept in an image goes on where it was") {
  Server kept = Filled();
  const std::string image = netlink::WriteImage(kept.ruleset());
  const auto ruleset = netlink::ReadImage(image, "s.nfb");
  REQUIRE(ruleset.ok());
  Server restored;
  restored.Restore(*ruleset);
  CHECK(netlink::WriteImage(restored.ruleset()) == image);
  // New things get the same handles, names and places.
  const TestMessage bound =
      Make(netlink::kNewChain, {Text(1, "t"), U32(netlink::kChainFlags, 4), U32(netlink::kChainId, 5)});
  const std::string more =
      Request({AddTable("new"), AddBaseChain("x"), AddRule("c", {VerdictExpression(1)}), bound,
               AddRule("c", {JumpToId(5)}), AddSet("y", 4),
               AddRule("x", {LoadSourceAddress(), Expression("dynset", {Text(1, "grown"), U32(3, 0), U32(4, 1)})})});
  Send(kept, more);
  Send(restored, more);
  CHECK(kept.ruleset().tables.at(0).chains.size() == 4);
  CHECK(netlink::WriteImage(restored.ruleset()) == netlink::WriteImage(kept.ruleset()));
}

std::string WithChecksum(std::string image) {
  image.resize(image.size() - netlink::kChecksumSize);
  const uint32_t crc = netlink::Crc32c(image);
  image.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  return image;
}

TEST_CASE("an image with any byte changed is refused, or makes a server that answers") {
  const Server server = Filled();
  const std::string image = netlink::WriteImage(server.ruleset());
  std::string requests = Request({AddTable("new"), AddChain("c"), AddRule("c", {VerdictExpression(1)})});
  for (const uint8_t get :
       {netlink::kGetTable, netlink::kGetChain, netlink::kGetRule, netlink::kGetSet, netlink::kGetObj}) {
    std::string request = Request({Make(get, {}, kFlagDump)});
    requests += request.substr(20, request.size() - 40);
  }
  size_t refused = 0, accepted = 0;
  for (size_t i = 0; i < image.size() - netlink::kChecksumSize; ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = image;
      damaged[i] = static_cast<char>(damaged[i] ^ change);
      CHECK_FALSE(netlink::ReadImage(damaged, "s.nfb").ok());
      const auto ruleset = netlink::ReadImage(WithChecksum(damaged), "s.nfb");
      if (!ruleset.ok()) {
        ++refused;
        continue;
      }
      ++accepted;
      Server restored;
      restored.Restore(*ruleset);
      Send(restored, requests);
    }
  }
  CHECK(refused > 1000);
  CHECK(accepted > 100);
}

}  // namespace
}  // namespace nftjit::control
