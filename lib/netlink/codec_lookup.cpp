// lookup, dynset, objref: expressions that name sets and objects (vm-semantics 10.14 to 10.16).
#include "lib/netlink/expression_codec.h"
#include "lib/nft/set_backend.h"

namespace nftjit::netlink {
namespace {

enum : uint16_t { kLookupSet = 1, kLookupSreg, kLookupDreg, kLookupSetId, kLookupFlags, kLookupMax = kLookupFlags };
constexpr AttributeTable<kLookupMax>::Policies kLookupPolicies = {kAnyPolicy, kNamePolicy, kU32Policy,
                                                                  kU32Policy, kU32Policy,  kU32Policy};
constexpr uint32_t kLookupInverted = 1;

enum : uint16_t {
  kDynsetSet = 1,
  kDynsetSetId,
  kDynsetOp,
  kDynsetSregKey,
  kDynsetSregData,
  kDynsetTimeout,
  kDynsetExpr,
  kDynsetPad,
  kDynsetFlags,
  kDynsetExpressions,
  kDynsetMax = kDynsetExpressions
};
constexpr AttributeTable<kDynsetMax>::Policies kDynsetPolicies = {kAnyPolicy, kNamePolicy, kU32Policy, kByte32Policy,
                                                                  kU32Policy, kU32Policy,  kU64Policy, kNestPolicy,
                                                                  kAnyPolicy, kU32Policy,  kNestPolicy};
using DynsetTable = AttributeTable<kDynsetMax>;
constexpr uint32_t kDynsetInverted = 1, kDynsetExprFlag = 2, kDynsetDelete = 2;

enum : uint16_t {
  kObjrefType = 1,
  kObjrefName,
  kObjrefSetSreg,
  kObjrefSetName,
  kObjrefSetId,
  kObjrefMax = kObjrefSetId
};
constexpr AttributeTable<kObjrefMax>::Policies kObjrefPolicies = {kAnyPolicy, kU32Policy,  kNamePolicy,
                                                                  kU32Policy, kNamePolicy, kU32Policy};

// A set by name, and if there is none of the name by its id in the transaction. Null and the errno if there is neither.
const nft::Set* FindSet(const Attribute& name, const Attribute& id, const ExpressionScope& scope, int* error) {
  const nft::Set* set = name ? scope.context().SetByName(name.String()) : nullptr;
  if (set == nullptr && id) set = scope.context().SetById(id.U32());
  *error = name || id ? ENOENT : EINVAL;
  return set;
}

int DecodeDynsetExpressions(const DynsetTable& table, const nft::Set& set, ExpressionScope& scope, nft::Dynset& body) {
  if (!table[kDynsetExpr] && !table[kDynsetExpressions]) return 0;
  if (!set.is(nft::kSetEval)) return scope.Fail(EINVAL, "expressions need a set with the flag dynamic");
  if (table[kDynsetExpr]) {
    if (const int error = DecodeStatefulSingle(table[kDynsetExpr], set, scope.context(), &body.expressions)) {
      return scope.Fail(error, "its expression is not one that sets can hold");
    }
  } else {
    if ((body.flags & kDynsetExprFlag) == 0) return scope.Fail(EINVAL, "a list of expressions needs flag 2");
    if (const int error = DecodeStatefulList(table[kDynsetExpressions], set, scope.context(), &body.expressions)) {
      return scope.Fail(error, "its expressions are more than two or not ones that sets can hold");
    }
  }
  if (set.expressions.empty()) return 0;
  if (set.expressions.size() != body.expressions.size()) {
    return scope.Fail(body.expressions.size() > set.expressions.size() && !table[kDynsetExpr] ? EINVAL : EOPNOTSUPP,
                      "the set declares another number of expressions");
  }
  for (size_t i = 0; i < set.expressions.size(); ++i) {
    if (set.expressions[i].body.index() != body.expressions[i].body.index()) {
      return scope.Fail(EOPNOTSUPP, "the set declares other expressions");
    }
  }
  return 0;
}

int CheckDynsetSet(const nft::Set& set, ExpressionScope& scope) {
  if (set.is(nft::kSetObject)) return scope.Fail(EOPNOTSUPP, "object maps cannot be updated by rules");
  if (!scope.context().stored() && nft::BackendOf(set) != nft::SetBackend::kResizableHash) {
    return scope.Fail(EOPNOTSUPP, "the set cannot be updated by rules");
  }
  if (set.is(nft::kSetConstant)) return scope.Fail(EBUSY, "the set is constant");
  return 0;
}

int DecodeDynsetData(const DynsetTable& table, const nft::Set& set, ExpressionScope& scope, nft::Dynset& body) {
  if (!table[kDynsetSregData]) {
    return set.is(nft::kSetMap) ? scope.Fail(EINVAL, "a map needs sreg_data") : 0;
  }
  if (!set.is(nft::kSetMap)) return scope.Fail(EOPNOTSUPP, "the set holds no data");
  if (set.is_verdict_map()) return scope.Fail(EOPNOTSUPP, "verdict maps cannot be updated by rules");
  return scope.Load(table[kDynsetSregData], set.data_len, &body.sreg_data);
}

}  // namespace

int DecodeLookup(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kLookupMax> table;
  if (const int error = ParseData(data, kLookupPolicies, scope, &table)) return error;
  if ((table[kLookupFlags].U32() & ~kLookupInverted) != 0) return scope.Fail(EINVAL, "flags must be 0 or 1");
  scope.Parsed(56);
  if (!table[kLookupSet] || !table[kLookupSreg]) return scope.Fail(EINVAL, "needs a set and sreg");
  int missing = 0;
  const nft::Set* set = FindSet(table[kLookupSet], table[kLookupSetId], scope, &missing);
  if (set == nullptr) return scope.Fail(missing, "no such set");
  auto& body = out.body.emplace<nft::Lookup>();
  body.set = set->handle;
  if (const int error = scope.Load(table[kLookupSreg], set->key_len, &body.sreg)) return error;
  body.flags = table[kLookupFlags].U32();
  if (!table[kLookupDreg]) {
    const bool useless = set->is(nft::kSetMap) && set->is(nft::kSetAnonymous);
    return useless ? scope.Fail(EINVAL, "an anonymous map needs dreg") : 0;
  }
  if ((body.flags & kLookupInverted) != 0) return scope.Fail(EINVAL, "an inverted lookup takes no dreg");
  if (!set->is(nft::kSetMap)) return scope.Fail(EINVAL, "the set holds no data");
  return scope.Store(table[kLookupDreg], set->data_len, &body.dreg.emplace(), set->is_verdict_map());
}

void Encode(const nft::Lookup& body, EncodeTarget& to) {
  to.out.String(kLookupSet, to.names.SetName(body.set));
  to.out.U32(kLookupSreg, body.sreg.ToNetlink());
  if (body.dreg) to.out.U32(kLookupDreg, body.dreg->ToNetlink());
  to.out.U32(kLookupFlags, body.flags);
}

int DecodeDynset(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  DynsetTable table;
  if (const int error = ParseData(data, kDynsetPolicies, scope, &table)) return error;
  scope.Parsed(96);
  if (!table[kDynsetSet] || !table[kDynsetOp] || !table[kDynsetSregKey]) {
    return scope.Fail(EINVAL, "needs a set, op and sreg_key");
  }
  auto& body = out.body.emplace<nft::Dynset>();
  body.flags = table[kDynsetFlags].U32();
  if ((body.flags & ~(kDynsetInverted | kDynsetExprFlag)) != 0) {
    return scope.Fail(EOPNOTSUPP, "flags must be 0 to 3");
  }
  int missing = 0;
  const nft::Set* set = FindSet(table[kDynsetSet], table[kDynsetSetId], scope, &missing);
  if (set == nullptr) return scope.Fail(missing, "no such set");
  body.set = set->handle;
  if (const int error = CheckDynsetSet(*set, scope)) return error;
  body.op = table[kDynsetOp].U32();
  if (body.op > kDynsetDelete) return scope.Fail(EOPNOTSUPP, "op must be 0 to 2");
  if (table[kDynsetTimeout]) {
    if (!set->is(nft::kSetTimeout)) return scope.Fail(EOPNOTSUPP, "the set has no timeouts");
    body.timeout_ms = table[kDynsetTimeout].U64();
    if (*body.timeout_ms > kMaxTimeoutMs) return scope.Fail(ERANGE, "timeout is too long");
  }
  if (const int error = scope.Load(table[kDynsetSregKey], set->key_len, &body.sreg_key)) return error;
  if (const int error = DecodeDynsetData(table, *set, scope, body)) return error;
  return DecodeDynsetExpressions(table, *set, scope, body);
}

void Encode(const nft::Dynset& body, EncodeTarget& to) {
  to.out.U32(kDynsetSregKey, body.sreg_key.ToNetlink());
  if (body.sreg_data) to.out.U32(kDynsetSregData, body.sreg_data->ToNetlink());
  to.out.U32(kDynsetOp, body.op);
  to.out.String(kDynsetSet, to.names.SetName(body.set));
  if (body.timeout_ms || !to.names.exact()) to.out.U64(kDynsetTimeout, body.timeout_ms.value_or(0));
  if (to.names.exact() || !to.names.SetDeclaresExpressions(body.set)) {
    EncodeStateful(body.expressions, kDynsetExpr, kDynsetExpressions, to.names, to.out);
  }
  to.out.U32(kDynsetFlags, to.names.exact() ? body.flags : body.flags & kDynsetInverted);
}

int DecodeObjref(const Attribute& data, ExpressionScope& scope, nft::Expression& out) {
  AttributeTable<kObjrefMax> table;
  if (const int error = ParseData(data, kObjrefPolicies, scope, &table)) return error;
  if (table[kObjrefSetSreg] && (table[kObjrefSetName] || table[kObjrefSetId])) {
    scope.Parsed(56);
    int missing = 0;
    const nft::Set* set = FindSet(table[kObjrefSetName], table[kObjrefSetId], scope, &missing);
    if (set == nullptr) return scope.Fail(missing, "no such set");
    if (!set->is(nft::kSetObject)) return scope.Fail(EINVAL, "the set is not a map of objects");
    auto& body = out.body.emplace<nft::ObjectMapRef>();
    body.set = set->handle;
    return scope.Load(table[kObjrefSetSreg], set->key_len, &body.sreg);
  }
  if (!table[kObjrefName] || !table[kObjrefType]) {
    return scope.Fail(EOPNOTSUPP, "needs a type and a name, or a register and a set");
  }
  scope.Parsed(16);
  auto& body = out.body.emplace<nft::ObjectRef>();
  const uint32_t type = table[kObjrefType].U32();
  body.type = static_cast<nft::ObjectType>(type);
  const nft::Object* object =
      type > UINT8_MAX ? nullptr : scope.context().ObjectByName(table[kObjrefName].String(), body.type);
  if (object == nullptr) return scope.Fail(ENOENT, "no object of this name and type");
  body.object = object->handle;
  return 0;
}

void Encode(const nft::ObjectRef& body, EncodeTarget& to) {
  to.out.String(kObjrefName, to.names.ObjectName(body.object));
  to.out.U32(kObjrefType, static_cast<uint32_t>(body.type));
}

void Encode(const nft::ObjectMapRef& body, EncodeTarget& to) {
  to.out.U32(kObjrefSetSreg, body.sreg.ToNetlink());
  to.out.String(kObjrefSetName, to.names.SetName(body.set));
}

}  // namespace nftjit::netlink
