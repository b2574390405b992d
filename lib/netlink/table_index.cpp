#include "lib/netlink/table_index.h"

namespace nftjit::netlink {

template <class Item>
TableIndex::Index<Item>::Index(const std::vector<Item>& items) {
  by_name.reserve(items.size());
  by_handle.reserve(items.size());
  for (const Item& item : items) {
    by_name.emplace(item.name, &item);
    by_handle.emplace(item.handle, &item);
  }
}

template <class Item>
const Item* TableIndex::Index<Item>::ByName(std::string_view name) const {
  const auto found = by_name.find(name);
  return found == by_name.end() ? nullptr : found->second;
}

template <class Item>
const Item* TableIndex::Index<Item>::ByHandle(nft::Handle handle) const {
  const auto found = by_handle.find(handle);
  return found == by_handle.end() ? nullptr : found->second;
}

namespace {

template <class Item>
std::string_view NameOf(const Item* item) {
  return item == nullptr ? std::string_view() : std::string_view(item->name);
}

}  // namespace

TableIndex::TableIndex(const nft::Table& table, KernelFeatures features, bool exact)
    : table_(table),
      features_(features),
      exact_(exact),
      chains_(table.chains),
      sets_(table.sets),
      objects_(table.objects),
      flowtables_(table.flowtables) {}

const nft::Chain* TableIndex::ChainByName(std::string_view name) const { return chains_.ByName(name); }
const nft::Set* TableIndex::SetByName(std::string_view name) const { return sets_.ByName(name); }
const nft::Flowtable* TableIndex::FlowtableByName(std::string_view name) const { return flowtables_.ByName(name); }
const nft::Set* TableIndex::SetByHandle(nft::Handle handle) const { return sets_.ByHandle(handle); }

const nft::Object* TableIndex::ObjectByName(std::string_view name, nft::ObjectType type) const {
  const nft::Object* first = objects_.ByName(name);
  if (first == nullptr || first->type == type) return first;
  return table_.FindObject(name, type);  // Two types share the name: rare.
}

std::string_view TableIndex::ChainName(nft::Handle handle) const { return NameOf(chains_.ByHandle(handle)); }
std::string_view TableIndex::SetName(nft::Handle handle) const { return NameOf(sets_.ByHandle(handle)); }
std::string_view TableIndex::ObjectName(nft::Handle handle) const { return NameOf(objects_.ByHandle(handle)); }
std::string_view TableIndex::FlowtableName(nft::Handle handle) const { return NameOf(flowtables_.ByHandle(handle)); }

bool TableIndex::SetDeclaresExpressions(nft::Handle handle) const {
  const nft::Set* set = sets_.ByHandle(handle);
  return set != nullptr && !set->expressions.empty();
}

}  // namespace nftjit::netlink
