// meta, ct, rt, socket, fib, osf, xfrm, tunnel (vm-semantics 10.9 to 10.12, 10.30, 10.32 to 10.36).
#include <array>

#include "lib/netlink/expression_codec.h"

namespace nftjit::netlink {
namespace {

enum : uint16_t { kCtDreg = 1, kCtKeyNumber, kCtDirection, kCtSreg, kCtMax = kCtSreg };
constexpr AttributeTable<kCtMax>::Policies kCtPolicies = {kAnyPolicy, kU32Policy, kByte32Policy, kU8Policy, kU32Policy};
using CtTable = AttributeTable<kCtMax>;

enum : uint16_t { kRtDreg = 1, kRtKey, kRtMax = kRtKey };
constexpr AttributeTable<kRtMax>::Policies kRtPolicies = {kAnyPolicy, kU32Policy, kByte32Policy};

enum : uint16_t { kSocketKey = 1, kSocketDreg, kSocketLevel, kSocketMax = kSocketLevel };
constexpr AttributeTable<kSocketMax>::Policies kSocketPolicies = {kAnyPolicy, kByte32Policy, kU32Policy, kByte32Policy};

enum : uint16_t { kFibDreg = 1, kFibResult, kFibFlags, kFibMax = kFibFlags };
constexpr AttributeTable<kFibMax>::Policies kFibPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kU32Policy};
constexpr uint32_t kFibSaddr = 1, kFibDaddr = 2, kFibIif = 8, kFibOif = 16, kFibPresent = 32, kFibFlagMask = 63;
constexpr uint32_t kFibResultOif = 1, kFibResultOifname = 2, kFibResultType = 3;

enum : uint16_t { kOsfDreg = 1, kOsfTtl, kOsfFlags, kOsfMax = kOsfFlags };
constexpr AttributeTable<kOsfMax>::Policies kOsfPolicies = {kAnyPolicy, kU32Policy, kU8Policy, kU32Policy};

enum : uint16_t { kXfrmDreg = 1, kXfrmKey, kXfrmDir, kXfrmSpnum, kXfrmMax = kXfrmSpnum };
constexpr AttributeTable<kXfrmMax>::Policies kXfrmPolicies = {kAnyPolicy, kU32Policy, kByte32Policy, kU8Policy,
                                                              kByte32Policy};
constexpr uint32_t kXfrmDepth = 6;

enum : uint16_t { kTunnelKey = 1, kTunnelDreg, kTunnelMode, kTunnelMax = kTunnelMode };
constexpr AttributeTable<kTunnelMax>::Policies kTunnelPolicies = {kAnyPolicy, kByte32Policy, kU32Policy, kByte32Policy};

bool IsBridgeKey(nft::MetaKey key) {
  return key == nft::MetaKey::kBriIifname || key == nft::MetaKey::kBriOifname || key == nft::MetaKey::kBriIifpvid ||
         key == nft::MetaKey::kBriIifvproto || key == nft::MetaKey::kBriIifhwaddr;
}

uint32_t MetaLoadLength(nft::MetaKey key, const ExpressionScope& scope) {
  if (IsBridgeKey(key) && (scope.family() != nft::Family::kBridge || !scope.context().features().bridge_meta)) return 0;
  return nft::MetaLength(key);
}

enum class DirectionRule : uint8_t { kForbidden, kRequired, kTolerated };
DirectionRule DirectionOf(nft::CtKey key) {
  switch (key) {
    case nft::CtKey::kSrc:
    case nft::CtKey::kDst:
    case nft::CtKey::kProtoSrc:
    case nft::CtKey::kProtoDst:
    case nft::CtKey::kSrcIp:
    case nft::CtKey::kDstIp:
    case nft::CtKey::kSrcIp6:
    case nft::CtKey::kDstIp6:
      return DirectionRule::kRequired;
    case nft::CtKey::kL3protocol:
    case nft::CtKey::kProtocol:
    case nft::CtKey::kPackets:
    case nft::CtKey::kBytes:
    case nft::CtKey::kAvgpkt:
    case nft::CtKey::kZone:
      return DirectionRule::kTolerated;
    default:
      return DirectionRule::kForbidden;
  }
}

int ParseDirection(const CtTable& table, ExpressionScope& scope, std::optional<nft::Direction>* out) {
  if (!table[kCtDirection]) return 0;
  const uint8_t direction = table[kCtDirection].U8();
  if (direction > 1) return scope.Fail(EINVAL, "direction must be 0 or 1");
  *out = static_cast<nft::Direction>(direction);
  return 0;
}

int DecodeCtLoad(const CtTable& table, ExpressionScope& scope, nft::CtLoad& body) {
  body.key = static_cast<nft::CtKey>(table[kCtKeyNumber].U32());
  const bool known = static_cast<uint8_t>(body.key) < nft::kCtKeyCount && body.key != nft::CtKey::kEvent;
  if (!known) return scope.Fail(EOPNOTSUPP, "key cannot be loaded");
  const DirectionRule rule = DirectionOf(body.key);
  if (rule == DirectionRule::kForbidden && table[kCtDirection]) return scope.Fail(EINVAL, "key has no direction");
  if (rule == DirectionRule::kRequired && !table[kCtDirection]) return scope.Fail(EINVAL, "key needs a direction");
  const uint32_t length = nft::CtLength(body.key, scope.family());
  if (length == 0) return scope.Fail(EAFNOSUPPORT, "the family has no such address");
  if (const int error = ParseDirection(table, scope, &body.direction)) return error;
  // The protocols are those of the connection, whatever the direction; the kernel forgets it.
  if (body.key == nft::CtKey::kL3protocol || body.key == nft::CtKey::kProtocol) body.direction.reset();
  return scope.Store(table[kCtDreg], length, &body.dreg);
}

int DecodeCtStore(const CtTable& table, ExpressionScope& scope, nft::CtStore& body) {
  body.key = static_cast<nft::CtKey>(table[kCtKeyNumber].U32());
  uint32_t length = 0;
  switch (body.key) {
    case nft::CtKey::kMark:
    case nft::CtKey::kSecmark:
    case nft::CtKey::kEvent:
      length = 4;
      break;
    case nft::CtKey::kLabel:
      length = 16;
      break;
    case nft::CtKey::kZone:
      length = 2;
      break;
    default:
      return scope.Fail(EOPNOTSUPP, "key cannot be set");
  }
  if (body.key != nft::CtKey::kZone && table[kCtDirection]) return scope.Fail(EINVAL, "key has no direction");
  if (const int error = ParseDirection(table, scope, &body.direction)) return error;
  return scope.Load(table[kCtSreg], length, &body.sreg);
}

}  // namespace

int DecodeMeta(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kMetaMax> table;
  if (const int error = ParseData(data, kMetaPolicies, scope, &table)) return error;
  if (!table[kMetaKeyNumber]) return scope.Fail(EINVAL, "needs a key");
  if (static_cast<bool>(table[kMetaDreg]) == static_cast<bool>(table[kMetaSreg])) {
    return scope.Fail(EINVAL, "needs either dreg or sreg");
  }
  const auto key = static_cast<nft::MetaKey>(table[kMetaKeyNumber].U32());
  scope.Parsed(16);
  if (table[kMetaDreg]) {
    auto& body = out.body.emplace<nft::MetaLoad>();
    body.key = key;
    const uint32_t length = MetaLoadLength(key, scope);
    if (length == 0) return scope.Fail(EOPNOTSUPP, "key cannot be loaded here");
    return scope.Store(table[kMetaDreg], length, &body.dreg);
  }
  auto& body = out.body.emplace<nft::MetaStore>();
  body.key = key;
  const bool nowhere = key == nft::MetaKey::kBroute &&
                       !(scope.family() == nft::Family::kBridge && scope.context().features().bridge_meta);
  const uint32_t length = nowhere ? 0 : nft::MetaStoreLength(key);
  if (length == 0) return scope.Fail(EOPNOTSUPP, "key cannot be set here");
  return scope.Load(table[kMetaSreg], length, &body.sreg);
}

void Encode(const nft::MetaLoad& body, EncodeTarget& to) {
  to.out.U32(kMetaKeyNumber, static_cast<uint32_t>(body.key));
  to.out.U32(kMetaDreg, body.dreg.ToNetlink());
}

void Encode(const nft::MetaStore& body, EncodeTarget& to) {
  to.out.U32(kMetaKeyNumber, static_cast<uint32_t>(body.key));
  to.out.U32(kMetaSreg, body.sreg.ToNetlink());
}

int DecodeCt(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  CtTable table;
  if (const int error = ParseData(data, kCtPolicies, scope, &table)) return error;
  if (!table[kCtKeyNumber]) return scope.Fail(EINVAL, "needs a key");
  if (static_cast<bool>(table[kCtDreg]) == static_cast<bool>(table[kCtSreg])) {
    return scope.Fail(EINVAL, "needs either dreg or sreg");
  }
  scope.Parsed(16);
  const int error = table[kCtDreg] ? DecodeCtLoad(table, scope, out.body.emplace<nft::CtLoad>())
                                   : DecodeCtStore(table, scope, out.body.emplace<nft::CtStore>());
  if (error != 0) return error;
  return scope.has_conntrack() ? 0 : scope.Fail(EPROTO, "the family has no connection tracking");
}

void Encode(const nft::CtLoad& body, EncodeTarget& to) {
  to.out.U32(kCtDreg, body.dreg.ToNetlink());
  to.out.U32(kCtKeyNumber, static_cast<uint32_t>(body.key));
  if (body.direction) to.out.U8(kCtDirection, static_cast<uint8_t>(*body.direction));
}

void Encode(const nft::CtStore& body, EncodeTarget& to) {
  to.out.U32(kCtSreg, body.sreg.ToNetlink());
  to.out.U32(kCtKeyNumber, static_cast<uint32_t>(body.key));
  if (body.direction) to.out.U8(kCtDirection, static_cast<uint8_t>(*body.direction));
}

int DecodeRt(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kRtMax> table;
  if (const int error = ParseData(data, kRtPolicies, scope, &table)) return error;
  scope.Parsed(16);
  if (!table[kRtDreg] || !table[kRtKey]) return scope.Fail(EINVAL, "needs dreg and key");
  static constexpr std::array<uint8_t, 5> kLengths = {4, 4, 16, 2, 1};  // classid, nexthop4, nexthop6, tcpmss, ipsec.
  auto& body = out.body.emplace<nft::Rt>();
  body.key = table[kRtKey].U32();
  if (body.key >= kLengths.size()) return scope.Fail(EOPNOTSUPP, "key must be 0 to 4");
  return scope.Store(table[kRtDreg], kLengths[body.key], &body.dreg);
}

void Encode(const nft::Rt& body, EncodeTarget& to) {
  to.out.U32(kRtKey, body.key);
  to.out.U32(kRtDreg, body.dreg.ToNetlink());
}

int DecodeSocket(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kSocketMax> table;
  if (const int error = ParseData(data, kSocketPolicies, scope, &table)) return error;
  scope.Parsed(16);
  if (!table[kSocketDreg] || !table[kSocketKey]) return scope.Fail(EINVAL, "needs dreg and key");
  if (!scope.is_l3()) return scope.Fail(EOPNOTSUPP, "the family has no sockets");
  static constexpr std::array<uint8_t, 4> kLengths = {1, 4, 1, 8};  // transparent, mark, wildcard, cgroupv2.
  constexpr uint32_t kCgroupV2 = 3;
  auto& body = out.body.emplace<nft::Socket>();
  body.key = table[kSocketKey].U32();
  if (body.key >= kLengths.size()) return scope.Fail(EOPNOTSUPP, "key must be 0 to 3");
  if (body.key == kCgroupV2) {
    if (!table[kSocketLevel]) return scope.Fail(EINVAL, "cgroupv2 needs a level");
    body.level = table[kSocketLevel].U32();
  }
  return scope.Store(table[kSocketDreg], kLengths[body.key], &body.dreg);
}

void Encode(const nft::Socket& body, EncodeTarget& to) {
  to.out.U32(kSocketKey, body.key);
  to.out.U32(kSocketDreg, body.dreg.ToNetlink());
  if (body.level) to.out.U32(kSocketLevel, *body.level);
}

int DecodeFib(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kFibMax> table;
  if (const int error = ParseData(data, kFibPolicies, scope, &table)) return error;
  if ((table[kFibFlags].U32() & ~kFibFlagMask) != 0) return scope.Fail(EINVAL, "unknown flag");
  scope.Parsed(16);
  if (!table[kFibDreg] || !table[kFibResult] || !table[kFibFlags]) {
    return scope.Fail(EINVAL, "needs dreg, result and flags");
  }
  auto& body = out.body.emplace<nft::Fib>();
  body.flags = table[kFibFlags].U32();
  body.result = table[kFibResult].U32();
  const bool saddr = (body.flags & kFibSaddr) != 0;
  if (saddr == ((body.flags & kFibDaddr) != 0)) return scope.Fail(EINVAL, "needs either saddr or daddr");
  const bool oif = (body.flags & kFibOif) != 0;
  if (oif && (body.flags & kFibIif) != 0) return scope.Fail(EINVAL, "takes either iif or oif");
  if (body.result == 0 || body.result > kFibResultType) return scope.Fail(EOPNOTSUPP, "result must be 1 to 3");
  if (oif && body.result != kFibResultType) return scope.Fail(EINVAL, "an interface result takes no oif");
  uint32_t length = body.result == kFibResultOifname ? 16 : 4;
  if ((body.flags & kFibPresent) != 0) {
    if (body.result != kFibResultOif) return scope.Fail(EINVAL, "only result oif can be tested for presence");
    length = 1;
  }
  return scope.Store(table[kFibDreg], length, &body.dreg);
}

void Encode(const nft::Fib& body, EncodeTarget& to) {
  to.out.U32(kFibDreg, body.dreg.ToNetlink());
  to.out.U32(kFibResult, body.result);
  to.out.U32(kFibFlags, body.flags);
}

int DecodeOsf(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kOsfMax> table;
  if (const int error = ParseData(data, kOsfPolicies, scope, &table)) return error;
  scope.Parsed(16);
  if (!table[kOsfDreg]) return scope.Fail(EINVAL, "needs dreg");
  auto& body = out.body.emplace<nft::Osf>();
  body.ttl = table[kOsfTtl].U8();
  if (body.ttl > 2) return scope.Fail(EINVAL, "ttl must be 0 to 2");
  body.flags = table[kOsfFlags].U32();
  if (table[kOsfFlags] && body.flags != 1) return scope.Fail(EINVAL, "flags must be 1");
  return scope.Store(table[kOsfDreg], 16, &body.dreg);
}

void Encode(const nft::Osf& body, EncodeTarget& to) {
  to.out.U8(kOsfTtl, body.ttl);
  // The kernel dumps flags 0, but takes only 1.
  if (body.flags != 0 || !to.names.exact()) to.out.U32(kOsfFlags, body.flags);
  to.out.U32(kOsfDreg, body.dreg.ToNetlink());
}

int DecodeXfrm(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kXfrmMax> table;
  if (const int error = ParseData(data, kXfrmPolicies, scope, &table)) return error;
  scope.Parsed(16);
  if (!table[kXfrmKey] || !table[kXfrmDir] || !table[kXfrmDreg]) {
    return scope.Fail(EINVAL, "needs dreg, key and dir");
  }
  if (!scope.is_l3()) return scope.Fail(EOPNOTSUPP, "the family has no transforms");
  static constexpr std::array<uint8_t, 7> kLengths = {0, 4, 16, 4, 16, 4, 4};  // daddr4, daddr6, saddr4, saddr6 …
  auto& body = out.body.emplace<nft::Xfrm>();
  body.key = table[kXfrmKey].U32();
  if (body.key == 0 || body.key >= kLengths.size()) return scope.Fail(EINVAL, "key must be 1 to 6");
  body.dir = table[kXfrmDir].U8();
  if (body.dir > 1) return scope.Fail(EINVAL, "dir must be 0 or 1");
  body.spnum = table[kXfrmSpnum].U32();
  if (body.spnum >= kXfrmDepth) return scope.Fail(ERANGE, "spnum must be 0 to 5");
  return scope.Store(table[kXfrmDreg], kLengths[body.key], &body.dreg);
}

void Encode(const nft::Xfrm& body, EncodeTarget& to) {
  to.out.U32(kXfrmDreg, body.dreg.ToNetlink());
  to.out.U32(kXfrmKey, body.key);
  to.out.U8(kXfrmDir, body.dir);
  to.out.U32(kXfrmSpnum, body.spnum);
}

int DecodeTunnel(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kTunnelMax> table;
  if (const int error = ParseData(data, kTunnelPolicies, scope, &table)) return error;
  scope.Parsed(16);
  if (!table[kTunnelKey] || !table[kTunnelDreg]) return scope.Fail(EINVAL, "needs key and dreg");
  auto& body = out.body.emplace<nft::Tunnel>();
  body.key = table[kTunnelKey].U32();
  if (body.key > 1) return scope.Fail(EOPNOTSUPP, "key must be 0 or 1");
  body.mode = table[kTunnelMode].U32();
  if (*body.mode > 2) return scope.Fail(EOPNOTSUPP, "mode must be 0 to 2");
  return scope.Store(table[kTunnelDreg], body.key == 0 ? 1 : 4, &body.dreg);
}

void Encode(const nft::Tunnel& body, EncodeTarget& to) {
  to.out.U32(kTunnelKey, body.key);
  to.out.U32(kTunnelDreg, body.dreg.ToNetlink());
  to.out.U32(kTunnelMode, body.mode.value_or(0));
}

}  // namespace nftjit::netlink
