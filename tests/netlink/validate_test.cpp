// What may run where, and how deep chains nest: validation 1, 3 and 4.
#include "lib/nft/validate.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

#include "tests/netlink/messages.h"
#include "tests/netlink/scratch_table.h"
#include "tests/support/netlink_socket.h"
#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::netlink {
namespace {

struct Place {
  Family family;
  uint8_t hook;
  nft::ChainType type;
};

std::vector<Place> Places() {
  std::vector<Place> places;
  for (const Family family : {Family::kIp, Family::kIp6, Family::kInet}) {
    for (uint8_t hook = 0; hook <= (family == Family::kInet ? 5 : 4); ++hook) {
      places.push_back({family, hook, nft::ChainType::kFilter});
      if (hook != nft::kForward && hook <= 4) places.push_back({family, hook, nft::ChainType::kNat});
    }
    places.push_back({family, nft::kOutput, nft::ChainType::kRoute});
  }
  for (uint8_t hook = 0; hook <= 4; ++hook) places.push_back({Family::kBridge, hook, nft::ChainType::kFilter});
  for (const Family family : {Family::kArp, Family::kNetdev}) {
    for (uint8_t hook = 0; hook <= 1; ++hook) places.push_back({family, hook, nft::ChainType::kFilter});
  }
  return places;
}

Message BaseChain(const Place& place) {
  return ChainMessage(place.family, {Str(kChainName, "b"), Nest(kChainHook, {U32(1, place.hook), U32(2, 0)}),
                                     Str(kChainType, nft::Name(place.type))});
}
Message RuleIn(Family family, std::string_view chain, Parts expressions) {
  return {kNewRule, 0xc00, family, Str(kRuleTable, "t") + Str(kRuleChain, chain) + Nest(kRuleExpressions, expressions)};
}
std::string Jump(std::string_view chain) { return Expr("immediate", {U32(1, 0), Verdict(2, -3, chain)}); }
std::string Goto(std::string_view chain) { return Expr("immediate", {U32(1, 0), Verdict(2, -4, chain)}); }

// Every expression with a restriction, and some without.
std::vector<std::pair<std::string, std::string>> Expressions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (uint32_t key = 0; key <= 36; ++key) {
    all.emplace_back("meta load " + std::to_string(key), Expr("meta", {U32(1, 1), U32(2, key)}));
  }
  for (const uint32_t key : {2U, 3U, 4U, 12U, 14U, 19U, 23U, 35U}) {
    all.emplace_back("meta set " + std::to_string(key), Expr("meta", {U32(3, 1), U32(2, key)}));
  }
  for (uint32_t key = 0; key <= 4; ++key) {
    all.emplace_back("rt " + std::to_string(key), Expr("rt", {U32(1, 1), U32(2, key)}));
  }
  for (const uint32_t result : {1U, 2U, 3U}) {
    for (const uint32_t flags : {1U, 2U | 8U, 1U | 16U}) {
      all.emplace_back("fib " + std::to_string(result) + " " + std::to_string(flags),
                       Expr("fib", {U32(1, 1), U32(2, result), U32(3, flags)}));
    }
  }
  for (uint8_t direction = 0; direction <= 1; ++direction) {
    all.emplace_back("xfrm", Expr("xfrm", {U32(1, 1), U32(2, 5), U8(3, direction)}));
  }
  for (const uint32_t type : {0U, 1U}) {
    for (const uint32_t family : {2U, 10U}) {
      all.emplace_back("nat " + std::to_string(type), Expr("nat", {U32(1, type), U32(2, family), U32(3, 1)}));
    }
    all.emplace_back("reject " + std::to_string(type), Expr("reject", {U32(1, type), U8(2, 0)}));
  }
  for (const uint32_t family : {0U, 2U, 10U}) {
    all.emplace_back("tproxy", Expr("tproxy", {U32(1, family), U32(3, 1)}));
  }
  all.emplace_back("payload", Expr("payload", {U32(1, 1), U32(2, 1), U32(3, 0), U32(4, 1)}));
  all.emplace_back("ct load", Expr("ct", {U32(1, 1), U32(2, 0)}));
  all.emplace_back("ct set", Expr("ct", {U32(4, 1), U32(2, 3)}));
  all.emplace_back("connlimit", Expr("connlimit", {U32(1, 1)}));
  all.emplace_back("socket", Expr("socket", {U32(1, 0), U32(2, 1)}));
  all.emplace_back("osf", Expr("osf", {U32(1, 1)}));
  all.emplace_back("tunnel", Expr("tunnel", {U32(1, 0), U32(2, 1)}));
  all.emplace_back("reject icmpx", Expr("reject", {U32(1, 2), U8(2, 0)}));
  all.emplace_back("masq", Expr("masq", {}));
  all.emplace_back("redir", Expr("redir", {}));
  all.emplace_back("dup address", Expr("dup", {U32(1, 1)}));
  all.emplace_back("dup device", Expr("dup", {U32(2, 1)}));
  all.emplace_back("fwd", Expr("fwd", {U32(1, 1)}));
  all.emplace_back("synproxy", Expr("synproxy", {}));
  all.emplace_back("objref synproxy", Expr("objref", {U32(1, 10), Str(2, "o")}));
  all.emplace_back("objref counter", Expr("objref", {U32(1, 1), Str(2, "o")}));
  all.emplace_back("notrack", Expr("notrack", {}));
  all.emplace_back("log", Expr("log", {}));
  all.emplace_back("numgen", Expr("numgen", {U32(1, 1), U32(2, 3), U32(3, 0)}));
  const auto exthdr = [](uint8_t type, uint32_t op) {
    return Expr("exthdr", {U32(1, 1), U8(2, type), U32(3, 1), U32(4, 1), U32(6, op)});
  };
  all.emplace_back("exthdr ipv6", exthdr(0, 0));
  all.emplace_back("exthdr tcpopt", exthdr(2, 1));
  all.emplace_back("exthdr ipv4", exthdr(7, 2));
  all.emplace_back("exthdr sctp", exthdr(0, 3));
  all.emplace_back("exthdr dccp", exthdr(0, 4));
  all.emplace_back("tcpopt set", Expr("exthdr", {U8(2, 2), U32(3, 2), U32(4, 2), U32(6, 1), U32(7, 1)}));
  all.emplace_back("tcpopt strip", Expr("exthdr", {U8(2, 2), U32(6, 1)}));
  all.emplace_back("payload of base 4", Expr("payload", {U32(1, 1), U32(2, 4), U32(3, 0), U32(4, 1)}));
  all.emplace_back("payload of base 5", Expr("payload", {U32(1, 1), U32(2, 5), U32(3, 0), U32(4, 1)}));
  all.emplace_back("counter", Expr("counter", {}));
  all.emplace_back("quota", Expr("quota", {U64(1, 1000)}));
  all.emplace_back("limit", Expr("limit", {U64(1, 1), U64(2, 1)}));
  all.emplace_back("last", Expr("last", {}));
  all.emplace_back("hash", Expr("hash", {U32(1, 1), U32(2, 2), U32(3, 4), U32(4, 3)}));
  all.emplace_back("flow_offload", Expr("flow_offload", {Str(1, "f")}));
  all.emplace_back("queue", Expr("queue", {U16(1, 1)}));
  all.emplace_back("match", Expr("match", {Str(1, "comment"), U32(2, 0), Attr(3, Bytes(256, '\0'))}));
  return all;
}

// The server's answer: to decode the messages, and to validate what they leave.
int Answer(Family family, const std::vector<Message>& messages, KernelFeatures features = {}) {
  ScratchTable table(family, features);
  for (const Message& message : messages) {
    if (const auto error = table.Apply(message)) return error->error;
  }
  const std::optional<nft::Violation> violation = nft::Validate(table.table());
  return violation ? violation->error : 0;
}

// Whether a rule of `expression` in a base chain at the place is accepted.
int AnswerAt(const Place& place, const std::string& expression, KernelFeatures features = {}) {
  return Answer(place.family, {BaseChain(place), RuleIn(place.family, "b", {FillAll(), expression})}, features);
}

TEST_CASE("hooks, families and chain types restrict expressions", "[netlink][validate]") {
  using nft::ChainType;
  const auto at = [](Family family, uint8_t hook, ChainType type, const std::string& expression) {
    return AnswerAt({family, hook, type}, expression);
  };
  const std::string masq = Expr("masq", {}), fib = Expr("fib", {U32(1, 1), U32(2, 1), U32(3, 1)});
  CHECK(at(Family::kIp, nft::kPostrouting, ChainType::kNat, masq) == 0);
  CHECK(at(Family::kIp, nft::kPostrouting, ChainType::kFilter, masq) == EOPNOTSUPP);
  CHECK(at(Family::kIp, nft::kPrerouting, ChainType::kNat, masq) == EOPNOTSUPP);
  CHECK(at(Family::kArp, nft::kArpInput, ChainType::kFilter, masq) == ENOENT);
  CHECK(at(Family::kInet, nft::kForward, ChainType::kFilter, fib) == 0);
  CHECK(at(Family::kInet, nft::kOutput, ChainType::kFilter, fib) == EOPNOTSUPP);
  CHECK(at(Family::kInet, nft::kInetIngress, ChainType::kFilter, fib) == EOPNOTSUPP);
  CHECK(at(Family::kNetdev, nft::kNetdevIngress, ChainType::kFilter, fib) == 0);
  CHECK(at(Family::kNetdev, nft::kNetdevEgress, ChainType::kFilter, fib) == EOPNOTSUPP);
  const std::string queue = Expr("queue", {U16(1, 1)});
  CHECK(at(Family::kBridge, nft::kForward, ChainType::kFilter, queue) == 0);
  CHECK(at(Family::kNetdev, nft::kNetdevIngress, ChainType::kFilter, queue) == EOPNOTSUPP);
}

TEST_CASE("the message says which rule is where it may not be", "[netlink][validate]") {
  ScratchTable table(Family::kIp, {});
  REQUIRE_FALSE(table.Apply(BaseChain({Family::kIp, nft::kInput, nft::ChainType::kFilter})));
  REQUIRE_FALSE(table.Apply(RuleIn(Family::kIp, "c", {Expr("masq", {})})));
  CHECK_FALSE(nft::Validate(table.table()));  // Nobody gets there.
  REQUIRE_FALSE(table.Apply(RuleIn(Family::kIp, "b", {Jump("c")})));
  const auto violation = nft::Validate(table.table());
  REQUIRE(violation);
  CHECK(violation->error == EOPNOTSUPP);
  CHECK(violation->chain == table.table().FindChain("c")->handle);
  CHECK(violation->message == "rule 3 of chain c: masq is not allowed at hook input of filter chain b");
}

// Chains c0 to c`count`-1 with a rule in each that leads to the next, by jumps, gotos and elements in turn; the first
// is led to from the base chain.
std::vector<Message> Ladder(size_t count) {
  std::vector<Message> messages = {BaseChain({Family::kIp, nft::kInput, nft::ChainType::kFilter})};
  for (size_t i = 0; i < count; ++i) {
    messages.push_back(ChainMessage(Family::kIp, {Str(kChainName, "c" + std::to_string(i))}));
  }
  for (size_t i = 0; i < count; ++i) {
    const std::string from = i == 0 ? "b" : "c" + std::to_string(i - 1), to = "c" + std::to_string(i);
    if (i % 3 != 2) {
      messages.push_back(RuleIn(Family::kIp, from, {i % 3 == 0 ? Jump(to) : Goto(to)}));
      continue;
    }
    const std::string map = "m" + std::to_string(i);
    messages.push_back(
        SetMessage(Family::kIp, map,
                   {U32(kSetKeyLen, 4), U32(kSetFlags, nft::kSetMap), U32(kSetDataType, nft::kDataTypeVerdict)}));
    messages.push_back(RuleIn(Family::kIp, from, {Fill(), Expr("lookup", {Str(1, map), U32(2, 1), U32(3, 0)})}));
    // The last by a catch-all.
    const std::string key = i + 1 == count ? U32(kElementFlags, 2) : Value(kElementKey, "abcd");
    messages.push_back(ElementsMessage(Family::kIp, map, {Element({key, Verdict(kElementData, -3, to)})}));
  }
  return messages;
}

std::vector<std::pair<std::string, std::vector<Message>>> Paths() {
  const Message base = BaseChain({Family::kIp, nft::kInput, nft::ChainType::kFilter});
  const Message d = ChainMessage(Family::kIp, {Str(kChainName, "d")});
  const auto rule = [](std::string_view chain, const std::string& expression) {
    return RuleIn(Family::kIp, chain, {expression});
  };
  return {
      {"15 chains", Ladder(15)},
      {"16 chains", Ladder(16)},
      {"18 chains, the last by a catch-all", Ladder(18)},
      {"loop that nobody reaches", {base, rule("c", Jump("c"))}},
      {"self-jump", {base, rule("c", Jump("c")), rule("b", Jump("c"))}},
      {"loop of gotos", {base, d, rule("c", Goto("d")), rule("d", Goto("c")), rule("b", Goto("c"))}},
      {"two ways to one chain", {base, d, rule("c", Jump("d")), rule("b", Jump("d")), rule("b", Jump("c"))}},
      {"masq reached", {base, rule("c", Expr("masq", {})), rule("b", Jump("c"))}},
      {"masq not reached", {base, rule("c", Expr("masq", {}))}},
  };
}

TEST_CASE("chains nest 15 deep", "[netlink][validate]") {
  const auto answer = [](const char* name) {
    for (const auto& [path, messages] : Paths()) {
      if (path == name) return Answer(Family::kIp, messages);
    }
    return -1;
  };
  CHECK(answer("15 chains") == 0);
  CHECK(answer("16 chains") == EMLINK);
  CHECK(answer("18 chains, the last by a catch-all") == EMLINK);
  CHECK(answer("loop that nobody reaches") == 0);
  CHECK(answer("self-jump") == EMLINK);
  CHECK(answer("loop of gotos") == EMLINK);
  CHECK(answer("two ways to one chain") == 0);
  CHECK(answer("masq reached") == EOPNOTSUPP);
  CHECK(answer("masq not reached") == 0);
}

TEST_CASE("the live kernel allows the same at every hook", "[netlink][validate][kernel]") {
  if (!testing::MayRun("kernel", testing::NetworkNamespace::Available())) return;
  const auto network = testing::NetworkNamespace::Enter();
  REQUIRE(network.ok());
  auto socket = testing::NetlinkSocket::Open();
  REQUIRE(socket.ok());
  // The first error of a batch; nothing stays.
  const auto ask = [&socket](Family family, const std::vector<Message>& messages) {
    testing::Batch batch;
    const auto append = [&batch](const Message& message) {
      batch.BeginMessage(message.type, message.flags, message.family).Append(message.body);
      batch.EndMessage();
    };
    append(TableMessage(family, {}));
    append(ChainMessage(family, {Str(kChainName, "c")}));
    for (const Message& message : messages) append(message);
    const auto errors = socket->Send(batch);
    REQUIRE(errors.ok());
    testing::Batch deletion;
    deletion.BeginMessage(kDestroyTable, 0, family).String(kTableName, "t");
    deletion.EndMessage();
    REQUIRE(socket->Apply(deletion).ok());
    for (const int error : *errors) {
      if (error != 0) return error;
    }
    return 0;
  };
  for (const auto& [name, messages] : Paths()) {
    INFO(name);
    CHECK(ErrorText(ask(Family::kIp, messages)) == ErrorText(Answer(Family::kIp, messages)));
  }
  const auto at = [](const Place& place, const std::string& expression) -> std::vector<Message> {
    return {BaseChain(place), ObjectMessage(place.family, "o", 1, {}), ObjectMessage(place.family, "o", 10, {}),
            RuleIn(place.family, "b", {FillAll(), expression})};
  };
  const auto has = [&](Family family, const std::string& expression) {
    return ask(family, {RuleIn(family, "c", {FillAll(), expression})}) == 0;
  };
  KernelFeatures features;
  features.queue = has(Family::kIp, Expr("queue", {U16(1, 1)}));
  features.bridge_conntrack = has(Family::kBridge, Expr("ct", {U32(1, 1), U32(2, 0)}));
  features.bridge_reject = has(Family::kBridge, Expr("reject", {U32(1, 1)}));
  features.bridge_meta = has(Family::kBridge, Expr("meta", {U32(1, 1), U32(2, 17)}));
  features.dccp = has(Family::kIp, Expr("exthdr", {U32(1, 1), U8(2, 1), U32(3, 0), U32(4, 1), U32(6, 4)}));
  features.flow_offload = false;  // Its answer for a missing flowtable is that of a missing expression.
  for (const Place& place : Places()) {
    for (const auto& [name, expression] : Expressions()) {
      std::vector<Message> messages = at(place, expression);
      // Families without connection tracking have no synproxy objects.
      if (place.family == Family::kArp || place.family == Family::kNetdev || place.family == Family::kBridge) {
        messages.erase(messages.begin() + 2);
      }
      INFO(name << " in " << nft::Name(place.family) << " at " << nft::HookName(place.family, place.hook) << " of type "
                << nft::Name(place.type));
      CHECK(ErrorText(ask(place.family, messages)) == ErrorText(Answer(place.family, messages, features)));
    }
  }
}

}  // namespace
}  // namespace nftjit::netlink
