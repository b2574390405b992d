// The invariants of a Program.
#ifndef NFTJIT_LIB_IR_VERIFIER_H_
#define NFTJIT_LIB_IR_VERIFIER_H_

#include <absl/status/status.h>

#include "lib/ir/ir.h"

namespace nftjit::ir {

// OK if `program` has these properties, else Internal with chain, rule and row in the message:
//  - rows and origins are of equal number; every id and constant id is in range; chains' items are in preorder and
//    nested ranges; item rows do not overlap;
//  - an operand of kind `value` names a value row that stands earlier in the same item, or among the rows of a block
//    around it, before it in preorder ("a value belongs to the block that defines it");
//  - lengths: a value is 1 to 64 bytes; And/Or/Xor constants are as long as their value, and so is the result; Shl, Shr
//    lengths are multiples of four; Swap's length is a multiple of its element size; Concat's is the sum; a Slice lies
//    inside its operand; Zext does not shorten; Test constants are as long as their value (twice for kIn, kNotIn),
//    masks as long; lookups' keys are key_len long, Map's length is data_len;
//  - Swap element sizes are 2, 4 or 8; shift counts 1 to 31; offsets at most 65535;
//  - a row of kind `end` other than vmap is the last of its rule; blocks have only values and tests;
//  - a Load without kOrZero is preceded, on the way to it, by a room guard of its base that covers it; Meta and Ct
//  loads
//    that may BREAK by the guards that RequiredGuards (lib/ir/guards.h) lists, or by ones that imply them;
//  - Meta and Ct values have the length of their key;
//  - jump and goto name an existing chain that is not a base chain; verdicts are ones nf_tables accepts;
//  - kNative tests have values of 1, 2, 4 or 8 bytes;
//  - a set_meta value has the key's length;
//  - sets: keys, data and fields have the lengths declared; intervals are sorted, disjoint and not empty.
absl::Status Verify(const Program& program);

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_VERIFIER_H_
