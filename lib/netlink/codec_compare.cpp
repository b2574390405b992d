// immediate, cmp, range, bitwise, byteorder (vm-semantics 10.1 to 10.5).
#include "lib/netlink/expression_codec.h"

namespace nftjit::netlink {
namespace {

enum : uint16_t { kImmediateDreg = 1, kImmediateData, kImmediateMax = kImmediateData };
constexpr AttributeTable<kImmediateMax>::Policies kImmediatePolicies = {kAnyPolicy, kU32Policy, kNestPolicy};

enum : uint16_t { kCmpSreg = 1, kCmpOp, kCmpData, kCmpMax = kCmpData };
constexpr AttributeTable<kCmpMax>::Policies kCmpPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kNestPolicy};

enum : uint16_t { kRangeSreg = 1, kRangeOp, kRangeFrom, kRangeTo, kRangeMax = kRangeTo };
constexpr AttributeTable<kRangeMax>::Policies kRangePolicies = {kAnyPolicy, kU32Policy, kByte32Policy, kNestPolicy,
                                                                kNestPolicy};

enum : uint16_t {
  kBitwiseSreg = 1,
  kBitwiseDreg,
  kBitwiseLen,
  kBitwiseMask,
  kBitwiseXor,
  kBitwiseOp,
  kBitwiseData,
  kBitwiseSreg2,
  kBitwiseMax = kBitwiseSreg2
};
constexpr AttributeTable<kBitwiseMax>::Policies kBitwisePolicies = {kAnyPolicy,    kU32Policy,  kU32Policy,
                                                                    kByte32Policy, kNestPolicy, kNestPolicy,
                                                                    kByte32Policy, kNestPolicy, kU32Policy};
using BitwiseTable = AttributeTable<kBitwiseMax>;

enum : uint16_t {
  kByteorderSreg = 1,
  kByteorderDreg,
  kByteorderOp,
  kByteorderLen,
  kByteorderSize,
  kByteorderMax = kByteorderSize
};
constexpr AttributeTable<kByteorderMax>::Policies kByteorderPolicies = {kAnyPolicy,    kU32Policy,    kU32Policy,
                                                                        kByte32Policy, kByte32Policy, kByte32Policy};

// Different registers whose words of `length` bytes meet: the kernel would read what it has just written.
bool PartialOverlap(nft::Register a, nft::Register b, uint32_t length) {
  const uint32_t words = (length + 3) / 4;
  return a != b && a.word() < b.word() + words && b.word() < a.word() + words;
}

// Whether the kernel takes its 16-byte compare: its form is the biggest of all.
bool IsWideCompare(uint32_t sreg, size_t length) {
  return length > 4 && ((sreg >= 1 && sreg <= 4) || (sreg >= 8 && sreg <= 20 && sreg % 2 == 0));
}

int DecodeMaskXor(const BitwiseTable& table, ExpressionScope& scope, nft::Bitwise& body) {
  if (table[kBitwiseData] || table[kBitwiseSreg2]) return scope.Fail(EINVAL, "mask-xor takes neither data nor sreg2");
  if (!table[kBitwiseMask] || !table[kBitwiseXor]) return scope.Fail(EINVAL, "mask-xor needs a mask and an xor");
  if (const int error = DecodeValue(table[kBitwiseMask], body.len, &body.mask)) {
    return scope.Fail(error, "the mask must have the length of the operation, 16 at most");
  }
  if (const int error = DecodeValue(table[kBitwiseXor], body.len, &body.xor_bits)) {
    return scope.Fail(error, "the xor must have the length of the operation, 16 at most");
  }
  return 0;
}

int DecodeShift(const BitwiseTable& table, ExpressionScope& scope, nft::Bitwise& body) {
  if (table[kBitwiseMask] || table[kBitwiseXor] || table[kBitwiseSreg2]) {
    return scope.Fail(EINVAL, "a shift takes only data");
  }
  if (!table[kBitwiseData]) return scope.Fail(EINVAL, "a shift needs its count as data");
  if (const int error = DecodeValue(table[kBitwiseData], 4, &body.data)) {
    return scope.Fail(error, "a shift count has four bytes");
  }
  const auto count = LoadNative<uint32_t>(body.data.data());
  if (count == 0 || count >= 32) return scope.Fail(EINVAL, "a shift count must be 1 to 31");
  return 0;
}

int DecodeBoolean(const BitwiseTable& table, ExpressionScope& scope, nft::Bitwise& body) {
  if (table[kBitwiseMask] || table[kBitwiseXor]) return scope.Fail(EINVAL, "and, or, xor take neither mask nor xor");
  if (static_cast<bool>(table[kBitwiseData]) == static_cast<bool>(table[kBitwiseSreg2])) {
    return scope.Fail(EINVAL, "and, or, xor take either data or sreg2");
  }
  if (table[kBitwiseData]) {
    const int error = DecodeValue(table[kBitwiseData], body.len, &body.data);
    return error == 0 ? 0 : scope.Fail(error, "data must have the length of the operation, 16 at most");
  }
  if (const int error = scope.Load(table[kBitwiseSreg2], body.len, &body.sreg2)) return error;
  if (PartialOverlap(*body.sreg2, body.dreg, body.len)) return scope.Fail(EINVAL, "sreg2 and dreg overlap in part");
  return 0;
}

}  // namespace

int DecodeImmediate(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kImmediateMax> table;
  if (const int error = ParseData(data, kImmediatePolicies, scope, &table)) return error;
  scope.Parsed(32);
  if (!table[kImmediateDreg] || !table[kImmediateData]) return scope.Fail(EINVAL, "needs a register and data");
  auto& body = out.body.emplace<nft::Immediate>();
  const bool verdict = table[kImmediateDreg].U32() == 0;
  if (verdict) {
    if (const int error = DecodeVerdict(table[kImmediateData], scope.context(), false, &body.verdict)) {
      return scope.Fail(error, "not a verdict that a rule can give, or its chain cannot be jumped to");
    }
  } else if (const int error = DecodeValue(table[kImmediateData], 0, &body.data)) {
    return scope.Fail(error, "data must be a value of 1 to 16 bytes");
  }
  return scope.Store(table[kImmediateDreg], static_cast<uint32_t>(body.data.size()), &body.dreg, verdict);
}

void Encode(const nft::Immediate& body, EncodeTarget& to) {
  to.out.U32(kImmediateDreg, body.dreg.ToNetlink());
  if (body.dreg.is_verdict()) {
    EncodeVerdict(kImmediateData, body.verdict, to.names, to.out);
  } else {
    EncodeValue(kImmediateData, body.data.span(), to.out);
  }
}

int DecodeCmp(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kCmpMax> table;
  if (const int error = ParseData(data, kCmpPolicies, scope, &table)) return error;
  if (!table[kCmpSreg] || !table[kCmpOp] || !table[kCmpData]) return scope.Fail(EINVAL, "needs sreg, op and data");
  const uint32_t op = table[kCmpOp].U32();
  if (op > static_cast<uint32_t>(nft::CmpOp::kGte)) return scope.Fail(EINVAL, "op must be 0 to 5");
  auto& body = out.body.emplace<nft::Cmp>();
  body.op = static_cast<nft::CmpOp>(op);
  if (const int error = DecodeValue(table[kCmpData], 0, &body.data)) {
    return scope.Fail(error, "data must be a value of 1 to 16 bytes");
  }
  const bool equality = body.op == nft::CmpOp::kEq || body.op == nft::CmpOp::kNeq;
  if (equality && body.data.size() <= 4) {
    scope.Parsed(24);
  } else {
    scope.Parsed(equality && IsWideCompare(table[kCmpSreg].U32(), body.data.size()) ? 48 : 32);
  }
  return scope.Load(table[kCmpSreg], static_cast<uint32_t>(body.data.size()), &body.sreg);
}

void Encode(const nft::Cmp& body, EncodeTarget& to) {
  to.out.U32(kCmpSreg, body.sreg.ToNetlink());
  to.out.U32(kCmpOp, static_cast<uint32_t>(body.op));
  EncodeValue(kCmpData, body.data.span(), to.out);
}

int DecodeRange(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kRangeMax> table;
  if (const int error = ParseData(data, kRangePolicies, scope, &table)) return error;
  scope.Parsed(48);
  if (!table[kRangeSreg] || !table[kRangeOp] || !table[kRangeFrom] || !table[kRangeTo]) {
    return scope.Fail(EINVAL, "needs sreg, op, from and to");
  }
  auto& body = out.body.emplace<nft::Range>();
  if (const int error = DecodeValue(table[kRangeFrom], 0, &body.from)) {
    return scope.Fail(error, "from must be a value of 1 to 16 bytes");
  }
  if (const int error = DecodeValue(table[kRangeTo], 0, &body.to)) {
    return scope.Fail(error, "to must be a value of 1 to 16 bytes");
  }
  if (body.from.size() != body.to.size()) return scope.Fail(EINVAL, "from and to must be equally long");
  const auto length = static_cast<uint32_t>(body.from.size());
  if (const int error = scope.Load(table[kRangeSreg], length, &body.sreg)) return error;
  const uint32_t op = table[kRangeOp].U32();
  if (op > static_cast<uint32_t>(nft::RangeOp::kNeq)) return scope.Fail(EINVAL, "op must be 0 or 1");
  body.op = static_cast<nft::RangeOp>(op);
  return 0;
}

void Encode(const nft::Range& body, EncodeTarget& to) {
  to.out.U32(kRangeSreg, body.sreg.ToNetlink());
  to.out.U32(kRangeOp, static_cast<uint32_t>(body.op));
  EncodeValue(kRangeFrom, body.from.span(), to.out);
  EncodeValue(kRangeTo, body.to.span(), to.out);
}

int DecodeBitwise(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  BitwiseTable table;
  if (const int error = ParseData(data, kBitwisePolicies, scope, &table)) return error;
  if (!table[kBitwiseLen] || !table[kBitwiseSreg] || !table[kBitwiseDreg]) {
    return scope.Fail(EINVAL, "needs len, sreg and dreg");
  }
  const uint32_t op = table[kBitwiseOp] ? table[kBitwiseOp].U32() : 0;
  auto& body = out.body.emplace<nft::Bitwise>();
  body.len = static_cast<uint8_t>(table[kBitwiseLen].U32());
  scope.Parsed(op == 0 && body.len == 4 ? 24 : 64);
  if (const int error = scope.Load(table[kBitwiseSreg], body.len, &body.sreg)) return error;
  if (const int error = scope.Store(table[kBitwiseDreg], body.len, &body.dreg)) return error;
  if (PartialOverlap(body.sreg, body.dreg, body.len)) return scope.Fail(EINVAL, "sreg and dreg overlap in part");
  if (op > static_cast<uint32_t>(nft::BitwiseOp::kXor)) return scope.Fail(EOPNOTSUPP, "op must be 0 to 5");
  body.op = static_cast<nft::BitwiseOp>(op);
  switch (body.op) {
    case nft::BitwiseOp::kMaskXor:
      return DecodeMaskXor(table, scope, body);
    case nft::BitwiseOp::kLshift:
    case nft::BitwiseOp::kRshift:
      return DecodeShift(table, scope, body);
    case nft::BitwiseOp::kAnd:
    case nft::BitwiseOp::kOr:
    case nft::BitwiseOp::kXor:
      return DecodeBoolean(table, scope, body);
  }
  return EOPNOTSUPP;
}

void Encode(const nft::Bitwise& body, EncodeTarget& to) {
  to.out.U32(kBitwiseSreg, body.sreg.ToNetlink());
  to.out.U32(kBitwiseDreg, body.dreg.ToNetlink());
  to.out.U32(kBitwiseLen, body.len);
  to.out.U32(kBitwiseOp, static_cast<uint32_t>(body.op));
  if (body.op == nft::BitwiseOp::kMaskXor) {
    EncodeValue(kBitwiseMask, body.mask.span(), to.out);
    EncodeValue(kBitwiseXor, body.xor_bits.span(), to.out);
  } else if (body.sreg2) {
    to.out.U32(kBitwiseSreg2, body.sreg2->ToNetlink());
  } else {
    // The kernel dumps the first word only, whatever the length, zeros included.
    Bytes16 shown = body.data;
    if (!to.names.exact()) shown.resize(4);
    EncodeValue(kBitwiseData, shown.span(), to.out);
  }
}

int DecodeByteorder(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kByteorderMax> table;
  if (const int error = ParseData(data, kByteorderPolicies, scope, &table)) return error;
  scope.Parsed(16);
  for (uint16_t number = kByteorderSreg; number <= kByteorderMax; ++number) {
    if (!table[number]) return scope.Fail(EINVAL, "needs sreg, dreg, op, len and size");
  }
  auto& body = out.body.emplace<nft::Byteorder>();
  const uint32_t op = table[kByteorderOp].U32();
  if (op > static_cast<uint32_t>(nft::ByteorderOp::kHton)) return scope.Fail(EINVAL, "op must be 0 or 1");
  body.op = static_cast<nft::ByteorderOp>(op);
  body.size = static_cast<uint8_t>(table[kByteorderSize].U32());
  if (body.size != 2 && body.size != 4 && body.size != 8) return scope.Fail(EINVAL, "size must be 2, 4 or 8");
  body.len = static_cast<uint8_t>(table[kByteorderLen].U32());
  if (const int error = scope.Load(table[kByteorderSreg], body.len, &body.sreg)) return error;
  if (const int error = scope.Store(table[kByteorderDreg], body.len, &body.dreg)) return error;
  if (PartialOverlap(body.sreg, body.dreg, body.len)) return scope.Fail(EINVAL, "sreg and dreg overlap in part");
  return 0;
}

void Encode(const nft::Byteorder& body, EncodeTarget& to) {
  to.out.U32(kByteorderSreg, body.sreg.ToNetlink());
  to.out.U32(kByteorderDreg, body.dreg.ToNetlink());
  to.out.U32(kByteorderOp, static_cast<uint32_t>(body.op));
  to.out.U32(kByteorderLen, body.len);
  to.out.U32(kByteorderSize, body.size);
}

}  // namespace nftjit::netlink
