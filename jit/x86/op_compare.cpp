// test: masked equality and order of byte strings, each down to one condition of the flags.
#include <algorithm>
#include <bit>
#include <cstring>

#include "jit/x86/emitter.h"
#include "lib/support/fault.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Comparison;
using ir::Op;
using ir::Row;

namespace {

constexpr size_t kMaxLength = 64;

bool IsAll(ByteSpan bytes, uint8_t value) {
  return std::all_of(bytes.begin(), bytes.end(), [value](uint8_t byte) { return byte == value; });
}

bool FitsInt32(uint64_t value) { return static_cast<int64_t>(value) == static_cast<int32_t>(value); }

// The next byte string in memcmp order; false if there is none.
bool Increment(std::span<uint8_t> bytes) {
  for (size_t i = bytes.size(); i-- > 0;) {
    if (++bytes[i] != 0) return true;
  }
  return false;
}

}  // namespace

// One test with its operand: `value & mask` against `low` (and `high`, for ranges).
struct Emitter::Comparand {
  ir::ValueId value;
  Comparison comparison;
  bool native, masked;
  uint8_t length;
  std::array<uint8_t, kMaxLength> mask, low, high;

  [[nodiscard]] bool equality() const { return comparison == Comparison::kEq || comparison == Comparison::kNeq; }
  [[nodiscard]] ByteSpan mask_bytes() const { return {mask.data(), length}; }
  [[nodiscard]] ByteSpan low_bytes() const { return {low.data(), length}; }
  [[nodiscard]] ByteSpan high_bytes() const { return {high.data(), length}; }
};

Condition Emitter::EmitTest(const Row& row) {
  Comparand test{row.value_a(),
                 row.comparison(),
                 (row.flags & ir::kNative) != 0,
                 row.c != ir::ConstId::kNone,
                 RowOf(row.value_a()).length,
                 {},
                 {},
                 {}};
  test.mask.fill(0xff);
  if (test.masked) std::memcpy(test.mask.data(), BytesOf(row.c).data(), test.length);
  const ByteSpan constant = BytesOf(row.b);
  std::memcpy(test.low.data(), constant.data(), test.length);
  if (constant.size() > test.length) std::memcpy(test.high.data(), &constant[test.length], test.length);
  FoldOperand(test);
  if (!test.equality()) return EmitOrder(test);
  const Condition equal = EmitEquality(test);
  return test.comparison == Comparison::kEq ? equal : equal.Negated();
}

// Takes masks, and for equality xors and zero extensions too, from the operand into the test.
void Emitter::FoldOperand(Comparand& test) const {
  for (;;) {
    const Row& row = RowOf(test.value);
    if (HomeOf(test.value).place != Place::kFused) return;
    if (row.op == Op::kAnd) {
      const ByteSpan bits = BytesOf(row.b);
      for (size_t i = 0; i < test.length; ++i) test.mask[i] &= bits[i];
      test.masked = true;
    } else if (row.op == Op::kXor && test.equality()) {
      const ByteSpan bits = BytesOf(row.b);
      for (size_t i = 0; i < test.length; ++i) test.low[i] ^= bits[i] & test.mask[i];
    } else if (row.op == Op::kZext && test.equality()) {
      // Bytes of zeros: they match a constant of zeros, and if it has others, no value will do.
      const uint8_t length = RowOf(row.value_a()).length;
      if (!IsAll(test.low_bytes().subspan(length), 0)) return;
      test.length = length;
    } else {
      return;
    }
    test.value = row.value_a();
  }
}

Condition Emitter::EmitEquality(Comparand& test) {
  for (size_t i = 0; i < test.length; ++i) {
    if ((test.low[i] & ~test.mask[i]) != 0) return Condition::Constant(false);
  }
  if (IsAll(test.mask_bytes(), 0)) return Condition::Constant(true);
  test.masked = !IsAll(test.mask_bytes(), 0xff);
  return test.length <= 8 ? EmitNarrowEquality(test) : EmitWideEquality(test);
}

Condition Emitter::EmitNarrowEquality(const Comparand& test) {
  const uint64_t mask = LoadLittle(test.mask_bytes()), value = LoadLittle(test.low_bytes());
  if (InRegister(test.value)) return CompareEqual(ValueRegister(test.value), test.length, mask, value);
  if (!Addressable(program_, plan_, test.value)) {
    Evaluate(kResult, test.value);
    return CompareEqual(kResult, test.length, mask, value);
  }
  // In memory: read no more than the mask asks for, in one piece if there is one that lies inside the value.
  const uint32_t first = static_cast<uint32_t>(std::countr_zero(mask)) / 8;
  const uint32_t end = 8 - static_cast<uint32_t>(std::countl_zero(mask)) / 8;
  const Mem place = PlaceOf(test.value, kPointer);
  for (const uint32_t width : {1U, 2U, 4U, 8U}) {
    if (width < end - first || width > test.length) continue;
    const uint32_t at = std::min(first, test.length - width);
    const uint64_t all = UINT64_MAX >> (64 - width * 8);
    return CompareEqual(Sized(place, at, width), width, mask >> (at * 8) & all, value >> (at * 8) & all);
  }
  LoadPacked(kResult, place, test.length);
  return CompareEqual(kResult, test.length, mask, value);
}

Condition Emitter::CompareEqual(const Mem& operand, uint32_t width, uint64_t mask, uint64_t value) {
  const uint64_t all = UINT64_MAX >> (64 - width * 8);
  const bool direct = mask == all && (width == 1 || width == 4 || (width == 8 && FitsInt32(value)));
  if (direct) {
    a_.cmp(operand, static_cast<int32_t>(width == 1 ? static_cast<int8_t>(value) : static_cast<int32_t>(value)));
  } else if (value == 0 && (width == 1 || width == 4)) {
    a_.test(operand, static_cast<int32_t>(width == 1 ? static_cast<int8_t>(mask) : static_cast<int32_t>(mask)));
  } else {
    // Words of two bytes too: an immediate of two bytes makes decoders stumble.
    LoadPacked(kResult, operand, width);
    return CompareEqual(kResult, width, mask, value);
  }
  return Condition::Flags(CondCode::kE);
}

Condition Emitter::CompareEqual(Gp operand, uint32_t width, uint64_t mask, uint64_t value) {
  const uint64_t all = UINT64_MAX >> (64 - width * 8);
  if (width <= 4) {
    if (mask != all && value == 0) {
      a_.test(operand.r32(), static_cast<int32_t>(mask));
      return Condition::Flags(CondCode::kZ);
    }
    if (mask == 0xff) {
      a_.cmp(operand.r8(), static_cast<int32_t>(static_cast<int8_t>(value)));
      return Condition::Flags(CondCode::kE);
    }
    if (mask != all) {
      if (operand.id() != kResult.id()) a_.mov(eax, operand.r32());
      a_.and_(eax, static_cast<int32_t>(mask));
      operand = kResult;
    }
    if (value == 0) {
      a_.test(operand.r32(), operand.r32());
    } else {
      a_.cmp(operand.r32(), static_cast<int32_t>(value));
    }
    return Condition::Flags(CondCode::kE);
  }
  if (mask != all) {
    if (operand.id() != kResult.id()) a_.mov(rax, operand.r64());
    a_.and_(rax, Literal64(mask));
    operand = kResult;
  }
  if (value == 0) {
    a_.test(operand.r64(), operand.r64());
  } else if (FitsInt32(value)) {
    a_.cmp(operand.r64(), static_cast<int32_t>(value));
  } else {
    a_.cmp(operand.r64(), Literal64(value));
  }
  return Condition::Flags(CondCode::kE);
}

// Longer than 8 bytes: the differences of all pieces are gathered, so that there is one branch.
Condition Emitter::EmitWideEquality(const Comparand& test) {
  const Mem place = PlaceOf(test.value, kPointer);
  const uint32_t step = avx2_ && test.length >= 16 ? 16 : 8;
  bool first = true;
  for (uint32_t start = 0; start < test.length; start += step) {
    const uint32_t at = std::min(start, test.length - step);  // The last piece may overlap the one before it.
    const ByteSpan mask = test.mask_bytes().subspan(at, step);
    if (IsAll(mask, 0)) continue;
    const Mem operand = Sized(place, at, step);
    const Mem value = Literal(test.low_bytes().subspan(at, step), step);
    if (step == 16) {
      const Xmm piece = first ? xmm0 : xmm1;
      a_.vmovdqu(piece, operand);
      a_.vpxor(piece, piece, value);
      if (!IsAll(mask, 0xff)) a_.vpand(piece, piece, Literal(mask, step));
      if (!first) a_.vpor(xmm0, xmm0, xmm1);
    } else {
      const Gp piece = first ? kResult : kOther;
      a_.mov(piece, operand);
      a_.xor_(piece, value);
      if (!IsAll(mask, 0xff)) a_.and_(piece, Literal(mask, step));
      if (!first) a_.or_(kResult, kOther);
    }
    first = false;
  }
  if (step == 16) {
    a_.vptest(xmm0, xmm0);
  } else {
    a_.test(rax, rax);
  }
  return Condition::Flags(CondCode::kZ);
}

Condition Emitter::EmitOrder(const Comparand& test) {
  const bool range = test.comparison == Comparison::kIn || test.comparison == Comparison::kNotIn;
  if (range) {
    const bool empty = test.native ? LoadOrdered(test.low_bytes(), true) > LoadOrdered(test.high_bytes(), true)
                                   : std::memcmp(test.low.data(), test.high.data(), test.length) > 0;
    if (empty) return Condition::Constant(test.comparison == Comparison::kNotIn);
  }
  return test.length <= 8 ? EmitNarrowOrder(test) : EmitWideOrder(test);
}

void Emitter::ToInteger(uint32_t length) {
  if (length == 1) return;
  if (length == 2) {
    a_.rol(ax, 8);
    return;
  }
  const uint32_t bytes = length > 4 ? 8 : 4;
  a_.bswap(Part(kResult, bytes));
  if (length != bytes) a_.shr(Part(kResult, bytes), (bytes - length) * 8);
}

Condition Emitter::EmitNarrowOrder(const Comparand& test) {
  Evaluate(kResult, test.value);
  const uint64_t mask = LoadLittle(test.mask_bytes());
  const bool wide = test.length > 4;
  const Gp whole = Part(kResult, wide ? 8 : 4);
  if (test.masked && !IsAll(test.mask_bytes(), 0xff)) {
    if (wide) {
      a_.and_(whole, Literal64(mask));
    } else {
      a_.and_(whole, static_cast<int32_t>(mask));
    }
  }
  if (!test.native) ToInteger(test.length);
  const uint64_t low = LoadOrdered(test.low_bytes(), test.native);
  const auto compare = [&](uint64_t bound) {
    if (!wide) {
      a_.cmp(eax, static_cast<int32_t>(bound));
    } else if (FitsInt32(bound)) {
      a_.cmp(rax, static_cast<int32_t>(bound));
    } else {
      a_.cmp(rax, Literal64(bound));
    }
  };
  switch (test.comparison) {
    case Comparison::kLt:
      compare(low);
      return Condition::Flags(Has(Fault::kComparison) ? CondCode::kBE : CondCode::kB);
    case Comparison::kLte:
      compare(low);
      return Condition::Flags(CondCode::kBE);
    case Comparison::kGt:
      compare(low);
      return Condition::Flags(CondCode::kA);
    case Comparison::kGte:
      compare(low);
      return Condition::Flags(CondCode::kAE);
    default:
      break;
  }
  // A range: below `low` wraps round to above its size.
  if (low != 0 && wide) a_.sub(rax, Literal64(low));
  if (low != 0 && !wide) a_.sub(eax, static_cast<int32_t>(low));
  compare(LoadOrdered(test.high_bytes(), test.native) - low);
  return Condition::Flags(test.comparison == Comparison::kIn ? CondCode::kBE : CondCode::kA);
}

// Sets the carry flag iff the `length` bytes at `operand` are below `bound`: a subtraction of long integers in pieces
// of 8 bytes, the last bytes first. The last piece overlaps: it counts only where the one before it is equal.
// Clobbers kResult.
void Emitter::EmitBelow(const Mem& operand, uint32_t length, std::span<const uint8_t> bound) {
  bool first = true;
  for (uint32_t start = (length - 1) / 8 * 8;; start -= 8) {
    const uint32_t at = std::min(start, length - 8);
    const Mem piece = Literal64(LoadBig64(&bound[at]));
    a_.mov(rax, Sized(operand, at, 8));
    a_.bswap(rax);
    if (first) {
      a_.cmp(rax, piece);
    } else {
      a_.sbb(rax, piece);
    }
    first = false;
    if (start == 0) return;
  }
}

Condition Emitter::EmitWideOrder(const Comparand& test) {
  Mem place = PlaceOf(test.value, kPointer);
  if (test.masked) {
    const Mem masked = ptr(rsp, chain_plan_->test_slot);
    const Mem mask = Literal(test.mask_bytes());
    for (uint32_t start = 0; start < test.length; start += 8) {
      const uint32_t at = std::min(start, test.length - 8U);
      a_.mov(rax, Sized(place, at, 8));
      a_.and_(rax, Sized(mask, at, 8));
      a_.mov(Sized(masked, at, 8), rax);
    }
    place = masked;
  }
  std::array<uint8_t, kMaxLength> above =
      test.comparison == Comparison::kIn || test.comparison == Comparison::kNotIn ? test.high : test.low;
  const bool has_above = Increment({above.data(), test.length});
  const ByteSpan above_bytes(above.data(), test.length);
  switch (test.comparison) {
    case Comparison::kLt:
    case Comparison::kGte:
      EmitBelow(place, test.length, test.low_bytes());
      return Condition::Flags(test.comparison == Comparison::kLt ? CondCode::kC : CondCode::kNC);
    case Comparison::kLte:
    case Comparison::kGt:
      if (!has_above) return Condition::Constant(test.comparison == Comparison::kLte);
      EmitBelow(place, test.length, above_bytes);
      return Condition::Flags(test.comparison == Comparison::kLte ? CondCode::kC : CondCode::kNC);
    default:
      break;
  }
  // In the range iff below the byte string above it, but not below `low`; the bounds are in order.
  EmitBelow(place, test.length, test.low_bytes());
  if (!has_above) return Condition::Flags(test.comparison == Comparison::kIn ? CondCode::kNC : CondCode::kC);
  a_.sbb(edx, edx);
  EmitBelow(place, test.length, above_bytes);
  a_.sbb(eax, eax);
  a_.cmp(eax, edx);
  return Condition::Flags(test.comparison == Comparison::kIn ? CondCode::kNE : CondCode::kE);
}

}  // namespace nftjit::x86
