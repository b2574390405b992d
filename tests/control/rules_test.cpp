// validation.md 3: rules and jumps.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/control/batches.h"

namespace nftjit::control {
namespace {

using netlink::kDelRule;
using netlink::kDestroyRule;
using netlink::kNewRule;

constexpr uint16_t kAppendFlags = kFlagCreate | kFlagAppend;

// With a comment for a name, in chain c.
TestMessage Rule(std::string_view name, std::initializer_list<std::string> more = {}, uint16_t flags = kAppendFlags) {
  TestMessage message =
      Make(kNewRule, {Text(1, "t"), Text(2, "c"), Nest(4, {VerdictExpression(1)}), Bytes(7, name)}, flags);
  for (const std::string& part : more) message.body += part;
  return message;
}
TestMessage Delete(uint8_t operation, std::initializer_list<std::string> more) {
  TestMessage message = Make(operation, {Text(1, "t"), Text(2, "c")}, 0);
  for (const std::string& part : more) message.body += part;
  return message;
}
std::string Handle(uint64_t handle) { return U64(netlink::kRuleHandle, handle); }
std::string Position(uint64_t handle) { return U64(netlink::kRulePosition, handle); }

std::string Names(Judges& judges) {
  std::string names;
  const nft::Table table = judges.table();
  for (const nft::Rule& rule : table.chains.at(0).rules) names += rule.userdata;
  return names;
}
std::vector<nft::Handle> Handles(Judges& judges) {
  std::vector<nft::Handle> handles;
  const nft::Table table = judges.table();
  for (const nft::Rule& rule : table.chains.at(0).rules) handles.push_back(rule.handle);
  return handles;
}

TEST_CASE("rules and what they name") {
  const std::vector<TestMessage> before = {AddTable(), AddChain("c")};
  const TestMessage without_chain = Make(kNewRule, {Text(1, "t"), Nest(4, {})}, kAppendFlags);
  CheckCases({
      {"missing table", {}, {AddRule("c", {})}, {ENOENT}},
      {"missing chain", {AddTable()}, {AddRule("c", {})}, {ENOENT}},
      {"no chain", before, {without_chain}, {EINVAL}},
      {"no expressions",
       before,
       {Make(kNewRule, {Text(1, "t"), Text(2, "c")}, kAppendFlags), AddRule("c", {})},
       {0, 0}},
      {"without NLM_F_CREATE", before, {Rule("a", {}, kFlagAppend)}, {EINVAL}},
      {"unknown expression", before, {AddRule("c", {Expression("nonesuch")})}, {ENOENT}},
      {"replace without handle", before, {Rule("a", {}, kFlagReplace)}, {EINVAL}},
      {"replace with unknown handle", before, {Rule("a", {Handle(99)}, kFlagReplace)}, {ENOENT}},
      {"unknown handle", before, {Rule("a", {Handle(99)})}, {ENOENT}},
      {"existing handle", {AddTable(), AddChain("c"), Rule("a")}, {Rule("b", {Handle(2)})}, {EOPNOTSUPP}},
      {"existing handle, exclusive",
       {AddTable(), AddChain("c"), Rule("a")},
       {Rule("b", {Handle(2)}, kAppendFlags | kFlagExclusive)},
       {EEXIST}},
      {"unknown position", before, {Rule("a", {Position(99)})}, {ENOENT}},
      {"unknown position id", before, {Rule("a", {U32(netlink::kRulePositionId, 99)})}, {ENOENT}},
      {"deleting an unknown handle", before, {Delete(kDelRule, {Handle(99)})}, {ENOENT}},
      {"destroying an unknown handle", before, {Delete(kDestroyRule, {Handle(99)})}, {0}},
      {"destroying a rule, which is gone then",
       {AddTable(), AddChain("c"), Rule("a")},
       {Delete(kDestroyRule, {Handle(2)}), Delete(kDelRule, {Handle(2)})},
       {0, ENOENT}},
      {"deleting all", {AddTable(), AddChain("c"), Rule("a")}, {Delete(kDelRule, {})}, {0}},
      {"user data of 256 and 257 bytes",
       before,
       {Rule(std::string(256, 'u')), Rule(std::string(257, 'u'))},
       {0, ERANGE}},
  });
}

TEST_CASE("where rules go, and the handles that they get") {
  Judges judges;
  REQUIRE(judges.Errors({AddTable(), AddChain("c"), Rule("a"), Rule("b")}) == std::vector<int>{0, 0, 0, 0});
  CHECK(Handles(judges) == std::vector<nft::Handle>{2, 3});
  REQUIRE(judges.Errors({Rule("0", {}, kFlagCreate)}) == std::vector<int>{0});              // insert
  REQUIRE(judges.Errors({Rule("1", {Position(2)}, kFlagCreate)}) == std::vector<int>{0});   // before a
  REQUIRE(judges.Errors({Rule("2", {Position(2)}, kAppendFlags)}) == std::vector<int>{0});  // after a
  CHECK(Names(judges) == "01a2b");
  REQUIRE(judges.Errors({Rule("x", {Handle(3)}, kFlagReplace)}) == std::vector<int>{0});
  CHECK(Names(judges) == "01a2x");
  CHECK(Handles(judges) == std::vector<nft::Handle>{4, 5, 2, 6, 3});
  REQUIRE(judges.Errors({Rule("n", {U32(netlink::kRuleId, 7)}),
                         Rule("m", {U32(netlink::kRulePositionId, 7)}, kFlagCreate), Delete(kDelRule, {Handle(2)})}) ==
          std::vector<int>{0, 0, 0});
  CHECK(Names(judges) == "012xmn");
  REQUIRE(judges.Errors({Delete(kDelRule, {})}) == std::vector<int>{0});
  CHECK(Names(judges).empty());
  REQUIRE(judges.Errors({Rule("z")}) == std::vector<int>{0});
  CHECK(Handles(judges) == std::vector<nft::Handle>{9});  // Handles are never given again.
}

TEST_CASE("jumps and their targets") {
  const std::vector<TestMessage> before = {AddTable(), AddChain("c"), AddBaseChain("b")};
  CheckCases({
      {"missing target", before, {AddRule("c", {VerdictExpression(kJump, "x")})}, {ENOENT}},
      {"base chain as target", before, {AddRule("c", {VerdictExpression(kGoto, "b")})}, {EOPNOTSUPP}},
      {"a cycle that no base chain reaches", before, {AddRule("c", {VerdictExpression(kJump, "c")})}, {0}},
      {"a cycle that one reaches",
       before,
       {AddRule("c", {VerdictExpression(kGoto, "c")}), AddRule("b", {VerdictExpression(kJump, "c")})},
       {0, EMLINK}},
  });
}

// A chain c1 → c2 → … → cN below base chain b, by jumps and gotos in turn.
std::vector<TestMessage> Ladder(int depth, bool with_base) {
  std::vector<TestMessage> messages = {AddTable(), AddBaseChain("b")};
  for (int i = 1; i <= depth; ++i) messages.push_back(AddChain("c" + std::to_string(i)));
  for (int i = 1; i < depth; ++i) {
    messages.push_back(
        AddRule("c" + std::to_string(i), {VerdictExpression(i % 2 == 0 ? kJump : kGoto, "c" + std::to_string(i + 1))}));
  }
  if (with_base) messages.push_back(AddRule("b", {VerdictExpression(kJump, "c1")}));
  return messages;
}

TEST_CASE("fifteen chains may nest below a base chain") {
  Judges judges;
  const std::vector<TestMessage> well = Ladder(15, true);
  CHECK(judges.Errors(well) == std::vector<int>(well.size(), 0));

  Judges others;
  const std::vector<TestMessage> unreached = Ladder(16, false);
  CHECK(others.Errors(unreached) == std::vector<int>(unreached.size(), 0));
  CHECK(others.Errors({AddRule("b", {VerdictExpression(kJump, "c1")})}) == std::vector<int>{EMLINK});
  CHECK(others.Errors({AddRule("b", {VerdictExpression(kJump, "c2")})}) == std::vector<int>{0});
}

TEST_CASE("an element of a verdict map that completes a path is blamed") {
  const std::string verdict =
      Nest(netlink::kElementData, {Nest(netlink::kDataVerdict, {U32(1, static_cast<uint32_t>(kJump)), Text(2, "c")})});
  const TestMessage map =
      AddSet("m", 4, nft::kSetMap, {U32(netlink::kSetDataType, nft::kDataTypeVerdict), U32(netlink::kSetDataLen, 0)});
  CheckCases({
      {"by an element",
       {AddTable(), AddChain("c"), AddBaseChain("b"), map, AddRule("c", {VerdictExpression(kJump, "c")}),
        AddRule("b", {LoadSourceAddress(), LookupExpression("m", std::nullopt, true)})},
       {AddElements("m", {ElementItem({Key("abcd"), verdict})})},
       {EMLINK}},
      {"by a catch-all element",
       {AddTable(), AddChain("c"), AddBaseChain("b"), map, AddRule("c", {VerdictExpression(kJump, "c")}),
        AddRule("b", {LoadSourceAddress(), LookupExpression("m", std::nullopt, true)})},
       {AddElements("m", {ElementItem({U32(netlink::kElementFlags, nft::kElementCatchall), verdict})})},
       {EMLINK}},
  });
}

TEST_CASE("a forbidden expression is no error until a base chain reaches it") {
  const std::string masquerade = Expression("masq");
  const std::vector<TestMessage> before = {AddTable(),
                                           AddChain("c"),
                                           AddChain("d"),
                                           AddBaseChain("b"),
                                           AddRule("c", {masquerade}),
                                           AddRule("d", {VerdictExpression(kJump, "c")})};
  CheckCases({
      {"in the base chain", before, {AddRule("b", {masquerade})}, {EOPNOTSUPP}},
      {"over two levels", before, {AddRule("b", {VerdictExpression(kJump, "d")})}, {EOPNOTSUPP}},
      {"in a chain that is reached already",
       {AddTable(), AddChain("c"), AddBaseChain("b"), AddRule("b", {VerdictExpression(kJump, "c")})},
       {AddRule("c", {VerdictExpression(1)}), AddRule("c", {masquerade})},
       {0, EOPNOTSUPP}},
      {"in a dormant table",
       {Make(netlink::kNewTable, {Text(1, "t"), U32(2, 1)}), AddBaseChain("b")},
       {AddRule("b", {masquerade})},
       {EOPNOTSUPP}},
  });
}

}  // namespace
}  // namespace nftjit::control
