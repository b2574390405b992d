// Folds the operations between a load and its test into the test, so that every bitwise match is one test:
//     %1 = and %0, n; test %1 & m OP c       =>  test %0 & n & m OP c         every OP, also native
//     %1 = xor %0, x; test %1 & m == c       =>  test %0 & m == c ^ (x & m)   and !=: this is how nft inverts
//     %1 = or %0, o; test %1 & m == c        =>  test %0 & m & ~o == c & ~o   and !=
//     %1 = shr %0, n; test %1 & m == c       =>  test %0 & m << n == c << n   and !=, one word; shl likewise
//     %1 = zext %0, n; test %1 & m == c      =>  test %0 & m' == c'           and !=, cut to the length of %0
//     %1 = slice %0+n, l; test %1 & m == c   =>  test %0 & 00m00 == 00c00     and every order of byte strings
//     test %0 & m != 00, m one bit           =>  test %0 & m == m             and != m to == 00
// What then cannot be equal is decided here: a constant with bits outside the mask (or that `or` sets, a shift clears)
// is never equal, so that `==` ends the rule and `!=` goes. A mask of all ones goes.
// Not done: order tests over xor, or, shifts and zext, because those do not keep the order of what they are applied to;
// slices of native integers. What a test of a block's head decides stays, as the block's items would have to go.
// Sound because each step is an identity of bit strings: with b = f(a), the tests accept the same a. Nothing is said
// about numbers, so that host-endian fields need no care; masks with stray bits are the case of the second paragraph.
#include <bit>

#include "lib/opt/bytes_math.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Comparison;
using ir::Op;
using ir::Row;

enum class Fold : uint8_t { kNothing, kDone, kNeverEqual };

// One test taken apart: `value & mask` compared with `constant`.
class TestFolder {
 public:
  TestFolder(ir::Program& program, uint32_t row) : p_(program), row_(row), test_(program.rows[row]) {
    if (test_.c != UINT32_MAX) {
      mask_ = Bytes(ConstantOf(p_, test_.c));
    } else {
      mask_ = Bytes::Filled(p_.rows[test_.a].length, 0xff);
    }
    constant_ = Bytes(ConstantOf(p_, test_.b));
  }

  // Steps once from the tested value to what it was made of. kNeverEqual: the answer is known.
  Fold Step() {
    const Row& from = p_.rows[test_.a];
    const bool equality = IsEquality(test_.comparison());
    switch (from.op) {
      case Op::kAnd:
        mask_ = And(mask_.span(), ConstantOf(p_, from.b));
        return Enter(from.a);
      case Op::kXor:
        if (!equality) return Fold::kNothing;
        constant_ = Xor(constant_.span(), And(mask_.span(), ConstantOf(p_, from.b)).span());
        return Enter(from.a);
      case Op::kOr:
        return equality ? StepOr(from) : Fold::kNothing;
      case Op::kShl:
      case Op::kShr:
        return equality && from.length == 4 ? StepShift(from) : Fold::kNothing;
      case Op::kZext:
        return equality ? StepZext(from) : Fold::kNothing;
      case Op::kSlice:
        return StepSlice(from);
      default:
        return Fold::kNothing;
    }
  }

  [[nodiscard]] bool HasStrayBits() const {
    return IsEquality(test_.comparison()) && !AllZero(AndNot(constant_.span(), mask_.span()).span());
  }

  // Nothing of the value is left to look at: what the test says.
  [[nodiscard]] bool IsDecided() const { return AllZero(mask_.span()); }
  [[nodiscard]] bool Decide() const {
    const Bytes zero = Bytes::Filled(mask_.size(), 0);
    Row test = test_;
    test.c = UINT32_MAX;
    test.b = Intern(p_, constant_.span());
    return Passes(p_, test, zero.span());
  }

  // Writes the folded test back. False if that changes nothing.
  bool Store() {
    if (IsEquality(test_.comparison())) test_.flags &= static_cast<uint8_t>(~ir::kNative);
    if (test_.comparison() == Comparison::kNeq && CountBits(mask_.span()) == 1) {
      test_.key = static_cast<uint8_t>(Comparison::kEq);
      constant_ = Xor(constant_.span(), mask_.span());
    }
    test_.c = AllOnes(mask_.span()) ? UINT32_MAX : Intern(p_, mask_.span());
    test_.b = Intern(p_, constant_.span());
    if (test_ == p_.rows[row_]) return false;
    p_.rows[row_] = test_;
    return true;
  }

 private:
  Fold Enter(uint32_t value) {
    MergeOrigin(p_, row_, test_.a);
    test_.a = Source(p_, value).index;
    return Fold::kDone;
  }

  Fold StepOr(const Row& from) {
    const ByteSpan ones = ConstantOf(p_, from.b);
    const Bytes always = And(ones, mask_.span());
    if (!AllZero(AndNot(always.span(), constant_.span()).span())) return Fold::kNeverEqual;
    mask_ = AndNot(mask_.span(), ones);
    constant_ = AndNot(constant_.span(), ones);
    return Enter(from.a);
  }

  Fold StepShift(const Row& from) {
    const auto back = from.op == Op::kShl ? ShiftRight : ShiftLeft;
    const auto forth = from.op == Op::kShl ? ShiftLeft : ShiftRight;
    const Bytes shifted = back(constant_.span(), from.b);
    if (HasStrayBits() || forth(shifted.span(), from.b) != constant_) return Fold::kNeverEqual;
    constant_ = shifted;
    mask_ = back(mask_.span(), from.b);
    return Enter(from.a);
  }

  Fold StepZext(const Row& from) {
    const uint8_t length = p_.rows[from.a].length;
    if (HasStrayBits() || !AllZero(constant_.span().subspan(length))) return Fold::kNeverEqual;
    mask_.resize(length);
    constant_.resize(length);
    return Enter(from.a);
  }

  Fold StepSlice(const Row& from) {
    if ((test_.flags & ir::kNative) != 0 && !IsEquality(test_.comparison())) return Fold::kNothing;
    const uint8_t length = p_.rows[from.a].length;
    if (IsRange(test_.comparison())) {
      const ByteSpan bounds = constant_.span();
      const Bytes low = Widen(bounds.first(from.length), from.b, length);
      const Bytes high = Widen(bounds.subspan(from.length), from.b, length);
      constant_ = low;
      constant_.resize(size_t{length} * 2);
      std::copy_n(high.data(), length, constant_.data() + length);
    } else {
      constant_ = Widen(constant_.span(), from.b, length);
    }
    mask_ = Widen(mask_.span(), from.b, length);
    test_.flags &= static_cast<uint8_t>(~ir::kNative);
    return Enter(from.a);
  }
  static Bytes Widen(ByteSpan bytes, uint32_t offset, uint8_t length) {
    Bytes out = Bytes::Filled(length, 0);
    std::copy(bytes.begin(), bytes.end(), out.data() + offset);
    return out;
  }

  ir::Program& p_;
  const uint32_t row_;
  Row test_;
  Bytes mask_, constant_;
};

bool FoldsIntoTests(Op op) {
  switch (op) {
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShl:
    case Op::kShr:
    case Op::kZext:
    case Op::kSlice:
      return true;
    default:
      return false;
  }
}

// The usual case, one mask and nothing special about it, without a copy of its bytes. False: look closer.
bool FoldPlainMask(ir::Program& program, uint32_t r) {
  Row& test = program.rows[r];
  const Row& from = program.rows[test.a];
  if (from.op != Op::kAnd || test.c != UINT32_MAX || !IsEquality(test.comparison())) return false;
  const uint32_t value = Source(program, from.a).index;
  if (FoldsIntoTests(program.rows[value].op)) return false;
  const ByteSpan mask = ConstantOf(program, from.b), constant = ConstantOf(program, test.b);
  for (size_t i = 0; i < mask.size(); ++i) {
    if ((constant[i] & ~mask[i]) != 0) return false;
  }
  const uint32_t bits = CountBits(mask);
  if (bits <= 1 || bits == mask.size() * 8) return false;
  MergeOrigin(program, r, test.a);
  test.a = value;
  test.c = from.b;
  test.flags &= static_cast<uint8_t>(~ir::kNative);
  return true;
}

// The test is decided: it goes if it passes, else the rule ends there.
bool Conclude(ir::Program& program, const ir::Item& item, uint32_t r, bool passes) {
  if (passes) {
    Kill(program.rows[r]);
    return true;
  }
  if (item.kind == ir::ItemKind::kBlock) return false;
  EndRuleAt(program, item, r);
  return true;
}

bool FoldTest(ir::Program& program, const ir::Item& item, uint32_t r) {
  if (program.rows[r].c == UINT32_MAX && !FoldsIntoTests(program.rows[program.rows[r].a].op)) return false;
  if (FoldPlainMask(program, r)) return true;
  const bool passes_if_never_equal = program.rows[r].comparison() == Comparison::kNeq;
  TestFolder folder(program, r);
  Fold fold = Fold::kDone;
  while (fold == Fold::kDone && !folder.HasStrayBits()) fold = folder.Step();
  if (fold == Fold::kNeverEqual || folder.HasStrayBits()) return Conclude(program, item, r, passes_if_never_equal);
  if (folder.IsDecided()) return Conclude(program, item, r, folder.Decide());
  return folder.Store();
}

}  // namespace

int FoldInverted(ir::Program& program, int limit) {
  const int rewrites = SweepRows(program, limit, [&](const ir::Item& item, uint32_t r) {
    return program.rows[r].op == Op::kTest && FoldTest(program, item, r);
  });
  if (rewrites > 0) Compact(program);
  return rewrites;
}

}  // namespace nftjit::opt
