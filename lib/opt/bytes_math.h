// Arithmetic on constants: byte strings as the values of the IR, in the meaning of each op.
#ifndef NFTJIT_LIB_OPT_BYTES_MATH_H_
#define NFTJIT_LIB_OPT_BYTES_MATH_H_

#include "lib/ir/ir.h"
#include "lib/support/bytes.h"

namespace nftjit::opt {

// A constant of a test: at most two bounds of 64 bytes.
using Bytes = InlineBytes<128>;

inline ByteSpan ConstantOf(const ir::Program& program, uint32_t id) { return program.constants[ir::ConstId(id)]; }
inline uint32_t Intern(ir::Program& program, ByteSpan bytes) { return program.constants.Intern(bytes).index; }

Bytes And(ByteSpan a, ByteSpan b);
Bytes Or(ByteSpan a, ByteSpan b);
Bytes Xor(ByteSpan a, ByteSpan b);
Bytes AndNot(ByteSpan a, ByteSpan b);  // Bits of a that are not in b.
bool AllZero(ByteSpan a);
bool AllOnes(ByteSpan a);
uint32_t CountBits(ByteSpan a);
// Reverses the bytes of each element of `size` bytes.
Bytes Swap(ByteSpan a, size_t size);
// Shifts of native 32-bit words, word 0 most significant (vm-semantics 10.4).
Bytes ShiftLeft(ByteSpan a, uint32_t count);
Bytes ShiftRight(ByteSpan a, uint32_t count);

// Three-way comparison as byte strings, or as native integers: lengths 1, 2, 4 or 8.
int Compare(ByteSpan a, ByteSpan b, bool native);
// a + 1, a - 1 in the same order of significance; false if there is no such value.
bool Increment(Bytes& a, bool native);
bool Decrement(Bytes& a, bool native);

bool IsRange(ir::Comparison comparison);     // kIn, kNotIn
bool IsEquality(ir::Comparison comparison);  // kEq, kNeq
// Whether a test passes for `value` (before its mask).
bool Passes(const ir::Program& program, const ir::Row& test, ByteSpan value);

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_BYTES_MATH_H_
