// counter, quota, limit, connlimit, last, numgen, hash (vm-semantics 10.17 to 10.21, 10.37, 10.38).
#include "lib/netlink/expression_codec.h"

namespace nftjit::netlink {
namespace {

enum : uint16_t { kCounterBytes = 1, kCounterPackets, kCounterMax = kCounterPackets };
constexpr AttributeTable<kCounterMax>::Policies kCounterPolicies = {kAnyPolicy, kU64Policy, kU64Policy};

enum : uint16_t { kQuotaBytes = 1, kQuotaFlags, kQuotaPad, kQuotaConsumed, kQuotaMax = kQuotaConsumed };
constexpr AttributeTable<kQuotaMax>::Policies kQuotaPolicies = {kAnyPolicy, kU64Policy, kU32Policy, kAnyPolicy,
                                                                kU64Policy};
constexpr uint32_t kInverted = 1, kQuotaDepleted = 2;

enum : uint16_t { kLimitRate = 1, kLimitUnit, kLimitBurst, kLimitType, kLimitFlags, kLimitPad, kLimitMax = kLimitPad };
constexpr AttributeTable<kLimitMax>::Policies kLimitPolicies = {kAnyPolicy, kU64Policy, kU64Policy, kU32Policy,
                                                                kU32Policy, kU32Policy, kAnyPolicy};
constexpr uint64_t kNsPerSecond = 1'000'000'000;
constexpr uint32_t kDefaultPacketBurst = 5;

enum : uint16_t { kConnlimitCount = 1, kConnlimitFlags, kConnlimitMax = kConnlimitFlags };
constexpr AttributeTable<kConnlimitMax>::Policies kConnlimitPolicies = {kAnyPolicy, kU32Policy, kU32Policy};

enum : uint16_t { kLastSet = 1, kLastMsecs, kLastMax = kLastMsecs };
constexpr AttributeTable<kLastMax>::Policies kLastPolicies = {kAnyPolicy, kU32Policy, kU64Policy};

enum : uint16_t { kNumgenDreg = 1, kNumgenModulus, kNumgenType, kNumgenOffset, kNumgenMax = kNumgenOffset };
constexpr AttributeTable<kNumgenMax>::Policies kNumgenPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kU32Policy,
                                                                  kU32Policy};

enum : uint16_t {
  kHashSreg = 1,
  kHashDreg,
  kHashLen,
  kHashModulus,
  kHashSeed,
  kHashOffset,
  kHashType,
  kHashMax = kHashType
};
constexpr AttributeTable<kHashMax>::Policies kHashPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kByte32Policy,
                                                              kU32Policy, kU32Policy, kU32Policy, kU32Policy};
using HashTable = AttributeTable<kHashMax>;
constexpr uint32_t kHashJenkins = 0, kHashSymmetric = 1;

// Whether the token bucket's arithmetic leaves 64 bits (vm-semantics 10.19).
bool LimitOverflows(const nft::Limit& limit) {
  uint64_t ns = 0;
  uint64_t product = 0;
  if (__builtin_mul_overflow(limit.unit_s, kNsPerSecond, &ns)) return true;
  if (limit.type == nft::LimitType::kPackets) return __builtin_mul_overflow(ns / limit.rate, limit.burst, &product);
  uint64_t sum = 0;
  return __builtin_add_overflow(limit.rate, uint64_t{limit.burst}, &sum) || __builtin_mul_overflow(ns, sum, &product);
}

int CheckModulus(uint32_t modulus, uint32_t offset, ExpressionScope& scope) {
  if (modulus == 0) return scope.Fail(ERANGE, "modulus must be at least 1");
  if (modulus - 1 > UINT32_MAX - offset) return scope.Fail(EOVERFLOW, "offset + modulus leaves 32 bits");
  return 0;
}

int DecodeJenkins(const HashTable& table, ExpressionScope& scope, nft::Hash& body) {
  if (!table[kHashSreg] || !table[kHashDreg] || !table[kHashLen] || !table[kHashModulus]) {
    return scope.Fail(EINVAL, "jhash needs sreg, dreg, len and modulus");
  }
  body.len = table[kHashLen].U32();
  if (body.len == 0) return scope.Fail(ERANGE, "len must be at least 1");
  if (const int error = scope.Load(table[kHashSreg], body.len, &body.sreg)) return error;
  if (table[kHashSeed]) body.seed = table[kHashSeed].U32();
  return 0;
}

}  // namespace

int DecodeCounter(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kCounterMax> table;
  if (const int error = ParseData(data, kCounterPolicies, scope, &table)) return error;
  scope.Parsed(16);
  out.body = nft::Counter{.bytes = table[kCounterBytes].U64(), .packets = table[kCounterPackets].U64()};
  return 0;
}

void Encode(const nft::Counter& body, EncodeTarget& to) {
  to.out.U64(kCounterBytes, body.bytes);
  to.out.U64(kCounterPackets, body.packets);
}

int DecodeQuota(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kQuotaMax> table;
  if (const int error = ParseData(data, kQuotaPolicies, scope, &table)) return error;
  scope.Parsed(32);
  if (!table[kQuotaBytes]) return scope.Fail(EINVAL, "needs bytes");
  nft::Quota body{
      .bytes = table[kQuotaBytes].U64(), .flags = table[kQuotaFlags].U32(), .consumed = table[kQuotaConsumed].U64()};
  if (body.bytes > INT64_MAX) return scope.Fail(EOVERFLOW, "bytes must be below 2^63");
  if (body.consumed > body.bytes) return scope.Fail(EINVAL, "consumed must not be above bytes");
  if ((body.flags & ~kInverted) != 0) return scope.Fail(EINVAL, "flags must be 0 or 1");
  out.body = body;
  return 0;
}

void Encode(const nft::Quota& body, EncodeTarget& to) {
  const bool depleted = body.consumed >= body.bytes && !to.names.exact();
  to.out.U64(kQuotaBytes, body.bytes);
  to.out.U64(kQuotaConsumed, std::min(body.consumed, body.bytes));
  to.out.U32(kQuotaFlags, body.flags | (depleted ? kQuotaDepleted : 0));
}

int DecodeLimit(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kLimitMax> table;
  if (const int error = ParseData(data, kLimitPolicies, scope, &table)) return error;
  const uint32_t type = table[kLimitType].U32();
  if (type > static_cast<uint32_t>(nft::LimitType::kBytes)) return scope.Fail(EOPNOTSUPP, "type must be 0 or 1");
  auto& body = out.body.emplace<nft::Limit>();
  body.type = static_cast<nft::LimitType>(type);
  scope.Parsed(body.type == nft::LimitType::kPackets ? 56 : 48);
  if (!table[kLimitRate] || !table[kLimitUnit]) return scope.Fail(EINVAL, "needs rate and unit");
  body.rate = table[kLimitRate].U64();
  body.unit_s = table[kLimitUnit].U64();
  if (body.rate == 0) return scope.Fail(EINVAL, "rate must be at least 1");
  body.burst = table[kLimitBurst].U32();
  if (body.type == nft::LimitType::kPackets && body.burst == 0) body.burst = kDefaultPacketBurst;
  if (LimitOverflows(body)) return scope.Fail(EOVERFLOW, "rate, unit and burst leave 64 bits");
  body.flags = table[kLimitFlags].U32();
  if ((body.flags & ~kInverted) != 0) return scope.Fail(EOPNOTSUPP, "flags must be 0 or 1");
  return 0;
}

void Encode(const nft::Limit& body, EncodeTarget& to) {
  to.out.U64(kLimitRate, body.rate);
  to.out.U64(kLimitUnit, body.unit_s);
  const bool default_burst = body.burst == 0 && body.type == nft::LimitType::kPackets;
  to.out.U32(kLimitBurst, default_burst ? kDefaultPacketBurst : body.burst);
  to.out.U32(kLimitType, static_cast<uint32_t>(body.type));
  to.out.U32(kLimitFlags, body.flags);
}

int DecodeConnlimit(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kConnlimitMax> table;
  if (const int error = ParseData(data, kConnlimitPolicies, scope, &table)) return error;
  scope.Parsed(24);
  if (!table[kConnlimitCount]) return scope.Fail(EINVAL, "needs count");
  const nft::Connlimit body{.count = table[kConnlimitCount].U32(), .flags = table[kConnlimitFlags].U32()};
  if ((body.flags & ~kInverted) != 0) return scope.Fail(EOPNOTSUPP, "flags must be 0 or 1");
  if (!scope.has_conntrack()) return scope.Fail(EPROTO, "the family has no connection tracking");
  out.body = body;
  return 0;
}

void Encode(const nft::Connlimit& body, EncodeTarget& to) {
  to.out.U32(kConnlimitCount, body.count);
  if (body.flags != 0) to.out.U32(kConnlimitFlags, body.flags);
}

int DecodeLast(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kLastMax> table;
  if (const int error = ParseData(data, kLastPolicies, scope, &table)) return error;
  scope.Parsed(16);
  nft::Last body;
  body.set = table[kLastSet].U32() != 0;
  if (body.set) body.msecs = table[kLastMsecs].U64();
  if (body.msecs > kMaxTimeoutMs) return scope.Fail(ERANGE, "msecs is too long");
  out.body = body;
  return 0;
}

void Encode(const nft::Last& body, EncodeTarget& to) {
  to.out.U32(kLastSet, body.set ? 1 : 0);
  to.out.U64(kLastMsecs, body.msecs);
}

int DecodeNumgen(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kNumgenMax> table;
  if (const int error = ParseData(data, kNumgenPolicies, scope, &table)) return error;
  if (!table[kNumgenDreg] || !table[kNumgenModulus] || !table[kNumgenType]) {
    return scope.Fail(EINVAL, "needs dreg, modulus and type");
  }
  auto& body = out.body.emplace<nft::Numgen>();
  body.type = table[kNumgenType].U32();
  if (body.type > 1) return scope.Fail(EINVAL, "type must be 0 or 1");
  scope.Parsed(body.type == 0 ? 32 : 24);
  body.modulus = table[kNumgenModulus].U32();
  body.offset = table[kNumgenOffset].U32();
  if (const int error = CheckModulus(body.modulus, body.offset, scope)) return error;
  return scope.Store(table[kNumgenDreg], 4, &body.dreg);
}

void Encode(const nft::Numgen& body, EncodeTarget& to) {
  to.out.U32(kNumgenDreg, body.dreg.ToNetlink());
  to.out.U32(kNumgenModulus, body.modulus);
  to.out.U32(kNumgenType, body.type);
  to.out.U32(kNumgenOffset, body.offset);
}

int DecodeHash(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  HashTable table;
  if (const int error = ParseData(data, kHashPolicies, scope, &table)) return error;
  auto& body = out.body.emplace<nft::Hash>();
  body.type = table[kHashType].U32();
  if (body.type > kHashSymmetric) return scope.Fail(EOPNOTSUPP, "type must be 0 or 1");
  scope.Parsed(24);
  body.modulus = table[kHashModulus].U32();
  body.offset = table[kHashOffset].U32();
  if (body.type == kHashJenkins) {
    if (const int error = DecodeJenkins(table, scope, body)) return error;
  } else if (!table[kHashDreg] || !table[kHashModulus]) {
    return scope.Fail(EINVAL, "symhash needs dreg and modulus");
  }
  if (const int error = CheckModulus(body.modulus, body.offset, scope)) return error;
  return scope.Store(table[kHashDreg], 4, &body.dreg);
}

void Encode(const nft::Hash& body, EncodeTarget& to) {
  if (body.sreg) to.out.U32(kHashSreg, body.sreg->ToNetlink());
  to.out.U32(kHashDreg, body.dreg.ToNetlink());
  if (body.type == kHashJenkins) to.out.U32(kHashLen, body.len);
  to.out.U32(kHashModulus, body.modulus);
  if (body.seed) to.out.U32(kHashSeed, *body.seed);
  if (body.offset != 0) to.out.U32(kHashOffset, body.offset);
  to.out.U32(kHashType, body.type);
}

}  // namespace nftjit::netlink
