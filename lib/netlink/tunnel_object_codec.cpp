// Tunnel objects: their data nest, checked and normalised as the kernel dumps it. No engine reads it.
#include "lib/netlink/expression_codec.h"
#include "lib/nft/ruleset.h"

namespace nftjit::netlink {
namespace {

enum : uint16_t {
  kTunnelId = 1,
  kTunnelIp,
  kTunnelIp6,
  kTunnelFlags,
  kTunnelTos,
  kTunnelTtl,
  kTunnelSport,
  kTunnelDport,
  kTunnelOpts,
  kTunnelObjectMax = kTunnelOpts
};
constexpr AttributeTable<kTunnelObjectMax>::Policies kTunnelObjectPolicies = {
    kAnyPolicy, kU32Policy, kNestPolicy, kNestPolicy, kU32Policy,
    kU8Policy,  kU8Policy,  kU16Policy,  kU16Policy,  kNestPolicy};
enum : uint16_t { kAddressSrc = 1, kAddressDst, kAddressFlowlabel, kAddressMax = kAddressFlowlabel };
constexpr AttributeTable<kAddressMax>::Policies kIpPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kAnyPolicy};
constexpr AttributeTable<kAddressMax>::Policies kIp6Policies = {kAnyPolicy, kAnyPolicy, kAnyPolicy, kU32Policy};
constexpr uint32_t kTunnelFlagMask = 7;
constexpr uint8_t kDefaultTtl = 255;

NetlinkError TunnelError(int error, std::string_view why) { return MakeError(error, 0, "tunnel", why); }

// Writes {source, destination} with zeros for a source that is missing, the payload cut to `length`.
void WriteAddresses(const AttributeTable<kAddressMax>& table, size_t length, AttributeWriter& out) {
  const std::string zeros(length, '\0');
  out.Raw(kAddressSrc, table[kAddressSrc] ? table[kAddressSrc].Raw().substr(0, length) : zeros);
  out.Raw(kAddressDst, table[kAddressDst].Raw().substr(0, length));
}

std::optional<NetlinkError> WriteAddressNest(const Attribute& ip, const Attribute& ip6, AttributeWriter& out) {
  AttributeTable<kAddressMax> table;
  const bool v4 = static_cast<bool>(ip);
  const size_t length = v4 ? 4 : 16;
  if (const int error = table.Parse(AttributeCursor(v4 ? ip : ip6), v4 ? kIpPolicies : kIp6Policies)) {
    return TunnelError(error, "an address is too short");
  }
  if (!table[kAddressDst]) return TunnelError(EINVAL, "needs a destination address");
  if (table[kAddressDst].size() < length || (table[kAddressSrc] && table[kAddressSrc].size() < length)) {
    return TunnelError(ERANGE, "an address is too short");
  }
  const size_t nest = out.BeginNest(v4 ? kTunnelIp : kTunnelIp6);
  WriteAddresses(table, length, out);
  if (!v4) out.U32(kAddressFlowlabel, table[kAddressFlowlabel].U32());
  out.EndNest(nest);
  return std::nullopt;
}

}  // namespace

std::optional<NetlinkError> DecodeTunnelObject(const Attribute& data, ExpressionScope& scope, nft::Object& object) {
  if (scope.family() != nft::Family::kNetdev) return TunnelError(ENOENT, "only netdev tables have tunnel objects");
  AttributeTable<kTunnelObjectMax> table;
  if (const int error = ParseData(data, kTunnelObjectPolicies, scope, &table)) return TunnelError(error, scope.why());
  if (!table[kTunnelId]) return TunnelError(EINVAL, "needs an id");
  if (!table[kTunnelIp] && !table[kTunnelIp6]) return TunnelError(EINVAL, "needs addresses");
  const uint32_t flags = table[kTunnelFlags].U32();
  if ((flags & ~kTunnelFlagMask) != 0) return TunnelError(EOPNOTSUPP, "flags must be 0 to 7");
  nft::TunnelObject body;
  AttributeWriter out(&body.attributes);
  out.U32(kTunnelId, table[kTunnelId].U32());
  if (auto error = WriteAddressNest(table[kTunnelIp], table[kTunnelIp6], out)) return error;
  out.U16(kTunnelSport, table[kTunnelSport].U16());
  out.U16(kTunnelDport, table[kTunnelDport].U16());
  out.U32(kTunnelFlags, flags);
  out.U8(kTunnelTos, table[kTunnelTos].U8());
  out.U8(kTunnelTtl, table[kTunnelTtl] ? table[kTunnelTtl].U8() : kDefaultTtl);
  out.Raw(kTunnelOpts, table[kTunnelOpts].Raw());
  object.body = std::move(body);
  return std::nullopt;
}

}  // namespace nftjit::netlink
