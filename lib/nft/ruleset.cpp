#include "lib/nft/ruleset.h"

namespace nftjit::nft {
namespace {

// nft's user data is a list of {u8 type, u8 length, value}; comments end with a zero byte.
std::optional<std::string> UserdataString(std::string_view userdata, uint8_t wanted) {
  while (userdata.size() >= 2) {
    const auto type = static_cast<uint8_t>(userdata[0]);
    const auto length = static_cast<uint8_t>(userdata[1]);
    userdata.remove_prefix(2);
    if (length > userdata.size()) return std::nullopt;
    if (type == wanted) {
      const std::string_view value = userdata.substr(0, length);
      return std::string(value.substr(0, value.find('\0')));
    }
    userdata.remove_prefix(length);
  }
  return std::nullopt;
}

template <class Item>
const Item* FindByHandle(const std::vector<Item>& items, Handle handle) {
  for (const Item& item : items) {
    if (item.handle == handle) return &item;
  }
  return nullptr;
}

template <class Item>
const Item* FindByName(const std::vector<Item>& items, std::string_view name) {
  for (const Item& item : items) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string> Comment(std::string_view userdata) { return UserdataString(userdata, 0); }

std::optional<std::string> SetComment(std::string_view userdata) { return UserdataString(userdata, 7); }

std::string_view Name(ChainType type) {
  switch (type) {
    case ChainType::kFilter:
      return "filter";
    case ChainType::kNat:
      return "nat";
    case ChainType::kRoute:
      return "route";
  }
  return "unknown";
}

const Chain* Table::FindChain(Handle handle) const { return FindByHandle(chains, handle); }
const Chain* Table::FindChain(std::string_view chain_name) const { return FindByName(chains, chain_name); }
const Set* Table::FindSet(Handle handle) const { return FindByHandle(sets, handle); }
const Set* Table::FindSet(std::string_view set_name) const { return FindByName(sets, set_name); }
const Object* Table::FindObject(Handle handle) const { return FindByHandle(objects, handle); }
const Object* Table::FindObject(std::string_view object_name, ObjectType type) const {
  for (const Object& object : objects) {
    if (object.type == type && object.name == object_name) return &object;
  }
  return nullptr;
}
const Flowtable* Table::FindFlowtable(Handle handle) const { return FindByHandle(flowtables, handle); }
const Flowtable* Table::FindFlowtable(std::string_view flowtable_name) const {
  return FindByName(flowtables, flowtable_name);
}

}  // namespace nftjit::nft
