// GETs of one thing and dumps, and those that reset what they dumped: validation.md 1.
#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>

#include "tests/control/batches.h"

namespace nftjit::control {
namespace {

// The messages that answer a GET; an error's number in the first, if there is one.
struct Answer {
  int error = 0;
  std::vector<Message> messages;
  std::vector<std::string> datagrams;  // What the messages refer to.
};

Answer Get(Server& server, uint8_t operation, std::initializer_list<std::string> attributes, bool dump) {
  TestMessage message = Make(operation, attributes, dump ? kFlagDump : 0);
  message.flags = static_cast<uint16_t>(dump ? kFlagDump : 0);
  std::string request = Assemble({.messages = {message}, .generation = std::nullopt});
  request = request.substr(20, request.size() - 40);  // Without BATCH_BEGIN and BATCH_END.
  Answer answer;
  answer.datagrams = server.Handle({reinterpret_cast<const uint8_t*>(request.data()), request.size()});
  for (const std::string& datagram : answer.datagrams) {
    ByteSpan rest(reinterpret_cast<const uint8_t*>(datagram.data()), datagram.size());
    while (const std::optional<Message> part = NextMessage(rest)) {
      if (part->type == kTypeError) answer.error = -LoadNative<int32_t>(part->bytes.data() + 16);
      if (part->subsystem() == netlink::kNftablesSubsystem) answer.messages.push_back(*part);
    }
  }
  return answer;
}

std::string CounterWith(uint64_t bytes, uint64_t packets) {
  return Expression("counter", {U64(1, bytes), U64(2, packets)});
}

// A table with one of everything that counts.
void Fill(Judges& judges) {
  const TestMessage counter =
      Make(netlink::kNewObj, {Text(1, "t"), Text(2, "o"), U32(3, 1), Nest(4, {U64(1, 60), U64(2, 1)})});
  const TestMessage quota =
      Make(netlink::kNewObj, {Text(1, "t"), Text(2, "q"), U32(3, 2), Nest(4, {U64(1, 1000), U64(4, 500)})});
  const std::string element =
      ElementItem({Key("abcd"), Nest(netlink::kElementExpr, {Text(1, "counter"), Nest(2, {U64(1, 9), U64(2, 3)})})});
  const std::string other =
      ElementItem({Key("efgh"), Nest(netlink::kElementExpr, {Text(1, "counter"), Nest(2, {U64(1, 8), U64(2, 2)})})});
  REQUIRE(judges.Errors({AddTable(), AddChain("c"), AddChain("d"), counter, quota, AddSet("s", 4),
                         AddElements("s", {element, other}), AddRule("c", {CounterWith(100, 2)}),
                         AddRule("d", {CounterWith(50, 1)})}) == std::vector<int>(9, 0));
}

nft::Counter CounterOf(const std::vector<nft::Expression>& expressions) {
  return std::get<nft::Counter>(expressions.at(0).body);
}

TEST_CASE("getting what is not there") {
  Judges judges;
  Server& server = judges.server();
  CHECK(Get(server, netlink::kGetTable, {Text(1, "t")}, false).error == ENOENT);
  CHECK(Get(server, netlink::kGetSetElem, {Text(1, "t"), Text(2, "s")}, true).error == ENOENT);
  const Answer rules = Get(server, netlink::kGetRule, {Text(1, "t")}, true);
  CHECK(rules.error == 0);
  CHECK(rules.messages.empty());
  REQUIRE(judges.Errors({AddTable()}) == std::vector<int>{0});
  CHECK(Get(server, netlink::kGetTable, {Text(1, "t")}, false).messages.size() == 1);
  CHECK(Get(server, netlink::kGetRule, {Text(1, "t"), Text(2, "c")}, true).messages.empty());
  CHECK(Get(server, netlink::kGetSetElem, {Text(1, "t"), Text(2, "s")}, true).error == ENOENT);
}

TEST_CASE("rules are reset by chain, by handle, or all") {
  Judges judges;
  Fill(judges);
  const auto packets = [&](size_t chain) {
    return CounterOf(judges.table().chains.at(chain).rules.at(0).expressions).packets;
  };
  const uint32_t generation = judges.server().state().issued.generation;
  SECTION("by chain") {
    CHECK(Get(judges.server(), netlink::kGetRuleReset, {Text(1, "t"), Text(2, "c")}, true).messages.size() == 1);
    CHECK(packets(0) == 0);
    CHECK(packets(1) == 1);
  }
  SECTION("by handle") {
    const nft::Handle handle = judges.table().chains.at(1).rules.at(0).handle;
    CHECK(Get(judges.server(), netlink::kGetRuleReset, {Text(1, "t"), Text(2, "d"), U64(3, handle)}, false)
              .messages.size() == 1);
    CHECK(packets(0) == 2);
    CHECK(packets(1) == 0);
  }
  SECTION("all") {
    CHECK(Get(judges.server(), netlink::kGetRuleReset, {}, true).messages.size() == 2);
    CHECK(packets(0) == 0);
    CHECK(packets(1) == 0);
  }
  SECTION("a plain dump resets nothing") {
    CHECK(Get(judges.server(), netlink::kGetRule, {}, true).messages.size() == 2);
    CHECK(packets(0) == 2);
  }
  CHECK(judges.server().state().issued.generation == generation);
}

TEST_CASE("objects are reset by type or name") {
  Judges judges;
  Fill(judges);
  const auto counter = [&] { return std::get<nft::Counter>(judges.table().objects.at(0).body).packets; };
  const auto quota = [&] { return std::get<nft::Quota>(judges.table().objects.at(1).body).consumed; };
  CHECK(Get(judges.server(), netlink::kGetObjReset, {U32(3, 1)}, true).messages.size() == 1);
  CHECK(counter() == 0);
  CHECK(quota() == 500);
  CHECK(Get(judges.server(), netlink::kGetObjReset, {Text(1, "t"), Text(2, "q"), U32(3, 2)}, false).messages.size() ==
        1);
  CHECK(quota() == 0);
}

TEST_CASE("elements are reset one by one or all") {
  Judges judges;
  Fill(judges);
  const auto packets = [&](size_t element) {
    return CounterOf(judges.table().sets.at(0).elements.at(element).expressions).packets;
  };
  CHECK(Get(judges.server(), netlink::kGetSetElemReset,
            {Text(1, "t"), Text(2, "s"), Nest(3, {ElementItem({Key("efgh")})})}, false)
            .messages.size() == 1);
  CHECK(packets(0) == 3);
  CHECK(packets(1) == 0);
  CHECK(Get(judges.server(), netlink::kGetSetElemReset, {Text(1, "t"), Text(2, "s")}, true).messages.size() == 1);
  CHECK(packets(0) == 0);
}

}  // namespace
}  // namespace nftjit::control
