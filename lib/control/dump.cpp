#include "lib/control/dump.h"

#include <absl/strings/str_format.h>
#include <unistd.h>

#include <cerrno>

#include "lib/control/dump_elements.h"
#include "lib/control/dump_writer.h"
#include "lib/control/operations.h"
#include "lib/control/uses.h"
#include "lib/netlink/codec.h"
#include "lib/netlink/table_index.h"

namespace nftjit::control {
namespace {

using netlink::Attribute;

// Everything that answering one GET needs.
struct Query {
  const State& state;
  const Message& request;
  DumpWriter& writer;
  std::vector<Dumped>& dumped;

  [[nodiscard]] bool wants(nft::Family family) const { return request.family == 0 || request.nft_family() == family; }
  // Calls `visit(table)` for the tables of the asked family, of the asked name if there is one.
  template <class Visit>
  void ForEachTable(const Attribute& name, Visit&& visit) const {
    for (const auto& entry : state.tables) {
      const nft::Table& table = *entry;
      if (wants(table.family) && (!name || table.name == name.String())) visit(table);
    }
  }
  [[nodiscard]] netlink::Result<const nft::Table*> Find(const Attribute& name) const {
    if (!name) return Refused(EINVAL, {}, "the message names no table");
    for (const auto& entry : state.tables) {
      if (entry->family == request.nft_family() && entry->name == name.String()) return entry.get();
    }
    return Refused(ENOENT, name, absl::StrFormat("table %s does not exist", name.String()));
  }
};

Outcome GetTables(const Query& query) {
  const netlink::Result<netlink::TableAttributes> attributes = netlink::ParseTableMessage(query.request.bytes);
  if (!attributes.ok()) return attributes.error();
  const auto write = [&](const nft::Table& table) {
    const size_t use = table.chains.size() + table.sets.size() + table.objects.size() + table.flowtables.size();
    query.writer.Add(netlink::kNewTable, table.family, [&](netlink::AttributeWriter& out) {
      netlink::EncodeTable(table, static_cast<uint32_t>(use), out);
    });
  };
  if (query.request.is_dump()) {
    query.ForEachTable({}, write);
    return Fine();
  }
  const netlink::Result<const nft::Table*> table = query.Find((*attributes)[netlink::kTableName]);
  if (!table.ok()) return table.error();
  write(**table);
  return Fine();
}

Outcome GetChains(const Query& query) {
  const netlink::Result<netlink::ChainAttributes> attributes = netlink::ParseChainMessage(query.request.bytes);
  if (!attributes.ok()) return attributes.error();
  const auto write = [&](const nft::Table& table, const UseCounts& uses, const nft::Chain& chain) {
    query.writer.Add(netlink::kNewChain, table.family, [&](netlink::AttributeWriter& out) {
      const auto use = static_cast<uint32_t>(chain.rules.size()) + uses.of(chain.handle);
      netlink::EncodeChain(table.name, chain, use, out);
    });
  };
  if (query.request.is_dump()) {
    query.ForEachTable({}, [&](const nft::Table& table) {
      const UseCounts uses(table);
      for (const nft::Chain& chain : table.chains) write(table, uses, chain);
    });
    return Fine();
  }
  const netlink::Result<const nft::Table*> table = query.Find((*attributes)[netlink::kChainTable]);
  if (!table.ok()) return table.error();
  const Attribute& name = (*attributes)[netlink::kChainName];
  const nft::Chain* chain = name ? (*table)->FindChain(name.String()) : nullptr;
  if (chain == nullptr) return Refused(name ? ENOENT : EINVAL, name, "the chain does not exist");
  write(**table, UseCounts(**table), *chain);
  return Fine();
}

void WriteRule(const Query& query, const nft::Table& table, const netlink::TableIndex& names, const nft::Chain& chain,
               size_t position) {
  query.writer.Add(netlink::kNewRule, table.family, [&](netlink::AttributeWriter& out) {
    const nft::Handle before = position == 0 ? 0 : chain.rules[position - 1].handle;
    netlink::EncodeRule(table.name, chain.name, chain.rules[position], before, names, out);
  });
  query.dumped.push_back({table.handle, chain.rules[position].handle});
}

Outcome GetRules(const Query& query) {
  const netlink::Result<netlink::RuleAttributes> attributes = netlink::ParseRuleMessage(query.request.bytes);
  if (!attributes.ok()) return attributes.error();
  const Attribute& chain_name = (*attributes)[netlink::kRuleChain];
  if (query.request.is_dump()) {
    query.ForEachTable((*attributes)[netlink::kRuleTable], [&](const nft::Table& table) {
      const netlink::TableIndex names(table);
      for (const nft::Chain& chain : table.chains) {
        if (chain_name && chain.name != chain_name.String()) continue;
        for (size_t i = 0; i < chain.rules.size(); ++i) WriteRule(query, table, names, chain, i);
      }
    });
    return Fine();
  }
  const netlink::Result<const nft::Table*> table = query.Find((*attributes)[netlink::kRuleTable]);
  if (!table.ok()) return table.error();
  const nft::Chain* chain = chain_name ? (*table)->FindChain(chain_name.String()) : nullptr;
  if (chain == nullptr) return Refused(chain_name ? ENOENT : EINVAL, chain_name, "the chain does not exist");
  const Attribute& handle = (*attributes)[netlink::kRuleHandle];
  for (size_t i = 0; handle && i < chain->rules.size(); ++i) {
    if (chain->rules[i].handle != handle.U64()) continue;
    WriteRule(query, **table, netlink::TableIndex(**table), *chain, i);
    return Fine();
  }
  return Refused(handle ? ENOENT : EINVAL, handle, "the rule does not exist");
}

Outcome GetSets(const Query& query) {
  const netlink::Result<netlink::SetAttributes> attributes = netlink::ParseSetMessage(query.request.bytes);
  if (!attributes.ok()) return attributes.error();
  const auto write = [&](const nft::Table& table, const netlink::TableIndex& names, const nft::Set& set) {
    query.writer.Add(netlink::kNewSet, table.family,
                     [&](netlink::AttributeWriter& out) { netlink::EncodeSet(table.name, set, names, out); });
  };
  if (query.request.is_dump()) {
    query.ForEachTable((*attributes)[netlink::kSetTable], [&](const nft::Table& table) {
      const netlink::TableIndex names(table);
      for (const nft::Set& set : table.sets) write(table, names, set);
    });
    return Fine();
  }
  const netlink::Result<const nft::Table*> table = query.Find((*attributes)[netlink::kSetTable]);
  if (!table.ok()) return table.error();
  const Attribute& name = (*attributes)[netlink::kSetName];
  const nft::Set* set = name ? (*table)->FindSet(name.String()) : nullptr;
  if (set == nullptr) return Refused(name ? ENOENT : EINVAL, name, "the set does not exist");
  write(**table, netlink::TableIndex(**table), *set);
  return Fine();
}

Outcome GetElements(const Query& query) {
  const netlink::Result<netlink::ElementListAttributes> attributes = netlink::ParseElementsMessage(query.request.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Result<const nft::Table*> table = query.Find((*attributes)[netlink::kElementsTable]);
  if (!table.ok()) return table.error();
  const Attribute& name = (*attributes)[netlink::kElementsSet];
  const nft::Set* set = name ? (*table)->FindSet(name.String()) : nullptr;
  if (set == nullptr) return Refused(name ? ENOENT : EINVAL, name, "the set does not exist");
  if (query.request.is_dump()) {
    DumpElements(**table, *set, query.writer);
    for (size_t i = 0; i < set->elements.size(); ++i) query.dumped.push_back({(*table)->handle, set->handle, i});
    return Fine();
  }
  const Attribute& list = (*attributes)[netlink::kElementsList];
  if (!list) return Refused(EINVAL, {}, "the message has no list of elements");
  return FindElements(**table, *set, list, query.writer, query.dumped);
}

Outcome GetObjects(const Query& query) {
  const netlink::Result<netlink::ObjectAttributes> attributes = netlink::ParseObjectMessage(query.request.bytes);
  if (!attributes.ok()) return attributes.error();
  const auto write = [&](const nft::Table& table, const UseCounts& uses, const nft::Object& object) {
    const netlink::TableIndex names(table);
    query.writer.Add(netlink::kNewObj, table.family, [&](netlink::AttributeWriter& out) {
      netlink::EncodeObject(table.name, object, uses.of(object.handle), names, out);
    });
    query.dumped.push_back({table.handle, object.handle});
  };
  const Attribute& type = (*attributes)[netlink::kObjectTypeNumber];
  if (query.request.is_dump()) {
    query.ForEachTable((*attributes)[netlink::kObjectTable], [&](const nft::Table& table) {
      const UseCounts uses(table);
      for (const nft::Object& object : table.objects) {
        if (type && type.U32() != 0 && object.type != static_cast<nft::ObjectType>(type.U32())) continue;
        write(table, uses, object);
      }
    });
    return Fine();
  }
  const Attribute& name = (*attributes)[netlink::kObjectName];
  if (!type || !name) return Refused(EINVAL, {}, "the message names no object or no type");
  const netlink::Result<const nft::Table*> table = query.Find((*attributes)[netlink::kObjectTable]);
  if (!table.ok()) return table.error();
  const nft::Object* object = (*table)->FindObject(name.String(), static_cast<nft::ObjectType>(type.U32()));
  if (object == nullptr) return Refused(ENOENT, name, absl::StrFormat("object %s does not exist", name.String()));
  write(**table, UseCounts(**table), *object);
  return Fine();
}

Outcome GetFlowtables(const Query& query) {
  const netlink::Result<netlink::FlowtableAttributes> attributes = netlink::ParseFlowtableMessage(query.request.bytes);
  if (!attributes.ok()) return attributes.error();
  const auto write = [&](const nft::Table& table, const UseCounts& uses, const nft::Flowtable& flowtable) {
    query.writer.Add(netlink::kNewFlowtable, table.family, [&](netlink::AttributeWriter& out) {
      netlink::EncodeFlowtable(table.name, flowtable, uses.of(flowtable.handle), out);
    });
  };
  if (query.request.is_dump()) {
    query.ForEachTable((*attributes)[netlink::kFlowtableTable], [&](const nft::Table& table) {
      const UseCounts uses(table);
      for (const nft::Flowtable& flowtable : table.flowtables) write(table, uses, flowtable);
    });
    return Fine();
  }
  const Attribute& name = (*attributes)[netlink::kFlowtableName];
  if (!name) return Refused(EINVAL, {}, "the message names no flowtable");
  const netlink::Result<const nft::Table*> table = query.Find((*attributes)[netlink::kFlowtableTable]);
  if (!table.ok()) return table.error();
  const nft::Flowtable* flowtable = (*table)->FindFlowtable(name.String());
  if (flowtable == nullptr) return Refused(ENOENT, name, "the flowtable does not exist");
  write(**table, UseCounts(**table), *flowtable);
  return Fine();
}

Outcome GetGeneration(const Query& query) {
  query.writer.Add(netlink::kNewGen, nft::Family::kUnspec, [&](netlink::AttributeWriter& out) {
    out.U32(netlink::kGenId, query.state.issued.generation);
    out.U32(netlink::kGenProcPid, static_cast<uint32_t>(getpid()));
    out.String(netlink::kGenProcName, "nftjit");
  });
  return Fine();
}

Outcome Answer(const Query& query) {
  switch (query.request.operation()) {
    case netlink::kGetTable:
      return GetTables(query);
    case netlink::kGetChain:
      return GetChains(query);
    case netlink::kGetRule:
    case netlink::kGetRuleReset:
      return GetRules(query);
    case netlink::kGetSet:
      return GetSets(query);
    case netlink::kGetSetElem:
    case netlink::kGetSetElemReset:
      return GetElements(query);
    case netlink::kGetObj:
    case netlink::kGetObjReset:
      return GetObjects(query);
    case netlink::kGetFlowtable:
      return GetFlowtables(query);
    case netlink::kGetGen:
      return GetGeneration(query);
    default:
      return Refused(EINVAL, {}, absl::StrFormat("message type %d is no get", query.request.operation()));
  }
}

}  // namespace

bool IsGet(const Message& message) {
  switch (message.operation()) {
    case netlink::kGetTable:
    case netlink::kGetChain:
    case netlink::kGetRule:
    case netlink::kGetRuleReset:
    case netlink::kGetSet:
    case netlink::kGetSetElem:
    case netlink::kGetSetElemReset:
    case netlink::kGetObj:
    case netlink::kGetObjReset:
    case netlink::kGetFlowtable:
    case netlink::kGetGen:
      return true;
    default:
      return false;
  }
}

bool IsReset(const Message& message) {
  const uint8_t operation = message.operation();
  return operation == netlink::kGetRuleReset || operation == netlink::kGetSetElemReset ||
         operation == netlink::kGetObjReset;
}

std::vector<std::string> AnswerGet(const State& state, const Message& request, std::vector<Dumped>& dumped) {
  DumpWriter writer(request, state.issued.generation);
  if (Outcome outcome = Answer({state, request, writer, dumped}); outcome.error != 0)
    return {Acknowledge(request, outcome)};
  return writer.Finish();
}

}  // namespace nftjit::control
