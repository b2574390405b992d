// validation.md 2: tables and chains.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/control/batches.h"

namespace nftjit::control {
namespace {

using netlink::kDelChain;
using netlink::kDelTable;
using netlink::kDestroyChain;
using netlink::kDestroyTable;
using netlink::kNewChain;
using netlink::kNewTable;

constexpr uint16_t kPlain = 0;

TestMessage Table(uint32_t flags, uint16_t message_flags = kFlagCreate) {
  return Make(kNewTable, {Text(1, "t"), U32(2, flags)}, message_flags);
}
TestMessage Chain(std::initializer_list<std::string> more, uint16_t flags = kFlagCreate) {
  TestMessage message = Make(kNewChain, {Text(1, "t")}, flags);
  for (const std::string& part : more) message.body += part;
  return message;
}
std::string Name(std::string_view name) { return Text(netlink::kChainName, name); }
std::string Hook(uint32_t number, int32_t priority) {
  return Nest(netlink::kChainHook, {U32(1, number), U32(2, static_cast<uint32_t>(priority))});
}
std::string Type(std::string_view type) { return Text(netlink::kChainType, type); }
std::string Policy(uint32_t policy) { return U32(netlink::kChainPolicy, policy); }
std::string ChainFlags(uint32_t flags) { return U32(netlink::kChainFlags, flags); }
TestMessage DeleteChain(uint8_t operation, std::string_view chain, uint16_t flags = kPlain) {
  return Make(operation, {Text(1, "t"), Name(chain)}, flags);
}
TestMessage In(uint8_t family, TestMessage message) {
  message.family = family;
  return message;
}
const std::string kLongName(255, 'n'), kTooLongName(256, 'n');

TEST_CASE("tables") {
  CheckCases({
      {"existing", {AddTable()}, {AddTable()}, {0}},
      {"existing, exclusive", {AddTable()}, {Table(0, kFlagCreate | kFlagExclusive)}, {EEXIST}},
      {"existing, replaced", {AddTable()}, {Table(0, kFlagReplace)}, {EOPNOTSUPP}},
      {"without a name", {}, {Make(kNewTable, {})}, {EINVAL}},
      {"names of 0, 255 and 256 bytes",
       {},
       {AddTable(""), AddTable(kLongName), AddTable(kTooLongName)},
       {0, 0, ERANGE}},
      {"without NLM_F_CREATE", {}, {Table(0, kPlain)}, {0}},
      {"known flags", {}, {Table(7)}, {0}},
      {"unknown flags", {}, {Table(8)}, {EOPNOTSUPP}},
      {"owner added later", {AddTable()}, {Table(2)}, {EOPNOTSUPP}},
      {"dormant and awake", {AddTable()}, {Table(1)}, {0}},
      {"user data of 256 and 257 bytes",
       {},
       {Make(kNewTable, {Text(1, "a"), Bytes(6, std::string(256, 'u'))}),
        Make(kNewTable, {Text(1, "b"), Bytes(6, std::string(257, 'u'))})},
       {0, ERANGE}},
      {"deleting a missing one",
       {},
       {Make(kDelTable, {Text(1, "t")}, kPlain), Make(kDelTable, {U64(4, 99)}, kPlain)},
       {ENOENT, ENOENT}},
      {"destroying a missing one", {}, {Make(kDestroyTable, {Text(1, "t")}, kPlain)}, {0}},
      {"destroying one with contents, which is gone then",
       {AddTable(), AddChain("c")},
       {Make(kDestroyTable, {Text(1, "t")}, kPlain), Make(kDelTable, {Text(1, "t")}, kPlain)},
       {0, ENOENT}},
      {"deleting with contents", {AddTable(), AddChain("c")}, {Make(kDelTable, {Text(1, "t")}, kPlain)}, {0}},
      {"deleting with contents, not recursively",
       {AddTable(), AddChain("c")},
       {Make(kDelTable, {Text(1, "t")}, kFlagNonRecursive)},
       {EBUSY}},
      {"deleting all of a family",
       {AddTable(), AddTable("u"), AddTable("v", kInetFamily)},
       {Make(kDelTable, {}, kPlain), AddChain("c")},
       {0, ENOENT}},
      {"deleted and made again",
       {AddTable(), AddChain("c")},
       {Make(kDelTable, {Text(1, "t")}, kPlain), AddTable(), AddChain("c")},
       {0, 0, 0}},
  });
}

TEST_CASE("chains, new and existing") {
  const std::vector<TestMessage> regular = {AddTable(), AddChain("c")};
  const std::vector<TestMessage> base = {AddTable(), AddBaseChain("c")};
  CheckCases({
      {"in a missing table", {}, {AddChain("c")}, {ENOENT}},
      {"without name and id", {AddTable()}, {Chain({})}, {EINVAL}},
      {"without NLM_F_CREATE", {AddTable()}, {Chain({Name("c")}, kPlain)}, {0}},
      {"names of 0, 255 and 256 bytes",
       {AddTable()},
       {AddChain(""), AddChain(kLongName), AddChain(kTooLongName)},
       {0, 0, ERANGE}},
      {"existing", regular, {AddChain("c")}, {0}},
      {"existing base, without hook", base, {AddChain("c")}, {0}},
      {"existing base, same hook", base, {AddBaseChain("c")}, {0}},
      {"existing, exclusive", regular, {Chain({Name("c")}, kFlagCreate | kFlagExclusive)}, {EEXIST}},
      {"other priority", base, {AddBaseChain("c", 1, 5)}, {EOPNOTSUPP}},
      {"other hook", base, {AddBaseChain("c", 2)}, {EOPNOTSUPP}},
      {"other type", base, {AddBaseChain("c", 1, 0, "nat")}, {EEXIST}},
      {"regular to base", regular, {AddBaseChain("c")}, {EEXIST}},
      {"other policy", base, {Chain({Name("c"), Policy(0)})}, {0}},
      {"other flags", base, {Chain({Name("c"), ChainFlags(2)})}, {EOPNOTSUPP}},
      {"by an unknown handle", regular, {Chain({U64(2, 99)})}, {ENOENT}},
      {"renamed to a name that is taken",
       {AddTable(), AddChain("c"), AddChain("d")},
       {Chain({U64(2, 1), Name("d")})},
       {EEXIST}},
      {"renamed, but found by the old name until the commit",
       regular,
       {Chain({U64(2, 1), Name("d")}), AddRule("c", {}), AddRule("d", {})},
       {0, 0, ENOENT}},
      {"renamed, and found by the new name after it",
       {AddTable(), AddChain("c"), Chain({U64(2, 1), Name("d")})},
       {AddRule("d", {}), AddRule("c", {})},
       {0, ENOENT}},
      {"two renamed to one name",
       {AddTable(), AddChain("c"), AddChain("e")},
       {Chain({U64(2, 1), Name("d")}), Chain({U64(2, 2), Name("d")})},
       {0, EEXIST}},
  });
}

TEST_CASE("hooks, types and priorities") {
  const auto fresh = [](std::initializer_list<std::string> more) {
    TestMessage message = Chain(more);
    message.body += Name("c");
    return message;
  };
  CheckCases({
      {"hook without number", {AddTable()}, {fresh({Nest(4, {U32(2, 0)}), Type("filter")})}, {ENOENT}},
      {"hook without priority", {AddTable()}, {fresh({Nest(4, {U32(1, 1)}), Type("filter")})}, {ENOENT}},
      {"hook without type", {AddTable()}, {fresh({Hook(1, 0)})}, {0}},
      {"type without hook", {AddTable()}, {fresh({Type("filter")})}, {0}},
      {"unknown type", {AddTable()}, {fresh({Hook(1, 0), Type("nonesuch")})}, {ENOENT}},
      {"hook that the family lacks", {AddTable()}, {fresh({Hook(5, 0), Type("filter")})}, {EOPNOTSUPP}},
      {"nat at forward", {AddTable()}, {fresh({Hook(2, 0), Type("nat")})}, {EOPNOTSUPP}},
      {"route at output only",
       {AddTable()},
       {AddBaseChain("a", 3, 0, "route"), AddBaseChain("b", 1, 0, "route")},
       {0, EOPNOTSUPP}},
      {"nat above and at -200",
       {AddTable()},
       {AddBaseChain("a", 0, -199, "nat"), AddBaseChain("b", 0, -200, "nat")},
       {0, EOPNOTSUPP}},
      {"a policy of 2", {AddTable()}, {fresh({Hook(1, 0), Type("filter"), Policy(2)})}, {EINVAL}},
      {"a policy on a regular chain", {AddTable()}, {fresh({Policy(1)})}, {EOPNOTSUPP}},
      {"unknown flags", {AddTable()}, {fresh({ChainFlags(8)})}, {EOPNOTSUPP}},
      {"hardware offload outside netdev",
       {AddTable()},
       {fresh({Hook(1, 0), Type("filter"), ChainFlags(2)})},
       {EOPNOTSUPP}},
      {"flag base without hook", {AddTable()}, {fresh({ChainFlags(1)})}, {EINVAL}},
      {"flag binding on a named chain", {AddTable()}, {fresh({ChainFlags(4)})}, {EINVAL}},
      {"counters without packets", {AddTable()}, {fresh({Hook(1, 0), Type("filter"), Nest(8, {U64(2, 1)})})}, {EINVAL}},
      {"counters without bytes", {AddTable()}, {fresh({Hook(1, 0), Type("filter"), Nest(8, {U64(1, 1)})})}, {EINVAL}},
      {"counters", {AddTable()}, {fresh({Hook(1, 0), Type("filter"), Nest(8, {U64(1, 1), U64(2, 1)})})}, {0}},
      {"a device on an ip chain",
       {AddTable()},
       {fresh({Nest(4, {U32(1, 1), U32(2, 0), Text(3, "lo")}), Type("filter")})},
       {EOPNOTSUPP}},
      {"netdev without device, and with an unknown one",
       {AddTable("t", 5)},
       {In(5, AddBaseChain("a", 0)),
        In(5, Chain({Name("b"), Nest(4, {U32(1, 0), U32(2, 0), Text(3, "nonesuch")}), Type("filter")}))},
       {0, 0}},
      {"the same device twice",
       {AddTable("t", 5)},
       {In(5,
           Chain({Name("b"), Nest(4, {U32(1, 0), U32(2, 0), Nest(4, {Text(1, "x"), Text(1, "x")})}), Type("filter")}))},
       {EEXIST}},
  });
}

TEST_CASE("binding chains") {
  const TestMessage chain = Chain({ChainFlags(4), U32(netlink::kChainId, 5)});
  const std::vector<TestMessage> before = {AddTable(), AddChain("c")};
  CheckCases({
      {"one jump", before, {chain, AddRule("c", {JumpToId(5)})}, {0, 0}},
      {"two jumps", before, {chain, AddRule("c", {JumpToId(5)}), AddRule("c", {JumpToId(5)})}, {0, 0, EINVAL}},
      {"an id of another batch", before, {AddRule("c", {JumpToId(5)})}, {ENOENT}},
  });
}

TEST_CASE("a binding chain goes with its rule") {
  Judges judges;
  REQUIRE(judges.Errors(
              {AddTable(), AddChain("c"), Chain({ChainFlags(4), U32(netlink::kChainId, 5)}),
               Make(netlink::kNewRule, {Text(1, "t"), U32(netlink::kRuleChainId, 5), Nest(4, {VerdictExpression(1)})},
                    kFlagCreate | kFlagAppend),
               AddRule("c", {JumpToId(5)})}) == std::vector<int>{0, 0, 0, 0, 0});
  REQUIRE(judges.table().chains.size() == 2);
  CHECK(judges.table().chains[1].name == "__chain1");
  // The kernel's number is another one: it counts over all namespaces.
  CHECK(judges.Errors({DeleteChain(kDelChain, "__chain1")}, false) == std::vector<int>{EOPNOTSUPP});
  CHECK(judges.Errors({Make(netlink::kDelRule, {Text(1, "t"), Text(2, "c")}, kPlain)}) == std::vector<int>{0});
  CHECK(judges.table().chains.size() == 1);
}

TEST_CASE("deleting chains") {
  const std::vector<TestMessage> with_rule = {AddTable(), AddChain("c"), AddRule("c", {VerdictExpression(1)})};
  const std::vector<TestMessage> jumped_to = {AddTable(), AddChain("c"), AddChain("d"),
                                              AddRule("d", {VerdictExpression(-3, "c")})};
  CheckCases({
      {"missing", {AddTable()}, {DeleteChain(kDelChain, "c")}, {ENOENT}},
      {"missing, destroyed", {AddTable()}, {DeleteChain(kDestroyChain, "c")}, {0}},
      {"with rules", with_rule, {DeleteChain(kDelChain, "c")}, {0}},
      {"with rules, destroyed, and gone then",
       with_rule,
       {DeleteChain(kDestroyChain, "c"), DeleteChain(kDelChain, "c")},
       {0, ENOENT}},
      {"jumped to, destroyed", jumped_to, {DeleteChain(kDestroyChain, "c")}, {EBUSY}},
      {"with a hook, without devices",
       {AddTable(), AddBaseChain("c"), AddChain("d")},
       {Make(kDelChain, {Text(1, "t"), Name("c"), Hook(1, 0)}, kPlain),
        Make(kDelChain, {Text(1, "t"), Name("d"), Hook(1, 0)}, kPlain)},
       {0, 0}},
      {"with a hook, destroyed",
       {AddTable(), AddBaseChain("c")},
       {Make(kDestroyChain, {Text(1, "t"), Name("c"), Hook(1, 0)}, kPlain)},
       {EOPNOTSUPP}},
      {"with rules, not recursively", with_rule, {DeleteChain(kDelChain, "c", kFlagNonRecursive)}, {EBUSY}},
      {"jumped to", jumped_to, {DeleteChain(kDelChain, "c")}, {EBUSY}},
      {"jumped to by itself only",
       {AddTable(), AddChain("c"), AddRule("c", {VerdictExpression(-3, "c")})},
       {DeleteChain(kDelChain, "c")},
       {EBUSY}},
      {"jumped to, after what jumps", jumped_to, {DeleteChain(kDelChain, "d"), DeleteChain(kDelChain, "c")}, {0, 0}},
  });
}

TEST_CASE("devices come and go") {
  constexpr uint8_t kNetdev = 5;
  const auto chain = [](uint8_t operation, std::initializer_list<std::string> devices, uint16_t flags) {
    std::vector<std::string> items;
    for (const std::string& device : devices) items.push_back(Text(1, device));
    const std::string hook = Nest(4, {U32(1, 0), U32(2, 0), Nest(netlink::kHookDevices, items)});
    return Make(operation, {Text(1, "t"), Name("c"), hook, Type("filter")}, flags, kNetdev);
  };
  Judges judges;
  REQUIRE(judges.Errors({AddTable("t", kNetdev), chain(kNewChain, {"nj0", "nj1"}, kFlagCreate)}) ==
          std::vector<int>{0, 0});
  CHECK(judges.Errors({chain(kNewChain, {"nj2", "nj1", "nj3"}, kFlagCreate | kFlagEcho)}) == std::vector<int>{0});
  CHECK(judges.Errors({chain(kDelChain, {"nj0", "nj2"}, kFlagEcho)}) == std::vector<int>{0});
  CHECK(judges.Errors({chain(kDelChain, {"nj0"}, kFlagEcho)}) == std::vector<int>{ENOENT});
  const nft::Table table = judges.table();
  std::vector<std::string> left;
  for (const nft::Device& device : table.chains[0].base->devices) left.push_back(device.name);
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"nj1", "nj3"});
}

TEST_CASE("registration order: a table that wakes registers its chains anew") {
  Judges judges;
  REQUIRE(judges.Errors({AddTable(), AddBaseChain("a"), AddBaseChain("b"), Table(1)}) == std::vector<int>{0, 0, 0, 0});
  const nft::Table before = judges.table();
  CHECK(before.chains[0].base->registration < before.chains[1].base->registration);
  REQUIRE(judges.Errors({Table(0)}) == std::vector<int>{0});
  const nft::Table after = judges.table();
  CHECK(before.chains[1].base->registration < after.chains[0].base->registration);
  CHECK(after.chains[0].base->registration < after.chains[1].base->registration);
}

}  // namespace
}  // namespace nftjit::control
