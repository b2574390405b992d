// validation.md 1: transactions and who is blamed for an error.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/control/batches.h"

namespace nftjit::control {
namespace {

using netlink::kDelRule;
using netlink::kDelTable;
using netlink::kGetTable;
using netlink::kNewChain;
using netlink::kNewTable;

TestMessage Jump(std::string_view from, std::string_view to) { return AddRule(from, {VerdictExpression(kJump, to)}); }
TestMessage Flush(std::string_view chain) {
  return Make(kDelRule, {Text(netlink::kRuleTable, "t"), Text(netlink::kRuleChain, chain)}, 0);
}
size_t Tables(Judges& judges) { return judges.server().ruleset().tables.size(); }

TEST_CASE("a failed message undoes the batch, and the others are answered all the same") {
  Judges judges;
  CHECK(judges.Errors({AddTable(), AddRule("missing", {}), AddRule("missing too", {}), AddChain("c")}) ==
        std::vector<int>{0, ENOENT, ENOENT, 0});
  CHECK(Tables(judges) == 0);
  CHECK(judges.Errors({AddTable()}) == std::vector<int>{0});
  CHECK(Tables(judges) == 1);
}

TEST_CASE("errors are sent without being asked for, successes are not") {
  Judges judges;
  TestMessage table = AddTable();
  TestMessage rule = AddRule("missing", {});
  table.flags &= static_cast<uint16_t>(~kFlagAck);
  rule.flags &= static_cast<uint16_t>(~kFlagAck);
  CHECK(judges.Send({table, rule}) == Answers{{}, {ENOENT}});
}

TEST_CASE("BATCH_BEGIN and BATCH_END are acknowledged when asked") {
  Judges judges;
  const Answers answers = judges.Send(
      {.messages = {AddTable()}, .generation = std::nullopt, .begin_flags = kFlagAck, .end_flags = kFlagAck});
  CHECK(answers == Answers{{0}, {0}, {0}});
}

TEST_CASE("without BATCH_END messages are answered and nothing is applied") {
  Judges judges;
  CHECK(judges.Send({.messages = {AddTable()}, .end = false, .generation = std::nullopt}) == Answers{{}, {0}, {}});
  CHECK(Tables(judges) == 0);
}

TEST_CASE("a batch without an end is not judged by hooks and jumps") {
  Judges judges;
  CHECK(judges.Send({.messages = {AddTable(), AddBaseChain("b"), AddChain("a"), Jump("b", "a"), Jump("a", "a")},
                     .end = false,
                     .generation = std::nullopt}) == Answers{{}, {0}, {0}, {0}, {0}, {0}, {}});
}

TEST_CASE("a batch of another subsystem, or of an old generation, is refused as a whole") {
  Judges judges;
  CHECK(judges.Send({.messages = {AddTable()}, .resource = 99, .generation = std::nullopt}) ==
        Answers{{EINVAL}, {}, {}});
  // The kernel's generation is its own affair.
  CHECK(judges.Send({.messages = {AddTable()}, .generation = 77}, false) == Answers{{ERESTART}, {}, {}});
  CHECK(judges.Send({.messages = {AddTable()}, .generation = judges.server().state().issued.generation}, false) ==
        Answers{{}, {0}, {}});
}

TEST_CASE("events say what was made, changed and removed") {
  const auto echo = [](TestMessage message) {
    message.flags |= kFlagEcho;
    return message;
  };
  const auto remove = [](uint8_t operation, std::initializer_list<std::string> what) {
    return Make(operation, what, kFlagEcho);
  };
  Judges judges;
  // One element: the kernel flushes several in the order of their hashes.
  const TestMessage object = Make(netlink::kNewObj, {Text(1, "t"), Text(2, "o"), U32(3, 1), Nest(4, {})});
  CHECK(judges.Errors({echo(AddTable()), echo(AddBaseChain("b")), echo(AddChain("c")), echo(AddSet("s", 4)),
                       echo(AddElements("s", {ElementItem({Key("abcd")})})), echo(object),
                       echo(AddRule("c", {LoadSourceAddress(), LookupExpression("s")})),
                       echo(AddRule("b", {VerdictExpression(kJump, "c")}))}) == std::vector<int>(8, 0));
  CHECK(judges.Errors({echo(Make(kNewTable, {Text(1, "t"), U32(2, 1)})),
                       echo(Make(kNewChain, {Text(1, "t"), U64(2, 2), Text(3, "renamed")}))}) ==
        std::vector<int>{0, 0});
  CHECK(
      judges.Errors({echo(Flush("b")), echo(Flush("renamed")), remove(netlink::kDelChain, {Text(1, "t"), Text(3, "b")}),
                     remove(netlink::kDelSetElem, {Text(1, "t"), Text(2, "s")}),
                     remove(netlink::kDelSet, {Text(1, "t"), Text(2, "s")}),
                     remove(netlink::kDelObj, {Text(1, "t"), Text(2, "o"), U32(3, 1)})}) == std::vector<int>(6, 0));
  CHECK(judges.Errors({remove(netlink::kDelChain, {Text(1, "t"), Text(3, "renamed")})}) == std::vector<int>{0});
  CHECK(judges.Errors({remove(kDelTable, {Text(1, "t")})}) == std::vector<int>{0});
}

TEST_CASE("only what changes something makes a new generation") {
  // The judges compare the generations after each of them.
  Judges judges;
  const TestMessage flush_all = Make(kDelTable, {}, 0);
  CHECK(judges.Send(BatchText{.messages = {}, .generation = std::nullopt}).size() == 2);
  CHECK(judges.Errors({flush_all}) == std::vector<int>{0});
  CHECK(judges.Errors({AddTable(), AddChain("c"), AddSet("s", 4)}) == std::vector<int>{0, 0, 0});
  CHECK(judges.Errors({AddTable()}) == std::vector<int>{0});
  CHECK(judges.Errors({AddChain("c")}) == std::vector<int>{0});
  CHECK(judges.Errors({AddSet("s", 4)}) == std::vector<int>{0});
  CHECK(judges.Errors({Flush("c")}) == std::vector<int>{0});
  CHECK(judges.Errors({AddElements("s", {ElementItem({Key("abcd")})})}) == std::vector<int>{0});
  CHECK(judges.Errors({AddElements("s", {ElementItem({Key("abcd")})})}) == std::vector<int>{0});
  CHECK(judges.Errors({flush_all}) == std::vector<int>{0});
}

TEST_CASE("an empty batch is well") {
  Judges judges;
  CHECK(judges.Send({.messages = {}, .generation = std::nullopt}) == Answers{{}, {}});
}

TEST_CASE("gets and unknown messages have no place in a batch") {
  CheckCases({
      {"a get", {}, {Make(kGetTable, {}, 0)}, {EINVAL}},
      {"an unknown type", {}, {Make(60, {}, 0)}, {EINVAL}},
  });
}

TEST_CASE("a change outside a batch is refused") {
  Judges judges;
  std::string request = Assemble({.messages = {AddTable()}, .generation = std::nullopt});
  request = request.substr(20, request.size() - 40);  // Without BATCH_BEGIN and BATCH_END.
  const std::vector<std::string> answers =
      judges.server().Handle({reinterpret_cast<const uint8_t*>(request.data()), request.size()});
  REQUIRE(answers.size() == 1);
  CHECK(LoadNative<int32_t>(reinterpret_cast<const uint8_t*>(answers[0].data()) + 16) == -EINVAL);
  CHECK(Tables(judges) == 0);
}

TEST_CASE("attributes are read as the kernel reads them") {
  const auto table = [](std::initializer_list<std::string> more) { return Make(kNewTable, more); };
  CheckCases({
      {"an unknown attribute", {}, {table({Text(1, "t"), U32(55, 1)})}, {0}},
      {"an integer too short", {}, {table({Text(1, "t"), U8(2, 0)})}, {ERANGE}},
      {"an integer too long", {}, {table({Text(1, "t"), U64(2, 0)})}, {0}},
      {"families that do not exist",
       {},
       {AddTable("t", 0), AddTable("t", 4), AddTable("t", 12), AddTable("t", 255)},
       {EOPNOTSUPP, EOPNOTSUPP, EOPNOTSUPP, EOPNOTSUPP}},
  });
}

TEST_CASE("a nest need not say that it is one") {
  const std::string hook = U32(1, 1) + U32(2, 0);
  CheckCases({
      {"a hook",
       {AddTable()},
       {Make(kNewChain, {Text(netlink::kChainTable, "t"), Text(netlink::kChainName, "c"),
                         Bytes(netlink::kChainHook, hook), Text(netlink::kChainType, "filter")})},
       {0}},
  });
}

TEST_CASE("loops are judged on the final state") {
  const std::vector<TestMessage> base = {AddTable(), AddBaseChain("b"), AddChain("a"), Jump("b", "a")};
  CheckCases({
      {"a loop that goes again", base, {Jump("a", "a"), Flush("a")}, {0, 0}},
      {"a loop that stays", base, {Jump("a", "a")}, {EMLINK}},
      {"two loops, one flushed between", base, {Jump("a", "a"), Flush("a"), Jump("a", "a")}, {EMLINK, 0, EMLINK}},
      {"the rule that completes the path is blamed",
       {AddTable(), AddBaseChain("b"), AddChain("a"), AddChain("c"), Jump("a", "c"), Jump("c", "a")},
       {AddRule("b", {VerdictExpression(kAccept)}), Jump("b", "a"), AddRule("b", {VerdictExpression(kAccept)})},
       {0, EMLINK, EMLINK}},
  });
}

TEST_CASE("what nothing binds is found at commit, and blamed on the first message") {
  Judges judges;
  REQUIRE(judges.Errors({AddTable(), AddBaseChain("b")}) == std::vector<int>{0, 0});
  const TestMessage set = AddSet("__set%d", 4, nft::kSetAnonymous | nft::kSetConstant);
  CHECK(judges.Send({AddChain("c"), set}) == Answers{{0, EINVAL}, {0}});
  const TestMessage chain =
      Make(kNewChain, {Text(netlink::kChainTable, "t"), U32(netlink::kChainFlags, 4), U32(netlink::kChainId, 5)});
  CHECK(judges.Send({AddChain("c"), chain}) == Answers{{0, EINVAL}, {0}});
  // It hides what the walk would find.
  CHECK(judges.Send({AddChain("c"), set, Jump("c", "c"), Jump("b", "c")}) == Answers{{0, EINVAL}, {0}, {0}, {0}});
  CHECK(judges.table().chains.size() == 1);
}

TEST_CASE("a rolled back batch leaves everything as it was, contents included") {
  Judges judges;
  const std::vector<TestMessage> before = {AddTable(), AddChain("c"), AddRule("c", {VerdictExpression(kAccept)}),
                                           AddSet("s", 4), AddElements("s", {ElementItem({Key("abcd")})})};
  REQUIRE(judges.Errors(before) == std::vector<int>{0, 0, 0, 0, 0});
  CHECK(judges.Errors({Flush("c"), DeleteElements("s", {ElementItem({Key("abcd")})}),
                       Make(netlink::kDelSet, {Text(1, "t"), Text(2, "s")}, 0), Make(kDelTable, {Text(1, "u")}, 0)}) ==
        std::vector<int>{0, 0, 0, ENOENT});
  const nft::Table table = judges.table();
  CHECK(table.chains.at(0).rules.size() == 1);
  CHECK(table.sets.at(0).elements.size() == 1);
}

}  // namespace
}  // namespace nftjit::control
