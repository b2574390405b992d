// What is decoded and encoded again is the same, also what no kernel here can be asked about.
#include <catch2/catch.hpp>
#include <cerrno>
#include <set>

#include "tests/netlink/messages.h"
#include "tests/netlink/scratch_table.h"

namespace nftjit::netlink {
namespace {

// The messages that create what `table` holds, in exact form.
std::vector<Message> Creation(const ScratchTable& table) {
  const Family family = table.family();
  std::vector<Message> messages;
  const auto add = [&](MessageType kind) {
    for (std::string& body : table.Dump(kind)) messages.push_back({kind, 0xc00, family, std::move(body)});
  };
  add(kNewTable);
  add(kNewChain);
  add(kNewObj);
  add(kNewFlowtable);
  for (std::string& body : table.Dump(kNewSet)) messages.push_back({kNewSet, 0x400, family, body + U32(kSetId, 7)});
  for (const nft::Set& set : table.table().sets) {
    messages.push_back({kNewSetElem, 0x400, family, table.DumpElements(set)});
  }
  add(kNewRule);
  return messages;
}

// Everything of a table as its exact messages.
std::vector<std::string> Everything(const ScratchTable& table) {
  std::vector<std::string> all;
  for (const Message& message : Creation(table)) all.push_back(message.body);
  return all;
}

// Expressions of parts that the test's kernel may lack, and forms that no case above has.
std::vector<Case> FurtherCases() {
  std::vector<Case> cases;
  const auto add = [&cases](Family family, const std::string& expression, int error = 0) {
    cases.push_back(RuleCase("further " + std::to_string(cases.size()), error, family, {FillAll(), expression}));
  };
  for (const uint32_t key : {17U, 18U, 28U, 29U, 36U}) add(Family::kBridge, Expr("meta", {U32(1, 1), U32(2, key)}));
  add(Family::kBridge, Expr("meta", {U32(3, 1), U32(2, 35)}));
  add(Family::kBridge, Expr("meta", {U32(1, 1), U32(2, 35)}), EOPNOTSUPP);
  add(Family::kBridge, Expr("ct", {U32(1, 1), U32(2, 0)}));
  add(Family::kBridge, Expr("reject", {U32(1, 2), U8(2, 1)}));
  add(Family::kBridge, Expr("target", {Str(1, "MARK"), U32(2, 2), Attr(3, Bytes(8))}));
  add(Family::kIp, Expr("exthdr", {U32(1, 1), U8(2, 2), U32(3, 0), U32(4, 1), U32(5, 1), U32(6, 4)}));
  add(Family::kIp, Expr("queue", {U16(1, 3)}));
  add(Family::kIp, Expr("queue", {U16(1, 3), U16(2, 4), U16(3, 3)}));
  add(Family::kIp, Expr("queue", {U32(4, 1), U16(3, 1)}));
  add(Family::kIp, Expr("queue", {U16(1, 3), U16(2, 0)}), EINVAL);
  add(Family::kIp, Expr("queue", {U16(1, 65535), U16(2, 2)}), ERANGE);
  add(Family::kIp, Expr("queue", {U16(1, 3), U16(3, 4)}), EINVAL);
  add(Family::kIp, Expr("queue", {U16(1, 3), U32(4, 1)}), EINVAL);
  add(Family::kIp, Expr("queue", {}), EINVAL);
  add(Family::kIp, Expr("queue", {U32(4, 1), U16(3, 2)}), EOPNOTSUPP);
  add(Family::kIp, Expr("flow_offload", {Str(1, "f")}), ENOENT);
  add(Family::kIp, Expr("flow_offload", {}), EINVAL);
  const Message flowtable = FlowtableMessage(
      Family::kIp, {Nest(kFlowtableHook, {U32(1, 0), U32(2, 5), Nest(3, {Str(1, "eth0"), Str(2, "wlan")})}),
                    U32(kFlowtableFlags, 1)});
  cases.push_back({"flowtable", {}, flowtable, 0});
  cases.push_back(RuleCase("flow offload", 0, Family::kIp, {Expr("flow_offload", {Str(1, "f")})}, {flowtable}));
  const auto refused = [&cases](const char* name, int error, Family family, Parts attributes) {
    cases.push_back({name, {}, FlowtableMessage(family, attributes), error});
  };
  refused("flowtable without hook", EINVAL, Family::kIp, {});
  refused("flowtable without priority", ENOENT, Family::kIp, {Nest(kFlowtableHook, {U32(1, 0)})});
  refused("flowtable hook 1", EOPNOTSUPP, Family::kIp, {Nest(kFlowtableHook, {U32(1, 1), U32(2, 0)})});
  refused("flowtable flags 4", EOPNOTSUPP, Family::kIp,
          {Nest(kFlowtableHook, {U32(1, 0), U32(2, 0)}), U32(kFlowtableFlags, 4)});
  refused("flowtable in arp", ENOENT, Family::kArp, {Nest(kFlowtableHook, {U32(1, 0), U32(2, 0)})});
  cases.push_back({"secmark", {}, ObjectMessage(Family::kIp, "o", 8, {Str(1, "system_u:object_r:foo:s0")}), 0});
  cases.push_back(RuleCase("compat", 0, Family::kIp, {Fill()}));
  cases.back().last.body += Nest(kRuleCompat, {U32(1, 6), U32(2, 0)});
  return cases;
}

std::vector<Case> Cases() {
  std::vector<Case> cases = AllCases();
  for (Case& item : FurtherCases()) cases.push_back(std::move(item));
  return cases;
}

TEST_CASE("parts that kernels may lack are answered as recorded", "[netlink]") {
  for (const Case& item : FurtherCases()) {
    INFO(item.name);
    ScratchTable table(item.last.family, KernelFeatures());
    for (const Message& message : item.setup) REQUIRE_FALSE(table.Apply(message));
    const auto error = table.Apply(item.last);
    CHECK((error ? error->error : 0) == item.error);
  }
}

TEST_CASE("absent parts of the kernel are refused", "[netlink]") {
  const KernelFeatures nothing{.bridge_meta = false,
                               .bridge_conntrack = false,
                               .bridge_reject = false,
                               .queue = false,
                               .flow_offload = false,
                               .dccp = false,
                               .secmark = false};
  const auto answer = [&](Family family, const std::string& expression) {
    ScratchTable table(family, nothing);
    const auto error = table.Apply(RuleMessage(family, {FillAll(), expression}));
    return error ? error->error : 0;
  };
  CHECK(answer(Family::kBridge, Expr("meta", {U32(1, 1), U32(2, 17)})) == EOPNOTSUPP);
  CHECK(answer(Family::kBridge, Expr("meta", {U32(3, 1), U32(2, 35)})) == EOPNOTSUPP);
  CHECK(answer(Family::kBridge, Expr("ct", {U32(1, 1), U32(2, 0)})) == EPROTO);
  for (const auto& [type, data] :
       {std::pair(5U, U32(1, 5)), std::pair(7U, U8(2, 6) + Nest(3, {})), std::pair(10U, U32(3, 1))}) {
    ScratchTable table(Family::kBridge, nothing);
    const auto error = table.Apply(ObjectMessage(Family::kBridge, "o", type, {data}));
    INFO("object of type " << type);
    CHECK((error ? error->error : 0) == EPROTO);
  }
  CHECK(answer(Family::kBridge, Expr("reject", {U32(1, 1)})) == ENOENT);
  CHECK(answer(Family::kInet, Expr("reject", {U32(1, 1)})) == 0);
  CHECK(answer(Family::kIp, Expr("queue", {U16(1, 3)})) == ENOENT);
  CHECK(answer(Family::kIp, Expr("flow_offload", {Str(1, "f")})) == ENOENT);
  CHECK(answer(Family::kIp, Expr("exthdr", {U32(1, 1), U8(2, 2), U32(3, 0), U32(4, 1), U32(5, 1), U32(6, 4)})) ==
        EOPNOTSUPP);
}

TEST_CASE("what is stored encodes to messages that store the same", "[netlink]") {
  std::set<size_t> kinds;
  for (const Case& item : Cases()) {
    if (item.error != 0) continue;
    INFO(item.name);
    ScratchTable first(item.last.family, KernelFeatures(), /*exact=*/true);
    for (const Message& message : item.setup) REQUIRE_FALSE(first.Apply(message));
    REQUIRE_FALSE(first.Apply(item.last));
    ScratchTable second(item.last.family, KernelFeatures(), /*exact=*/true, /*stored=*/true);
    for (const Message& message : Creation(first)) {
      const auto error = second.Apply(message);
      INFO((error ? error->message : std::string()));
      REQUIRE_FALSE(error);
    }
    CHECK(Everything(second) == Everything(first));
    for (const nft::Chain& chain : first.table().chains) {
      for (size_t i = 0; i < chain.rules.size(); ++i) {
        CHECK(second.table().FindChain(chain.name)->rules[i].expressions == chain.rules[i].expressions);
        for (const nft::Expression& expression : chain.rules[i].expressions) kinds.insert(expression.body.index());
      }
    }
  }
  CHECK(kinds.size() == std::variant_size_v<nft::ExpressionBody>);
}

TEST_CASE("unknown attributes of an expression come back", "[netlink]") {
  ScratchTable table(Family::kIp, KernelFeatures());
  const std::string unknown = U32(33, 7) + U8(34, 1);
  REQUIRE_FALSE(table.Apply(RuleMessage(Family::kIp, {Expr("counter", {U64(1, 5), unknown})})));
  const nft::Expression& expression = table.table().chains[0].rules[0].expressions[0];
  REQUIRE(expression.unknown_attributes != nullptr);
  CHECK(*expression.unknown_attributes == unknown);
  CHECK(table.Dump(kNewRule)[0].find(unknown) != std::string::npos);
}

TEST_CASE("a nest too long for its header is taken back", "[netlink]") {
  std::string bytes = "before";
  AttributeWriter out(&bytes);
  const size_t nest = out.BeginNest(1);
  for (int i = 0; i < 5; ++i) out.Raw(2, Bytes(20000));
  CHECK_FALSE(out.EndNest(nest));
  CHECK(bytes == "before");
}

}  // namespace
}  // namespace nftjit::netlink
