// NEWFLOWTABLE, DELFLOWTABLE, DESTROYFLOWTABLE.
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "lib/control/operations.h"
#include "lib/netlink/codec.h"

namespace nftjit::control {
namespace {

using netlink::Attribute;
using netlink::FlowtableAttributes;

constexpr uint32_t kHardwareOffload = 1;

void NotifyFlowtable(const Operation& operation, uint8_t type, const TableEdit& table,
                     const nft::Flowtable& flowtable) {
  operation.Notify(type, 0, [&](netlink::AttributeWriter& out) {
    netlink::EncodeFlowtable(table.table().name, flowtable, table.uses().of(flowtable.handle), out);
  });
}

// An existing flowtable takes on the devices that it has not yet; the event tells of these alone.
Outcome Update(const Operation& operation, const FlowtableAttributes& attributes, TableEdit& table,
               nft::Flowtable& flowtable) {
  const Attribute& name = attributes[netlink::kFlowtableName];
  if (operation.message.has(kFlagExclusive)) {
    return Refused(EEXIST, name, absl::StrFormat("flowtable %s exists", flowtable.name));
  }
  const netlink::Result<nft::Flowtable> wanted = netlink::DecodeFlowtable(attributes, operation.family(), &flowtable);
  if (!wanted.ok()) return wanted.error();
  const Attribute& flags = attributes[netlink::kFlowtableFlags];
  if (flags && ((flags.U32() ^ flowtable.flags) & kHardwareOffload) != 0) {
    return Refused(EOPNOTSUPP, {}, "a flowtable's offload flag cannot be changed");
  }
  nft::Flowtable added = flowtable;
  added.devices.clear();
  for (const nft::Device& device : wanted->devices) {
    if (std::find(flowtable.devices.begin(), flowtable.devices.end(), device) == flowtable.devices.end()) {
      added.devices.push_back(device);
    }
  }
  flowtable.devices.insert(flowtable.devices.end(), added.devices.begin(), added.devices.end());
  NotifyFlowtable(operation, netlink::kNewFlowtable, table, added);
  return Fine();
}

Outcome RemoveDevices(const Operation& operation, const FlowtableAttributes& attributes, const TableEdit& table,
                      nft::Flowtable& flowtable) {
  const Attribute& hook = attributes[netlink::kFlowtableHook];
  const netlink::Result<nft::Flowtable> wanted = netlink::DecodeFlowtable(attributes, operation.family(), &flowtable);
  if (!wanted.ok()) return wanted.error();
  for (const nft::Device& device : wanted->devices) {
    const auto found = std::find(flowtable.devices.begin(), flowtable.devices.end(), device);
    if (found == flowtable.devices.end()) {
      return Refused(ENOENT, hook, absl::StrFormat("flowtable %s has no device %s", flowtable.name, device.name));
    }
    flowtable.devices.erase(found);
  }
  nft::Flowtable removed = flowtable;
  removed.devices = wanted->devices;
  NotifyFlowtable(operation, netlink::kDelFlowtable, table, removed);
  return Fine();
}

}  // namespace

Outcome NewFlowtable(const Operation& operation) {
  const netlink::Result<FlowtableAttributes> attributes = netlink::ParseFlowtableMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const Attribute& name = (*attributes)[netlink::kFlowtableName];
  if (!name || !(*attributes)[netlink::kFlowtableHook]) {
    return Refused(EINVAL, {}, "a flowtable needs a name and a hook");
  }
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kFlowtableTable]);
  if (!table.ok()) return table.error();
  if (const nft::Flowtable* existing = (*table)->FlowtableByName(name.String()); existing != nullptr) {
    return Update(operation, *attributes, **table, *(*table)->MutableFlowtable(existing->handle));
  }
  netlink::Result<nft::Flowtable> flowtable = netlink::DecodeFlowtable(*attributes, operation.family());
  if (!flowtable.ok()) return flowtable.error();
  NotifyFlowtable(operation, netlink::kNewFlowtable, **table, (*table)->AddFlowtable(*std::move(flowtable)));
  return Fine();
}

Outcome DeleteFlowtable(const Operation& operation, bool lenient) {
  const netlink::Result<FlowtableAttributes> attributes = netlink::ParseFlowtableMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const Attribute& handle = (*attributes)[netlink::kFlowtableHandle];
  const Attribute& name = (*attributes)[netlink::kFlowtableName];
  const Attribute& at = handle ? handle : name;
  if (!at) return Refused(EINVAL, {}, "the message names no flowtable");
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kFlowtableTable]);
  if (!table.ok()) return table.error();

  const nft::Flowtable* flowtable =
      handle ? (*table)->MutableFlowtable(handle.U64()) : (*table)->FlowtableByName(name.String());
  if (flowtable == nullptr) return lenient ? Fine() : Refused(ENOENT, at, "the flowtable does not exist");
  if ((*attributes)[netlink::kFlowtableHook]) {
    return RemoveDevices(operation, *attributes, **table, *(*table)->MutableFlowtable(flowtable->handle));
  }
  if ((*table)->uses().of(flowtable->handle) > 0) {
    return Refused(EBUSY, at, absl::StrFormat("flowtable %s is in use", flowtable->name));
  }
  operation.Notify(netlink::kDelFlowtable, 0, [&](netlink::AttributeWriter& out) {
    out.String(netlink::kFlowtableTable, (*table)->table().name);
    out.String(netlink::kFlowtableName, flowtable->name);
    out.U64(netlink::kFlowtableHandle, flowtable->handle);
  });
  (*table)->RemoveFlowtable(flowtable->handle);
  return Fine();
}

}  // namespace nftjit::control
