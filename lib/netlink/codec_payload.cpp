// payload, inner, exthdr (vm-semantics 10.6 to 10.8, 10.31).
#include <memory>

#include "lib/netlink/expression_codec.h"

namespace nftjit::netlink {
namespace {

enum : uint16_t {
  kPayloadDreg = 1,
  kPayloadBase,
  kPayloadOffset,
  kPayloadLen,
  kPayloadSreg,
  kPayloadCsumType,
  kPayloadCsumOffset,
  kPayloadCsumFlags,
  kPayloadMax = kPayloadCsumFlags
};
constexpr AttributeTable<kPayloadMax>::Policies kPayloadPolicies = {
    kAnyPolicy, kU32Policy,    kU32Policy, {Policy::kU32, 65535}, kByte32Policy, kU32Policy,
    kU32Policy, kByte32Policy, kU32Policy};
using PayloadTable = AttributeTable<kPayloadMax>;
constexpr uint32_t kPseudoHeaderFlag = 1;
constexpr uint8_t kSctpChecksumOffset = 8;

enum : uint16_t { kInnerNum = 1, kInnerType, kInnerFlags, kInnerHdrsize, kInnerExpr, kInnerMax = kInnerExpr };
constexpr AttributeTable<kInnerMax>::Policies kInnerPolicies = {kAnyPolicy, kU32Policy, kU32Policy,
                                                                kU32Policy, kU32Policy, kNestPolicy};
constexpr uint32_t kInnerHdrsizeFlag = 1, kInnerFlagMask = 15;
constexpr AttributeTable<kExprMax>::Policies kNestedPolicies = {kAnyPolicy, kNamePolicy, kNestPolicy};

enum : uint16_t {
  kExthdrDreg = 1,
  kExthdrType,
  kExthdrOffset,
  kExthdrLen,
  kExthdrFlags,
  kExthdrOp,
  kExthdrSreg,
  kExthdrMax = kExthdrSreg
};
constexpr AttributeTable<kExthdrMax>::Policies kExthdrPolicies = {
    kAnyPolicy, kU32Policy, kU8Policy, kByte32Policy, kByte32Policy, kU32Policy, kByte32Policy, kU32Policy};
using ExthdrTable = AttributeTable<kExthdrMax>;
constexpr uint32_t kExthdrPresent = 1;
constexpr uint32_t kExthdrBytes = 16;

int DecodePayloadStore(const PayloadTable& table, ExpressionScope& scope, nft::PayloadStore& body) {
  body.offset = static_cast<uint16_t>(table[kPayloadOffset].U32());
  body.len = static_cast<uint8_t>(table[kPayloadLen].U32());
  const uint32_t type = table[kPayloadCsumType] ? table[kPayloadCsumType].U32() : 0;
  body.csum_offset = static_cast<uint8_t>(table[kPayloadCsumOffset].U32());
  body.csum_flags = table[kPayloadCsumFlags].U32();
  if ((body.csum_flags & ~kPseudoHeaderFlag) != 0) return scope.Fail(EINVAL, "checksum flags must be 0 or 1");
  if (type > static_cast<uint32_t>(nft::ChecksumType::kSctp)) {
    return scope.Fail(EOPNOTSUPP, "checksum type must be 0 to 2");
  }
  body.csum_type = static_cast<nft::ChecksumType>(type);
  if (body.csum_type == nft::ChecksumType::kSctp &&
      (body.base != nft::PayloadBase::kTransport || body.csum_offset != kSctpChecksumOffset)) {
    return scope.Fail(EINVAL, "the sctp checksum is at transport header + 8");
  }
  return scope.Load(table[kPayloadSreg], body.len, &body.sreg);
}

// A load inside `inner`.
int DecodeInnerPayload(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  PayloadTable table;
  if (const int error = ParseData(data, kPayloadPolicies, scope, &table)) return error;
  if (!table[kPayloadDreg] || !table[kPayloadBase] || !table[kPayloadOffset] || !table[kPayloadLen]) {
    return scope.Fail(EINVAL, "the nested payload needs dreg, base, offset and len");
  }
  const uint32_t base = table[kPayloadBase].U32();
  if (base > static_cast<uint32_t>(nft::PayloadBase::kTunnel) ||
      base == static_cast<uint32_t>(nft::PayloadBase::kInner)) {
    return scope.Fail(EOPNOTSUPP, "the nested payload's base must be link, network, transport or tunnel");
  }
  auto& body = out.body.emplace<nft::PayloadLoad>();
  body.base = static_cast<nft::PayloadBase>(base);
  body.offset = static_cast<uint16_t>(table[kPayloadOffset].U32());
  body.len = static_cast<uint8_t>(table[kPayloadLen].U32());
  return scope.Store(table[kPayloadDreg], body.len, &body.dreg);
}

int DecodeInnerMeta(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kMetaMax> table;
  if (const int error = ParseData(data, kMetaPolicies, scope, &table)) return error;
  if (!table[kMetaDreg] || !table[kMetaKeyNumber]) return scope.Fail(EINVAL, "the nested meta needs dreg and key");
  auto& body = out.body.emplace<nft::MetaLoad>();
  body.key = static_cast<nft::MetaKey>(table[kMetaKeyNumber].U32());
  if (body.key != nft::MetaKey::kProtocol && body.key != nft::MetaKey::kL4proto) {
    return scope.Fail(EOPNOTSUPP, "the nested meta's key must be protocol or l4proto");
  }
  return scope.Store(table[kMetaDreg], nft::MetaLength(body.key), &body.dreg);
}

int DecodeExthdrLoad(const ExthdrTable& table, nft::ExthdrOp op, ExpressionScope& scope, nft::ExthdrLoad& body) {
  if (!table[kExthdrDreg] || !table[kExthdrType] || !table[kExthdrOffset] || !table[kExthdrLen]) {
    return scope.Fail(EINVAL, "needs dreg, type, offset and len");
  }
  body.op = op;
  body.type = table[kExthdrType].U8();
  body.offset = static_cast<uint8_t>(table[kExthdrOffset].U32());
  body.len = static_cast<uint8_t>(table[kExthdrLen].U32());
  body.flags = table[kExthdrFlags].U32();
  if ((body.flags & ~kExthdrPresent) != 0) return scope.Fail(EINVAL, "flags must be 0 or 1");
  if ((body.flags & kExthdrPresent) != 0 && body.len != 1) return scope.Fail(EINVAL, "a presence test has len 1");
  if (const int error = scope.Store(table[kExthdrDreg], body.len, &body.dreg)) return error;
  if (op == nft::ExthdrOp::kIpv4 && body.type != 7 && body.type != 131 && body.type != 137 && body.type != 148) {
    return scope.Fail(EOPNOTSUPP, "the ip option must be 7, 131, 137 or 148");
  }
  return 0;
}

int DecodeExthdrStore(const ExthdrTable& table, ExpressionScope& scope, nft::ExthdrStore& body) {
  if (!table[kExthdrType] || !table[kExthdrOffset] || !table[kExthdrLen]) {
    return scope.Fail(EINVAL, "needs type, offset and len");
  }
  if (table[kExthdrFlags]) return scope.Fail(EINVAL, "a store takes no flags");
  body.op = nft::ExthdrOp::kTcpOption;
  body.type = table[kExthdrType].U8();
  body.offset = static_cast<uint8_t>(table[kExthdrOffset].U32());
  body.len = static_cast<uint8_t>(table[kExthdrLen].U32());
  if (body.offset < 2) return scope.Fail(EOPNOTSUPP, "offset must be at least 2");
  if (body.len != 2 && body.len != 4) return scope.Fail(EOPNOTSUPP, "len must be 2 or 4");
  return scope.Load(table[kExthdrSreg], body.len, &body.sreg);
}

int DecodeExthdrStrip(const ExthdrTable& table, ExpressionScope& scope, nft::ExthdrStrip& body) {
  if (table[kExthdrOffset] || table[kExthdrLen] || table[kExthdrFlags]) {
    return scope.Fail(EINVAL, "a strip takes only a type");
  }
  if (!table[kExthdrType]) return scope.Fail(EINVAL, "needs a type");
  body.op = nft::ExthdrOp::kTcpOption;
  body.type = table[kExthdrType].U8();
  return 0;
}

// The attributes that the kernel dumps for every form.
void EncodeExthdrCommon(uint8_t type, uint8_t offset, uint8_t len, uint32_t flags, nft::ExthdrOp op,
                        AttributeWriter& out) {
  out.U8(kExthdrType, type);
  out.U32(kExthdrOffset, offset);
  out.U32(kExthdrLen, len);
  out.U32(kExthdrFlags, flags);
  out.U32(kExthdrOp, static_cast<uint32_t>(op));
}

}  // namespace

int DecodePayload(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  PayloadTable table;
  if (const int error = ParseData(data, kPayloadPolicies, scope, &table)) return error;
  if (!table[kPayloadBase] || !table[kPayloadOffset] || !table[kPayloadLen]) {
    return scope.Fail(EINVAL, "needs base, offset and len");
  }
  const uint32_t base = table[kPayloadBase].U32();
  if (base > static_cast<uint32_t>(nft::PayloadBase::kInner)) {
    return scope.Fail(EOPNOTSUPP, "base must be 0 to 3 outside inner");
  }
  if (static_cast<bool>(table[kPayloadDreg]) == static_cast<bool>(table[kPayloadSreg])) {
    return scope.Fail(EINVAL, "needs either dreg or sreg");
  }
  if (table[kPayloadSreg]) {
    scope.Parsed(24);
    auto& body = out.body.emplace<nft::PayloadStore>();
    body.base = static_cast<nft::PayloadBase>(base);
    return DecodePayloadStore(table, scope, body);
  }
  scope.Parsed(16);
  auto& body = out.body.emplace<nft::PayloadLoad>();
  body.base = static_cast<nft::PayloadBase>(base);
  body.offset = static_cast<uint16_t>(table[kPayloadOffset].U32());
  body.len = static_cast<uint8_t>(table[kPayloadLen].U32());
  return scope.Store(table[kPayloadDreg], body.len, &body.dreg);
}

void Encode(const nft::PayloadLoad& body, EncodeTarget& to) {
  to.out.U32(kPayloadDreg, body.dreg.ToNetlink());
  to.out.U32(kPayloadBase, static_cast<uint32_t>(body.base));
  to.out.U32(kPayloadOffset, body.offset);
  to.out.U32(kPayloadLen, body.len);
}

void Encode(const nft::PayloadStore& body, EncodeTarget& to) {
  to.out.U32(kPayloadSreg, body.sreg.ToNetlink());
  to.out.U32(kPayloadBase, static_cast<uint32_t>(body.base));
  to.out.U32(kPayloadOffset, body.offset);
  to.out.U32(kPayloadLen, body.len);
  to.out.U32(kPayloadCsumType, static_cast<uint32_t>(body.csum_type));
  to.out.U32(kPayloadCsumOffset, body.csum_offset);
  to.out.U32(kPayloadCsumFlags, body.csum_flags);
}

int DecodeInner(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kInnerMax> table;
  if (const int error = ParseData(data, kInnerPolicies, scope, &table)) return error;
  scope.Parsed(32);
  for (uint16_t number = kInnerNum; number <= kInnerMax; ++number) {
    if (!table[number]) return scope.Fail(EINVAL, "needs num, type, flags, hdrsize and an expression");
  }
  auto& body = out.body.emplace<nft::Inner>();
  body.flags = table[kInnerFlags].U32();
  body.hdrsize = table[kInnerHdrsize].U32();
  body.type = table[kInnerType].U32();
  if ((body.flags & ~kInnerFlagMask) != 0) return scope.Fail(EOPNOTSUPP, "flags must be 0 to 15");
  if (table[kInnerNum].U32() != 0) return scope.Fail(EOPNOTSUPP, "num must be 0");
  if ((body.flags & kInnerHdrsizeFlag) != 0 && (body.hdrsize == 0 || body.hdrsize > 64)) {
    return scope.Fail(EOPNOTSUPP, "hdrsize must be 1 to 64");
  }
  if (body.type > 255) return scope.Fail(EINVAL, "type must be 0 to 255");
  AttributeTable<kExprMax> named;
  if (const int error = named.Parse(AttributeCursor(table[kInnerExpr]), kNestedPolicies)) return error;
  if (!named[kExprName] || !named[kExprData]) return scope.Fail(EINVAL, "the nested expression needs name and data");
  nft::Expression nested;
  const std::string_view name = named[kExprName].String();
  int error = EOPNOTSUPP;
  if (name == "payload") {
    error = DecodeInnerPayload(named[kExprData], scope, nested);
  } else if (name == "meta") {
    error = DecodeInnerMeta(named[kExprData], scope, nested);
  } else {
    return scope.Fail(EOPNOTSUPP, "the nested expression must be payload or meta");
  }
  if (error == 0) body.nested = std::make_shared<const nft::Expression>(std::move(nested));
  return error;
}

void Encode(const nft::Inner& body, EncodeTarget& to) {
  to.out.U32(kInnerNum, 0);
  to.out.U32(kInnerType, body.type);
  to.out.U32(kInnerFlags, body.flags);
  to.out.U32(kInnerHdrsize, body.hdrsize);
  const size_t nest = to.out.BeginNest(kInnerExpr);
  to.out.String(kExprName, nft::Name(body.nested->body));
  const size_t data = to.out.BeginNest(kExprData);
  if (const auto* payload = std::get_if<nft::PayloadLoad>(&body.nested->body)) {
    Encode(*payload, to);
  } else if (const auto* meta = std::get_if<nft::MetaLoad>(&body.nested->body)) {
    Encode(*meta, to);
  }
  to.out.EndNest(data);
  to.out.EndNest(nest);
}

int DecodeExthdr(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  ExthdrTable table;
  if (const int error = ParseData(data, kExthdrPolicies, scope, &table)) return error;
  const bool load = static_cast<bool>(table[kExthdrDreg]);
  const bool store = static_cast<bool>(table[kExthdrSreg]);
  if (!table[kExthdrOp]) {
    scope.Parsed(kExthdrBytes);
    return DecodeExthdrLoad(table, nft::ExthdrOp::kIpv6, scope, out.body.emplace<nft::ExthdrLoad>());
  }
  if (load && store) return scope.Fail(EOPNOTSUPP, "takes either dreg or sreg");
  const uint32_t number = table[kExthdrOp].U32();
  if (number > static_cast<uint32_t>(nft::ExthdrOp::kDccp)) return scope.Fail(EOPNOTSUPP, "op must be 0 to 4");
  const auto op = static_cast<nft::ExthdrOp>(number);
  if (op == nft::ExthdrOp::kTcpOption && !load) {
    scope.Parsed(kExthdrBytes);
    return store ? DecodeExthdrStore(table, scope, out.body.emplace<nft::ExthdrStore>())
                 : DecodeExthdrStrip(table, scope, out.body.emplace<nft::ExthdrStrip>());
  }
  if (!load) return scope.Fail(EOPNOTSUPP, "only tcp options can be set or stripped");
  if (op == nft::ExthdrOp::kIpv4 && scope.family() == nft::Family::kIp6) {
    return scope.Fail(EOPNOTSUPP, "ip options do not exist in family ip6");
  }
  if (op == nft::ExthdrOp::kDccp && !scope.context().features().dccp) {
    return scope.Fail(EOPNOTSUPP, "dccp options are not built in");
  }
  scope.Parsed(kExthdrBytes);
  return DecodeExthdrLoad(table, op, scope, out.body.emplace<nft::ExthdrLoad>());
}

void Encode(const nft::ExthdrLoad& body, EncodeTarget& to) {
  to.out.U32(kExthdrDreg, body.dreg.ToNetlink());
  EncodeExthdrCommon(body.type, body.offset, body.len, body.flags, body.op, to.out);
}

void Encode(const nft::ExthdrStore& body, EncodeTarget& to) {
  to.out.U32(kExthdrSreg, body.sreg.ToNetlink());
  if (!to.names.exact()) return EncodeExthdrCommon(body.type, body.offset, body.len, 0, body.op, to.out);
  // A store that gives flags is refused, although the kernel dumps them.
  to.out.U8(kExthdrType, body.type);
  to.out.U32(kExthdrOffset, body.offset);
  to.out.U32(kExthdrLen, body.len);
  to.out.U32(kExthdrOp, static_cast<uint32_t>(body.op));
}

void Encode(const nft::ExthdrStrip& body, EncodeTarget& to) {
  if (!to.names.exact()) return EncodeExthdrCommon(body.type, 0, 0, 0, body.op, to.out);
  to.out.U8(kExthdrType, body.type);
  to.out.U32(kExthdrOp, static_cast<uint32_t>(body.op));
}

}  // namespace nftjit::netlink
