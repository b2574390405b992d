#include "lib/control/operations.h"

#include <absl/strings/str_format.h>

#include <cerrno>
#include <utility>

#include "lib/netlink/numbers.h"

namespace nftjit::control {

Outcome Refused(int error, const netlink::Attribute& at, std::string message) {
  return {.error = error, .offset = at ? at.offset() : 0, .message = std::move(message)};
}

netlink::Result<TableEdit*> ResolveTable(const Operation& operation, const netlink::Attribute& name) {
  if (!name) return Refused(EINVAL, name, "the message names no table");
  TableEdit* table = operation.transaction.FindTable(operation.family(), name.String());
  if (table == nullptr) {
    return Refused(ENOENT, name,
                   absl::StrFormat("table %s %s does not exist", nft::Name(operation.family()), name.String()));
  }
  if (operation.transaction.IsForeign(table->table())) {
    return Refused(EPERM, name, absl::StrFormat("table %s belongs to another client", name.String()));
  }
  operation.transaction.last_table = table;
  return table;
}

netlink::Result<const nft::Set*> ResolveSet(const TableEdit& table, const netlink::Attribute& name,
                                            const netlink::Attribute& id) {
  if (!name) return Refused(EINVAL, name, "the message names no set");
  const nft::Set* set = table.SetByName(name.String());
  if (set == nullptr && id) set = table.SetById(id.U32());
  if (set == nullptr) return Refused(ENOENT, name, absl::StrFormat("set %s does not exist", name.String()));
  return set;
}

Outcome Apply(const Operation& operation) {
  using namespace netlink;
  const Message& message = operation.message;
  if (!message.has_family_header()) return Refused(EINVAL, {}, "the message is too short");
  switch (message.operation()) {
    case kNewTable:
      return NewTable(operation);
    case kDelTable:
    case kDestroyTable:
      return DeleteTable(operation, message.operation() == kDestroyTable);
    case kNewChain:
      return NewChain(operation);
    case kDelChain:
    case kDestroyChain:
      return DeleteChain(operation, message.operation() == kDestroyChain);
    case kNewRule:
      return NewRule(operation);
    case kDelRule:
    case kDestroyRule:
      return DeleteRule(operation, message.operation() == kDestroyRule);
    case kNewSet:
      return NewSet(operation);
    case kDelSet:
    case kDestroySet:
      return DeleteSet(operation, message.operation() == kDestroySet);
    case kNewSetElem:
      return NewElements(operation);
    case kDelSetElem:
    case kDestroySetElem:
      return DeleteElements(operation, message.operation() == kDestroySetElem);
    case kNewObj:
      return NewObject(operation);
    case kDelObj:
    case kDestroyObj:
      return DeleteObject(operation, message.operation() == kDestroyObj);
    case kNewFlowtable:
      return NewFlowtable(operation);
    case kDelFlowtable:
    case kDestroyFlowtable:
      return DeleteFlowtable(operation, message.operation() == kDestroyFlowtable);
    default:
      return Refused(EINVAL, {}, absl::StrFormat("message type %d may not stand in a batch", message.operation()));
  }
}

}  // namespace nftjit::control
