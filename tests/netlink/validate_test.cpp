// What may run where, and how deep chains nest: validation 1, 3 and 4.
#include "lib/nft/validate.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstring>

#include "tests/netlink/messages.h"
#include "tests/netlink/places.h"
#include "tests/netlink/scratch_table.h"
#include "tests/support/netlink_socket.h"
#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::netlink {
namespace {

std::string Jump(std::string_view chain) { return Expr("immediate", {U32(1, 0), Verdict(2, -3, chain)}); }
std::string Goto(std::string_view chain) { return Expr("immediate", {U32(1, 0), Verdict(2, -4, chain)}); }

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
      if (path == name) return AnswerTo(Family::kIp, messages);
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
    CHECK(ErrorText(ask(Family::kIp, messages)) == ErrorText(AnswerTo(Family::kIp, messages)));
  }
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
      if (IsUnknownTarget(name, place)) continue;
      const std::vector<Message> messages = MessagesAt(place, expression);
      INFO(name << " in " << nft::Name(place.family) << " at " << nft::HookName(place.family, place.hook) << " of type "
                << nft::Name(place.type));
      CHECK(ErrorText(ask(place.family, messages)) == ErrorText(AnswerTo(place.family, messages, features)));
    }
  }
}

}  // namespace
}  // namespace nftjit::netlink
