#include "tests/support/kernel_ruleset.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "lib/netlink/codec.h"
#include "lib/netlink/table_index.h"

namespace nftjit::testing {
namespace {

using netlink::AttributeCursor;
using netlink::AttributeWriter;

// The table's names, and messages that carry what the model holds instead of what a dump shows.
class ExactNames final : public netlink::NameContext {
 public:
  explicit ExactNames(const nft::Table& table) : index_(table) {}
  [[nodiscard]] std::string_view ChainName(nft::Handle handle) const override { return index_.ChainName(handle); }
  [[nodiscard]] std::string_view SetName(nft::Handle handle) const override { return index_.SetName(handle); }
  [[nodiscard]] std::string_view ObjectName(nft::Handle handle) const override { return index_.ObjectName(handle); }
  [[nodiscard]] std::string_view FlowtableName(nft::Handle handle) const override {
    return index_.FlowtableName(handle);
  }
  [[nodiscard]] bool exact() const override { return true; }

 private:
  netlink::TableIndex index_;
};

// Elements per message: 64 KiB of list hold the biggest ones.
constexpr size_t kElementsPerMessage = 200;

void AppendTable(const nft::Table& table, Batch& batch) {
  AttributeWriter& out = batch.BeginMessage(netlink::kNewTable, kCreate, table.family);
  out.String(netlink::kTableName, table.name);
  out.U32(netlink::kTableFlags, table.flags & 1);  // Dormant; an owner would not be us.
  batch.EndMessage();
}

void AppendHook(const nft::BaseChain& base, AttributeWriter& out) {
  const size_t hook = out.BeginNest(netlink::kChainHook);
  out.U32(netlink::kHookNumber, base.hook);
  out.U32(netlink::kHookPriority, static_cast<uint32_t>(base.priority));
  if (!base.devices.empty()) {
    const size_t list = out.BeginNest(netlink::kHookDevices);
    for (const nft::Device& device : base.devices) {
      out.String(device.prefix ? netlink::kDevicePrefix : netlink::kDeviceName, device.name);
    }
    out.EndNest(list);
  }
  out.EndNest(hook);
  out.String(netlink::kChainType, nft::Name(base.type));
  out.U32(netlink::kChainPolicy, static_cast<uint32_t>(base.policy));
}

void AppendChain(const nft::Table& table, const nft::Chain& chain, Batch& batch) {
  AttributeWriter& out = batch.BeginMessage(netlink::kNewChain, kCreate, table.family);
  out.String(netlink::kChainTable, table.name);
  out.String(netlink::kChainName, chain.name);
  if (chain.base) AppendHook(*chain.base, out);
  batch.EndMessage();
}

void AppendSet(const nft::Table& table, const nft::Set& set, uint32_t id, const ExactNames& index, Batch& batch) {
  nft::Set named = set;
  named.flags &= ~nft::kSetAnonymous;
  AttributeWriter& out = batch.BeginMessage(netlink::kNewSet, kCreate, table.family);
  netlink::EncodeSet(table.name, named, index, out, id);
  batch.EndMessage();
  for (size_t first = 0; first < set.elements.size(); first += kElementsPerMessage) {
    AttributeWriter& list = batch.BeginMessage(netlink::kNewSetElem, kCreate, table.family);
    list.String(netlink::kElementsTable, table.name);
    list.String(netlink::kElementsSet, set.name);
    const size_t nest = list.BeginNest(netlink::kElementsList);
    const size_t end = std::min(first + kElementsPerMessage, set.elements.size());
    for (size_t i = first; i < end; ++i) netlink::EncodeElement(set.elements[i], named, index, list);
    list.EndNest(nest);
    batch.EndMessage();
  }
}

void AppendRules(const nft::Table& table, const nft::Chain& chain, const ExactNames& index, Batch& batch) {
  for (const nft::Rule& rule : chain.rules) {
    AttributeWriter& out = batch.BeginMessage(netlink::kNewRule, kCreate | kAppend, table.family);
    out.String(netlink::kRuleTable, table.name);
    out.String(netlink::kRuleChain, chain.name);
    const size_t list = out.BeginNest(netlink::kRuleExpressions);
    for (const nft::Expression& expression : rule.expressions) {
      netlink::EncodeExpression(netlink::kListElem, expression, index, out);
    }
    out.EndNest(list);
    if (!rule.userdata.empty()) out.Raw(netlink::kRuleUserdata, rule.userdata);
    batch.EndMessage();
  }
}

// Calls `visit(number in its list, attributes of the data nest)` for the counters in a list of expressions.
template <class Visit>
void ForEachCounter(const netlink::Attribute& list, Visit&& visit) {
  uint32_t number = 0;
  for (AttributeCursor at(list); at.Next(); ++number) {
    std::string_view name;
    netlink::Attribute data;
    for (AttributeCursor part(at.attribute()); part.Next();) {
      if (part.attribute().type() == netlink::kExprName) name = part.attribute().String();
      if (part.attribute().type() == netlink::kExprData) data = part.attribute();
    }
    if (name != "counter") continue;
    CounterValue value;
    for (AttributeCursor part(data); part.Next();) {
      if (part.attribute().type() == 1) value.bytes = part.attribute().U64();
      if (part.attribute().type() == 2) value.packets = part.attribute().U64();
    }
    visit(number, value);
  }
}

void ReadElement(const netlink::Attribute& element, std::vector<ElementCounter>& out) {
  ElementCounter counter;
  bool found = false;
  const auto take = [&](uint32_t, const CounterValue& value) {
    counter.value = value;
    found = true;
  };
  const auto data_value = [](const netlink::Attribute& nest) {
    AttributeCursor part(nest);
    return part.Next() ? std::string(part.attribute().Raw()) : std::string();
  };
  for (AttributeCursor part(element); part.Next();) {
    const netlink::Attribute& attribute = part.attribute();
    switch (attribute.type()) {
      case netlink::kElementKey:
        counter.key = data_value(attribute);
        break;
      case netlink::kElementKeyEnd:
        counter.key_end = data_value(attribute);
        break;
      case netlink::kElementFlags:
        counter.catchall = (attribute.U32() & nft::kElementCatchall) != 0;
        break;
      case netlink::kElementExpressions:
        ForEachCounter(attribute, take);
        break;
      case netlink::kElementExpr: {
        // One expression, not a list: wrap the nest's own attribute.
        std::string wrapped;
        AttributeWriter writer(&wrapped);
        writer.Raw(netlink::kListElem, attribute.Raw());
        ForEachCounter(netlink::Attribute(reinterpret_cast<const uint8_t*>(wrapped.data()),
                                          static_cast<uint16_t>(wrapped.size()), 0, 0),
                       take);
        break;
      }
      default:
        break;
    }
  }
  if (found) out.push_back(std::move(counter));
}

}  // namespace

void AppendRuleset(const nft::Ruleset& ruleset, Batch& batch) {
  struct Placed {
    const nft::Table* table;
    const nft::Chain* chain;
  };
  std::vector<Placed> base_chains;
  for (const nft::Table& table : ruleset.tables) {
    AppendTable(table, batch);
    for (const nft::Chain& chain : table.chains) {
      if (chain.base) base_chains.push_back({&table, &chain});
    }
  }
  std::stable_sort(base_chains.begin(), base_chains.end(), [](const Placed& a, const Placed& b) {
    return a.chain->base->registration < b.chain->base->registration;
  });
  for (const Placed& placed : base_chains) AppendChain(*placed.table, *placed.chain, batch);
  uint32_t set_id = 0;
  for (const nft::Table& table : ruleset.tables) {
    const ExactNames index(table);
    for (const nft::Chain& chain : table.chains) {
      if (!chain.base) AppendChain(table, chain, batch);
    }
    for (const nft::Object& object : table.objects) {
      nft::Object plain = object;
      plain.handle = 0;
      AttributeWriter& out = batch.BeginMessage(netlink::kNewObj, kCreate, table.family);
      netlink::EncodeObject(table.name, plain, 0, index, out);
      batch.EndMessage();
    }
    for (const nft::Set& set : table.sets) AppendSet(table, set, ++set_id, index, batch);
    for (const nft::Chain& chain : table.chains) AppendRules(table, chain, index, batch);
  }
}

void AppendDeletion(const nft::Ruleset& ruleset, Batch& batch) {
  for (const nft::Table& table : ruleset.tables) {
    batch.BeginMessage(netlink::kDelTable, 0, table.family).String(netlink::kTableName, table.name);
    batch.EndMessage();
  }
}

std::string ToString(const CounterPlace& place) {
  return absl::StrCat(std::string(nft::Name(place.family)), " ", place.table, " ", place.chain, " rule ", place.rule,
                      " expression ", place.expression);
}

absl::Status ReadCounters(NetlinkSocket& socket, nft::Family family, std::vector<CounterValue>* values,
                          std::vector<CounterPlace>* places) {
  values->clear();
  if (places != nullptr) places->clear();
  std::string table, chain;
  uint32_t rule = 0;
  nft::Family last_family = nft::Family::kUnspec;
  return socket.Dump(netlink::kGetRule, family, "", [&](nft::Family of, AttributeCursor attributes) {
    std::string_view rule_table, rule_chain;
    netlink::Attribute expressions;
    while (attributes.Next()) {
      const netlink::Attribute& attribute = attributes.attribute();
      if (attribute.type() == netlink::kRuleTable) rule_table = attribute.String();
      if (attribute.type() == netlink::kRuleChain) rule_chain = attribute.String();
      if (attribute.type() == netlink::kRuleExpressions) expressions = attribute;
    }
    if (of != last_family || rule_table != table || rule_chain != chain) {
      last_family = of;
      table = rule_table;
      chain = rule_chain;
      rule = 0;
    }
    ForEachCounter(expressions, [&](uint32_t number, const CounterValue& value) {
      values->push_back(value);
      if (places != nullptr) places->push_back({of, table, chain, rule, number});
    });
    ++rule;
  });
}

namespace {

// Calls `visit` with each element's attribute.
absl::Status ForEachElement(NetlinkSocket& socket, nft::Family family, std::string_view table, std::string_view set,
                            absl::FunctionRef<void(const netlink::Attribute&)> visit) {
  std::string request;
  AttributeWriter writer(&request);
  writer.String(netlink::kElementsTable, table);
  writer.String(netlink::kElementsSet, set);
  return socket.Dump(netlink::kGetSetElem, family, request, [&](nft::Family, AttributeCursor attributes) {
    while (attributes.Next()) {
      if (attributes.attribute().type() != netlink::kElementsList) continue;
      for (AttributeCursor at(attributes.attribute()); at.Next();) visit(at.attribute());
    }
  });
}

}  // namespace

absl::StatusOr<std::vector<ElementCounter>> ReadElementCounters(NetlinkSocket& socket, nft::Family family,
                                                                std::string_view table, std::string_view set) {
  std::vector<ElementCounter> out;
  absl::Status status =
      ForEachElement(socket, family, table, set, [&](const netlink::Attribute& element) { ReadElement(element, out); });
  if (!status.ok()) return status;
  return out;
}

absl::StatusOr<std::vector<std::string>> ReadElementKeys(NetlinkSocket& socket, nft::Family family,
                                                         std::string_view table, std::string_view set) {
  std::vector<std::string> out;
  absl::Status status = ForEachElement(socket, family, table, set, [&](const netlink::Attribute& element) {
    for (AttributeCursor part(element); part.Next();) {
      AttributeCursor value(part.attribute());
      if (part.attribute().type() == netlink::kElementKey && value.Next()) out.emplace_back(value.attribute().Raw());
    }
  });
  if (!status.ok()) return status;
  return out;
}

}  // namespace nftjit::testing
