#include "lib/netlink/expression_codec.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>

#include "lib/netlink/codec.h"
#include "lib/nft/set_backend.h"

namespace nftjit::netlink {
namespace {

using nft::Family;

constexpr uint16_t Bit(Family family) { return static_cast<uint16_t>(1U << static_cast<uint8_t>(family)); }
constexpr uint16_t kL3 = Bit(Family::kIp) | Bit(Family::kIp6) | Bit(Family::kInet);
constexpr uint16_t kNetdev = Bit(Family::kNetdev);
constexpr uint16_t kArp = Bit(Family::kArp);
constexpr uint16_t kBridge = Bit(Family::kBridge);
constexpr uint16_t kEverywhere = kL3 | kNetdev | kArp | kBridge;

struct Codec {
  std::string_view name;
  DecodeFunction decode;
  uint16_t families;  // Elsewhere the name is ENOENT.
  bool stateful = false;
  bool KernelFeatures::*feature = nullptr;  // Needed for the name to exist.
  uint16_t feature_families = kEverywhere;  // … in these families.
};

// By name.
constexpr Codec kCodecs[] = {
    {"bitwise", DecodeBitwise, kEverywhere},
    {"byteorder", DecodeByteorder, kEverywhere},
    {"cmp", DecodeCmp, kEverywhere},
    {"connlimit", DecodeConnlimit, kEverywhere, true},
    {"counter", DecodeCounter, kEverywhere, true},
    {"ct", DecodeCt, kEverywhere},
    {"dup", DecodeDup, Bit(Family::kIp) | Bit(Family::kIp6) | kNetdev},
    {"dynset", DecodeDynset, kEverywhere},
    {"exthdr", DecodeExthdr, kEverywhere},
    {"fib", DecodeFib, kL3 | kNetdev},
    {"flow_offload", DecodeFlowOffload, kEverywhere, false, &KernelFeatures::flow_offload},
    {"fwd", DecodeFwd, kNetdev},
    {"hash", DecodeHash, kEverywhere},
    {"immediate", DecodeImmediate, kEverywhere},
    {"inner", DecodeInner, kEverywhere},
    {"last", DecodeLast, kEverywhere, true},
    {"limit", DecodeLimit, kEverywhere, true},
    {"log", DecodeLog, kEverywhere},
    {"lookup", DecodeLookup, kEverywhere},
    {"masq", DecodeMasquerade, kL3},
    {"match", DecodeMatch, kEverywhere},
    {"meta", DecodeMeta, kEverywhere},
    {"nat", DecodeNat, kEverywhere},
    {"notrack", DecodeNotrack, kEverywhere},
    {"numgen", DecodeNumgen, kEverywhere},
    {"objref", DecodeObjref, kEverywhere},
    {"osf", DecodeOsf, kEverywhere},
    {"payload", DecodePayload, kEverywhere},
    {"queue", DecodeQueue, kEverywhere, false, &KernelFeatures::queue},
    {"quota", DecodeQuota, kEverywhere, true},
    {"range", DecodeRange, kEverywhere},
    {"redir", DecodeRedirect, kL3},
    {"reject", DecodeReject, kL3 | kNetdev | kBridge, false, &KernelFeatures::bridge_reject, kBridge},
    {"rt", DecodeRt, kEverywhere},
    {"socket", DecodeSocket, kEverywhere},
    {"synproxy", DecodeSynproxy, kEverywhere},
    {"target", DecodeTarget, Bit(Family::kIp) | Bit(Family::kIp6) | kArp | kBridge},
    {"tproxy", DecodeTproxy, kEverywhere},
    {"tunnel", DecodeTunnel, kNetdev},
    {"xfrm", DecodeXfrm, kEverywhere},
};
constexpr bool ByName(const Codec& a, const Codec& b) { return a.name < b.name; }
static_assert(std::is_sorted(std::begin(kCodecs), std::end(kCodecs), ByName));

const Codec* FindCodec(std::string_view name, const ExpressionScope& scope) {
  const auto* found = std::lower_bound(std::begin(kCodecs), std::end(kCodecs), Codec{name, nullptr, 0}, ByName);
  if (found == std::end(kCodecs) || found->name != name) return nullptr;
  const uint16_t family = Bit(scope.family());
  if ((found->families & family) == 0) return nullptr;
  const bool optional = found->feature != nullptr && (found->feature_families & family) != 0;
  return optional && !(scope.context().features().*found->feature) ? nullptr : found;
}

// The longest name that the kernel looks for: "nft-expr-255-" and it make a module's name.
constexpr uint32_t kMaxNameSize = 42;
constexpr AttributeTable<kExprMax>::Policies kNamedPolicies = {
    kAnyPolicy, {Policy::kString, kMaxNameSize}, kNestPolicy};

constexpr size_t kMaxExpressions = 128;
constexpr uint32_t kMaxKernelBytes = 4095;
constexpr size_t kMaxStateful = 2;

size_t CountItems(const Attribute& list) {
  size_t count = 0;
  for (AttributeCursor item(list); item.Next();) ++count;
  return count;
}

// Decodes a rule's list in the kernel's order of errors: those of the first phase of any expression, then the budget,
// then those of the second phase.
class RuleListDecoder {
 public:
  explicit RuleListDecoder(const ResolveContext& context) : scope_(context) {}

  std::optional<NetlinkError> Decode(const Attribute& list, std::vector<nft::Expression>* out) {
    out->reserve(std::min(CountItems(list), kMaxExpressions));
    for (AttributeCursor item(list); item.Next();) {
      if (item.attribute().type() != kListElem) return MakeError(EINVAL, 0, "rule", "a list item must have number 1");
      if (out->size() == kMaxExpressions) return MakeError(EINVAL, 0, "rule", "more than 128 expressions");
      if (auto error = DecodeItem(item.attribute(), out->emplace_back())) return error;
    }
    if (scope_.kernel_bytes() > kMaxKernelBytes) {
      return MakeError(EFBIG, 0, "rule", "its expressions take more than 4095 bytes in the kernel");
    }
    return std::move(second_phase_);
  }

 private:
  std::optional<NetlinkError> DecodeItem(const Attribute& item, nft::Expression& out) {
    std::string_view name;
    const int error = DecodeNamed(item, scope_, false, out, &name);
    if (error == 0) return std::nullopt;
    if (!scope_.parsed()) {
      const size_t offset = scope_.bad_offset() != 0 ? scope_.bad_offset() : item.offset();
      return MakeError(error, offset, name, scope_.why());
    }
    if (!second_phase_) second_phase_ = MakeError(error, item.offset(), name, scope_.why());
    return std::nullopt;
  }

  ExpressionScope scope_;
  std::optional<NetlinkError> second_phase_;
};

}  // namespace

NetlinkError MakeError(int error, size_t offset, std::string_view thing, std::string_view why) {
  NetlinkError result{.error = error, .offset = offset, .message = std::string(thing)};
  if (!thing.empty()) result.message += ": ";
  result.message += why.empty() ? std::string_view(std::strerror(error)) : why;
  return result;
}

int DecodeNamed(const Attribute& nest, ExpressionScope& scope, bool stateful, nft::Expression& out,
                std::string_view* name) {
  scope.BeginExpression();
  *name = "expression";
  AttributeTable<kExprMax> table;
  if (const int error = table.Parse(AttributeCursor(nest), kNamedPolicies)) {
    scope.set_bad_offset(table.bad().offset());
    return scope.Fail(error, "its name or data has a bad length");
  }
  if (!table[kExprName]) return scope.Fail(EINVAL, "needs a name");
  *name = table[kExprName].String();
  const Codec* codec = FindCodec(*name, scope);
  if (codec == nullptr) return scope.Fail(ENOENT, "no such expression in this family");
  if (stateful && !codec->stateful) return scope.Fail(EOPNOTSUPP, "sets cannot hold this expression");
  // An absent nest reads as one without attributes.
  if (const int error = codec->decode(table[kExprData], scope, out)) return error;
  if (!scope.unknown()->empty()) out.unknown_attributes = std::make_shared<const std::string>(*scope.unknown());
  return 0;
}

int DecodeStatefulSingle(const Attribute& nest, const nft::Set& set, const ResolveContext& context,
                         std::vector<nft::Expression>* out) {
  ExpressionScope scope(context);
  std::string_view name;
  nft::Expression& expression = out->emplace_back();
  if (const int error = DecodeNamed(nest, scope, true, expression, &name)) return error;
  // A connection limit needs a backend that collects garbage, and not that of timeouts.
  const nft::SetBackend backend = nft::BackendOf(set);
  const bool collects = backend != nft::SetBackend::kHash && backend != nft::SetBackend::kBitmap;
  const bool collected = (collects || context.stored()) && !set.is(nft::kSetTimeout);
  return std::holds_alternative<nft::Connlimit>(expression.body) && !collected ? EOPNOTSUPP : 0;
}

int DecodeStatefulList(const Attribute& list, const nft::Set& set, const ResolveContext& context,
                       std::vector<nft::Expression>* out) {
  for (AttributeCursor item(list); item.Next();) {
    if (out->size() == kMaxStateful) return E2BIG;
    if (item.attribute().type() != kListElem) return EINVAL;
    if (const int error = DecodeStatefulSingle(item.attribute(), set, context, out)) return error;
  }
  return 0;
}

void EncodeStateful(const std::vector<nft::Expression>& expressions, uint16_t single, uint16_t list,
                    const NameContext& names, AttributeWriter& out) {
  if (expressions.size() == 1) return EncodeExpression(single, expressions.front(), names, out);
  if (expressions.empty()) return;
  const size_t nest = out.BeginNest(list);
  for (const nft::Expression& expression : expressions) EncodeExpression(kListElem, expression, names, out);
  out.EndNest(nest);
}

Result<nft::Expression> DecodeExpression(const Attribute& nest, const ResolveContext& context) {
  ExpressionScope scope(context);
  scope.MarkAllInitialised();
  nft::Expression expression;
  std::string_view name;
  if (const int error = DecodeNamed(nest, scope, false, expression, &name)) {
    return MakeError(error, nest.offset(), name, scope.why());
  }
  return expression;
}

void EncodeExpression(uint16_t type, const nft::Expression& expression, const NameContext& names,
                      AttributeWriter& out) {
  const size_t nest = out.BeginNest(type);
  out.String(kExprName, nft::Name(expression.body));
  // Without a dump function (notrack) the kernel writes no nest.
  if (!std::holds_alternative<nft::Notrack>(expression.body) || expression.unknown_attributes != nullptr) {
    const size_t data = out.BeginNest(kExprData);
    EncodeTarget to{names, out};
    std::visit([&to](const auto& body) { Encode(body, to); }, expression.body);
    if (expression.unknown_attributes != nullptr) out.Append(*expression.unknown_attributes);
    out.EndNest(data);
  }
  out.EndNest(nest);
}

Result<nft::Rule> DecodeRule(const RuleAttributes& attributes, const ResolveContext& context) {
  nft::Rule rule;
  if (attributes[kRuleExpressions]) {
    RuleListDecoder decoder(context);
    if (auto error = decoder.Decode(attributes[kRuleExpressions], &rule.expressions)) return *std::move(error);
  }
  rule.userdata = attributes[kRuleUserdata].Raw();
  if (attributes[kRuleCompat]) rule.compat = std::string(attributes[kRuleCompat].Raw());
  return rule;
}

void EncodeRule(std::string_view table, std::string_view chain, const nft::Rule& rule, nft::Handle position,
                const NameContext& names, AttributeWriter& out) {
  out.String(kRuleTable, table);
  out.String(kRuleChain, chain);
  out.U64(kRuleHandle, rule.handle);
  if (position != 0) out.U64(kRulePosition, position);
  const size_t list = out.BeginNest(kRuleExpressions);
  for (const nft::Expression& expression : rule.expressions) EncodeExpression(kListElem, expression, names, out);
  out.EndNest(list);
  if (rule.compat && names.exact()) out.Raw(kRuleCompat, *rule.compat);
  if (!rule.userdata.empty()) out.Raw(kRuleUserdata, rule.userdata);
}

}  // namespace nftjit::netlink
