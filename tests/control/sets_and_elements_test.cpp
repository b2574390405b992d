// validation.md 6 and 7: sets and elements, as far as the server decides.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/control/batches.h"

namespace nftjit::control {
namespace {

using netlink::kDelSet;
using netlink::kDelSetElem;
using netlink::kDestroySet;
using netlink::kDestroySetElem;
using netlink::kNewSetElem;

constexpr uint32_t kIntervalEnd = nft::kElementIntervalEnd, kCatchall = nft::kElementCatchall;
constexpr uint16_t kExclusive = kFlagCreate | kFlagExclusive;

TestMessage DeleteSet(uint8_t operation, std::string_view set) {
  return Make(operation, {Text(1, "t"), Text(2, set)}, 0);
}
std::string ElementFlags(uint32_t flags) { return U32(netlink::kElementFlags, flags); }
std::string Data(std::string_view bytes) { return Nest(netlink::kElementData, {Bytes(netlink::kDataValue, bytes)}); }
std::string Size(uint32_t size) { return Nest(netlink::kSetDesc, {U32(netlink::kSetDescSize, size)}); }
std::string Item(std::string_view key) { return ElementItem({Key(key)}); }
std::string DataLen(uint32_t length) { return U32(netlink::kSetDataType, 0) + U32(netlink::kSetDataLen, length); }
TestMessage With(TestMessage message, uint16_t flags) {
  message.flags = static_cast<uint16_t>(flags | kFlagAck);
  return message;
}

// The named half is in tests/netlink/set_cases.cpp.
TEST_CASE("anonymous sets of every combination of flags, bound in their batch") {
  Judges judges;
  REQUIRE(judges.Errors({AddTable(), AddChain("c")}) == std::vector<int>{0, 0});
  const std::string load = Expression("payload", {U32(1, 1), U32(2, 1), U32(3, 12), U32(4, 8)});
  const std::string field = Nest(netlink::kListElem, {U32(netlink::kSetFieldLen, 4)});
  size_t accepted = 0;
  for (uint32_t flags = nft::kSetAnonymous; flags < 0x200; flags += 2) {
    CAPTURE(flags);
    const auto has = [flags](uint32_t all) { return (flags & all) == all; };
    const bool refused = has(nft::kSetMap | nft::kSetObject) || has(nft::kSetEval | nft::kSetObject) ||
                         has(nft::kSetConstant | nft::kSetTimeout) || has(nft::kSetInterval | nft::kSetEval) ||
                         (has(nft::kSetTimeout) && !has(nft::kSetEval));
    const std::string data = has(nft::kSetMap) ? U32(netlink::kSetDataType, nft::kDataTypeVerdict) : "";
    const std::string object = has(nft::kSetObject) ? U32(netlink::kSetObjType, 1) : "";
    const std::string fields =
        has(nft::kSetConcat) ? Nest(netlink::kSetDesc, {Nest(netlink::kSetDescConcat, {field, field})}) : "";
    const std::vector<int> errors =
        judges.Errors({AddSet("__set%d", 8, flags, {data, object, fields}, flags),
                       AddRule("c", {load, LookupExpression("__set%d", flags, has(nft::kSetMap))})});
    CHECK(errors == (refused ? std::vector<int>{EOPNOTSUPP, ENOENT} : std::vector<int>{0, 0}));
    accepted += refused ? 0 : 1;
  }
  CHECK(accepted == 72);
}

TEST_CASE("sets, new and existing") {
  const std::vector<TestMessage> before = {AddTable(), AddSet("s", 4)};
  CheckCases({
      {"missing table", {}, {AddSet("s", 4)}, {ENOENT}},
      {"without NLM_F_CREATE", {AddTable()}, {With(AddSet("s", 4), 0)}, {ENOENT}},
      {"existing, same", before, {AddSet("s", 4)}, {0}},
      {"existing, exclusive", before, {With(AddSet("s", 4), kExclusive)}, {EEXIST}},
      {"existing, other key length", before, {AddSet("s", 2)}, {EEXIST}},
      {"existing, other flags", before, {AddSet("s", 4, nft::kSetInterval)}, {EEXIST}},
      {"existing, other size", before, {AddSet("s", 4, 0, {Size(9)})}, {0}},
      {"deleting a missing one", {AddTable()}, {DeleteSet(kDelSet, "s")}, {ENOENT}},
      {"destroying a missing one", {AddTable()}, {DeleteSet(kDestroySet, "s")}, {0}},
      {"destroying one, which is gone then",
       before,
       {DeleteSet(kDestroySet, "s"), DeleteSet(kDelSet, "s")},
       {0, ENOENT}},
      {"destroying one in use",
       {AddTable(), AddChain("c"), AddSet("s", 4), AddRule("c", {LoadSourceAddress(), LookupExpression("s")})},
       {DeleteSet(kDestroySet, "s")},
       {EBUSY}},
      {"deleting one in use",
       {AddTable(), AddChain("c"), AddSet("s", 4), AddRule("c", {LoadSourceAddress(), LookupExpression("s")})},
       {DeleteSet(kDelSet, "s")},
       {EBUSY}},
      {"deleting one after its rule",
       {AddTable(), AddChain("c"), AddSet("s", 4), AddRule("c", {LoadSourceAddress(), LookupExpression("s")})},
       {Make(netlink::kDelRule, {Text(1, "t"), Text(2, "c")}, 0), DeleteSet(kDelSet, "s")},
       {0, 0}},
      {"no key length", {AddTable()}, {Make(netlink::kNewSet, {Text(1, "t"), Text(2, "s"), U32(10, 1)})}, {EINVAL}},
      {"names of 255 and 256 bytes",
       {AddTable()},
       {AddSet(std::string(255, 'n'), 4), AddSet(std::string(256, 'n'), 4)},
       {0, ERANGE}},
  });
}

TEST_CASE("anonymous sets") {
  constexpr uint32_t kFlags = nft::kSetAnonymous | nft::kSetConstant;
  const TestMessage set = AddSet("__set%d", 4, kFlags, {}, 7);
  const auto rule = [](std::string_view chain) {
    return AddRule(chain, {LoadSourceAddress(), LookupExpression("__set%d", 7)});
  };
  const std::vector<TestMessage> before = {AddTable(), AddChain("c")};
  CheckCases({
      {"one rule", before, {set, AddElements("__set%d", {Item("abcd")}, kFlagCreate, 7), rule("c")}, {0, 0, 0}},
      {"two rules", before, {set, rule("c"), rule("c")}, {0, 0, EBUSY}},
      {"elements after the rule",
       before,
       {set, rule("c"), AddElements("__set%d", {Item("abcd")}, kFlagCreate, 7)},
       {0, 0, EBUSY}},
      {"an unknown id", before, {AddRule("c", {LoadSourceAddress(), LookupExpression("__set%d", 8)})}, {ENOENT}},
      {"a plain name",
       before,
       {AddSet("meter", 4, kFlags), AddRule("c", {LoadSourceAddress(), LookupExpression("meter")})},
       {0, 0}},
      {"another conversion", before, {AddSet("s%x", 4, kFlags)}, {EINVAL}},
      {"two conversions", before, {AddSet("s%d%d", 4, kFlags)}, {EINVAL}},
  });
}

TEST_CASE("anonymous sets get the lowest free number and go with their rule") {
  Judges judges;
  REQUIRE(judges.Errors({AddTable(), AddChain("c")}) == std::vector<int>{0, 0});
  const auto add = [&](uint32_t id) {
    REQUIRE(judges.Errors({AddSet("__set%d", 4, 3, {}, id),
                           AddRule("c", {LoadSourceAddress(), LookupExpression("__set%d", id)})}) ==
            std::vector<int>{0, 0});
  };
  const auto names = [&] {
    std::string all;
    const nft::Table table = judges.table();
    for (const nft::Set& set : table.sets) all += set.name + " ";
    return all;
  };
  for (uint32_t id = 1; id <= 3; ++id) add(id);
  CHECK(names() == "__set0 __set1 __set2 ");
  const nft::Handle second = judges.table().chains[0].rules[1].handle;
  REQUIRE(judges.Errors({Make(netlink::kDelRule, {Text(1, "t"), Text(2, "c"), U64(3, second)}, 0)}) ==
          std::vector<int>{0});
  CHECK(names() == "__set0 __set2 ");
  add(4);
  CHECK(names() == "__set0 __set2 __set1 ");
}

TEST_CASE("a constant set takes elements until a rule uses it") {
  CheckCases({
      {"before", {AddTable(), AddSet("s", 4, nft::kSetConstant)}, {AddElements("s", {Item("abcd")})}, {0}},
      {"after",
       {AddTable(), AddChain("c"), AddSet("s", 4, nft::kSetConstant),
        AddRule("c", {LoadSourceAddress(), LookupExpression("s")})},
       {AddElements("s", {Item("abcd")})},
       {EBUSY}},
  });
}

TEST_CASE("elements and their attributes") {
  const std::vector<TestMessage> set = {AddTable(), AddSet("s", 4)};
  const std::vector<TestMessage> map = {AddTable(), AddSet("m", 4, nft::kSetMap, {DataLen(4)})};
  const std::vector<TestMessage> full = {AddTable(), AddSet("s", 4), AddElements("s", {Item("abcd")})};
  CheckCases({
      {"missing set", {AddTable()}, {AddElements("s", {})}, {ENOENT}},
      {"no list", set, {Make(kNewSetElem, {Text(1, "t"), Text(2, "s")})}, {EINVAL}},
      {"an empty list", set, {AddElements("s", {})}, {0}},
      {"no key", set, {AddElements("s", {ElementItem({})})}, {EINVAL}},
      {"a key of another length", set, {AddElements("s", {Item("abc")})}, {EINVAL}},
      {"catch-all with a key",
       set,
       {AddElements("s", {ElementItem({Key("abcd"), ElementFlags(kCatchall)})})},
       {EINVAL}},
      {"unknown flags", set, {AddElements("s", {ElementItem({Key("abcd"), ElementFlags(4)})})}, {EOPNOTSUPP}},
      {"an end in a plain set",
       set,
       {AddElements("s", {ElementItem({Key("abcd"), ElementFlags(kIntervalEnd)})})},
       {EINVAL}},
      {"data in a plain set", set, {AddElements("s", {ElementItem({Key("abcd"), Data("1234")})})}, {EINVAL}},
      {"a map without data", map, {AddElements("m", {Item("abcd")})}, {EINVAL}},
      {"a map with data", map, {AddElements("m", {ElementItem({Key("abcd"), Data("1234")})})}, {0}},
      {"a timeout without the flag", set, {AddElements("s", {ElementItem({Key("abcd"), U64(4, 1000)})})}, {EINVAL}},
      {"the same again", full, {AddElements("s", {Item("abcd")})}, {0}},
      {"the same again, exclusive", full, {AddElements("s", {Item("abcd")}, kExclusive)}, {EEXIST}},
      {"twice in one message", set, {AddElements("s", {Item("abcd"), Item("abcd")})}, {0}},
      {"twice in one message, exclusive", set, {AddElements("s", {Item("abcd"), Item("abcd")}, kExclusive)}, {EEXIST}},
      {"other data",
       map,
       {AddElements("m", {ElementItem({Key("abcd"), Data("1234")}), ElementItem({Key("abcd"), Data("1235")})})},
       {EEXIST}},
      {"catch-all twice",
       set,
       {AddElements("s", {ElementItem({ElementFlags(kCatchall)})}),
        AddElements("s", {ElementItem({ElementFlags(kCatchall)})}),
        AddElements("s", {ElementItem({ElementFlags(kCatchall)})}, kExclusive)},
       {0, 0, EEXIST}},
      {"deleting a missing one", full, {DeleteElements("s", {Item("abce")})}, {ENOENT}},
      {"destroying a missing one",
       full,
       {Make(kDestroySetElem, {Text(1, "t"), Text(2, "s"), Nest(3, {Item("abce")})}, 0)},
       {0}},
      {"destroying an element, which is gone then",
       full,
       {Make(kDestroySetElem, {Text(1, "t"), Text(2, "s"), Nest(3, {Item("abcd")})}, 0),
        DeleteElements("s", {Item("abcd")})},
       {0, ENOENT}},
      {"deleting without a list", full, {Make(kDelSetElem, {Text(1, "t"), Text(2, "s")}, 0)}, {0}},
      {"deleted and added again",
       full,
       {DeleteElements("s", {Item("abcd")}), AddElements("s", {Item("abcd")}, kExclusive)},
       {0, 0}},
      {"by a set id",
       {AddTable()},
       {AddSet("s", 4, 0, {}, 9), AddElements("x", {Item("abcd")}, kFlagCreate, 9)},
       {0, 0}},
  });
}

TEST_CASE("verdicts as data") {
  const TestMessage map =
      AddSet("m", 4, nft::kSetMap, {U32(netlink::kSetDataType, nft::kDataTypeVerdict), U32(netlink::kSetDataLen, 0)});
  const auto verdict = [](int32_t code, std::string_view chain) {
    std::vector<std::string> parts = {U32(1, static_cast<uint32_t>(code))};
    if (!chain.empty()) parts.push_back(Text(2, chain));
    return Nest(netlink::kElementData, {Nest(netlink::kDataVerdict, parts)});
  };
  const std::vector<TestMessage> before = {AddTable(), AddChain("c"), AddBaseChain("b"), map};
  CheckCases({
      {"accept", before, {AddElements("m", {ElementItem({Key("abcd"), verdict(1, "")})})}, {0}},
      {"a bad code", before, {AddElements("m", {ElementItem({Key("abcd"), verdict(7, "")})})}, {EINVAL}},
      {"a missing chain", before, {AddElements("m", {ElementItem({Key("abcd"), verdict(kJump, "x")})})}, {ENOENT}},
      {"a base chain", before, {AddElements("m", {ElementItem({Key("abcd"), verdict(kJump, "b")})})}, {EOPNOTSUPP}},
      {"a chain that an element jumps to cannot go",
       before,
       {AddElements("m", {ElementItem({Key("abcd"), verdict(kJump, "c")})}),
        Make(netlink::kDelChain, {Text(1, "t"), Text(3, "c")}, 0)},
       {0, EBUSY}},
      {"other verdict for the same key",
       before,
       {AddElements("m", {ElementItem({Key("abcd"), verdict(1, "")}), ElementItem({Key("abcd"), verdict(0, "")})})},
       {EEXIST}},
  });
}

TEST_CASE("sizes") {
  const auto interval = [](std::string_view low, std::string_view high) {
    return AddElements("s", {ElementItem({Key(low)}), ElementItem({Key(high), ElementFlags(kIntervalEnd)})});
  };
  const std::string null_end = ElementItem({Key(std::string(1, '\0')), ElementFlags(kIntervalEnd)});
  CheckCases({
      {"exact keys",
       {AddTable(), AddSet("s", 1, 0, {Size(2)})},
       {AddElements("s", {Item("a"), Item("b")}), AddElements("s", {Item("b")}), AddElements("s", {Item("c")})},
       {0, 0, ENFILE}},
      {"the catch-all is not counted",
       {AddTable(), AddSet("s", 1, 0, {Size(1)})},
       {AddElements("s", {Item("a"), ElementItem({ElementFlags(kCatchall)})}), AddElements("s", {Item("c")})},
       {0, ENFILE}},
      {"room after a deletion",
       {AddTable(), AddSet("s", 1, 0, {Size(1)}), AddElements("s", {Item("a")})},
       {DeleteElements("s", {Item("a")}), AddElements("s", {Item("b")})},
       {0, 0}},
      {"a catch-all more",
       {AddTable(), AddSet("s", 1, 0, {Size(1)}), AddElements("s", {Item("a")})},
       {AddElements("s", {ElementItem({ElementFlags(kCatchall)})}), AddElements("s", {Item("b")})},
       {0, ENFILE}},
      {"a catch-all after one too many",
       {AddTable(), AddSet("s", 1, 0, {Size(1)}), AddElements("s", {Item("a")})},
       {AddElements("s", {Item("b")}), AddElements("s", {ElementItem({ElementFlags(kCatchall)})})},
       {ENFILE, 0}},
      {"one too many is there until the batch is undone",
       {AddTable(), AddSet("s", 1, nft::kSetInterval, {Size(1)}), interval("b", "d")},
       {AddElements("s", {Item("h")}), AddElements("s", {Item("i")}), DeleteElements("s", {Item("h")})},
       {ENFILE, EEXIST, 0}},
      {"the null end after the set is full",
       {AddTable(), AddSet("s", 1, nft::kSetInterval, {Size(1)}), interval("b", "d")},
       {AddElements("s", {null_end})},
       {ENFILE}},
      {"two boundaries an interval, the null end free",
       {AddTable(), AddSet("s", 1, nft::kSetInterval, {Size(2)}), AddElements("s", {null_end})},
       {interval("a", "b"), interval("c", "d"), interval("e", "f")},
       {0, 0, ENFILE}},
  });
}

TEST_CASE("a boundary above removed ones is not seen") {
  const auto interval = [](std::string_view from, std::string_view to) {
    return AddElements("s", {Item(from), ElementItem({Key(to), ElementFlags(kIntervalEnd)})});
  };
  const std::vector<TestMessage> before = {AddTable(), AddSet("s", 1, nft::kSetInterval), interval("d", "h")};
  const TestMessage lone_end = AddElements("s", {ElementItem({Key("b"), ElementFlags(kIntervalEnd)})});
  CheckCases({
      {"the start of an interval", before, {lone_end}, {0}},
      {"its end, where the start is gone",
       {AddTable(), AddSet("s", 1, nft::kSetInterval),
        AddElements("s", {ElementItem({Key("h"), ElementFlags(kIntervalEnd)})})},
       {lone_end},
       {EEXIST}},
      {"its end, where the start goes", before, {DeleteElements("s", {Item("d")}), lone_end}, {0, 0}},
      {"its end, where what lies above goes too",
       before,
       {interval("m", "n"), DeleteElements("s", {Item("d")}), DeleteElements("s", {Item("m")}), lone_end},
       {0, 0, 0, 0}},
  });
}

TEST_CASE("a set that a rule adds to has a size") {
  Judges judges;
  const std::string dynset = Expression("dynset", {Text(1, "s"), U32(3, 0), U32(4, 1)});
  REQUIRE(judges.Errors({AddTable(), AddChain("c"), AddSet("s", 4, nft::kSetEval),
                         AddRule("c", {LoadSourceAddress(), dynset})}) == std::vector<int>{0, 0, 0, 0});
  CHECK(judges.table().sets[0].size == 65535);
}

TEST_CASE("objects in maps") {
  const std::string counter = U32(3, 1) + Nest(4, {});
  const TestMessage object = Make(netlink::kNewObj, {Text(1, "t"), Text(2, "o"), counter});
  const TestMessage map = AddSet("m", 4, nft::kSetObject, {U32(netlink::kSetObjType, 1)});
  const std::string reference = Text(netlink::kElementObjref, "o");
  CheckCases({
      {"a reference", {AddTable(), object, map}, {AddElements("m", {ElementItem({Key("abcd"), reference})})}, {0}},
      {"no reference", {AddTable(), object, map}, {AddElements("m", {Item("abcd")})}, {EINVAL}},
      {"a missing object", {AddTable(), map}, {AddElements("m", {ElementItem({Key("abcd"), reference})})}, {ENOENT}},
      {"an object in use",
       {AddTable(), object, map, AddElements("m", {ElementItem({Key("abcd"), reference})})},
       {Make(netlink::kDelObj, {Text(1, "t"), Text(2, "o"), U32(3, 1)}, 0)},
       {EBUSY}},
  });
}

}  // namespace
}  // namespace nftjit::control
