// Sets that become constants of the code: small, exact, and nothing can change them.
#ifndef NFTJIT_JIT_X86_SMALL_SET_H_
#define NFTJIT_JIT_X86_SMALL_SET_H_

#include <cstdint>

#include "lib/ir/ir.h"

namespace nftjit::x86 {

// All keys together, so that two compares of 16 bytes see them; elements of a verdict map, each a branch.
inline constexpr uint32_t kSmallSetBytes = 32, kSmallMapElements = 8;

// The set that a lookup or verdict map row asks, if its code compares constants instead of calling the runtime: keys of
// 1, 2 or 4 bytes, and elements that neither expire nor count. Else null.
const ir::SetInfo* SmallSetOf(const ir::Program& program, const ir::Row& row);

// The key of an element of such a set as values have it in registers: the first byte lowest.
uint32_t PackedKey(const ir::SetElement& element);

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_SMALL_SET_H_
