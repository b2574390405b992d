// NEWRULE, DELRULE, DESTROYRULE.
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/control/operations.h"
#include "lib/netlink/codec.h"

namespace nftjit::control {
namespace {

using netlink::Attribute;
using netlink::RuleAttributes;

void NotifyRule(const Operation& operation, uint8_t type, uint16_t flags, const TableEdit& table,
                const nft::Chain& chain, size_t position) {
  operation.Notify(type, flags, [&](netlink::AttributeWriter& out) {
    netlink::EncodeRule(table.table().name, chain.name, chain.rules[position], /*position=*/0, table, out);
  });
}

std::optional<size_t> PositionOf(const nft::Chain& chain, nft::Handle handle) {
  const auto found = std::find_if(chain.rules.begin(), chain.rules.end(),
                                  [&](const nft::Rule& rule) { return rule.handle == handle; });
  if (found == chain.rules.end()) return std::nullopt;
  return static_cast<size_t>(found - chain.rules.begin());
}

netlink::Result<const nft::Chain*> ResolveChain(const TableEdit& table, const RuleAttributes& attributes) {
  const Attribute& name = attributes[netlink::kRuleChain];
  const Attribute& id = attributes[netlink::kRuleChainId];
  const nft::Chain* chain = nullptr;
  if (name) {
    chain = table.ChainByName(name.String());
    if (chain == nullptr) return Refused(ENOENT, name, absl::StrFormat("chain %s does not exist", name.String()));
  } else if (id) {
    chain = table.ChainById(id.U32());
    if (chain == nullptr) return Refused(ENOENT, id, "no chain of this batch has that id");
  } else {
    return Refused(EINVAL, {}, "the rule names no chain");
  }
  return chain;
}

// Where a rule goes, and whether it replaces the one that is there.
struct Place {
  size_t position = 0;
  nft::Handle handle = 0;  // 0: it gets a new one.
  bool replaces = false;
};

netlink::Result<Place> FindPlace(const Operation& operation, const RuleAttributes& attributes, const TableEdit& table,
                                 const nft::Chain& chain) {
  const Message& message = operation.message;
  if (const Attribute& handle = attributes[netlink::kRuleHandle]; handle) {
    const std::optional<size_t> position = PositionOf(chain, handle.U64());
    if (!position.has_value()) return Refused(ENOENT, handle, absl::StrFormat("no rule has handle %d", handle.U64()));
    if (message.has(kFlagExclusive)) return Refused(EEXIST, handle, "the rule exists");
    if (!message.has(kFlagReplace)) return Refused(EOPNOTSUPP, {}, "a rule with a handle can only be replaced");
    return Place{*position, handle.U64(), true};
  }
  if (!message.has(kFlagCreate) || message.has(kFlagReplace)) {
    return Refused(EINVAL, {}, "a new rule has no handle and is created, not replaced");
  }
  std::optional<size_t> neighbour;
  const Attribute& by_handle = attributes[netlink::kRulePosition];
  const Attribute& by_id = attributes[netlink::kRulePositionId];
  if (by_handle) {
    neighbour = PositionOf(chain, by_handle.U64());
  } else if (by_id) {
    if (const std::optional<nft::Handle> handle = table.RuleById(by_id.U32()); handle.has_value()) {
      neighbour = PositionOf(chain, *handle);
    }
  }
  if ((by_handle || by_id) && !neighbour.has_value()) {
    return Refused(ENOENT, by_handle ? by_handle : by_id, "the rule to stand beside does not exist");
  }
  if (message.has(kFlagAppend)) return Place{neighbour.has_value() ? *neighbour + 1 : chain.rules.size()};
  return Place{neighbour.value_or(0)};
}

// The attribute of a rule's n-th expression.
Attribute ExpressionAttribute(const RuleAttributes& attributes, size_t index) {
  for (netlink::AttributeCursor at(attributes[netlink::kRuleExpressions]); at.Next(); --index) {
    if (index == 0) return at.attribute();
  }
  return {};
}

// Removes one rule and tells of it.
void RemoveRule(const Operation& operation, TableEdit& table, const nft::Chain& chain, size_t position) {
  NotifyRule(operation, netlink::kDelRule, 0, table, chain, position);
  table.RemoveRules(chain.handle, position, 1);
}

void FlushChain(const Operation& operation, TableEdit& table, nft::Handle handle) {
  const nft::Chain& chain = *table.MutableChain(handle);
  for (size_t i = 0; i < chain.rules.size(); ++i) NotifyRule(operation, netlink::kDelRule, 0, table, chain, i);
  table.RemoveRules(handle, 0, chain.rules.size());
}

Outcome FlushTable(const Operation& operation, TableEdit& table) {
  std::vector<nft::Handle> chains;
  for (const nft::Chain& chain : table.table().chains) {
    if ((chain.flags & nft::kChainBinding) == 0) chains.push_back(chain.handle);
  }
  for (const nft::Handle chain : chains) FlushChain(operation, table, chain);
  return Fine();
}

}  // namespace

Outcome NewRule(const Operation& operation) {
  const netlink::Result<RuleAttributes> attributes = netlink::ParseRuleMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kRuleTable]);
  if (!table.ok()) return table.error();
  const netlink::Result<const nft::Chain*> chain = ResolveChain(**table, *attributes);
  if (!chain.ok()) return chain.error();
  const netlink::Result<Place> place = FindPlace(operation, *attributes, **table, **chain);
  if (!place.ok()) return place.error();

  const nft::Handle chain_handle = (*chain)->handle;
  const nft::Handle handle = place->replaces ? place->handle : (*table)->NewHandle();
  netlink::Result<nft::Rule> rule = netlink::DecodeRule(*attributes, **table);
  if (!rule.ok()) return rule.error();
  rule->handle = handle;
  if (const auto conflict = (*table)->CheckBindings(*rule); conflict.has_value()) {
    return Refused(conflict->error, ExpressionAttribute(*attributes, conflict->expression),
                   "the anonymous set or chain has a rule already");
  }
  const Attribute& id = (*attributes)[netlink::kRuleId];
  if (place->replaces) {
    if (((*chain)->flags & nft::kChainBinding) != 0) {
      return Refused(EOPNOTSUPP, {}, "rules of a binding chain cannot be replaced");
    }
    NotifyRule(operation, netlink::kDelRule, 0, **table, **chain, place->position);
    (*table)->ReplaceRule(chain_handle, place->position, *std::move(rule));
  } else {
    (*table)->InsertRule(chain_handle, place->position, *std::move(rule),
                         id ? std::optional<uint32_t>(id.U32()) : std::nullopt);
  }
  operation.transaction.last_rule = {(*table)->table().handle, handle};
  const uint16_t flags = (operation.message.flags & (kFlagCreate | kFlagExclusive)) |
                         (operation.message.has(kFlagAppend | kFlagReplace) ? kFlagAppend : 0);
  NotifyRule(operation, netlink::kNewRule, flags, **table, *(*table)->MutableChain(chain_handle), place->position);
  if (operation.tell_place) operation.tell_place({*table, chain_handle, handle});
  return Fine();
}

Outcome DeleteRule(const Operation& operation, bool lenient) {
  const netlink::Result<RuleAttributes> attributes = netlink::ParseRuleMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kRuleTable]);
  if (!table.ok()) return table.error();
  const Attribute& name = (*attributes)[netlink::kRuleChain];
  if (!name) return FlushTable(operation, **table);

  const nft::Chain* chain = (*table)->ChainByName(name.String());
  if (chain == nullptr) {
    return lenient ? Fine() : Refused(ENOENT, name, absl::StrFormat("chain %s does not exist", name.String()));
  }
  if ((chain->flags & nft::kChainBinding) != 0) return Refused(EOPNOTSUPP, {}, "rules of a binding chain go with it");

  const Attribute& handle = (*attributes)[netlink::kRuleHandle];
  const Attribute& id = (*attributes)[netlink::kRuleId];
  std::optional<size_t> position;
  if (handle) {
    position = PositionOf(*chain, handle.U64());
  } else if (id) {
    if (const std::optional<nft::Handle> made = (*table)->RuleById(id.U32()); made.has_value()) {
      position = PositionOf(*chain, *made);
    }
  } else {
    FlushChain(operation, **table, chain->handle);
    return Fine();
  }
  if (!position.has_value()) return lenient ? Fine() : Refused(ENOENT, handle ? handle : id, "the rule does not exist");
  RemoveRule(operation, **table, *chain, *position);
  return Fine();
}

}  // namespace nftjit::control
