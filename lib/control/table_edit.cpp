#include "lib/control/table_edit.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace nftjit::control {
namespace {

// What the kernel gives a set that rules add to, if it was declared without a size.
constexpr uint32_t kDynamicSetSize = 65535;

std::string_view NameOf(const auto* item) {
  return item == nullptr ? std::string_view() : std::string_view(item->name);
}

}  // namespace

template <class Item>
void TableEdit::Rebuild(const std::vector<Item>& items, Index& index) {
  index = Index();
  for (size_t i = 0; i < items.size(); ++i) {
    index.by_handle.emplace(items[i].handle, i);
    index.by_name.emplace(items[i].name, i);
  }
}

template <class Item>
void TableEdit::Enter(std::vector<Item>& items, Item item, Index& index) {
  index.by_handle.emplace(item.handle, items.size());
  index.by_name.emplace(item.name, items.size());
  items.push_back(std::move(item));
}

template <class Item>
void TableEdit::Erase(std::vector<Item>& items, nft::Handle handle, Index& index) {
  items.erase(items.begin() + static_cast<ptrdiff_t>(index.by_handle.at(handle)));
  Rebuild(items, index);
}

template <class Item>
Item* TableEdit::At(std::vector<Item>& items, const Index& index, nft::Handle handle) {
  const auto found = index.by_handle.find(handle);
  return found == index.by_handle.end() ? nullptr : &items[found->second];
}

template <class Item>
const Item* TableEdit::At(const std::vector<Item>& items, const Index& index, nft::Handle handle) {
  const auto found = index.by_handle.find(handle);
  return found == index.by_handle.end() ? nullptr : &items[found->second];
}

template <class Item>
const Item* TableEdit::Named(const std::vector<Item>& items, const Index& index, std::string_view name) {
  const auto found = index.by_name.find(std::string(name));
  return found == index.by_name.end() ? nullptr : &items[found->second];
}

TableEdit::TableEdit(nft::Table table, const netlink::KernelFeatures& features)
    : table_(std::move(table)), features_(features), uses_(table_) {
  Rebuild(table_.chains, chains_);
  Rebuild(table_.sets, sets_);
  Rebuild(table_.objects, objects_);
  Rebuild(table_.flowtables, flowtables_);
}

uint32_t TableEdit::TableUse() const {
  return static_cast<uint32_t>(table_.chains.size() + table_.sets.size() + table_.objects.size() +
                               table_.flowtables.size());
}

// ---- Chains and rules -------------------------------------------------------------------------------------------

nft::Chain& TableEdit::AddChain(nft::Chain chain, std::optional<uint32_t> id) {
  chain.handle = NewHandle();
  if (id.has_value()) chain_ids_.emplace(*id, chain.handle);
  Enter(table_.chains, std::move(chain), chains_);
  return table_.chains.back();
}

bool TableEdit::IsFreeForRename(std::string_view name) const {
  return ChainByName(name) == nullptr &&
         std::none_of(renames_.begin(), renames_.end(), [&](const auto& rename) { return rename.second == name; });
}

nft::Table TableEdit::Release() && {
  Compact();
  for (auto& [handle, name] : renames_) {
    if (nft::Chain* chain = MutableChain(handle); chain != nullptr) chain->name = std::move(name);
  }
  return std::move(table_);
}

void TableEdit::RemoveChain(nft::Handle handle) {
  for (const nft::Rule& rule : MutableChain(handle)->rules) ReleaseRule(rule);
  Erase(table_.chains, handle, chains_);
  RemoveOrphans();
}

std::optional<TableEdit::BindingConflict> TableEdit::CheckBindings(const nft::Rule& rule) const {
  std::vector<nft::Handle> bound;
  for (size_t i = 0; i < rule.expressions.size(); ++i) {
    int error = 0;
    nft::ForEachReference(rule.expressions[i], [&](const nft::Reference& reference) {
      const nft::Set* set = SetByHandle(reference.handle);
      const nft::Chain* chain = At(table_.chains, chains_, reference.handle);
      const bool exclusive = (set != nullptr && set->is(nft::kSetAnonymous)) ||
                             (chain != nullptr && (chain->flags & nft::kChainBinding) != 0);
      if (!exclusive) return;
      const bool taken =
          uses_.of(reference.handle) > 0 || std::find(bound.begin(), bound.end(), reference.handle) != bound.end();
      if (taken) error = set != nullptr ? EBUSY : EINVAL;
      bound.push_back(reference.handle);
    });
    if (error != 0) return BindingConflict{i, error};
  }
  return std::nullopt;
}

void TableEdit::InsertRule(nft::Handle chain_handle, size_t position, nft::Rule rule, std::optional<uint32_t> id) {
  uses_.Add(rule);
  for (const nft::Expression& expression : rule.expressions) {
    const auto* dynset = std::get_if<nft::Dynset>(&expression.body);
    if (dynset == nullptr) continue;
    nft::Set* set = MutableSet(dynset->set);
    if (set != nullptr && set->size.value_or(0) == 0) set->size = kDynamicSetSize;
  }
  if (id.has_value()) rule_ids_.emplace(*id, rule.handle);
  std::vector<nft::Rule>& rules = MutableChain(chain_handle)->rules;
  rules.insert(rules.begin() + static_cast<ptrdiff_t>(position), std::move(rule));
}

void TableEdit::RemoveRules(nft::Handle chain_handle, size_t first, size_t count) {
  std::vector<nft::Rule>& rules = MutableChain(chain_handle)->rules;
  const auto begin = rules.begin() + static_cast<ptrdiff_t>(first);
  const auto end = begin + static_cast<ptrdiff_t>(count);
  for (auto rule = begin; rule != end; ++rule) ReleaseRule(*rule);
  rules.erase(begin, end);
  RemoveOrphans();
}

void TableEdit::ReplaceRule(nft::Handle chain_handle, size_t position, nft::Rule rule) {
  InsertRule(chain_handle, position + 1, std::move(rule), std::nullopt);
  RemoveRules(chain_handle, position, 1);
}

std::optional<nft::Handle> TableEdit::RuleById(uint32_t id) const {
  const auto found = rule_ids_.find(id);
  return found == rule_ids_.end() ? std::nullopt : std::optional(found->second);
}

void TableEdit::ReleaseRule(const nft::Rule& rule) {
  uses_.Remove(rule);
  for (const nft::Expression& expression : rule.expressions) {
    nft::ForEachReference(expression, [&](const nft::Reference& reference) {
      if (uses_.of(reference.handle) != 0) return;
      if (const nft::Set* set = SetByHandle(reference.handle); set != nullptr && set->is(nft::kSetAnonymous)) {
        orphan_sets_.push_back(reference.handle);
      }
      const nft::Chain* chain = At(table_.chains, chains_, reference.handle);
      if (chain != nullptr && (chain->flags & nft::kChainBinding) != 0) orphan_chains_.push_back(reference.handle);
    });
  }
}

void TableEdit::RemoveOrphans() {
  while (!orphan_chains_.empty()) {
    const nft::Handle chain = orphan_chains_.back();
    orphan_chains_.pop_back();
    if (!chains_.by_handle.contains(chain)) continue;
    for (const nft::Rule& rule : MutableChain(chain)->rules) ReleaseRule(rule);
    Erase(table_.chains, chain, chains_);
  }
  if (orphan_sets_.empty()) return;
  const std::vector<nft::Handle> sets = std::exchange(orphan_sets_, {});
  // All at once: a flush may drop one for every rule.
  absl::flat_hash_map<nft::Handle, bool> doomed;
  for (const nft::Handle set : sets) {
    if (doomed.emplace(set, true).second) RemoveAllElements(*MutableSet(set));
    elements_.erase(set);
  }
  std::erase_if(table_.sets, [&](const nft::Set& set) { return doomed.contains(set.handle); });
  Rebuild(table_.sets, sets_);
  lowest_free_number_.clear();
}

// ---- Sets and elements ------------------------------------------------------------------------------------------

nft::Set& TableEdit::AddSet(nft::Set set, std::optional<uint32_t> id) {
  set.handle = NewHandle();
  if (id.has_value()) set_ids_.emplace(*id, set.handle);
  Enter(table_.sets, std::move(set), sets_);
  return table_.sets.back();
}

void TableEdit::RemoveSet(nft::Handle handle) {
  RemoveAllElements(*MutableSet(handle));
  elements_.erase(handle);
  Erase(table_.sets, handle, sets_);
  lowest_free_number_.clear();
}

ElementIndex& TableEdit::Elements(nft::Handle set) {
  std::unique_ptr<ElementIndex>& index = elements_[set];
  if (index == nullptr) index = std::make_unique<ElementIndex>(*MutableSet(set));
  return *index;
}

void TableEdit::InsertElement(nft::Set& set, nft::Element element) {
  uses_.Add(element);
  Elements(set.handle).Insert(set, std::move(element));
}

void TableEdit::RemoveElement(nft::Set& set, uint32_t position) {
  uses_.Remove(set.elements[position]);
  Elements(set.handle).Remove(set, position);
}

void TableEdit::RemoveAllElements(nft::Set& set) {
  ElementIndex& index = Elements(set.handle);
  for (uint32_t i = 0; i < set.elements.size(); ++i) {
    if (index.alive(i)) uses_.Remove(set.elements[i]);
  }
  index.Clear(set);
}

void TableEdit::Compact() {
  for (auto& [handle, index] : elements_) index->Compact(*MutableSet(handle));
}

std::string TableEdit::AnonymousName(std::string_view pattern) {
  const size_t at = pattern.find("%d");
  if (at == std::string_view::npos) return std::string(pattern);
  uint32_t& number = lowest_free_number_[std::string(pattern)];
  std::string name;
  do {
    name = absl::StrCat(std::string(pattern.substr(0, at)), number++, std::string(pattern.substr(at + 2)));
  } while (sets_.by_name.contains(name));
  return name;
}

// ---- Objects and flowtables -------------------------------------------------------------------------------------

nft::Object& TableEdit::AddObject(nft::Object object) {
  object.handle = NewHandle();
  Enter(table_.objects, std::move(object), objects_);
  return table_.objects.back();
}

nft::Flowtable& TableEdit::AddFlowtable(nft::Flowtable flowtable) {
  flowtable.handle = NewHandle();
  Enter(table_.flowtables, std::move(flowtable), flowtables_);
  return table_.flowtables.back();
}

void TableEdit::RemoveObject(nft::Handle handle) { Erase(table_.objects, handle, objects_); }
void TableEdit::RemoveFlowtable(nft::Handle handle) { Erase(table_.flowtables, handle, flowtables_); }

// ---- Lookups ----------------------------------------------------------------------------------------------------

nft::Chain* TableEdit::MutableChain(nft::Handle handle) { return At(table_.chains, chains_, handle); }
nft::Set* TableEdit::MutableSet(nft::Handle handle) { return At(table_.sets, sets_, handle); }
nft::Object* TableEdit::MutableObject(nft::Handle handle) { return At(table_.objects, objects_, handle); }
nft::Flowtable* TableEdit::MutableFlowtable(nft::Handle handle) { return At(table_.flowtables, flowtables_, handle); }

const nft::Chain* TableEdit::ChainByName(std::string_view name) const { return Named(table_.chains, chains_, name); }
const nft::Chain* TableEdit::ChainById(uint32_t id) const {
  const auto found = chain_ids_.find(id);
  return found == chain_ids_.end() ? nullptr : At(table_.chains, chains_, found->second);
}
const nft::Set* TableEdit::SetByName(std::string_view name) const { return Named(table_.sets, sets_, name); }
const nft::Set* TableEdit::SetById(uint32_t id) const {
  const auto found = set_ids_.find(id);
  return found == set_ids_.end() ? nullptr : At(table_.sets, sets_, found->second);
}
const nft::Set* TableEdit::SetByHandle(nft::Handle handle) const { return At(table_.sets, sets_, handle); }
const nft::Object* TableEdit::ObjectByName(std::string_view name, nft::ObjectType type) const {
  // The index knows one of the types that share a name.
  const nft::Object* first = Named(table_.objects, objects_, name);
  return first == nullptr || first->type == type ? first : table_.FindObject(name, type);
}
const nft::Flowtable* TableEdit::FlowtableByName(std::string_view name) const {
  return Named(table_.flowtables, flowtables_, name);
}
bool TableEdit::SetDeclaresExpressions(nft::Handle handle) const {
  const nft::Set* set = SetByHandle(handle);
  return set != nullptr && !set->expressions.empty();
}
std::string_view TableEdit::ChainName(nft::Handle handle) const { return NameOf(At(table_.chains, chains_, handle)); }
std::string_view TableEdit::SetName(nft::Handle handle) const { return NameOf(At(table_.sets, sets_, handle)); }
std::string_view TableEdit::ObjectName(nft::Handle handle) const {
  return NameOf(At(table_.objects, objects_, handle));
}
std::string_view TableEdit::FlowtableName(nft::Handle handle) const {
  return NameOf(At(table_.flowtables, flowtables_, handle));
}

}  // namespace nftjit::control
