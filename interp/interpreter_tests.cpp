#include "interp/interpreter_tests.h"

#include <bit>

#include "interp/interpreter_sources.h"

namespace nftjit::interp {
namespace {

// The integer of bytes as the test sees it: big-endian if reversed, else lowest byte first.
uint64_t ToInteger(ByteSpan bytes, bool reversed) {
  uint64_t x = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    x |= uint64_t{bytes[i]} << (8 * (reversed ? bytes.size() - 1 - i : i));
  }
  return x;
}

uint64_t Reverse(uint64_t x, uint32_t length) { return __builtin_bswap64(x) >> (64 - 8 * length); }

// Sets value and size to the interval [low, high], if there is such.
void SetInterval(IntegerTest& test, uint64_t low, uint64_t high) {
  if (low > high) {
    test.always = test.negated ? Always::kPasses : Always::kFails;
    return;
  }
  test.value = low;
  test.size = high - low;
}

void SetOrdered(IntegerTest& test, ir::Comparison comparison, uint64_t constant, uint64_t highest) {
  switch (comparison) {
    case ir::Comparison::kLt:
      if (constant == 0) {
        test.always = Always::kFails;
      } else {
        SetInterval(test, 0, constant - 1);
      }
      return;
    case ir::Comparison::kLte:
      return SetInterval(test, 0, constant);
    case ir::Comparison::kGt:
      if (constant == highest) {
        test.always = Always::kFails;
      } else {
        SetInterval(test, constant + 1, highest);
      }
      return;
    default:  // kGte
      return SetInterval(test, constant, highest);
  }
}

// Leading ones and then zeros, as an integer of `length` bytes with the first byte highest.
bool IsPrefixMask(uint64_t mask, uint32_t length) {
  const uint64_t low = ~mask & LowBytes(length);
  return (low & (low + 1)) == 0;
}

}  // namespace

IntegerTest MakeIntegerTest(const ir::Program& program, const ir::Row& row, uint32_t length, uint64_t extra_mask) {
  const ir::Comparison comparison = row.comparison();
  const bool equality = comparison == ir::Comparison::kEq || comparison == ir::Comparison::kNeq;
  IntegerTest test;
  test.reversed = !equality && (row.flags & ir::kNative) == 0;
  test.negated = comparison == ir::Comparison::kNeq || comparison == ir::Comparison::kNotIn;
  const uint64_t all = LowBytes(length);
  test.mask = all & extra_mask;
  if (row.c != ir::ConstId::kNone) test.mask &= ToInteger(program.constants[ir::ConstId(row.c)], false);
  if (test.reversed) test.mask = Reverse(test.mask, length);

  const ByteSpan constant = program.constants[ir::ConstId(row.b)];
  if (equality) {
    test.value = ToInteger(constant, false);
    if ((test.value & ~test.mask) != 0) test.always = test.negated ? Always::kPasses : Always::kFails;
  } else if (comparison == ir::Comparison::kIn || comparison == ir::Comparison::kNotIn) {
    SetInterval(test, ToInteger(constant.first(length), test.reversed),
                ToInteger(constant.subspan(length), test.reversed));
  } else {
    SetOrdered(test, comparison, ToInteger(constant, test.reversed), all);
  }
  return test;
}

std::optional<MaskedForm> ToMasked(const IntegerTest& test, uint32_t length) {
  if (length > 4 || test.always != Always::kNo || test.negated) return std::nullopt;
  uint64_t mask = test.mask, value = test.value;
  if (test.size != 0) {
    // An aligned interval of a power of two of values, of an unmasked integer, is a prefix.
    const uint64_t span = test.size + 1;
    if (test.mask != LowBytes(length) || span == 0 || !std::has_single_bit(span) || value % span != 0) {
      return std::nullopt;
    }
    mask &= ~test.size;
  }
  if (test.reversed) {
    mask = Reverse(mask, length);
    value = Reverse(value, length);
  }
  return MaskedForm{static_cast<uint32_t>(mask), static_cast<uint32_t>(value)};
}

std::optional<RangeForm> ToRange(const IntegerTest& test, uint32_t length) {
  if (length > 4 || test.always != Always::kNo) return std::nullopt;
  const uint64_t all = LowBytes(length);
  RangeForm form;
  uint64_t low = test.value, size = test.size;
  form.reversed = test.reversed;
  if (test.size == 0 && !test.reversed) {
    // Equality, under a mask perhaps: a prefix mask leaves an interval of the big-endian integer.
    const uint64_t mask = Reverse(test.mask, length);
    if (!IsPrefixMask(mask, length)) return std::nullopt;
    form.reversed = true;
    low = Reverse(test.value, length);
    size = all & ~mask;
  } else if (test.mask != all) {
    return std::nullopt;
  }
  if (test.negated) {
    // The complement, from above the interval around to below it.
    if (size == 0xffffffff) return std::nullopt;
    low = low + size + 1;
    size = 0xfffffffeU - size;
  }
  form.low = static_cast<uint32_t>(low);
  form.size = static_cast<uint32_t>(size);
  return form;
}

}  // namespace nftjit::interp
