// Stateful objects (vm-semantics 10.16, 10.42; validation 8).
#include <array>

#include "lib/netlink/codec.h"
#include "lib/netlink/expression_codec.h"
#include "lib/netlink/table_index.h"

namespace nftjit::netlink {
namespace {

using nft::Family;

constexpr ObjectAttributes::Policies kObjectPolicies = {kAnyPolicy, kNamePolicy, kNamePolicy,
                                                        kU32Policy, kNestPolicy, kU32Policy,
                                                        kU64Policy, kAnyPolicy,  {Policy::kBinary, 256}};

enum : uint16_t { kHelperName = 1, kHelperL3proto, kHelperL4proto, kHelperMax = kHelperL4proto };
constexpr AttributeTable<kHelperMax>::Policies kHelperPolicies = {
    kAnyPolicy, {Policy::kString, 15}, kU16Policy, kU8Policy};

enum : uint16_t { kTimeoutL3proto = 1, kTimeoutL4proto, kTimeoutData, kTimeoutMax = kTimeoutData };
constexpr AttributeTable<kTimeoutMax>::Policies kTimeoutPolicies = {kAnyPolicy, kU16Policy, kU8Policy, kNestPolicy};

enum : uint16_t {
  kExpectL3proto = 1,
  kExpectL4proto,
  kExpectDport,
  kExpectTimeout,
  kExpectSize,
  kExpectMax = kExpectSize
};
constexpr AttributeTable<kExpectMax>::Policies kExpectPolicies = {kAnyPolicy, kU16Policy, kU8Policy,
                                                                  kU16Policy, kU32Policy, kU8Policy};

enum : uint16_t { kSecmarkContext = 1, kSecmarkMax = kSecmarkContext };
constexpr AttributeTable<kSecmarkMax>::Policies kSecmarkPolicies = {kAnyPolicy, {Policy::kString, 4096}};

constexpr uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kDccp = 33, kGre = 47, kIcmpv6 = 58, kSctp = 132, kUdplite = 136,
                  kGeneric = 255;

NetlinkError ObjectError(int error, std::string_view why) { return MakeError(error, 0, "object", why); }
using Failure = std::optional<NetlinkError>;

// Connection tracking helpers of the kernel, and whether they exist for IPv6 too.
struct Helper {
  std::string_view name;
  uint8_t l4proto;
  bool ip6;
};
constexpr Helper kHelpers[] = {{"ftp", kTcp, true},       {"tftp", kUdp, true},        {"sip", kUdp, true},
                               {"sip", kTcp, true},       {"irc", kTcp, false},        {"pptp", kTcp, false},
                               {"amanda", kUdp, true},    {"netbios-ns", kUdp, false}, {"RAS", kUdp, true},
                               {"Q.931", kTcp, true},     {"sane", kTcp, true},        {"snmp", kUdp, false},
                               {"snmp_trap", kUdp, false}};

// The family that the kernel stores for the helper when asked for these: the wanted ones that it exists for.
std::optional<Family> HelperFamily(std::string_view name, uint8_t l4proto, bool ip4, bool ip6) {
  for (const Helper& helper : kHelpers) {
    if (helper.name != name || helper.l4proto != l4proto) continue;
    if (ip4) return ip6 && helper.ip6 ? Family::kInet : Family::kIp;
    if (helper.ip6) return Family::kIp6;
  }
  return std::nullopt;
}

// A protocol's timeout policy: its attributes 1 to `count` with the kernel's defaults in seconds.
struct TimeoutPolicy {
  uint8_t l4proto;
  uint8_t count;
  std::array<uint32_t, 11> defaults_s;
};
constexpr TimeoutPolicy kTimeoutDefaults[] = {
    {kTcp, 11, {120, 60, 432000, 120, 60, 30, 120, 10, 120, 300, 300}},
    {kUdp, 2, {30, 120}},
    {kUdplite, 2, {30, 120}},
    {kIcmp, 1, {30}},
    {kIcmpv6, 1, {30}},
    {kGre, 2, {30, 180}},
    {kSctp, 9, {10, 3, 3, 210, 3, 3, 3, 30, 0}},
    {kGeneric, 1, {600}},
};

Failure CheckConntrack(const ExpressionScope& scope) {
  if (scope.has_conntrack()) return std::nullopt;
  return ObjectError(EPROTO, "the family has no connection tracking");
}

Failure DecodeHelper(const Attribute& data, ExpressionScope& scope, nft::Object& object) {
  AttributeTable<kHelperMax> table;
  if (const int error = ParseData(data, kHelperPolicies, scope, &table)) return ObjectError(error, scope.why());
  if (!table[kHelperName] || !table[kHelperL4proto]) return ObjectError(EINVAL, "a ct helper needs a name and l4proto");
  nft::CtHelperObject body{.name = std::string(table[kHelperName].String()),
                           .l3proto = static_cast<uint16_t>(scope.family()),
                           .l4proto = table[kHelperL4proto].U8()};
  if (body.l4proto == 0) return ObjectError(ENOENT, "l4proto must not be 0");
  if (table[kHelperL3proto]) body.l3proto = table[kHelperL3proto].U16();
  bool ip4 = false;
  bool ip6 = false;
  switch (static_cast<Family>(body.l3proto)) {
    case Family::kIp:
      if (scope.family() == Family::kIp6) return ObjectError(EINVAL, "l3proto must be the table's");
      ip4 = true;
      break;
    case Family::kIp6:
      if (scope.family() == Family::kIp) return ObjectError(EINVAL, "l3proto must be the table's");
      ip6 = true;
      break;
    case Family::kInet:
    case Family::kBridge:
    case Family::kNetdev:
      ip4 = ip6 = true;
      break;
    default:
      return ObjectError(EAFNOSUPPORT, "l3proto must be ip, ip6 or inet");
  }
  const std::optional<Family> family = HelperFamily(body.name, body.l4proto, ip4, ip6);
  if (!family.has_value()) return ObjectError(ENOENT, "no ct helper of this name and protocol");
  body.l3proto = static_cast<uint16_t>(*family);
  object.body = std::move(body);
  return CheckConntrack(scope);
}

Failure DecodeTimeout(const Attribute& data, ExpressionScope& scope, nft::Object& object) {
  AttributeTable<kTimeoutMax> table;
  if (const int error = ParseData(data, kTimeoutPolicies, scope, &table)) return ObjectError(error, scope.why());
  if (!table[kTimeoutL4proto] || !table[kTimeoutData])
    return ObjectError(EINVAL, "a ct timeout needs l4proto and data");
  nft::CtTimeoutObject body;
  body.l3proto = table[kTimeoutL3proto] ? table[kTimeoutL3proto].U16() : static_cast<uint16_t>(scope.family());
  body.l4proto = table[kTimeoutL4proto].U8();
  const TimeoutPolicy* policy = nullptr;
  for (const TimeoutPolicy& candidate : kTimeoutDefaults) {
    if (candidate.l4proto == body.l4proto) policy = &candidate;
  }
  if (policy == nullptr) return ObjectError(EOPNOTSUPP, "the protocol has no timeouts");
  for (uint32_t i = 0; i < policy->count; ++i) body.policy_s[i + 1] = policy->defaults_s[i];
  for (AttributeCursor item(table[kTimeoutData]); item.Next();) {
    const Attribute& timeout = item.attribute();
    if (timeout.type() == 0 || timeout.type() > policy->count) continue;
    if (CheckPolicy(timeout, kU32Policy) != 0) return ObjectError(ERANGE, "a timeout is too short");
    body.policy_s[timeout.type()] = timeout.U32();
  }
  object.body = std::move(body);
  return CheckConntrack(scope);
}

Failure DecodeExpectation(const Attribute& data, ExpressionScope& scope, nft::Object& object) {
  AttributeTable<kExpectMax> table;
  if (const int error = ParseData(data, kExpectPolicies, scope, &table)) return ObjectError(error, scope.why());
  for (uint16_t number = kExpectL4proto; number <= kExpectMax; ++number) {
    if (!table[number]) return ObjectError(EINVAL, "a ct expectation needs l4proto, dport, timeout and size");
  }
  nft::CtExpectObject body{};
  body.l3proto = table[kExpectL3proto] ? table[kExpectL3proto].U16() : static_cast<uint16_t>(scope.family());
  switch (static_cast<Family>(body.l3proto)) {
    case Family::kIp:
    case Family::kIp6:
      if (body.l3proto != static_cast<uint16_t>(scope.family()) && scope.family() != Family::kInet) {
        return ObjectError(EINVAL, "l3proto must be the table's");
      }
      break;
    default:
      return ObjectError(EAFNOSUPPORT, "l3proto must be ip or ip6");
  }
  body.l4proto = table[kExpectL4proto].U8();
  if (body.l4proto != kTcp && body.l4proto != kUdp && body.l4proto != kUdplite && body.l4proto != kDccp &&
      body.l4proto != kSctp) {
    return ObjectError(EOPNOTSUPP, "the protocol has no expectations");
  }
  StoreBig16(reinterpret_cast<uint8_t*>(&body.dport_net), table[kExpectDport].U16());
  body.timeout_ms = table[kExpectTimeout].U32();
  body.size = table[kExpectSize].U8();
  object.body = body;
  return CheckConntrack(scope);
}

Failure DecodeSecmark(const Attribute& data, ExpressionScope& scope, nft::Object& object) {
  AttributeTable<kSecmarkMax> table;
  if (const int error = ParseData(data, kSecmarkPolicies, scope, &table)) return ObjectError(error, scope.why());
  if (!table[kSecmarkContext]) return ObjectError(EINVAL, "a secmark needs a context");
  if (!scope.context().features().secmark) return ObjectError(ENOENT, "no security module knows the context");
  object.body = nft::SecmarkObject{.context = std::string(table[kSecmarkContext].String())};
  return std::nullopt;
}

// Bodies that are an expression's.
template <class Body>
Failure DecodeAs(DecodeFunction decode, const Attribute& data, ExpressionScope& scope, nft::Object& object) {
  nft::Expression expression;
  if (const int error = decode(data, scope, expression)) return ObjectError(error, scope.why());
  object.body = std::get<Body>(expression.body);
  return std::nullopt;
}

Failure DecodeBody(const Attribute& data, uint32_t type, ExpressionScope& scope, nft::Object& object) {
  object.type = static_cast<nft::ObjectType>(type);
  switch (object.type) {
    case nft::ObjectType::kCounter:
      return DecodeAs<nft::Counter>(DecodeCounter, data, scope, object);
    case nft::ObjectType::kQuota:
      return DecodeAs<nft::Quota>(DecodeQuota, data, scope, object);
    case nft::ObjectType::kCtHelper:
      return DecodeHelper(data, scope, object);
    case nft::ObjectType::kLimit:
      return DecodeAs<nft::Limit>(DecodeLimit, data, scope, object);
    case nft::ObjectType::kConnlimit:
      return DecodeAs<nft::Connlimit>(DecodeConnlimit, data, scope, object);
    case nft::ObjectType::kTunnel:
      return DecodeTunnelObject(data, scope, object);
    case nft::ObjectType::kCtTimeout:
      return DecodeTimeout(data, scope, object);
    case nft::ObjectType::kSecmark:
      return DecodeSecmark(data, scope, object);
    case nft::ObjectType::kCtExpect:
      return DecodeExpectation(data, scope, object);
    case nft::ObjectType::kSynproxy:
      return DecodeAs<nft::Synproxy>(DecodeSynproxy, data, scope, object);
  }
  return ObjectError(ENOENT, "no such type of object");
}

void EncodeBody(const nft::CtHelperObject& body, EncodeTarget& to) {
  to.out.String(kHelperName, body.name);
  to.out.U8(kHelperL4proto, body.l4proto);
  to.out.U16(kHelperL3proto, body.l3proto);
}

void EncodeBody(const nft::CtTimeoutObject& body, EncodeTarget& to) {
  to.out.U8(kTimeoutL4proto, body.l4proto);
  to.out.U16(kTimeoutL3proto, body.l3proto);
  const size_t nest = to.out.BeginNest(kTimeoutData);
  for (const auto& [number, seconds] : body.policy_s) to.out.U32(static_cast<uint16_t>(number), seconds);
  to.out.EndNest(nest);
}

void EncodeBody(const nft::CtExpectObject& body, EncodeTarget& to) {
  to.out.U16(kExpectL3proto, body.l3proto);
  to.out.U8(kExpectL4proto, body.l4proto);
  to.out.U16(kExpectDport, LoadBig16(reinterpret_cast<const uint8_t*>(&body.dport_net)));
  to.out.U32(kExpectTimeout, body.timeout_ms);
  to.out.U8(kExpectSize, body.size);
}

void EncodeBody(const nft::SecmarkObject& body, EncodeTarget& to) { to.out.String(kSecmarkContext, body.context); }
void EncodeBody(const nft::TunnelObject& body, EncodeTarget& to) { to.out.Append(body.attributes); }
template <class Body>
void EncodeBody(const Body& body, EncodeTarget& to) {
  Encode(body, to);
}

}  // namespace

Result<ObjectAttributes> ParseObjectMessage(ByteSpan message) {
  return ParseMessage<kObjectMax>(message, kObjectPolicies);
}

Result<nft::Object> DecodeObject(const ObjectAttributes& attributes, const ResolveContext& context) {
  if (!attributes[kObjectTable] || !attributes[kObjectName] || !attributes[kObjectTypeNumber] ||
      !attributes[kObjectData]) {
    return ObjectError(EINVAL, "needs a table, a name, a type and data");
  }
  ExpressionScope scope(context);
  nft::Object object;
  object.name = attributes[kObjectName].String();
  if (Failure failure = DecodeBody(attributes[kObjectData], attributes[kObjectTypeNumber].U32(), scope, object)) {
    return *std::move(failure);
  }
  object.userdata = attributes[kObjectUserdata].Raw();
  return object;
}

void EncodeObject(std::string_view table, const nft::Object& object, uint32_t use, const NameContext& names,
                  AttributeWriter& out) {
  out.String(kObjectTable, table);
  out.String(kObjectName, object.name);
  out.U32(kObjectTypeNumber, static_cast<uint32_t>(object.type));
  out.U64(kObjectHandle, object.handle);
  if (!names.exact()) out.U32(kObjectUse, use);
  const size_t data = out.BeginNest(kObjectData);
  EncodeTarget to{names, out};
  std::visit([&to](const auto& body) { EncodeBody(body, to); }, object.body);
  out.EndNest(data);
  if (!object.userdata.empty()) out.Raw(kObjectUserdata, object.userdata);
}

void EncodeObject(std::string_view table, const nft::Object& object, uint32_t use, AttributeWriter& out) {
  EncodeObject(table, object, use, TableIndex(nft::Table()), out);  // Objects refer to nothing.
}

}  // namespace nftjit::netlink
