// nat, masq, redir: translations (vm-semantics 10.24 to 10.26).
#include "lib/netlink/expression_codec.h"

namespace nftjit::netlink {
namespace {

enum : uint16_t {
  kNatType = 1,
  kNatFamily,
  kNatAddrMin,
  kNatAddrMax,
  kNatProtoMin,
  kNatProtoMax,
  kNatFlags,
  kNatMax = kNatFlags
};
constexpr AttributeTable<kNatMax>::Policies kNatPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kU32Policy,
                                                            kU32Policy, kU32Policy, kU32Policy, kU32Policy};

enum : uint16_t { kMasqFlags = 1, kMasqProtoMin, kMasqProtoMax, kMasqMax = kMasqProtoMax };
constexpr AttributeTable<kMasqMax>::Policies kMasqPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kU32Policy};

enum : uint16_t { kRedirProtoMin = 1, kRedirProtoMax, kRedirFlags, kRedirMax = kRedirFlags };
constexpr AttributeTable<kRedirMax>::Policies kRedirPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kU32Policy};

constexpr uint32_t kMapIps = 1, kProtoSpecified = 2, kNatFlagMask = 0x7f;
constexpr uint32_t kPortLength = 2;

// A pair of registers; without a maximum it is the minimum, without a minimum there is no pair.
int LoadPair(const Attribute& min, const Attribute& max, uint32_t length, ExpressionScope& scope,
             std::optional<nft::Register>* out_min, std::optional<nft::Register>* out_max) {
  if (!min) return 0;
  if (const int error = scope.Load(min, length, out_min)) return error;
  if (max) return scope.Load(max, length, out_max);
  *out_max = *out_min;
  return 0;
}

void EncodePair(uint16_t min_type, uint16_t max_type, const std::optional<nft::Register>& min,
                const std::optional<nft::Register>& max, AttributeWriter& out) {
  if (!min) return;
  out.U32(min_type, min->ToNetlink());
  out.U32(max_type, max.value_or(*min).ToNetlink());
}

int CheckFlags(const Attribute& flags, ExpressionScope& scope) {
  return (flags.U32() & ~kNatFlagMask) == 0 ? 0 : scope.Fail(EINVAL, "flags must be 0 to 0x7f");
}

}  // namespace

int DecodeNat(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kNatMax> table;
  if (const int error = ParseData(data, kNatPolicies, scope, &table)) return error;
  if (const int error = CheckFlags(table[kNatFlags], scope)) return error;
  scope.Parsed(16);
  if (!table[kNatType] || (!table[kNatAddrMin] && !table[kNatProtoMin])) {
    return scope.Fail(EINVAL, "needs a type, and an address or a port");
  }
  auto& body = out.body.emplace<nft::Nat>();
  body.type = table[kNatType].U32();
  if (body.type > 1) return scope.Fail(EOPNOTSUPP, "type must be 0 or 1");
  if (!table[kNatFamily]) return scope.Fail(EINVAL, "needs a family");
  const uint32_t family = table[kNatFamily].U32();
  if (scope.family() != nft::Family::kInet && static_cast<uint32_t>(scope.family()) != family) {
    return scope.Fail(EOPNOTSUPP, "family must be the table's");
  }
  body.family = static_cast<nft::Family>(family);
  const bool v4 = family == static_cast<uint32_t>(nft::Family::kIp);
  const bool v6 = family == static_cast<uint32_t>(nft::Family::kIp6);
  if (!v4 && !v6 && table[kNatAddrMin]) return scope.Fail(EAFNOSUPPORT, "the family has no such address");
  uint32_t flags = table[kNatFlags].U32();
  if (const int error =
          LoadPair(table[kNatAddrMin], table[kNatAddrMax], v4 ? 4 : 16, scope, &body.addr_min, &body.addr_max)) {
    return error;
  }
  if (const int error =
          LoadPair(table[kNatProtoMin], table[kNatProtoMax], kPortLength, scope, &body.proto_min, &body.proto_max)) {
    return error;
  }
  if (body.addr_min) flags |= kMapIps;
  if (body.proto_min) flags |= kProtoSpecified;
  body.flags = flags;
  return scope.has_conntrack() ? 0 : scope.Fail(EPROTO, "the family has no connection tracking");
}

void Encode(const nft::Nat& body, EncodeTarget& to) {
  to.out.U32(kNatType, body.type);
  to.out.U32(kNatFamily, static_cast<uint32_t>(body.family));
  EncodePair(kNatAddrMin, kNatAddrMax, body.addr_min, body.addr_max, to.out);
  EncodePair(kNatProtoMin, kNatProtoMax, body.proto_min, body.proto_max, to.out);
  const uint32_t flags =
      body.flags.value_or(0) | (body.addr_min ? kMapIps : 0) | (body.proto_min ? kProtoSpecified : 0);
  if (flags != 0) to.out.U32(kNatFlags, flags);
}

int DecodeMasquerade(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kMasqMax> table;
  if (const int error = ParseData(data, kMasqPolicies, scope, &table)) return error;
  if (const int error = CheckFlags(table[kMasqFlags], scope)) return error;
  scope.Parsed(16);
  auto& body = out.body.emplace<nft::Masquerade>();
  if (table[kMasqFlags]) body.flags = table[kMasqFlags].U32();
  return LoadPair(table[kMasqProtoMin], table[kMasqProtoMax], kPortLength, scope, &body.proto_min, &body.proto_max);
}

void Encode(const nft::Masquerade& body, EncodeTarget& to) {
  if (body.flags.value_or(0) != 0) to.out.U32(kMasqFlags, *body.flags);
  EncodePair(kMasqProtoMin, kMasqProtoMax, body.proto_min, body.proto_max, to.out);
}

int DecodeRedirect(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kRedirMax> table;
  if (const int error = ParseData(data, kRedirPolicies, scope, &table)) return error;
  if (const int error = CheckFlags(table[kRedirFlags], scope)) return error;
  scope.Parsed(16);
  auto& body = out.body.emplace<nft::Redirect>();
  if (const int error = LoadPair(table[kRedirProtoMin], table[kRedirProtoMax], kPortLength, scope, &body.proto_min,
                                 &body.proto_max)) {
    return error;
  }
  if (body.proto_min) body.flags = kProtoSpecified;
  if (table[kRedirFlags]) body.flags = table[kRedirFlags].U32();
  return 0;
}

void Encode(const nft::Redirect& body, EncodeTarget& to) {
  EncodePair(kRedirProtoMin, kRedirProtoMax, body.proto_min, body.proto_max, to.out);
  // The kernel leaves 0 out, but reads its absence as PROTO_SPECIFIED.
  const uint32_t flags = body.flags.value_or(body.proto_min ? kProtoSpecified : 0);
  if (flags != 0 || (body.flags && to.names.exact())) to.out.U32(kRedirFlags, flags);
}

}  // namespace nftjit::netlink
