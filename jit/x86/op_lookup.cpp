// Sets and maps: the runtime looks up, with a pointer to the key's bytes where they lie.
#include "jit/x86/emitter.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Row;

void Emitter::KeyArgument(ir::ValueId key) { a_.lea(rdx, Sized(PlaceOf(key, kPointer), 0, 0)); }

Condition Emitter::EmitLookup(const Row& row) {
  KeyArgument(row.value_a());
  a_.mov(ecx, (row.flags & ir::kNegated) != 0 ? 1 : 0);
  a_.mov(rdi, frame_);
  a_.mov(esi, row.b);
  Call(RuntimeCall::kLookup);
  a_.test(eax, eax);
  return Condition::Flags(CondCode::kNZ);
}

Condition Emitter::EmitMap(uint32_t row_index) {
  const Row& row = program_.rows[row_index];
  KeyArgument(row.value_a());
  a_.lea(rcx, SlotOf(ir::ValueId(row_index)));
  a_.mov(rdi, frame_);
  a_.mov(esi, row.b);
  Call(RuntimeCall::kMap);
  a_.test(eax, eax);
  return Condition::Flags(CondCode::kNZ);
}

}  // namespace nftjit::x86
