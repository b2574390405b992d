// Registers, values and verdicts: what all expressions are made of (vm-semantics 1, 3, 4).
#include "lib/netlink/expression_codec.h"

namespace nftjit::netlink {
namespace {

uint32_t WordMask(uint8_t word, uint32_t length) {
  const uint32_t words = (length + 3) / 4;
  return ((1U << words) - 1) << word;
}

// The checks that loads and stores of data registers share.
int CheckAccess(nft::Register reg, uint32_t length, ExpressionScope& scope) {
  if (reg.is_verdict()) return scope.Fail(EINVAL, "the verdict register holds no data");
  if (length == 0) return scope.Fail(EINVAL, "length must be at least 1");
  if (reg.word() * 4U + length > kRegisterWords * 4U) return scope.Fail(ERANGE, "access runs past the last register");
  return 0;
}

int ParseRegister(const Attribute& attribute, ExpressionScope& scope, nft::Register* out) {
  const std::optional<nft::Register> reg = nft::Register::FromNetlink(attribute.U32());
  if (!reg) return scope.Fail(ERANGE, "register does not exist (0 to 4 and 8 to 23 do)");
  *out = *reg;
  return 0;
}

constexpr AttributeTable<kDataMax>::Policies kDataPolicies = {kAnyPolicy, kBinaryPolicy, kNestPolicy};
constexpr AttributeTable<kVerdictMax>::Policies kVerdictPolicies = {kAnyPolicy, kU32Policy, kNamePolicy, kU32Policy};

}  // namespace

int ExpressionScope::Load(const Attribute& attribute, uint32_t length, nft::Register* out) {
  if (const int error = ParseRegister(attribute, *this, out)) return error;
  if (const int error = CheckAccess(*out, length, *this)) return error;
  const uint32_t wanted = WordMask(out->word(), length);
  if ((initialised_ & wanted) != wanted) return Fail(ENODATA, "reads a register that nothing in the rule has set");
  return 0;
}

int ExpressionScope::Load(const Attribute& attribute, uint32_t length, std::optional<nft::Register>* out) {
  return Load(attribute, length, &out->emplace());
}

int ExpressionScope::Store(const Attribute& attribute, uint32_t length, nft::Register* out, bool verdict) {
  if (const int error = ParseRegister(attribute, *this, out)) return error;
  if (out->is_verdict() != verdict) return Fail(EINVAL, "a verdict goes to register 0, data to another");
  if (verdict) return 0;
  if (const int error = CheckAccess(*out, length, *this)) return error;
  initialised_ |= WordMask(out->word(), length);
  return 0;
}

int DecodeValue(const Attribute& nest, size_t most, size_t exact, ByteSpan* out) {
  AttributeTable<kDataMax> table;
  if (const int error = table.Parse(AttributeCursor(nest), kDataPolicies)) return error;
  const Attribute& value = table[kDataValue];
  if (!value || value.size() == 0) return EINVAL;
  if (value.size() > most) return EOVERFLOW;
  if (exact != 0 && value.size() != exact) return EINVAL;
  *out = value.payload();
  return 0;
}

int DecodeValue(const Attribute& nest, size_t exact, Bytes16* out) {
  ByteSpan value;
  if (const int error = DecodeValue(nest, 16, exact, &value)) return error;
  *out = Bytes16(value);
  return 0;
}

void EncodeValue(uint16_t type, ByteSpan value, AttributeWriter& out) {
  const size_t nest = out.BeginNest(type);
  out.Bytes(kDataValue, value);
  out.EndNest(nest);
}

int DecodeVerdict(const Attribute& nest, const ResolveContext& context, bool element, nft::Verdict* out) {
  AttributeTable<kDataMax> data;
  if (const int error = data.Parse(AttributeCursor(nest), kDataPolicies)) return error;
  if (data[kDataValue] || !data[kDataVerdict]) return EINVAL;
  AttributeTable<kVerdictMax> table;
  if (const int error = table.Parse(AttributeCursor(data[kDataVerdict]), kVerdictPolicies)) return error;
  if (!table[kVerdictCode]) return EINVAL;
  out->code = static_cast<nft::VerdictCode>(table[kVerdictCode].U32());
  out->chain = 0;
  switch (out->code) {
    case nft::VerdictCode::kAccept:
    case nft::VerdictCode::kDrop:
    case nft::VerdictCode::kContinue:
    case nft::VerdictCode::kBreak:
    case nft::VerdictCode::kReturn:
      return 0;
    case nft::VerdictCode::kJump:
    case nft::VerdictCode::kGoto: {
      const bool by_name = static_cast<bool>(table[kVerdictChain]);
      if (!by_name && !table[kVerdictChainId]) return EINVAL;
      const nft::Chain* chain = by_name ? context.ChainByName(table[kVerdictChain].String())
                                        : context.ChainById(table[kVerdictChainId].U32());
      if (chain == nullptr) return ENOENT;
      if (chain->base) return EOPNOTSUPP;
      if (element && (chain->flags & nft::kChainBinding) != 0) return EINVAL;
      out->chain = chain->handle;
      return 0;
    }
    case nft::VerdictCode::kStolen:
    case nft::VerdictCode::kQueue:
      return EINVAL;
  }
  return EINVAL;
}

void EncodeVerdict(uint16_t type, const nft::Verdict& verdict, const NameContext& names, AttributeWriter& out) {
  const size_t data = out.BeginNest(type);
  const size_t nest = out.BeginNest(kDataVerdict);
  out.U32(kVerdictCode, static_cast<uint32_t>(verdict.code));
  if (verdict.chain != 0) out.String(kVerdictChain, names.ChainName(verdict.chain));
  out.EndNest(nest);
  out.EndNest(data);
}

}  // namespace nftjit::netlink
