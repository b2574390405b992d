// Set elements (vm-semantics 11.3, validation 7).
#include <cstring>

#include "lib/netlink/codec.h"
#include "lib/netlink/expression_codec.h"
#include "lib/nft/set_backend.h"

namespace nftjit::netlink {
namespace {

constexpr ElementListAttributes::Policies kListPolicies = {kAnyPolicy, kNamePolicy, kNamePolicy, kNestPolicy,
                                                           kU32Policy};
using ElementTable = AttributeTable<kElementMax>;
constexpr ElementTable::Policies kElementPolicies = {
    kAnyPolicy,  kNestPolicy, kNestPolicy, kU32Policy,  kU64Policy, kU64Policy, {Policy::kBinary, 256},
    kNestPolicy, kAnyPolicy,  kNamePolicy, kNestPolicy, kNestPolicy};
constexpr size_t kMaxDataLen = 64;

// One element on its way in: where it stands, what it belongs to, what has been read.
struct ElementScope {
  const Attribute& item;
  const nft::Set& set;
  const ResolveContext& context;
  ElementTable table;
  nft::Element element;

  [[nodiscard]] bool is_end() const { return (element.flags & nft::kElementIntervalEnd) != 0; }
  [[nodiscard]] bool is_catchall() const { return (element.flags & nft::kElementCatchall) != 0; }
  [[nodiscard]] NetlinkError Error(int error, std::string_view why) const {
    return MakeError(error, item.offset(), "element", why);
  }
};
using Failure = std::optional<NetlinkError>;

std::string ToString(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

Failure ParseFlags(ElementScope& scope) {
  uint32_t& flags = scope.element.flags;
  flags = scope.table[kElementFlags].U32();
  if ((flags & ~(nft::kElementIntervalEnd | nft::kElementCatchall)) != 0) {
    return scope.Error(EOPNOTSUPP, "flags must be 0 to 2");
  }
  if (scope.is_end() && !scope.set.is(nft::kSetInterval)) return scope.Error(EINVAL, "the set has no intervals");
  if (scope.is_end() && scope.is_catchall()) return scope.Error(EINVAL, "the catch-all ends no interval");
  if (static_cast<bool>(scope.table[kElementKey]) == scope.is_catchall()) {
    return scope.Error(EINVAL, "has either a key or the catch-all flag");
  }
  return std::nullopt;
}

// Only concatenated ranges carry a second key.
Failure CheckKeyEnd(const ElementScope& scope) {
  const bool pipapo = nft::BackendOf(scope.set) == nft::SetBackend::kPipapo;
  if (pipapo && scope.is_end()) return scope.Error(EINVAL, "concatenated ranges end in the same element");
  if (scope.table[kElementKeyEnd] && (!pipapo || scope.is_catchall())) {
    return scope.Error(EINVAL, "takes no key end");
  }
  return std::nullopt;
}

// Whether each field of a range ends at or after its beginning.
bool IsOrdered(const nft::Element& element, const nft::Set& set) {
  size_t offset = 0;
  for (const uint8_t length : set.field_lengths) {
    if (std::memcmp(element.key_end.data() + offset, element.key.data() + offset, length) < 0) return false;
    offset += (size_t{length} + 3) / 4 * 4;
  }
  return true;
}

Failure DecodeKeys(ElementScope& scope) {
  ByteSpan bytes;
  if (scope.table[kElementKey]) {
    if (const int error = DecodeValue(scope.table[kElementKey], kMaxDataLen, scope.set.key_len, &bytes)) {
      return scope.Error(error, "the key must be a value of the set's key length");
    }
    scope.element.key = ToString(bytes);
  }
  if (scope.table[kElementKeyEnd]) {
    if (const int error = DecodeValue(scope.table[kElementKeyEnd], kMaxDataLen, scope.set.key_len, &bytes)) {
      return scope.Error(error, "the key end must be a value of the set's key length");
    }
    scope.element.key_end = ToString(bytes);
    if (!IsOrdered(scope.element, scope.set)) return scope.Error(EINVAL, "a field of the key end is before the key's");
  }
  return std::nullopt;
}

// Which attributes the kind of set and element calls for.
Failure CheckPresence(const ElementScope& scope) {
  const ElementTable& table = scope.table;
  if (scope.set.is(nft::kSetMap) ? !table[kElementData] && !scope.is_end() : static_cast<bool>(table[kElementData])) {
    return scope.Error(EINVAL, "data goes with the elements of maps");
  }
  if (scope.set.is(nft::kSetObject) ? !table[kElementObjref] && !scope.is_end()
                                    : static_cast<bool>(table[kElementObjref])) {
    return scope.Error(EINVAL, "an object goes with the elements of object maps");
  }
  if (Failure failure = CheckKeyEnd(scope)) return failure;
  if (scope.is_end() &&
      (table[kElementData] || table[kElementObjref] || table[kElementTimeout] || table[kElementExpiration] ||
       table[kElementUserdata] || table[kElementExpr] || table[kElementExpressions])) {
    return scope.Error(EINVAL, "an interval's end has only a key");
  }
  return std::nullopt;
}

Failure DecodeTimes(ElementScope& scope) {
  const ElementTable& table = scope.table;
  if ((table[kElementTimeout] || table[kElementExpiration]) && !scope.set.is(nft::kSetTimeout)) {
    return scope.Error(EINVAL, "the set has no timeouts");
  }
  if (table[kElementTimeout]) {
    scope.element.timeout_ms = table[kElementTimeout].U64();
    if (*scope.element.timeout_ms > kMaxTimeoutMs) return scope.Error(ERANGE, "timeout is too long");
  }
  if (table[kElementExpiration]) {
    const uint64_t timeout = scope.element.timeout_ms.value_or(scope.set.timeout_ms.value_or(0));
    if (timeout == 0) return scope.Error(EOPNOTSUPP, "an expiration needs a timeout");
    scope.element.expiration_ms = table[kElementExpiration].U64();
    if (*scope.element.expiration_ms > timeout) return scope.Error(ERANGE, "expires after its timeout");
  }
  return std::nullopt;
}

Failure DecodeExpressions(ElementScope& scope) {
  const std::vector<nft::Expression>& declared = scope.set.expressions;
  std::vector<nft::Expression>& own = scope.element.expressions;
  int error = 0;
  if (scope.table[kElementExpr]) {
    error = DecodeStatefulSingle(scope.table[kElementExpr], scope.set, scope.context, &own);
  } else if (scope.table[kElementExpressions]) {
    error = DecodeStatefulList(scope.table[kElementExpressions], scope.set, scope.context, &own);
    if (error == 0 && !declared.empty() && own.size() > declared.size()) error = E2BIG;
  } else {
    if (!scope.is_end()) own = declared;
    return std::nullopt;
  }
  if (error != 0) return scope.Error(error, "its expressions are too many or not ones that sets can hold");
  if (declared.empty()) return std::nullopt;
  bool same = own.size() == declared.size();
  for (size_t i = 0; same && i < own.size(); ++i) same = own[i].body.index() == declared[i].body.index();
  if (!same) return scope.Error(EOPNOTSUPP, "the set declares other expressions");
  return std::nullopt;
}

Failure DecodeData(ElementScope& scope) {
  if (scope.table[kElementObjref]) {
    const nft::Object* object = scope.context.ObjectByName(scope.table[kElementObjref].String(),
                                                           static_cast<nft::ObjectType>(scope.set.object_type));
    if (object == nullptr) return scope.Error(ENOENT, "no object of this name and the map's type");
    scope.element.object = object->handle;
  }
  const Attribute& data = scope.table[kElementData];
  if (!data) return std::nullopt;
  if (scope.set.is_verdict_map()) {
    nft::Verdict verdict;
    if (const int error = DecodeVerdict(data, scope.context, true, &verdict)) {
      return scope.Error(error, "not a verdict that a map can give, or its chain cannot be jumped to");
    }
    scope.element.data = verdict;
    return std::nullopt;
  }
  ByteSpan bytes;
  if (const int error = DecodeValue(data, kMaxDataLen, scope.set.data_len, &bytes)) {
    return scope.Error(error, "the data must be a value of the map's data length");
  }
  scope.element.data = ToString(bytes);
  return std::nullopt;
}

// The kernel counts user data and its header in one byte: 255 do not fit, and 256 are forgotten.
Failure DecodeUserdata(ElementScope& scope) {
  const std::string_view userdata = scope.table[kElementUserdata].Raw();
  if (userdata.size() == UINT8_MAX) return scope.Error(EINVAL, "user data of 255 bytes does not fit");
  if (userdata.size() < UINT8_MAX) scope.element.userdata = userdata;
  return std::nullopt;
}

// All that an element to be added says beyond its keys.
Failure DecodeAddition(ElementScope& scope) {
  if (Failure failure = CheckPresence(scope)) return failure;
  if (Failure failure = DecodeTimes(scope)) return failure;
  if (Failure failure = DecodeExpressions(scope)) return failure;
  if (Failure failure = DecodeKeys(scope)) return failure;
  if (Failure failure = DecodeData(scope)) return failure;
  return DecodeUserdata(scope);
}

}  // namespace

Result<ElementListAttributes> ParseElementsMessage(ByteSpan message) {
  return ParseMessage<kElementsMax>(message, kListPolicies);
}

Result<nft::Element> DecodeElement(const Attribute& item, const nft::Set& set, const ResolveContext& context,
                                   ElementUse use) {
  ElementScope scope{.item = item, .set = set, .context = context, .table = {}, .element = {}};
  if (const int error = scope.table.Parse(AttributeCursor(item), kElementPolicies)) {
    return MakeError(error, scope.table.bad().offset(), "element", "an attribute is too short or too long");
  }
  if (Failure failure = ParseFlags(scope)) return *std::move(failure);
  if (use == ElementUse::kAdd) {
    if (Failure failure = DecodeAddition(scope)) return *std::move(failure);
  } else {
    if (Failure failure = CheckKeyEnd(scope)) return *std::move(failure);
    if (Failure failure = DecodeKeys(scope)) return *std::move(failure);
  }
  return std::move(scope.element);
}

void EncodeElement(const nft::Element& element, const nft::Set& set, const NameContext& names, AttributeWriter& out) {
  const auto bytes = [](const std::string& text) {
    return ByteSpan(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  };
  const size_t nest = out.BeginNest(kListElem);
  if ((element.flags & nft::kElementCatchall) == 0) EncodeValue(kElementKey, bytes(element.key), out);
  if (!element.key_end.empty()) EncodeValue(kElementKeyEnd, bytes(element.key_end), out);
  if (const auto* verdict = std::get_if<nft::Verdict>(&element.data)) {
    EncodeVerdict(kElementData, *verdict, names, out);
  } else if (const auto* value = std::get_if<std::string>(&element.data)) {
    EncodeValue(kElementData, bytes(*value), out);
  }
  EncodeStateful(element.expressions, kElementExpr, kElementExpressions, names, out);
  if (element.object != 0) out.String(kElementObjref, names.ObjectName(element.object));
  if (element.flags != 0) out.U32(kElementFlags, element.flags);
  const uint64_t set_timeout = set.timeout_ms.value_or(0);
  const uint64_t timeout = element.timeout_ms.value_or(set_timeout);
  if (element.timeout_ms && (names.exact() || timeout != set_timeout)) out.U64(kElementTimeout, timeout);
  if (names.exact()) {
    if (element.expiration_ms) out.U64(kElementExpiration, *element.expiration_ms);
  } else if (timeout != 0 && (element.flags & nft::kElementIntervalEnd) == 0) {
    out.U64(kElementExpiration, element.expiration_ms.value_or(timeout));
  }
  if (!element.userdata.empty()) out.Raw(kElementUserdata, element.userdata);
  out.EndNest(nest);
}

}  // namespace nftjit::netlink
