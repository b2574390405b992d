// NEWSET, DELSET, DESTROYSET.
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/control/operations.h"
#include "lib/netlink/codec.h"

namespace nftjit::control {
namespace {

using netlink::Attribute;
using netlink::SetAttributes;

void NotifySet(const Operation& operation, const TableEdit& table, const nft::Set& set) {
  operation.Notify(netlink::kNewSet, 0,
                   [&](netlink::AttributeWriter& out) { netlink::EncodeSet(table.table().name, set, table, out); });
}

// Kernel: nft_set_is_same. Size, timeout and policy may differ.
bool IsSame(const nft::Set& there, const nft::Set& wanted) {
  const auto same_kind = [](const nft::Expression& a, const nft::Expression& b) {
    return a.body.index() == b.body.index();
  };
  return there.key_type == wanted.key_type && there.data_type == wanted.data_type &&
         there.object_type == wanted.object_type && there.flags == wanted.flags && there.key_len == wanted.key_len &&
         there.data_len == wanted.data_len && there.field_lengths == wanted.field_lengths &&
         std::equal(there.expressions.begin(), there.expressions.end(), wanted.expressions.begin(),
                    wanted.expressions.end(), same_kind);
}

Outcome UpdateSet(const Operation& operation, const Attribute& name, const nft::Set& wanted, TableEdit& table,
                  nft::Set& set) {
  if (operation.message.has(kFlagExclusive)) return Refused(EEXIST, name, absl::StrFormat("set %s exists", set.name));
  if (operation.message.has(kFlagReplace)) return Refused(EOPNOTSUPP, {}, "a set cannot be replaced");
  if (set.is(nft::kSetAnonymous)) return Refused(EOPNOTSUPP, {}, "an anonymous set cannot be changed");
  if (!IsSame(set, wanted)) {
    return Refused(EEXIST, name, absl::StrFormat("set %s exists with other properties", set.name));
  }
  if (wanted.size.has_value()) set.size = wanted.size;
  if (wanted.timeout_ms.has_value()) set.timeout_ms = wanted.timeout_ms;
  if (wanted.gc_interval_ms.has_value()) set.gc_interval_ms = wanted.gc_interval_ms;
  NotifySet(operation, table, set);
  return Fine();
}

}  // namespace

Outcome NewSet(const Operation& operation) {
  const netlink::Result<SetAttributes> attributes = netlink::ParseSetMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kSetTable]);
  if (!table.ok()) return table.error();
  netlink::Result<nft::Set> set = netlink::DecodeSet(*attributes, **table);
  if (!set.ok()) return set.error();

  const Attribute& name = (*attributes)[netlink::kSetName];
  const Attribute& id_attribute = (*attributes)[netlink::kSetId];
  if (const nft::Set* existing = (*table)->SetByName(name.String()); existing != nullptr) {
    return UpdateSet(operation, name, *set, **table, *(*table)->MutableSet(existing->handle));
  }
  if (!operation.message.has(kFlagCreate)) {
    return Refused(ENOENT, {}, absl::StrFormat("set %s does not exist", name.String()));
  }
  if (set->is(nft::kSetAnonymous)) set->name = (*table)->AnonymousName(set->name);
  const auto id = id_attribute ? std::optional<uint32_t>(id_attribute.U32()) : std::nullopt;
  NotifySet(operation, **table, (*table)->AddSet(*std::move(set), id));
  return Fine();
}

Outcome DeleteSet(const Operation& operation, bool lenient) {
  const netlink::Result<SetAttributes> attributes = netlink::ParseSetMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kSetTable]);
  if (!table.ok()) return table.error();
  const Attribute& handle = (*attributes)[netlink::kSetHandle];
  const Attribute& name = (*attributes)[netlink::kSetName];
  const Attribute& at = handle ? handle : name;
  if (!at) return Refused(EINVAL, {}, "the message names no set");

  const nft::Set* set = handle ? (*table)->SetByHandle(handle.U64()) : (*table)->SetByName(name.String());
  if (set == nullptr) return lenient ? Fine() : Refused(ENOENT, at, "the set does not exist");
  if ((*table)->uses().of(set->handle) > 0) {
    return Refused(EBUSY, at, absl::StrFormat("set %s is used by a rule", set->name));
  }
  operation.Notify(netlink::kDelSet, 0, [&](netlink::AttributeWriter& out) {
    out.String(netlink::kSetTable, (*table)->table().name);
    out.String(netlink::kSetName, set->name);
    out.U64(netlink::kSetHandle, set->handle);
  });
  (*table)->RemoveSet(set->handle);
  return Fine();
}

}  // namespace nftjit::control
