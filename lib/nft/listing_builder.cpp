#include "lib/nft/listing_builder.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

namespace nftjit::nft {
namespace {

// A name of an anonymous set before the kernel has completed it.
bool IsPattern(std::string_view name) { return name.ends_with("%d"); }

// What is known of an object that only rules mention: nothing but its type.
Object Placeholder(ObjectType type, std::string_view name) {
  Object object{.name = std::string(name), .type = type, .userdata = "", .body = Counter{}};
  switch (type) {
    case ObjectType::kCounter:
      break;
    case ObjectType::kQuota:
      object.body = Quota{};
      break;
    case ObjectType::kCtHelper:
      object.body = CtHelperObject{};
      break;
    case ObjectType::kLimit:
      object.body = Limit{};
      break;
    case ObjectType::kConnlimit:
      object.body = Connlimit{};
      break;
    case ObjectType::kTunnel:
      object.body = TunnelObject{};
      break;
    case ObjectType::kCtTimeout:
      object.body = CtTimeoutObject{};
      break;
    case ObjectType::kSecmark:
      object.body = SecmarkObject{};
      break;
    case ObjectType::kCtExpect:
      object.body = CtExpectObject{};
      break;
    case ObjectType::kSynproxy:
      object.body = Synproxy{};
      break;
  }
  return object;
}

}  // namespace

std::optional<size_t> RawSet::key_words() const {
  for (const RawElement& element : elements) {
    if (!element.key.words.empty()) return element.key.words.size();
  }
  return std::nullopt;
}

const RawValue* RawSet::first_data() const {
  for (const RawElement& element : elements) {
    if (!element.data.words.empty()) return &element.data;
  }
  return nullptr;
}

std::optional<size_t> RawSet::data_words() const {
  const RawValue* data = first_data();
  return data == nullptr ? std::nullopt : std::optional(data->words.size());
}

Chain& RawTable::ChainByName(std::string_view name, const SourcePos& where) {
  const auto [found, added] = chain_index.try_emplace(std::string(name), table.chains.size());
  if (added) {
    table.chains.push_back({.name = std::string(name), .handle = ++last_handle});
    undeclared_chains.emplace(found->second, where);
  }
  return table.chains[found->second];
}

Handle RawTable::ObjectByName(ObjectType type, std::string_view name, const SourcePos& where) {
  const auto [found, added] =
      object_index.try_emplace({static_cast<int>(type), std::string(name)}, table.objects.size());
  if (added) {
    table.objects.push_back(Placeholder(type, name));
    table.objects.back().handle = ++last_handle;
    undeclared_objects.emplace(found->second, where);
  }
  return table.objects[found->second].handle;
}

Handle RawTable::FlowtableByName(std::string_view name, const SourcePos& where) {
  const auto [found, added] = flowtable_index.try_emplace(std::string(name), table.flowtables.size());
  if (added) {
    table.flowtables.push_back({.name = std::string(name), .handle = ++last_handle});
    undeclared_flowtables.emplace(found->second, where);
  }
  return table.flowtables[found->second].handle;
}

void RawTable::DeclareObject(Object object) {
  object.handle = ObjectByName(object.type, object.name, {});
  const size_t at = object_index.at({static_cast<int>(object.type), object.name});
  undeclared_objects.erase(at);
  table.objects[at] = std::move(object);
}

void RawTable::DeclareFlowtable(Flowtable flowtable) {
  flowtable.handle = FlowtableByName(flowtable.name, {});
  const size_t at = flowtable_index.at(flowtable.name);
  undeclared_flowtables.erase(at);
  table.flowtables[at] = std::move(flowtable);
}

RawSet* RawTable::AddSet(std::unique_ptr<RawSet> set) {
  RawSet* added = sets.emplace_back(std::move(set)).get();
  added->set.handle = ++last_handle;
  set_by_handle.emplace(added->set.handle, added);
  if (!IsPattern(added->set.name)) set_index.insert_or_assign(added->set.name, added);
  return added;
}

RawTable& ListingBuilder::TableByName(Family family, std::string_view name) {
  const auto [found, added] = table_index_.try_emplace({static_cast<int>(family), std::string(name)}, nullptr);
  if (added) {
    found->second = &tables_.emplace_back();
    found->second->table.family = family;
    found->second->table.name = name;
    found->second->table.handle = tables_.size();
    tables_by_name_[found->second->table.name].push_back(found->second);
  }
  return *found->second;
}

RawSet* ListingBuilder::AddPendingSet(std::unique_ptr<RawSet> set, std::string_view table) {
  SetKey key(table, set->set.name);
  set->sequence = ++sequence_;
  RawSet* added = set.get();
  latest_[key] = added;
  pending_[key].push_back(std::move(set));
  if (IsPattern(key.second)) waiting_for_rule_.push_back(std::move(key));
  return added;
}

RawSet* ListingBuilder::LatestSet(std::string_view table, std::string_view name) {
  const auto found = latest_.find(SetKey(table, name));
  return found == latest_.end() ? nullptr : found->second;
}

RawSet* ListingBuilder::UseSet(RawTable& table, std::string_view name, const SourcePos& where) {
  if (const auto found = table.set_index.find(std::string(name)); found != table.set_index.end()) return found->second;
  auto pending = pending_.find(SetKey(table.table.name, name));
  // An anonymous set stands in front of its rule, whose header may be missing or name the table otherwise.
  if ((pending == pending_.end() || pending->second.empty()) && (IsPattern(name) || table.table.name.empty())) {
    pending = std::find_if(pending_.begin(), pending_.end(),
                           [&](const auto& entry) { return entry.first.second == name && !entry.second.empty(); });
  }
  if (pending != pending_.end() && !pending->second.empty()) {
    std::unique_ptr<RawSet> set = std::move(pending->second.front());
    pending->second.pop_front();
    return table.AddSet(std::move(set));
  }
  auto missing = std::make_unique<RawSet>();
  missing->set.name = name;
  missing->where = where;
  missing->declared = false;
  missing->sequence = ++sequence_;
  Lose(where, absl::StrCat("the text has no line of set ", missing->set.name, "; an empty one is assumed"));
  return table.AddSet(std::move(missing));
}

void ListingBuilder::EndRule() {
  for (const SetKey& key : waiting_for_rule_) {
    std::deque<std::unique_ptr<RawSet>>& sets = pending_[key];
    for (std::unique_ptr<RawSet>& set : sets) unused_.emplace_back(key.first, std::move(set));
    sets.clear();
  }
  waiting_for_rule_.clear();
}

RawTable& ListingBuilder::AnyTable(std::string_view name, Family family) {
  const auto found = tables_by_name_.find(std::string(name));
  return found == tables_by_name_.end() ? TableByName(family, name) : *found->second.front();
}

void ListingBuilder::PlacePending(Family family) {
  for (auto& [key, sets] : pending_) {
    for (std::unique_ptr<RawSet>& set : sets) unused_.emplace_back(key.first, std::move(set));
  }
  for (auto& [name, set] : unused_) AnyTable(name, family).AddSet(std::move(set));
  for (auto& [name, object] : objects_) {
    // Of two tables of that name the one whose rules mention it.
    RawTable* owner = &AnyTable(name, family);
    for (RawTable* table : tables_by_name_[name]) {
      const auto found = table->object_index.find({static_cast<int>(object.type), object.name});
      if (found != table->object_index.end() && table->undeclared_objects.contains(found->second)) owner = table;
    }
    owner->DeclareObject(std::move(object));
  }
  for (auto& [name, flowtable] : flowtables_) AnyTable(name, family).DeclareFlowtable(std::move(flowtable));
}

void ListingBuilder::NoteUndeclared(const RawTable& raw) {
  for (const auto& [at, where] : raw.undeclared_chains) {
    const Chain& chain = raw.table.chains[at];
    if (!chain.rules.empty()) continue;
    Lose(where, absl::StrCat("the text has no line of chain ", chain.name, "; an empty one is assumed"));
  }
  for (const auto& [at, where] : raw.undeclared_objects) {
    const Object& object = raw.table.objects[at];
    if (object.type == ObjectType::kCounter) continue;  // What it counts from changes no packet.
    Lose(where, absl::StrCat("the text has no line of object ", object.name, "; an empty one is assumed"));
  }
  for (const auto& [at, where] : raw.undeclared_flowtables) {
    Lose(where, absl::StrCat("the text has no line of flowtable ", raw.table.flowtables[at].name,
                             "; one without devices is assumed"));
  }
}

absl::StatusOr<Listing> ListingBuilder::Finish(ListingDialect dialect, Family family) {
  PlacePending(family);
  Listing listing;
  listing.dialect = dialect;
  for (RawTable& raw : tables_) {
    std::sort(raw.sets.begin(), raw.sets.end(), [](const auto& a, const auto& b) { return a->sequence < b->sequence; });
    for (const std::unique_ptr<RawSet>& set : raw.sets) {
      if (absl::Status status = FinishSet(raw, *set, dialect, losses_); !status.ok()) return status;
      raw.table.sets.push_back(std::move(set->set));
    }
    NoteUndeclared(raw);
    listing.ruleset.tables.push_back(std::move(raw.table));
  }
  std::stable_sort(losses_.begin(), losses_.end(), [](const ListingLoss& a, const ListingLoss& b) {
    return std::pair(a.where.line, a.where.column) < std::pair(b.where.line, b.where.column);
  });
  listing.losses = std::move(losses_);
  return listing;
}

}  // namespace nftjit::nft
