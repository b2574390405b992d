#include "tests/netlink/scratch_table.h"

#include <cerrno>

namespace nftjit::netlink {
namespace {

using Failure = std::optional<NetlinkError>;

Failure Missing(const Attribute& name) {
  return NetlinkError{.error = ENOENT, .offset = name.offset(), .message = "no such chain"};
}

nft::Chain* FindChain(nft::Table& table, std::string_view name) {
  for (nft::Chain& chain : table.chains) {
    if (chain.name == name) return &chain;
  }
  return nullptr;
}

nft::Set* FindSet(nft::Table& table, nft::Handle handle) {
  for (nft::Set& set : table.sets) {
    if (set.handle == handle) return &set;
  }
  return nullptr;
}

}  // namespace

ScratchTable::ScratchTable(nft::Family family, KernelFeatures features, bool exact, bool stored)
    : features_(features), exact_(exact), stored_(stored) {
  table_.family = family;
  table_.name = "t";
  if (stored) return;
  nft::Chain& chain = table_.chains.emplace_back();
  chain.name = "c";
  chain.handle = ++last_handle_;
}

const nft::Chain* ScratchTable::ChainById(uint32_t id) const {
  const auto found = chain_ids_.find(id);
  return found == chain_ids_.end() ? nullptr : table_.FindChain(found->second);
}

const nft::Set* ScratchTable::SetById(uint32_t id) const {
  const auto found = set_ids_.find(id);
  return found == set_ids_.end() ? nullptr : table_.FindSet(found->second);
}

Failure ScratchTable::Apply(MessageType type, std::string_view bytes) {
  const ByteSpan message(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  switch (type) {
    case kNewTable: {
      Result<TableAttributes> attributes = ParseTableMessage(message);
      if (!attributes.ok()) return attributes.error();
      Result<nft::Table> table = DecodeTable(*attributes, table_.family);
      if (!table.ok()) return table.error();
      table_.flags = table->flags;
      table_.userdata = table->userdata;
      return std::nullopt;
    }
    case kNewChain:
      return AddChain(message);
    case kNewRule:
      return AddRule(message);
    case kNewSet:
      return AddSet(message);
    case kNewSetElem:
      return AddElements(message);
    case kNewObj:
      return AddObject(message);
    case kNewFlowtable:
      return AddFlowtable(message);
    default:
      return NetlinkError{.error = EINVAL, .offset = 0, .message = "not a NEW message"};
  }
}

nft::Handle ScratchTable::NextHandle(const Attribute& given) { return stored_ ? given.U64() : ++last_handle_; }

Failure ScratchTable::AddChain(ByteSpan message) {
  Result<ChainAttributes> attributes = ParseChainMessage(message);
  if (!attributes.ok()) return attributes.error();
  Result<nft::Chain> chain = DecodeChain(*attributes, table_.family);
  if (!chain.ok()) return chain.error();
  chain->handle = NextHandle((*attributes)[kChainHandle]);
  if (chain->name.empty() && !(*attributes)[kChainName]) chain->name = "__chain" + std::to_string(last_handle_);
  if ((*attributes)[kChainId]) chain_ids_[(*attributes)[kChainId].U32()] = chain->handle;
  table_.chains.push_back(*std::move(chain));
  return std::nullopt;
}

Failure ScratchTable::AddRule(ByteSpan message) {
  Result<RuleAttributes> attributes = ParseRuleMessage(message);
  if (!attributes.ok()) return attributes.error();
  nft::Chain* chain = FindChain(table_, (*attributes)[kRuleChain].String());
  if (chain == nullptr) return Missing((*attributes)[kRuleChain]);
  Result<nft::Rule> rule = DecodeRule(*attributes, *this);
  if (!rule.ok()) return rule.error();
  rule->handle = NextHandle((*attributes)[kRuleHandle]);
  for (const nft::Expression& expression : rule->expressions) {
    const auto* dynset = std::get_if<nft::Dynset>(&expression.body);
    if (dynset != nullptr && !FindSet(table_, dynset->set)->size) FindSet(table_, dynset->set)->size = 65535;
  }
  chain->rules.push_back(*std::move(rule));
  return std::nullopt;
}

Failure ScratchTable::AddSet(ByteSpan message) {
  Result<SetAttributes> attributes = ParseSetMessage(message);
  if (!attributes.ok()) return attributes.error();
  Result<nft::Set> set = DecodeSet(*attributes, *this);
  if (!set.ok()) return set.error();
  set->handle = NextHandle((*attributes)[kSetHandle]);
  if (const size_t number = set->name.find("%d");
      number != std::string::npos && set->is(nft::kSetAnonymous) && !stored_) {
    set->name.replace(number, 2, std::to_string(set_ids_.size()));
  }
  set_ids_[(*attributes)[kSetId].U32()] = set->handle;
  table_.sets.push_back(*std::move(set));
  return std::nullopt;
}

Failure ScratchTable::AddElements(ByteSpan message) {
  Result<ElementListAttributes> attributes = ParseElementsMessage(message);
  if (!attributes.ok()) return attributes.error();
  const nft::Set* found = SetByName((*attributes)[kElementsSet].String());
  if (found == nullptr && (*attributes)[kElementsSetId]) found = SetById((*attributes)[kElementsSetId].U32());
  if (found == nullptr) {
    const Attribute& name = (*attributes)[kElementsSet];
    return NetlinkError{.error = ENOENT, .offset = name.offset(), .message = "no such set"};
  }
  if (!(*attributes)[kElementsList]) return NetlinkError{.error = EINVAL, .offset = 0, .message = "no elements"};
  std::vector<nft::Element> elements;
  for (AttributeCursor item((*attributes)[kElementsList]); item.Next();) {
    Result<nft::Element> element = DecodeElement(item.attribute(), *found, *this);
    if (!element.ok()) return element.error();
    elements.push_back(*std::move(element));
  }
  nft::Set* set = FindSet(table_, found->handle);
  for (nft::Element& element : elements) set->elements.push_back(std::move(element));
  return std::nullopt;
}

Failure ScratchTable::AddObject(ByteSpan message) {
  Result<ObjectAttributes> attributes = ParseObjectMessage(message);
  if (!attributes.ok()) return attributes.error();
  Result<nft::Object> object = DecodeObject(*attributes, *this);
  if (!object.ok()) return object.error();
  object->handle = NextHandle((*attributes)[kObjectHandle]);
  table_.objects.push_back(*std::move(object));
  return std::nullopt;
}

Failure ScratchTable::AddFlowtable(ByteSpan message) {
  Result<FlowtableAttributes> attributes = ParseFlowtableMessage(message);
  if (!attributes.ok()) return attributes.error();
  Result<nft::Flowtable> flowtable = DecodeFlowtable(*attributes, table_.family);
  if (!flowtable.ok()) return flowtable.error();
  flowtable->handle = NextHandle((*attributes)[kFlowtableHandle]);
  table_.flowtables.push_back(*std::move(flowtable));
  return std::nullopt;
}

std::vector<std::string> ScratchTable::Dump(MessageType kind) const {
  std::vector<std::string> bodies;
  const auto body = [&](auto&& encode) {
    AttributeWriter out(&bodies.emplace_back());
    encode(out);
  };
  switch (kind) {
    case kNewTable:
      body([&](AttributeWriter& out) { EncodeTable(table_, 0, out); });
      break;
    case kNewChain:
      for (const nft::Chain& chain : table_.chains) {
        body([&](AttributeWriter& out) { EncodeChain(table_.name, chain, 0, out); });
      }
      break;
    case kNewRule:
      for (const nft::Chain& chain : table_.chains) {
        nft::Handle position = 0;
        for (const nft::Rule& rule : chain.rules) {
          body([&](AttributeWriter& out) { EncodeRule(table_.name, chain.name, rule, position, *this, out); });
          position = rule.handle;
        }
      }
      break;
    case kNewSet:
      for (const nft::Set& set : table_.sets) {
        body([&](AttributeWriter& out) { EncodeSet(table_.name, set, *this, out); });
      }
      break;
    case kNewObj:
      for (const nft::Object& object : table_.objects) {
        body([&](AttributeWriter& out) { EncodeObject(table_.name, object, 0, *this, out); });
      }
      break;
    case kNewFlowtable:
      for (const nft::Flowtable& flowtable : table_.flowtables) {
        body([&](AttributeWriter& out) { EncodeFlowtable(table_.name, flowtable, 0, out); });
      }
      break;
    default:
      break;
  }
  return bodies;
}

std::string ScratchTable::DumpElements(const nft::Set& set) const {
  std::string body;
  AttributeWriter out(&body);
  out.String(kElementsTable, table_.name);
  out.String(kElementsSet, set.name);
  const size_t list = out.BeginNest(kElementsList);
  for (const nft::Element& element : set.elements) EncodeElement(element, set, *this, out);
  out.EndNest(list);
  return body;
}

}  // namespace nftjit::netlink
