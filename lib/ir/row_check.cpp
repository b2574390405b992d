#include "lib/ir/row_check.h"

#include <absl/strings/str_cat.h>

namespace nftjit::ir {
namespace {

// Where the longest load at the last offset that a rule can have ends. Passes may let shorter loads begin later.
constexpr uint32_t kMaxEnd = 65535 + kMaxValueLength;

// "" if `length` is `wanted`.
std::string LengthIs(size_t length, size_t wanted, std::string_view what) {
  if (length == wanted) return {};
  return absl::StrCat(std::string(what), " of ", length, " bytes, not ", wanted);
}

std::string CheckLoad(const Row& row) {
  switch (row.op) {
    case Op::kLoad:
      if (row.key >= kBaseCount) return "no such base";
      if ((row.flags & ~kOrZero) != 0) return "no such flag";
      return row.a <= kMaxEnd - row.length ? "" : "the field ends behind any that a rule can load";
    case Op::kMeta:
      if (row.key >= nft::kMetaKeyCount) return "no such key";
      if (row.flags != 0 && (row.flags != kOrZero || static_cast<nft::MetaKey>(row.key) != nft::MetaKey::kL4proto)) {
        return "no such flag";
      }
      return LengthIs(row.length, MetaLoadLength(static_cast<nft::MetaKey>(row.key)), "a value");
    case Op::kCt: {
      if (row.key >= nft::kCtKeyCount) return "no such key";
      if (row.flags > kNoDirection) return "no such direction";
      const auto key = static_cast<nft::CtKey>(row.key);
      const bool short_address = (key == nft::CtKey::kSrc || key == nft::CtKey::kDst) && row.length == 4;
      return short_address ? "" : LengthIs(row.length, nft::CtLength(key, nft::Family::kInet), "a value");
    }
    case Op::kExthdr:
      if (row.key > static_cast<uint8_t>(nft::ExthdrOp::kDccp)) return "no such kind of header";
      if (row.a > 255 || row.b > 255) return "type or offset is above 255";
      return (row.flags & kPresent) == 0 ? "" : LengthIs(row.length, 1, "a value");
    default:
      return {};
  }
}

std::string CheckSlice(const Program& p, const Row& row) {
  const size_t length = p.rows[row.a].length;
  return row.b <= length && row.length <= length - row.b ? "" : "it reaches past its operand";
}

std::string CheckArithmetic(const Program& p, const Row& row) {
  const size_t length = p.rows[row.a].length;
  switch (row.op) {
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      if (std::string wrong = LengthIs(row.length, length, "a result"); !wrong.empty()) return wrong;
      return LengthIs(p.constants[ConstId(row.b)].size(), length, "a constant");
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
      if (std::string wrong = LengthIs(row.length, length, "a result"); !wrong.empty()) return wrong;
      return LengthIs(p.rows[row.b].length, length, "a second operand");
    case Op::kShl:
    case Op::kShr:
      if (row.b < 1 || row.b > 31) return "a shift is by 1 to 31";
      if (length % 4 != 0) return "a shift is of whole words";
      return LengthIs(row.length, length, "a result");
    case Op::kSwap:
      if (row.key != 2 && row.key != 4 && row.key != 8) return "a swap is of elements of 2, 4 or 8 bytes";
      if (length % row.key != 0) return "a swap is of whole elements";
      return LengthIs(row.length, length, "a result");
    default:
      return {};
  }
}

std::string CheckTest(const Program& p, const Row& row) {
  const size_t length = p.rows[row.a].length;
  if (row.key > static_cast<uint8_t>(Comparison::kNotIn)) return "no such comparison";
  if ((row.flags & ~kNative) != 0) return "no such flag";
  if ((row.flags & kNative) != 0 && length != 1 && length != 2 && length != 4 && length != 8) {
    return "a native test is of 1, 2, 4 or 8 bytes";
  }
  const bool range = row.comparison() == Comparison::kIn || row.comparison() == Comparison::kNotIn;
  if (std::string wrong = LengthIs(p.constants[ConstId(row.b)].size(), range ? 2 * length : length, "a constant");
      !wrong.empty()) {
    return wrong;
  }
  return row.c == UINT32_MAX ? "" : LengthIs(p.constants[ConstId(row.c)].size(), length, "a mask");
}

std::string CheckSetUse(const Program& p, const Row& row) {
  const SetInfo& set = p.sets[row.b];
  if (std::string wrong = LengthIs(p.rows[row.a].length, set.key_len, "a key"); !wrong.empty()) return wrong;
  switch (row.op) {
    case Op::kMap:
      if (set.data_len == 0) return "the set is no data map";
      return LengthIs(row.length, set.data_len, "a value");
    case Op::kVerdictMap:
      return set.verdict_map ? "" : "the set is no verdict map";
    default:
      return (row.flags & ~kNegated) == 0 ? "" : "no such flag";
  }
}

std::string CheckGuard(const Row& row) {
  if (row.key >= kGuardKindCount) return "no such guard";
  switch (row.guard()) {
    case GuardKind::kRoomLink:
    case GuardKind::kRoomNetwork:
    case GuardKind::kRoomTransport:
    case GuardKind::kRoomInner:
      return row.a <= kMaxEnd ? "" : "more room than any load wants";
    case GuardKind::kMetaKnown:
      return row.a < nft::kMetaKeyCount ? "" : "no such key";
    case GuardKind::kCtKnown:
      return (row.a & 0xff) < nft::kCtKeyCount && row.a >> 8 <= kNoDirection ? "" : "no such key or direction";
    case GuardKind::kUnfragmented:
    case GuardKind::kL4:
    case GuardKind::kIif:
    case GuardKind::kOif:
    case GuardKind::kCtEntry:
      return row.a == 0 ? "" : "a guard without a number has one";
  }
  return "no such guard";
}

}  // namespace

std::string CheckRow(const Program& p, const Row& row) {
  const bool is_value = Info(row.op).kind == OpKind::kValue;
  if (is_value && (row.length < 1 || row.length > kMaxValueLength)) return "a value is 1 to 64 bytes";
  if (!is_value && row.length != 0) return "a row that defines no value has a length";
  switch (row.op) {
    case Op::kConst:
      return LengthIs(p.constants[ConstId(row.a)].size(), row.length, "a constant");
    case Op::kLoad:
    case Op::kMeta:
    case Op::kCt:
    case Op::kExthdr:
      return CheckLoad(row);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
    case Op::kShl:
    case Op::kShr:
    case Op::kSwap:
      return CheckArithmetic(p, row);
    case Op::kConcat:
      return LengthIs(row.length, size_t{p.rows[row.a].length} + p.rows[row.b].length, "a result");
    case Op::kSlice:
      return CheckSlice(p, row);
    case Op::kZext:
      return row.length >= p.rows[row.a].length ? "" : "it is shorter than its operand";
    case Op::kGuard:
      return CheckGuard(row);
    case Op::kTest:
      return CheckTest(p, row);
    case Op::kMap:
    case Op::kLookup:
    case Op::kVerdictMap:
      return CheckSetUse(p, row);
    case Op::kSetMeta: {
      const size_t length = row.key < nft::kMetaKeyCount ? nft::MetaStoreLength(static_cast<nft::MetaKey>(row.key)) : 0;
      if (length == 0) return "the key cannot be set";
      return LengthIs(p.rows[row.a].length, length, "a value");
    }
    case Op::kReject:
      return row.key <= static_cast<uint8_t>(nft::RejectType::kIcmpx) && row.a <= 255 ? "" : "no such reject";
    case Op::kStale:
    case Op::kLimit:
    case Op::kCount:
    case Op::kLog:
    case Op::kVerdict:
    case Op::kUnsupported:
      return {};
  }
  return {};
}

}  // namespace nftjit::ir
