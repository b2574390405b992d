// NEWSETELEM, DELSETELEM, DESTROYSETELEM.
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/control/operations.h"
#include "lib/netlink/codec.h"

namespace nftjit::control {
namespace {

using netlink::Attribute;
using netlink::AttributeCursor;
using netlink::ElementListAttributes;

void NotifyElement(const Operation& operation, uint8_t type, const TableEdit& table, const nft::Set& set,
                   const nft::Element& element) {
  operation.Notify(type, 0, [&](netlink::AttributeWriter& out) {
    out.String(netlink::kElementsTable, table.table().name);
    out.String(netlink::kElementsSet, set.name);
    const size_t list = out.BeginNest(netlink::kElementsList);
    netlink::EncodeElement(element, set, table, out);
    (void)out.EndNest(list);  // It came out of a message and fits into one.
  });
}

// The set of a message, fit to be changed.
netlink::Result<nft::Set*> ResolveTarget(TableEdit& table, const ElementListAttributes& attributes) {
  const netlink::Result<const nft::Set*> found =
      ResolveSet(table, attributes[netlink::kElementsSet], attributes[netlink::kElementsSetId]);
  if (!found.ok()) return found.error();
  nft::Set* set = table.MutableSet((*found)->handle);
  if (table.uses().of(set->handle) > 0 && set->is(nft::kSetConstant | nft::kSetAnonymous)) {
    return Refused(EBUSY, {}, absl::StrFormat("set %s is constant and used by a rule", set->name));
  }
  return set;
}

// An element that is there already is no error unless the client wanted it new or other.
Outcome AddAgain(const Operation& operation, const Attribute& item, const nft::Element& wanted, nft::Element& there) {
  const bool same = wanted.data == there.data && wanted.object == there.object;
  if (!same) return Refused(EEXIST, item, "the element exists with other data");
  if (operation.message.has(kFlagExclusive)) return Refused(EEXIST, item, "the element exists");
  if (wanted.timeout_ms.has_value()) there.timeout_ms = wanted.timeout_ms;
  if (wanted.expiration_ms.has_value()) there.expiration_ms = wanted.expiration_ms;
  return Fine();
}

Outcome AddElement(const Operation& operation, TableEdit& table, nft::Set& set, const Attribute& item) {
  netlink::Result<nft::Element> element = netlink::DecodeElement(item, set, table);
  if (!element.ok()) {
    Outcome error = element.error();
    error.offset = item.offset();  // The kernel blames the whole element.
    return error;
  }
  ElementIndex& index = table.Elements(set.handle);
  const std::optional<size_t> capacity = index.Capacity(set);
  const ElementIndex::Conflict conflict = index.Check(set, *element);
  switch (conflict.kind) {
    case ElementIndex::Conflict::kSame:
      return AddAgain(operation, item, *element, set.elements[conflict.position]);
    case ElementIndex::Conflict::kOverlap:
      return Refused(EEXIST, item, "the element overlaps another one");
    case ElementIndex::Conflict::kIgnored:
      return Fine();
    case ElementIndex::Conflict::kNone:
      break;
  }
  const size_t before = index.counted();
  table.InsertElement(set, *std::move(element));
  // One too many stays until the batch is undone, as in the kernel: later messages meet it. A catch-all takes no room.
  if (capacity.has_value() && index.counted() > std::max(before, *capacity)) {
    return Refused(ENFILE, item, absl::StrFormat("set %s is full: it takes %d elements", set.name, *set.size));
  }
  NotifyElement(operation, netlink::kNewSetElem, table, set, set.elements.back());
  return Fine();
}

void Flush(const Operation& operation, TableEdit& table, nft::Set& set) {
  const ElementIndex& index = table.Elements(set.handle);
  for (uint32_t i = 0; i < set.elements.size(); ++i) {
    if (index.alive(i)) NotifyElement(operation, netlink::kDelSetElem, table, set, set.elements[i]);
  }
  table.RemoveAllElements(set);
}

}  // namespace

Outcome NewElements(const Operation& operation) {
  const netlink::Result<ElementListAttributes> attributes = netlink::ParseElementsMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  if (!(*attributes)[netlink::kElementsList]) return Refused(EINVAL, {}, "the message has no list of elements");
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kElementsTable]);
  if (!table.ok()) return table.error();
  const netlink::Result<nft::Set*> set = ResolveTarget(**table, *attributes);
  if (!set.ok()) return set.error();
  for (AttributeCursor at((*attributes)[netlink::kElementsList]); at.Next();) {
    if (Outcome outcome = AddElement(operation, **table, **set, at.attribute()); outcome.error != 0) return outcome;
  }
  return Fine();
}

Outcome DeleteElements(const Operation& operation, bool lenient) {
  const netlink::Result<ElementListAttributes> attributes = netlink::ParseElementsMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kElementsTable]);
  if (!table.ok()) return table.error();
  const netlink::Result<nft::Set*> set = ResolveTarget(**table, *attributes);
  if (!set.ok()) return set.error();
  const Attribute& list = (*attributes)[netlink::kElementsList];
  if (!list) {
    Flush(operation, **table, **set);
    return Fine();
  }
  for (AttributeCursor at(list); at.Next();) {
    const Attribute& item = at.attribute();
    const netlink::Result<nft::Element> wanted =
        netlink::DecodeElement(item, **set, **table, netlink::ElementUse::kRemove);
    if (!wanted.ok()) {
      Outcome error = wanted.error();
      error.offset = item.offset();
      return error;
    }
    const std::optional<uint32_t> found = (*table)->Elements((*set)->handle).FindForRemoval(**set, *wanted);
    if (!found.has_value()) {
      if (lenient) continue;
      return Refused(ENOENT, item, absl::StrFormat("set %s has no such element", (*set)->name));
    }
    NotifyElement(operation, netlink::kDelSetElem, **table, **set, (*set)->elements[*found]);
    (*table)->RemoveElement(**set, *found);
  }
  return Fine();
}

}  // namespace nftjit::control
