// NEWTABLE, DELTABLE, DESTROYTABLE.
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/control/operations.h"
#include "lib/netlink/codec.h"

namespace nftjit::control {
namespace {

constexpr uint32_t kDormant = 1, kOwner = 2, kPersist = 4, kKnownTableFlags = kDormant | kOwner | kPersist;

bool IsSupported(nft::Family family) {
  switch (family) {
    case nft::Family::kInet:
    case nft::Family::kIp:
    case nft::Family::kArp:
    case nft::Family::kNetdev:
    case nft::Family::kBridge:
    case nft::Family::kIp6:
      return true;
    case nft::Family::kUnspec:
      return false;
  }
  return false;
}

void NotifyTable(const Operation& operation, uint8_t type, const TableEdit& table) {
  operation.Notify(type, 0,
                   [&](netlink::AttributeWriter& out) { netlink::EncodeTable(table.table(), table.TableUse(), out); });
}

void NotifyRemoval(const Operation& operation, const nft::Table& table) {
  operation.Notify(netlink::kDelTable, 0, [&](netlink::AttributeWriter& out) {
    out.String(netlink::kTableName, table.name);
    out.U64(netlink::kTableHandle, table.handle);
  });
}

// A table that wakes registers its chains anew, in their order (vm-semantics 6).
void Wake(Transaction& transaction, nft::Table& table) {
  for (nft::Chain& chain : table.chains) {
    if (chain.base.has_value()) chain.base->registration = transaction.NewRegistration();
  }
}

Outcome UpdateTable(const Operation& operation, TableEdit& table, const netlink::Attribute& flags_attribute) {
  if (!flags_attribute) return Fine();
  nft::Table& model = table.table();
  const uint32_t flags = flags_attribute.U32();
  if ((flags & ~kKnownTableFlags) != 0) return Refused(EOPNOTSUPP, flags_attribute, "unknown table flags");
  const bool owned = (model.flags & kOwner) != 0;
  if (owned && (flags & kOwner) == 0) return Refused(EOPNOTSUPP, flags_attribute, "the owner flag cannot be removed");
  if (!owned && (flags & kOwner) != 0 && (model.flags & kPersist) == 0) {
    return Refused(EOPNOTSUPP, flags_attribute, "the owner flag cannot be added to a table");
  }
  if ((model.flags & kDormant) != 0 && (flags & kDormant) == 0) Wake(operation.transaction, model);
  model.flags = flags;
  if (!owned && (flags & kOwner) != 0) model.owner = operation.transaction.client().port;
  NotifyTable(operation, netlink::kNewTable, table);
  return Fine();
}

// Kernel: nft_flush. A delete without a name or a family is for all tables.
Outcome DeleteTables(const Operation& operation, const netlink::Attribute& name) {
  for (TableEdit* table : operation.transaction.Tables(operation.family())) {
    if (name && table->table().name != name.String()) continue;
    NotifyRemoval(operation, table->table());
    operation.transaction.RemoveTable(*table);
  }
  return Fine();
}

}  // namespace

Outcome NewTable(const Operation& operation) {
  const netlink::Result<netlink::TableAttributes> attributes = netlink::ParseTableMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  if (!IsSupported(operation.family())) {
    return Refused(EOPNOTSUPP, {}, absl::StrFormat("family %d is not supported", operation.message.family));
  }
  const netlink::Attribute& name = (*attributes)[netlink::kTableName];
  if (!name) return Refused(EINVAL, name, "the table has no name");

  TableEdit* existing = operation.transaction.FindTable(operation.family(), name.String());
  if (existing != nullptr) {
    if (operation.transaction.IsForeign(existing->table())) {
      return Refused(EPERM, name, absl::StrFormat("table %s belongs to another client", name.String()));
    }
    if (operation.message.has(kFlagExclusive)) {
      return Refused(EEXIST, name, absl::StrFormat("table %s exists", name.String()));
    }
    if (operation.message.has(kFlagReplace)) return Refused(EOPNOTSUPP, {}, "a table cannot be replaced");
    return UpdateTable(operation, *existing, (*attributes)[netlink::kTableFlags]);
  }
  netlink::Result<nft::Table> table = netlink::DecodeTable(*attributes, operation.family());
  if (!table.ok()) return table.error();
  if ((table->flags & kOwner) != 0) table->owner = operation.transaction.client().port;
  NotifyTable(operation, netlink::kNewTable, operation.transaction.AddTable(*std::move(table)));
  return Fine();
}

Outcome DeleteTable(const Operation& operation, bool lenient) {
  const netlink::Result<netlink::TableAttributes> attributes = netlink::ParseTableMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Attribute& name = (*attributes)[netlink::kTableName];
  const netlink::Attribute& handle = (*attributes)[netlink::kTableHandle];
  if (operation.family() == nft::Family::kUnspec || (!name && !handle)) return DeleteTables(operation, name);

  TableEdit* table = handle ? operation.transaction.FindTable(operation.family(), handle.U64())
                            : operation.transaction.FindTable(operation.family(), name.String());
  const netlink::Attribute& at = handle ? handle : name;
  if (table == nullptr) return lenient ? Fine() : Refused(ENOENT, at, "the table does not exist");
  if (operation.transaction.IsForeign(table->table())) {
    return Refused(EPERM, at, "the table belongs to another client");
  }
  if (operation.message.has(kFlagNonRecursive) && table->TableUse() > 0) {
    return Refused(EBUSY, {}, absl::StrFormat("table %s is not empty", table->table().name));
  }
  NotifyRemoval(operation, table->table());
  operation.transaction.RemoveTable(*table);
  return Fine();
}

}  // namespace nftjit::control
