#include "tests/control/batches.h"

namespace nftjit::control {
namespace {

template <class Write>
std::string Written(Write&& write) {
  std::string bytes;
  netlink::AttributeWriter out(&bytes);
  write(out);
  return bytes;
}

std::string Joined(std::initializer_list<std::string> parts) {
  std::string bytes;
  for (const std::string& part : parts) bytes += part;
  return bytes;
}

}  // namespace

std::string U8(uint16_t type, uint8_t value) {
  return Written([&](auto& out) { out.U8(type, value); });
}
std::string U16(uint16_t type, uint16_t value) {
  return Written([&](auto& out) { out.U16(type, value); });
}
std::string U32(uint16_t type, uint32_t value) {
  return Written([&](auto& out) { out.U32(type, value); });
}
std::string U64(uint16_t type, uint64_t value) {
  return Written([&](auto& out) { out.U64(type, value); });
}
std::string Text(uint16_t type, std::string_view text) {
  return Written([&](auto& out) { out.String(type, text); });
}
std::string Bytes(uint16_t type, std::string_view bytes) {
  return Written([&](auto& out) { out.Raw(type, bytes); });
}
std::string Nest(uint16_t type, const std::vector<std::string>& parts) {
  return Written([&](auto& out) {
    const size_t start = out.BeginNest(type | 0x8000);
    for (const std::string& part : parts) out.Append(part);
    (void)out.EndNest(start);
  });
}
std::string Nest(uint16_t type, std::initializer_list<std::string> parts) {
  return Nest(type, std::vector<std::string>(parts));
}

std::string Expression(std::string_view name, std::initializer_list<std::string> attributes) {
  return Nest(netlink::kListElem, {Text(netlink::kExprName, name), Nest(netlink::kExprData, attributes)});
}

std::string VerdictExpression(int32_t code, std::string_view chain) {
  std::vector<std::string> verdict = {U32(netlink::kVerdictCode, static_cast<uint32_t>(code))};
  if (!chain.empty()) verdict.push_back(Text(netlink::kVerdictChain, chain));
  return Expression("immediate", {U32(1, 0), Nest(2, {Nest(netlink::kDataVerdict, verdict)})});
}

std::string JumpToId(uint32_t chain_id) {
  return Expression(
      "immediate",
      {U32(1, 0), Nest(2, {Nest(netlink::kDataVerdict, {U32(netlink::kVerdictCode, static_cast<uint32_t>(-3)),
                                                        U32(netlink::kVerdictChainId, chain_id)})})});
}

std::string LoadSourceAddress() { return Expression("payload", {U32(1, 1), U32(2, 1), U32(3, 12), U32(4, 4)}); }

std::string LookupExpression(std::string_view set, std::optional<uint32_t> id, bool map) {
  return Expression("lookup", {Text(1, set), U32(2, 1), map ? U32(3, 0) : std::string(),
                               id.has_value() ? U32(4, *id) : std::string()});
}

TestMessage Make(uint8_t operation, std::initializer_list<std::string> attributes, uint16_t flags, uint8_t family) {
  return {operation, static_cast<uint16_t>(flags | kFlagAck), family, Joined(attributes)};
}

TestMessage AddTable(std::string_view name, uint8_t family) {
  return Make(netlink::kNewTable, {Text(netlink::kTableName, name)}, kFlagCreate, family);
}

TestMessage AddChain(std::string_view name) {
  return Make(netlink::kNewChain, {Text(netlink::kChainTable, "t"), Text(netlink::kChainName, name)});
}

TestMessage AddBaseChain(std::string_view name, uint32_t hook, int32_t priority, std::string_view type) {
  return Make(netlink::kNewChain, {Text(netlink::kChainTable, "t"), Text(netlink::kChainName, name),
                                   Nest(netlink::kChainHook, {U32(1, hook), U32(2, static_cast<uint32_t>(priority))}),
                                   Text(netlink::kChainType, type)});
}

TestMessage AddRule(std::string_view chain, std::initializer_list<std::string> expressions) {
  return Make(
      netlink::kNewRule,
      {Text(netlink::kRuleTable, "t"), Text(netlink::kRuleChain, chain), Nest(netlink::kRuleExpressions, expressions)},
      kFlagCreate | kFlagAppend);
}

TestMessage AddSet(std::string_view name, uint32_t key_len, uint32_t flags, std::initializer_list<std::string> more,
                   uint32_t id) {
  return Make(netlink::kNewSet, {Text(netlink::kSetTable, "t"), Text(netlink::kSetName, name),
                                 U32(netlink::kSetFlags, flags), U32(netlink::kSetKeyType, 0),
                                 U32(netlink::kSetKeyLen, key_len), U32(netlink::kSetId, id), Joined(more)});
}

std::string Key(std::string_view bytes) { return Nest(netlink::kElementKey, {Bytes(netlink::kDataValue, bytes)}); }

std::string ElementItem(std::initializer_list<std::string> attributes) { return Nest(netlink::kListElem, attributes); }

TestMessage AddElements(std::string_view set, std::initializer_list<std::string> items, uint16_t flags,
                        std::optional<uint32_t> set_id) {
  return Make(
      netlink::kNewSetElem,
      {Text(netlink::kElementsTable, "t"), Text(netlink::kElementsSet, set), Nest(netlink::kElementsList, items),
       set_id.has_value() ? U32(netlink::kElementsSetId, *set_id) : std::string()},
      flags);
}

TestMessage DeleteElements(std::string_view set, std::initializer_list<std::string> items) {
  return Make(
      netlink::kDelSetElem,
      {Text(netlink::kElementsTable, "t"), Text(netlink::kElementsSet, set), Nest(netlink::kElementsList, items)}, 0);
}

}  // namespace nftjit::control
