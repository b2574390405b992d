// Statements that act on the packet or leave the VM: notrack, log, reject, queue, synproxy, flow_offload, dup, fwd,
// tproxy, and the xtables wrappers match and target (vm-semantics 10.13, 10.22, 10.23, 10.27 to 10.29, 10.39 to 10.43).
#include "lib/netlink/expression_codec.h"

namespace nftjit::netlink {
namespace {

enum : uint16_t { kLogGroup = 1, kLogPrefix, kLogSnaplen, kLogQthreshold, kLogLevel, kLogFlags, kLogMax = kLogFlags };
constexpr AttributeTable<kLogMax>::Policies kLogPolicies = {
    kAnyPolicy, kU16Policy, {Policy::kString, 127}, kU32Policy, kU16Policy, kU32Policy, kU32Policy};
constexpr uint32_t kLogLevelWarning = 4, kLogLevelAudit = 8, kLogFlagMask = 0x2f;

enum : uint16_t { kRejectType = 1, kRejectCode, kRejectMax = kRejectCode };
constexpr AttributeTable<kRejectMax>::Policies kRejectPolicies = {kAnyPolicy, kByte32Policy, kU8Policy};
constexpr uint8_t kIcmpxCodeMax = 3;

enum : uint16_t { kQueueNum = 1, kQueueTotal, kQueueFlags, kQueueSreg, kQueueMax = kQueueSreg };
constexpr AttributeTable<kQueueMax>::Policies kQueuePolicies = {kAnyPolicy, kU16Policy, kU16Policy, kU16Policy,
                                                                kU32Policy};
constexpr uint16_t kQueueFanout = 2, kQueueFlagMask = 3;

enum : uint16_t { kSynproxyMss = 1, kSynproxyWscale, kSynproxyFlags, kSynproxyMax = kSynproxyFlags };
constexpr AttributeTable<kSynproxyMax>::Policies kSynproxyPolicies = {kAnyPolicy, kU16Policy, kU8Policy, kU32Policy};

enum : uint16_t { kFlowTable = 1, kFlowMax = kFlowTable };
constexpr AttributeTable<kFlowMax>::Policies kFlowPolicies = {kAnyPolicy, kNamePolicy};

enum : uint16_t { kDupAddr = 1, kDupDev, kDupMax = kDupDev };
constexpr AttributeTable<kDupMax>::Policies kDupPolicies = {kAnyPolicy, kU32Policy, kU32Policy};

enum : uint16_t { kFwdDev = 1, kFwdAddr, kFwdNfproto, kFwdMax = kFwdNfproto };
constexpr AttributeTable<kFwdMax>::Policies kFwdPolicies = {kAnyPolicy, kU32Policy, kU32Policy, kByte32Policy};

enum : uint16_t { kTproxyFamily = 1, kTproxyAddr, kTproxyPort, kTproxyMax = kTproxyPort };
constexpr AttributeTable<kTproxyMax>::Policies kTproxyPolicies = {kAnyPolicy, kByte32Policy, kU32Policy, kU32Policy};

enum : uint16_t { kCompatName = 1, kCompatRev, kCompatInfo, kCompatMax = kCompatInfo };
constexpr AttributeTable<kCompatMax>::Policies kCompatPolicies = {kAnyPolicy, kNamePolicy, kByte32Policy,
                                                                  kBinaryPolicy};
// Private data up to this size lies in the rule itself.
constexpr size_t kCompatInlineBytes = 192;

constexpr uint32_t kTproxyPortLength = 2, kIfindexLength = 4;

uint32_t AddressLength(nft::Family family) {
  return family == nft::Family::kIp ? 4 : family == nft::Family::kIp6 ? 16 : 0;
}

template <class Body>
int DecodeCompat(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kCompatMax> table;
  if (const int error = ParseData(data, kCompatPolicies, scope, &table)) return error;
  if (!table[kCompatName] || !table[kCompatRev] || !table[kCompatInfo]) {
    return scope.Fail(EINVAL, "needs name, rev and info");
  }
  const size_t info = table[kCompatInfo].size();
  scope.Parsed(static_cast<uint32_t>(8 + (info > kCompatInlineBytes ? 8 : (info + 7) / 8 * 8)));
  out.body = Body{.name = std::string(table[kCompatName].String()),
                  .rev = table[kCompatRev].U32(),
                  .info = std::string(table[kCompatInfo].Raw())};
  return 0;
}

template <class Body>
void EncodeCompat(const Body& body, EncodeTarget& to) {
  to.out.String(kCompatName, body.name);
  to.out.U32(kCompatRev, body.rev);
  to.out.Raw(kCompatInfo, body.info);
}

}  // namespace

int DecodeNotrack(const Attribute&, ExpressionScope& scope, nft::Expression& out) {
  scope.Parsed(8);
  out.body = nft::Notrack{};
  return 0;
}

void Encode(const nft::Notrack&, EncodeTarget&) {}

int DecodeLog(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kLogMax> table;
  if (const int error = ParseData(data, kLogPolicies, scope, &table)) return error;
  scope.Parsed(32);
  if (table[kLogGroup] && (table[kLogLevel] || table[kLogFlags])) {
    return scope.Fail(EINVAL, "a group takes neither level nor flags");
  }
  auto& body = out.body.emplace<nft::Log>();
  if (table[kLogPrefix]) body.prefix = std::string(table[kLogPrefix].String());
  if (table[kLogGroup]) {
    body.group = table[kLogGroup].U16();
    if (table[kLogSnaplen]) body.snaplen = table[kLogSnaplen].U32();
    if (table[kLogQthreshold].U16() != 0) body.qthreshold = table[kLogQthreshold].U16();
    return 0;
  }
  body.level = table[kLogLevel] ? table[kLogLevel].U32() : kLogLevelWarning;
  if (*body.level > kLogLevelAudit) return scope.Fail(EINVAL, "level must be 0 to 8");
  const uint32_t flags = table[kLogFlags].U32();
  if ((flags & ~kLogFlagMask) != 0) return scope.Fail(EINVAL, "unknown flag");
  if (flags != 0) body.flags = flags;
  return 0;
}

void Encode(const nft::Log& body, EncodeTarget& to) {
  if (body.prefix) to.out.String(kLogPrefix, *body.prefix);
  if (body.group) {
    to.out.U16(kLogGroup, *body.group);
    if (body.snaplen) to.out.U32(kLogSnaplen, *body.snaplen);
    if (body.qthreshold.value_or(0) != 0) to.out.U16(kLogQthreshold, *body.qthreshold);
    return;
  }
  to.out.U32(kLogLevel, body.level.value_or(kLogLevelWarning));
  if (body.flags.value_or(0) != 0) to.out.U32(kLogFlags, *body.flags);
}

int DecodeReject(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kRejectMax> table;
  if (const int error = ParseData(data, kRejectPolicies, scope, &table)) return error;
  scope.Parsed(16);
  if (!table[kRejectType]) return scope.Fail(EINVAL, "needs a type");
  const uint32_t type = table[kRejectType].U32();
  if (type > static_cast<uint32_t>(nft::RejectType::kIcmpx)) return scope.Fail(EINVAL, "type must be 0 to 2");
  auto& body = out.body.emplace<nft::Reject>();
  body.type = static_cast<nft::RejectType>(type);
  body.icmp_code = 0;
  if (body.type == nft::RejectType::kTcpReset) return 0;
  if (!table[kRejectCode]) return scope.Fail(EINVAL, "needs a code");
  body.icmp_code = table[kRejectCode].U8();
  if (body.type == nft::RejectType::kIcmpx && body.icmp_code > kIcmpxCodeMax) {
    return scope.Fail(EINVAL, "an icmpx code must be 0 to 3");
  }
  return 0;
}

void Encode(const nft::Reject& body, EncodeTarget& to) {
  to.out.U32(kRejectType, static_cast<uint32_t>(body.type));
  if (body.type != nft::RejectType::kTcpReset) to.out.U8(kRejectCode, body.icmp_code);
}

int DecodeQueue(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kQueueMax> table;
  if (const int error = ParseData(data, kQueuePolicies, scope, &table)) return error;
  if (static_cast<bool>(table[kQueueNum]) == static_cast<bool>(table[kQueueSreg])) {
    return scope.Fail(EINVAL, "needs either num or sreg");
  }
  scope.Parsed(16);
  auto& body = out.body.emplace<nft::Queue>();
  body.total = 1;
  body.flags = table[kQueueFlags].U16();
  if (table[kQueueSreg]) {
    if (const int error = scope.Load(table[kQueueSreg], 4, &body.sreg_qnum)) return error;
    if ((body.flags & ~kQueueFlagMask) != 0) return scope.Fail(EINVAL, "flags must be 0 to 3");
    return (body.flags & kQueueFanout) == 0 ? 0 : scope.Fail(EOPNOTSUPP, "a queue from a register has no fanout");
  }
  body.num = table[kQueueNum].U16();
  if (table[kQueueTotal]) body.total = table[kQueueTotal].U16();
  if (body.total == 0) return scope.Fail(EINVAL, "total must be at least 1");
  if (*body.num + body.total - 1 > UINT16_MAX) return scope.Fail(ERANGE, "the last queue is above 65535");
  return (body.flags & ~kQueueFlagMask) == 0 ? 0 : scope.Fail(EINVAL, "flags must be 0 to 3");
}

void Encode(const nft::Queue& body, EncodeTarget& to) {
  if (body.sreg_qnum) {
    to.out.U32(kQueueSreg, body.sreg_qnum->ToNetlink());
  } else {
    to.out.U16(kQueueNum, body.num.value_or(0));
    to.out.U16(kQueueTotal, body.total);
  }
  to.out.U16(kQueueFlags, body.flags);
}

int DecodeSynproxy(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kSynproxyMax> table;
  if (const int error = ParseData(data, kSynproxyPolicies, scope, &table)) return error;
  scope.Parsed(16);
  auto& body = out.body.emplace<nft::Synproxy>();
  body.mss = table[kSynproxyMss].U16();
  body.wscale = table[kSynproxyWscale].U8();
  body.flags = table[kSynproxyFlags].U32();
  if (body.flags > 15) return scope.Fail(EOPNOTSUPP, "flags must be 0 to 15");
  return scope.has_conntrack() ? 0 : scope.Fail(EPROTO, "the family has no connection tracking");
}

void Encode(const nft::Synproxy& body, EncodeTarget& to) {
  to.out.U16(kSynproxyMss, body.mss);
  to.out.U8(kSynproxyWscale, body.wscale);
  to.out.U32(kSynproxyFlags, body.flags);
}

int DecodeFlowOffload(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kFlowMax> table;
  if (const int error = ParseData(data, kFlowPolicies, scope, &table)) return error;
  scope.Parsed(16);
  if (!table[kFlowTable]) return scope.Fail(EINVAL, "needs a flowtable");
  const nft::Flowtable* flowtable = scope.context().FlowtableByName(table[kFlowTable].String());
  if (flowtable == nullptr) return scope.Fail(ENOENT, "no such flowtable");
  out.body = nft::FlowOffload{.flowtable = flowtable->handle};
  return scope.has_conntrack() ? 0 : scope.Fail(EPROTO, "the family has no connection tracking");
}

void Encode(const nft::FlowOffload& body, EncodeTarget& to) {
  to.out.String(kFlowTable, to.names.FlowtableName(body.flowtable));
}

int DecodeDup(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kDupMax> table;
  if (const int error = ParseData(data, kDupPolicies, scope, &table)) return error;
  scope.Parsed(16);
  auto& body = out.body.emplace<nft::Dup>();
  if (scope.family() == nft::Family::kNetdev) {
    if (!table[kDupDev]) return scope.Fail(EINVAL, "needs a device");
    return scope.Load(table[kDupDev], kIfindexLength, &body.sreg_dev);
  }
  if (!table[kDupAddr]) return scope.Fail(EINVAL, "needs an address");
  if (const int error = scope.Load(table[kDupAddr], AddressLength(scope.family()), &body.sreg_addr)) return error;
  return table[kDupDev] ? scope.Load(table[kDupDev], kIfindexLength, &body.sreg_dev) : 0;
}

void Encode(const nft::Dup& body, EncodeTarget& to) {
  if (body.sreg_addr) to.out.U32(kDupAddr, body.sreg_addr->ToNetlink());
  if (body.sreg_dev) to.out.U32(kDupDev, body.sreg_dev->ToNetlink());
}

int DecodeFwd(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kFwdMax> table;
  if (const int error = ParseData(data, kFwdPolicies, scope, &table)) return error;
  if (!table[kFwdAddr] && !table[kFwdDev]) return scope.Fail(EOPNOTSUPP, "needs a device");
  scope.Parsed(16);
  auto& body = out.body.emplace<nft::Fwd>();
  if (!table[kFwdAddr]) return scope.Load(table[kFwdDev], kIfindexLength, &body.sreg_dev);
  if (!table[kFwdDev] || !table[kFwdNfproto]) return scope.Fail(EINVAL, "an address needs a device and a family");
  body.nfproto = table[kFwdNfproto].U32();
  const uint32_t length = AddressLength(static_cast<nft::Family>(*body.nfproto));
  if (length == 0) return scope.Fail(EOPNOTSUPP, "nfproto must be 2 or 10");
  if (const int error = scope.Load(table[kFwdDev], kIfindexLength, &body.sreg_dev)) return error;
  return scope.Load(table[kFwdAddr], length, &body.sreg_addr);
}

void Encode(const nft::Fwd& body, EncodeTarget& to) {
  to.out.U32(kFwdDev, body.sreg_dev.ToNetlink());
  if (!body.sreg_addr) return;
  to.out.U32(kFwdAddr, body.sreg_addr->ToNetlink());
  to.out.U32(kFwdNfproto, body.nfproto.value_or(0));
}

int DecodeTproxy(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kTproxyMax> table;
  if (const int error = ParseData(data, kTproxyPolicies, scope, &table)) return error;
  scope.Parsed(16);
  if (!table[kTproxyFamily] || (!table[kTproxyAddr] && !table[kTproxyPort])) {
    return scope.Fail(EINVAL, "needs a family, and an address or a port");
  }
  auto& body = out.body.emplace<nft::Tproxy>();
  body.family = static_cast<nft::Family>(table[kTproxyFamily].U32());
  if (!scope.is_l3()) return scope.Fail(EOPNOTSUPP, "the family has no sockets");
  if (scope.family() != nft::Family::kInet && body.family != scope.family()) {
    return scope.Fail(EINVAL, "family must be the table's");
  }
  const uint32_t length = AddressLength(body.family);
  if (body.family == nft::Family::kUnspec && table[kTproxyAddr]) {
    return scope.Fail(EINVAL, "an address needs a family");
  }
  if (body.family != nft::Family::kUnspec && length == 0) return scope.Fail(EOPNOTSUPP, "family must be 0, 2 or 10");
  if (table[kTproxyAddr]) {
    if (const int error = scope.Load(table[kTproxyAddr], length, &body.addr)) return error;
  }
  return table[kTproxyPort] ? scope.Load(table[kTproxyPort], kTproxyPortLength, &body.port) : 0;
}

void Encode(const nft::Tproxy& body, EncodeTarget& to) {
  to.out.U32(kTproxyFamily, static_cast<uint32_t>(body.family));
  if (body.addr) to.out.U32(kTproxyAddr, body.addr->ToNetlink());
  if (body.port) to.out.U32(kTproxyPort, body.port->ToNetlink());
}

int DecodeMatch(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  if (const int error = DecodeCompat<nft::CompatMatch>(data, scope, out)) return error;
  // xtables has no matches of its own for arp.
  return scope.family() == nft::Family::kArp ? scope.Fail(EINVAL, "arp has no matches") : 0;
}

int DecodeTarget(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  return DecodeCompat<nft::CompatTarget>(data, scope, out);
}

void Encode(const nft::CompatMatch& body, EncodeTarget& to) { EncodeCompat(body, to); }
void Encode(const nft::CompatTarget& body, EncodeTarget& to) { EncodeCompat(body, to); }

}  // namespace nftjit::netlink
