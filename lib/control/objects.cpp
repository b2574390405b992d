// NEWOBJ, DELOBJ, DESTROYOBJ.
#include <absl/strings/str_format.h>

#include <cerrno>
#include <utility>

#include "lib/control/operations.h"
#include "lib/netlink/codec.h"

namespace nftjit::control {
namespace {

using netlink::Attribute;
using netlink::ObjectAttributes;

void NotifyObject(const Operation& operation, const TableEdit& table, const nft::Object& object) {
  operation.Notify(netlink::kNewObj, 0, [&](netlink::AttributeWriter& out) {
    netlink::EncodeObject(table.table().name, object, table.uses().of(object.handle), table, out);
  });
}

// Quotas and synproxies take new parameters; all other kinds stay as they are.
bool IsChangeable(const nft::Object& object) {
  return std::holds_alternative<nft::Quota>(object.body) || std::holds_alternative<nft::Synproxy>(object.body);
}

void Update(nft::Object& object, const nft::Object& wanted) {
  if (const auto* quota = std::get_if<nft::Quota>(&wanted.body)) {
    auto& there = std::get<nft::Quota>(object.body);
    there.bytes = quota->bytes;
    there.flags = quota->flags;
  } else if (const auto* synproxy = std::get_if<nft::Synproxy>(&wanted.body)) {
    object.body = *synproxy;
  }
}

}  // namespace

Outcome NewObject(const Operation& operation) {
  const netlink::Result<ObjectAttributes> attributes = netlink::ParseObjectMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const Attribute& name = (*attributes)[netlink::kObjectName];
  const Attribute& type = (*attributes)[netlink::kObjectTypeNumber];
  if (!type || !name || !(*attributes)[netlink::kObjectData]) {
    return Refused(EINVAL, {}, "an object needs a name, a type and data");
  }
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kObjectTable]);
  if (!table.ok()) return table.error();

  const nft::Object* existing = (*table)->ObjectByName(name.String(), static_cast<nft::ObjectType>(type.U32()));
  if (existing != nullptr) {
    if (operation.message.has(kFlagExclusive)) {
      return Refused(EEXIST, name, absl::StrFormat("object %s exists", name.String()));
    }
    if (operation.message.has(kFlagReplace)) return Refused(EOPNOTSUPP, {}, "an object cannot be replaced");
    // The kernel has no way to change the others, and does not look at what the message says of them.
    if (!IsChangeable(*existing)) return Fine();
    const netlink::Result<nft::Object> wanted = netlink::DecodeObject(*attributes, **table);
    if (!wanted.ok()) return wanted.error();
    nft::Object& object = *(*table)->MutableObject(existing->handle);
    Update(object, *wanted);
    NotifyObject(operation, **table, object);
    return Fine();
  }
  netlink::Result<nft::Object> object = netlink::DecodeObject(*attributes, **table);
  if (!object.ok()) return object.error();
  NotifyObject(operation, **table, (*table)->AddObject(*std::move(object)));
  return Fine();
}

Outcome DeleteObject(const Operation& operation, bool lenient) {
  const netlink::Result<ObjectAttributes> attributes = netlink::ParseObjectMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const Attribute& handle = (*attributes)[netlink::kObjectHandle];
  const Attribute& name = (*attributes)[netlink::kObjectName];
  const Attribute& type_attribute = (*attributes)[netlink::kObjectTypeNumber];
  const Attribute& at = handle ? handle : name;
  if (!type_attribute || !at) return Refused(EINVAL, {}, "the message names no object or no type");
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kObjectTable]);
  if (!table.ok()) return table.error();

  const auto type = static_cast<nft::ObjectType>(type_attribute.U32());
  const nft::Object* object =
      handle ? (*table)->MutableObject(handle.U64()) : (*table)->ObjectByName(name.String(), type);
  if (object == nullptr || object->type != type) {
    return lenient ? Fine() : Refused(ENOENT, at, "the object does not exist");
  }
  if ((*table)->uses().of(object->handle) > 0) {
    return Refused(EBUSY, at, absl::StrFormat("object %s is in use", object->name));
  }
  operation.Notify(netlink::kDelObj, 0, [&](netlink::AttributeWriter& out) {
    out.String(netlink::kObjectTable, (*table)->table().name);
    out.String(netlink::kObjectName, object->name);
    out.U32(netlink::kObjectTypeNumber, static_cast<uint32_t>(object->type));
    out.U64(netlink::kObjectHandle, object->handle);
  });
  (*table)->RemoveObject(object->handle);
  return Fine();
}

}  // namespace nftjit::control
