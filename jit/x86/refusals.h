// What the x86 engine does not compile.
#ifndef NFTJIT_JIT_X86_REFUSALS_H_
#define NFTJIT_JIT_X86_REFUSALS_H_

#include <absl/status/status.h>

#include "lib/ir/ir.h"

namespace nftjit::x86 {

// Errors: Unimplemented names the rule and the row that no engine runs; Internal a base chain from which jumps and
// gotos go round in a circle or deeper than the kernel's 16 levels (generated code would overrun the stack).
absl::Status Refuse(const ir::Program& program);

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_REFUSALS_H_
