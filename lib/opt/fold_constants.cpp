// Computes what is known at compile time:
//     %0 = const c; %1 = and %0, m      =>  %1 = const c & m           (every op of constants alone)
//     %1 = and %0, ff…  or %0, 00…      =>  %0                         (an operation that changes nothing)
//     %1 = and %0, 00…                  =>  %1 = const 00…
//     %1 = slice of a slice, a zext, a concat, or of a whole value  =>  of what that was made of
//     %2 = andv %0, %1 with a constant  =>  %2 = and %0, c
//     test of a constant                =>  nothing if it passes; else the rest of the rule goes
// Sound because these ops have no effects, never break, and a value does not change once it is defined. The test of a
// block's head is left if it fails: the items of the block would have to go with it.
#include "lib/opt/bytes_math.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Op;
using ir::Row;

class Folder {
 public:
  explicit Folder(ir::Program& program) : p_(program) {}

  bool FoldRow(const ir::Item& item, uint32_t r) {
    Row& row = p_.rows[r];
    switch (row.op) {
      case Op::kAnd:
      case Op::kOr:
      case Op::kXor:
        return FoldBitwise(row);
      case Op::kAndValue:
      case Op::kOrValue:
      case Op::kXorValue:
        return FoldBitwiseOfValues(row);
      case Op::kShl:
        return IsConst(row.a) && Become(row, ShiftLeft(ConstBytes(row.a), row.b));
      case Op::kShr:
        return IsConst(row.a) && Become(row, ShiftRight(ConstBytes(row.a), row.b));
      case Op::kSwap:
        return IsConst(row.a) && Become(row, Swap(ConstBytes(row.a), row.key));
      case Op::kConcat:
        return FoldConcat(row);
      case Op::kZext:
        return FoldZext(row);
      case Op::kSlice:
        return FoldSlice(row);
      case Op::kTest:
        return FoldTest(item, r);
      default:
        return false;
    }
  }

 private:
  bool FoldBitwise(Row& row) {
    const ByteSpan constant = ConstantOf(p_, row.b);
    if (IsConst(row.a)) {
      const ByteSpan value = ConstBytes(row.a);
      return Become(row, row.op == Op::kAnd  ? And(value, constant)
                         : row.op == Op::kOr ? Or(value, constant)
                                             : Xor(value, constant));
    }
    if (row.op == Op::kAnd ? AllOnes(constant) : AllZero(constant)) {
      Forward(row, row.value_a());
      return true;
    }
    if (row.op == Op::kAnd && AllZero(constant)) return Become(row, Bytes(constant));
    if (row.op == Op::kOr && AllOnes(constant)) return Become(row, Bytes(constant));
    return false;
  }

  bool FoldBitwiseOfValues(Row& row) {
    if (IsConst(row.a)) std::swap(row.a, row.b);
    if (!IsConst(row.b)) return false;
    row.op = row.op == Op::kAndValue ? Op::kAnd : row.op == Op::kOrValue ? Op::kOr : Op::kXor;
    row.b = p_.rows[row.b].a;
    FoldBitwise(row);
    return true;
  }

  bool FoldConcat(Row& row) {
    if (!IsConst(row.a) || !IsConst(row.b)) return false;
    Bytes bytes(ConstBytes(row.a));
    const size_t first = bytes.size();
    const ByteSpan second = ConstBytes(row.b);
    bytes.resize(first + second.size());
    std::copy(second.begin(), second.end(), bytes.data() + first);
    return Become(row, bytes);
  }

  bool FoldZext(Row& row) {
    const Row& from = p_.rows[row.a];
    if (from.length == row.length) {
      Forward(row, row.value_a());
      return true;
    }
    if (IsConst(row.a)) {
      Bytes bytes(ConstBytes(row.a));
      bytes.resize(row.length);
      return Become(row, bytes);
    }
    if (from.op != Op::kZext) return false;
    row.a = from.a;
    return true;
  }

  bool FoldSlice(Row& row) {
    const Row& from = p_.rows[row.a];
    const uint32_t end = row.b + row.length;
    if (row.b == 0 && from.length == row.length) {
      Forward(row, row.value_a());
      return true;
    }
    if (IsConst(row.a)) return Become(row, Bytes(ConstBytes(row.a).subspan(row.b, row.length)));
    switch (from.op) {
      case Op::kSlice:
        row.b += from.b;
        row.a = from.a;
        return true;
      case Op::kZext: {
        const uint32_t kept = p_.rows[from.a].length;
        if (row.b >= kept) {
          Bytes zeros;
          zeros.resize(row.length);
          return Become(row, zeros);
        }
        if (end > kept && row.b != 0) return false;
        row.a = from.a;
        if (end > kept) row.op = Op::kZext;
        FoldRowOnceMore(row);
        return true;
      }
      case Op::kConcat: {
        const uint32_t middle = p_.rows[from.a].length;
        if (end > middle && row.b < middle) return false;
        row.a = end <= middle ? from.a : from.b;
        if (end > middle) row.b -= middle;
        FoldRowOnceMore(row);
        return true;
      }
      default:
        return false;
    }
  }
  // What a slice became may be a whole value, or a slice of another one.
  void FoldRowOnceMore(Row& row) {
    if (row.op == Op::kSlice) {
      FoldSlice(row);
    } else {
      row.b = UINT32_MAX;
      FoldZext(row);
    }
  }

  bool FoldTest(const ir::Item& item, uint32_t r) {
    Row& row = p_.rows[r];
    if (!IsConst(row.a)) return false;
    if (Passes(p_, row, ConstBytes(row.a))) {
      Kill(row);
      return true;
    }
    if (item.kind == ir::ItemKind::kBlock) return false;
    EndRuleAt(p_, item, r);
    return true;
  }

  [[nodiscard]] bool IsConst(uint32_t value) const { return p_.rows[value].op == Op::kConst; }
  [[nodiscard]] ByteSpan ConstBytes(uint32_t value) const { return ConstantOf(p_, p_.rows[value].a); }
  bool Become(Row& row, const Bytes& bytes) {
    row = {.op = Op::kConst, .length = static_cast<uint8_t>(bytes.size()), .a = Intern(p_, bytes.span())};
    return true;
  }

  ir::Program& p_;
};

}  // namespace

int FoldConstants(ir::Program& program, int limit) {
  Folder folder(program);
  const int rewrites =
      SweepRows(program, limit, [&](const ir::Item& item, uint32_t r) { return folder.FoldRow(item, r); });
  if (rewrites > 0) Compact(program);
  return rewrites;
}

}  // namespace nftjit::opt
