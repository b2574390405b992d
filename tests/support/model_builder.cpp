#include "tests/support/model_builder.h"

#include <cstdlib>

namespace nftjit::testing {
namespace {

std::string HexString(std::string_view hex) {
  const Bytes bytes = FromHex(hex);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

nft::Expression Shift(nft::Register from, nft::Register to, uint8_t len, nft::BitwiseOp op, uint32_t count) {
  Bytes data(4);
  StoreNative(data.data(), count);
  return Make(nft::Bitwise{from, to, len, op, {}, {}, Constant(data), {}});
}

Expressions operator+(Expressions first, const Expressions& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

nft::Element Element(std::string_view key, std::string_view data) {
  nft::Element element;
  element.key = HexString(key);
  if (!data.empty()) element.data = HexString(data);
  return element;
}

nft::Element IntervalEnd(std::string_view key) {
  nft::Element element = Element(key);
  element.flags = nft::kElementIntervalEnd;
  return element;
}

nft::Element RangeElement(std::string_view key, std::string_view key_end, std::string_view data) {
  nft::Element element = Element(key, data);
  element.key_end = HexString(key_end);
  return element;
}

nft::Element VerdictElement(std::string_view key, nft::VerdictCode code, nft::Handle chain) {
  nft::Element element = Element(key);
  element.data = nft::Verdict{code, chain};
  return element;
}

nft::Element Catchall(nft::Element element) {
  element.key.clear();
  element.key_end.clear();
  element.flags = nft::kElementCatchall;
  return element;
}

RulesetBuilder& RulesetBuilder::Table(nft::Family family, std::string name, uint32_t flags) {
  nft::Table table;
  table.family = family;
  table.name = std::move(name);
  table.flags = flags;
  table.handle = next_handle_++;
  ruleset_.tables.push_back(std::move(table));
  return *this;
}

nft::Handle RulesetBuilder::BaseChain(std::string name, uint8_t hook, int32_t priority, nft::VerdictCode policy,
                                      std::string device) {
  const nft::Handle handle = Chain(std::move(name));
  nft::BaseChain base;
  base.hook = hook;
  base.priority = priority;
  base.policy = policy;
  base.registration = ++registrations_;
  if (!device.empty()) base.devices.push_back({std::move(device), false});
  nft::Chain& chain = table().chains.back();
  chain.flags = 1;
  chain.base = std::move(base);
  return handle;
}

nft::Handle RulesetBuilder::Chain(std::string name) {
  nft::Chain chain;
  chain.name = std::move(name);
  chain.handle = next_handle_++;
  table().chains.push_back(std::move(chain));
  return table().chains.back().handle;
}

nft::Handle RulesetBuilder::Set(std::string name, const SetShape& shape, std::vector<nft::Element> elements) {
  nft::Set set;
  set.name = std::move(name);
  set.handle = next_handle_++;
  set.flags = shape.flags;
  set.key_len = shape.key_len;
  set.field_lengths = shape.fields;
  set.size = shape.size;
  set.made_with_size = set.size.has_value();
  if (shape.verdict_map || shape.data_len != 0) set.flags |= nft::kSetMap;
  if (shape.verdict_map) set.data_type = nft::kDataTypeVerdict;
  set.data_len = shape.verdict_map ? 16 : shape.data_len;
  set.elements = std::move(elements);
  table().sets.push_back(std::move(set));
  return table().sets.back().handle;
}

nft::Handle RulesetBuilder::Rule(nft::Handle chain, Expressions expressions) {
  for (nft::Chain& candidate : table().chains) {
    if (candidate.handle != chain) continue;
    nft::Rule rule;
    rule.handle = next_handle_++;
    rule.expressions = std::move(expressions);
    candidate.rules.push_back(std::move(rule));
    return candidate.rules.back().handle;
  }
  std::abort();  // A test named a chain of another table.
}

}  // namespace nftjit::testing
