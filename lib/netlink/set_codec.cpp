// Sets: declarations (vm-semantics 11.1, validation 6).
#include "lib/netlink/codec.h"
#include "lib/netlink/expression_codec.h"
#include "lib/nft/set_backend.h"

namespace nftjit::netlink {
namespace {

constexpr SetAttributes::Policies kSetPolicies = {
    kAnyPolicy, kNamePolicy, kNamePolicy, kU32Policy,  kU32Policy,  kU32Policy, kU32Policy,
    kU32Policy, kU32Policy,  kNestPolicy, kU32Policy,  kU64Policy,  kU32Policy, {Policy::kBinary, 256},
    kAnyPolicy, kU32Policy,  kU64Policy,  kNestPolicy, kNestPolicy, kAnyPolicy, kAnyPolicy};
constexpr AttributeTable<kSetDescMax>::Policies kDescPolicies = {kAnyPolicy, kU32Policy, kNestPolicy};
constexpr AttributeTable<kSetFieldMax>::Policies kFieldPolicies = {kAnyPolicy, kU32Policy};

constexpr uint32_t kMaxSetDataLen = 64, kMaxFields = 16, kMaxPipapoField = 16;
constexpr uint32_t kVerdictDataLen = 16;  // What the kernel says of a verdict map.
constexpr uint32_t kReservedTypes = 0xffffff00;
constexpr uint32_t kAllFlags = 0x1ff;

NetlinkError SetError(int error, std::string_view why) { return MakeError(error, 0, "set", why); }
using Failure = std::optional<NetlinkError>;

bool Both(uint32_t flags, uint32_t pair) { return (flags & pair) == pair; }

Failure CheckFlags(uint32_t flags) {
  if ((flags & ~kAllFlags) != 0) return SetError(EOPNOTSUPP, "unknown flag");
  const bool anonymous_timeout = Both(flags, nft::kSetAnonymous | nft::kSetTimeout) && (flags & nft::kSetEval) == 0;
  if (Both(flags, nft::kSetMap | nft::kSetObject) || Both(flags, nft::kSetEval | nft::kSetObject) ||
      Both(flags, nft::kSetConstant | nft::kSetTimeout) || Both(flags, nft::kSetInterval | nft::kSetEval) ||
      anonymous_timeout) {
    return SetError(EOPNOTSUPP, "its flags exclude each other");
  }
  return std::nullopt;
}

Failure DecodeKey(const SetAttributes& attributes, nft::Set& set) {
  set.key_type = attributes[kSetKeyType].U32();
  if ((set.key_type & kReservedTypes) == kReservedTypes) return SetError(EINVAL, "key type is reserved");
  set.key_len = attributes[kSetKeyLen].U32();
  if (set.key_len == 0 || set.key_len > kMaxSetDataLen) return SetError(EINVAL, "key length must be 1 to 64");
  set.flags = attributes[kSetFlags].U32();
  return CheckFlags(set.flags);
}

Failure DecodeData(const SetAttributes& attributes, nft::Set& set) {
  if (static_cast<bool>(attributes[kSetDataType]) != set.is(nft::kSetMap)) {
    return SetError(EINVAL, "a data type goes with the flag map");
  }
  if (!set.is(nft::kSetMap)) return std::nullopt;
  set.data_type = attributes[kSetDataType].U32();
  if (set.data_type == nft::kDataTypeVerdict) {
    set.data_len = kVerdictDataLen;
    return std::nullopt;
  }
  if ((set.data_type & kReservedTypes) == kReservedTypes) return SetError(EINVAL, "data type is reserved");
  if (!attributes[kSetDataLen]) return SetError(EINVAL, "a map needs a data length");
  set.data_len = attributes[kSetDataLen].U32();
  if (set.data_len == 0 || set.data_len > kMaxSetDataLen) return SetError(EINVAL, "data length must be 1 to 64");
  return std::nullopt;
}

Failure DecodeObjectType(const SetAttributes& attributes, nft::Set& set) {
  if (static_cast<bool>(attributes[kSetObjType]) != set.is(nft::kSetObject)) {
    return SetError(EINVAL, "an object type goes with the flag object");
  }
  if (!set.is(nft::kSetObject)) return std::nullopt;
  set.object_type = attributes[kSetObjType].U32();
  if (set.object_type == 0 || set.object_type > static_cast<uint32_t>(nft::ObjectType::kSynproxy)) {
    return SetError(EOPNOTSUPP, "object type must be 1 to 10");
  }
  return std::nullopt;
}

Failure DecodeTimes(const SetAttributes& attributes, nft::Set& set) {
  if ((attributes[kSetTimeoutMs] || attributes[kSetGcInterval]) && !set.is(nft::kSetTimeout)) {
    return SetError(EINVAL, "a timeout or gc interval needs the flag timeout");
  }
  if (const uint64_t timeout = attributes[kSetTimeoutMs].U64(); timeout != 0) {
    if (timeout > kMaxTimeoutMs) return SetError(ERANGE, "timeout is too long");
    set.timeout_ms = timeout;
  }
  if (const uint32_t interval = attributes[kSetGcInterval].U32(); interval != 0) set.gc_interval_ms = interval;
  return std::nullopt;
}

// The lengths of a concatenation's fields. Rounded up to words they fill the key.
Failure DecodeFields(const Attribute& list, nft::Set& set) {
  uint32_t total = 0;
  for (AttributeCursor item(list); item.Next();) {
    if (item.attribute().type() != kListElem) return SetError(EINVAL, "a list item must have number 1");
    if (set.field_lengths.size() == kMaxFields) return SetError(E2BIG, "more than 16 fields");
    AttributeTable<kSetFieldMax> field;
    if (const int error = field.Parse(AttributeCursor(item.attribute()), kFieldPolicies)) {
      return SetError(error, "a field's length is too short");
    }
    const uint32_t length = field[kSetFieldLen].U32();
    if (length == 0 || length > UINT8_MAX) return SetError(EINVAL, "a field's length must be 1 to 64");
    set.field_lengths.push_back(static_cast<uint8_t>(length));
    total += (length + 3) / 4 * 4;
  }
  if (!set.field_lengths.empty() && total != set.key_len) {
    return SetError(EINVAL, "the fields, rounded up to four bytes, must have the length of the key");
  }
  return std::nullopt;
}

Failure DecodeDescription(const Attribute& nest, nft::Set& set) {
  AttributeTable<kSetDescMax> description;
  if (const int error = description.Parse(AttributeCursor(nest), kDescPolicies)) {
    return SetError(error, "its description has a bad length");
  }
  if (const uint32_t size = description[kSetDescSize].U32(); size != 0) {
    set.size = size;
    set.made_with_size = true;
  }
  if (Failure failure = DecodeFields(description[kSetDescConcat], set)) return failure;
  if ((set.field_lengths.size() > 1) != set.is(nft::kSetConcat)) {
    return SetError(EINVAL, "the flag concat goes with two or more fields");
  }
  if (!set.is(nft::kSetConcat)) {
    set.field_lengths.clear();  // The kernel forgets a single field.
  } else if (set.is(nft::kSetInterval)) {
    for (const uint8_t length : set.field_lengths) {
      if (length > kMaxPipapoField) return SetError(EOPNOTSUPP, "a field of a concatenated range has at most 16 bytes");
    }
  }
  return std::nullopt;
}

Failure DecodeExpressions(const SetAttributes& attributes, const ResolveContext& context, nft::Set& set) {
  int error = 0;
  if (attributes[kSetExprAttribute]) {
    error = DecodeStatefulSingle(attributes[kSetExprAttribute], set, context, &set.expressions);
  } else if (attributes[kSetExpressions]) {
    if (!set.is(nft::kSetExpr)) return SetError(EINVAL, "a list of expressions needs flag 0x100");
    error = DecodeStatefulList(attributes[kSetExpressions], set, context, &set.expressions);
  }
  if (error != 0) return SetError(error, "its expressions are more than two or not ones that sets can hold");
  return std::nullopt;
}

// As the kernel counts: without the catch-all, and two boundaries are one interval, whatever they are.
uint32_t CountElements(const nft::Set& set) {
  uint32_t count = 0;
  for (const nft::Element& element : set.elements) {
    if ((element.flags & nft::kElementCatchall) == 0) ++count;
  }
  return nft::BackendOf(set) == nft::SetBackend::kRbtree ? count / 2 : count;
}

// The name of an anonymous set may hold one "%d", which the server replaces by a number; nft names its sets so, but not
// its meters.
Failure CheckName(const nft::Set& set) {
  if (!set.is(nft::kSetAnonymous)) return std::nullopt;
  const size_t percent = set.name.find('%');
  if (percent == std::string::npos) return std::nullopt;
  if (set.name.compare(percent, 2, "%d") != 0 || set.name.find('%', percent + 1) != std::string::npos) {
    return SetError(EINVAL, "the name of an anonymous set may have one %d and no other %");
  }
  return std::nullopt;
}

}  // namespace

Result<SetAttributes> ParseSetMessage(ByteSpan message) { return ParseMessage<kSetMax>(message, kSetPolicies); }

Result<nft::Set> DecodeSet(const SetAttributes& attributes, const ResolveContext& context) {
  if (!attributes[kSetTable] || !attributes[kSetName] || !attributes[kSetKeyLen] || !attributes[kSetId]) {
    return SetError(EINVAL, "needs a table, a name, a key length and an id");
  }
  nft::Set set;
  set.name = attributes[kSetName].String();
  if (Failure failure = DecodeKey(attributes, set)) return *std::move(failure);
  if (Failure failure = DecodeData(attributes, set)) return *std::move(failure);
  if (Failure failure = DecodeObjectType(attributes, set)) return *std::move(failure);
  if (Failure failure = DecodeTimes(attributes, set)) return *std::move(failure);
  set.policy = attributes[kSetPolicy].U32();
  if (attributes[kSetDesc]) {
    if (Failure failure = DecodeDescription(attributes[kSetDesc], set)) return *std::move(failure);
  } else if (set.is(nft::kSetConcat)) {
    return SetError(EINVAL, "the flag concat needs a description");
  }
  if (set.policy > 1) return SetError(EOPNOTSUPP, "policy must be 0 or 1");
  if (!context.stored()) {
    if (Failure failure = CheckName(set)) return *std::move(failure);
  }
  set.userdata = attributes[kSetUserdata].Raw();
  if (Failure failure = DecodeExpressions(attributes, context, set)) return *std::move(failure);
  return set;
}

void EncodeSet(std::string_view table, const nft::Set& set, const NameContext& names, AttributeWriter& out,
               std::optional<uint32_t> id) {
  out.String(kSetTable, table);
  out.String(kSetName, set.name);
  out.U64(kSetHandle, set.handle);
  if (set.flags != 0) out.U32(kSetFlags, set.flags);
  out.U32(kSetKeyType, set.key_type);
  out.U32(kSetKeyLen, set.key_len);
  if (set.is(nft::kSetMap)) {
    out.U32(kSetDataType, set.data_type);
    out.U32(kSetDataLen, set.data_len);
  }
  if (set.is(nft::kSetObject)) out.U32(kSetObjType, set.object_type);
  if (set.timeout_ms) out.U64(kSetTimeoutMs, *set.timeout_ms);
  if (set.gc_interval_ms) out.U32(kSetGcInterval, *set.gc_interval_ms);
  if (set.policy != 0) out.U32(kSetPolicy, set.policy);
  if (!set.userdata.empty()) out.Raw(kSetUserdata, set.userdata);
  const size_t description = out.BeginNest(kSetDesc);
  if (set.size) out.U32(kSetDescSize, *set.size);
  if (!set.field_lengths.empty()) {
    const size_t fields = out.BeginNest(kSetDescConcat);
    for (const uint8_t length : set.field_lengths) {
      const size_t field = out.BeginNest(kListElem);
      out.U32(kSetFieldLen, length);
      out.EndNest(field);
    }
    out.EndNest(fields);
  }
  out.EndNest(description);
  if (!names.exact()) out.U32(kSetCount, CountElements(set));
  if (id) out.U32(kSetId, *id);
  EncodeStateful(set.expressions, kSetExprAttribute, kSetExpressions, names, out);
}

}  // namespace nftjit::netlink
