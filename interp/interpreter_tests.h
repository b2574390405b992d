// Tests of the rule IR as integer tests: what can be known of a test before any packet runs.
#ifndef NFTJIT_INTERP_INTERPRETER_TESTS_H_
#define NFTJIT_INTERP_INTERPRETER_TESTS_H_

#include <cstdint>
#include <optional>

#include "lib/ir/ir.h"

namespace nftjit::interp {

enum class Always : uint8_t { kNo, kPasses, kFails };

// ((x & mask) - value <= size) != negated, in 64 bits. x is the value's bytes as an integer, lowest byte first in
// memory; reversed, if `reversed`, to the big-endian integer of the `length` bytes.
struct IntegerTest {
  bool reversed = false;
  bool negated = false;
  uint64_t mask = 0, value = 0, size = 0;
  Always always = Always::kNo;
};

// The test of a value of `length` (at most eight) bytes under `row`, an Op::kTest. `extra_mask`: a mask of its bytes,
// as an integer lowest byte first, that is applied as well.
IntegerTest MakeIntegerTest(const ir::Program& program, const ir::Row& row, uint32_t length, uint64_t extra_mask);

// (x & mask) == value over the lowest byte first integer: how a masked column tests.
struct MaskedForm {
  uint32_t mask = 0, value = 0;
  bool operator==(const MaskedForm&) const = default;
};
// x - low <= size in 32 bits, over the big-endian integer if `reversed`: how a range column tests.
struct RangeForm {
  uint32_t low = 0, size = 0;
  bool reversed = false;
  bool operator==(const RangeForm&) const = default;
};

// The same test in the forms of table columns, where it has them: values of at most four bytes.
std::optional<MaskedForm> ToMasked(const IntegerTest& test, uint32_t length);
std::optional<RangeForm> ToRange(const IntegerTest& test, uint32_t length);

}  // namespace nftjit::interp

#endif  // NFTJIT_INTERP_INTERPRETER_TESTS_H_
