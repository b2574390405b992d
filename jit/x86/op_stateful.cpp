// State of the Instance: count, limit, log.
#include "jit/x86/emitter.h"
#include "lib/runtime/frame.h"
#include "lib/support/fault.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Row;

void Emitter::EmitCount(const Row& row) {
  const auto slot = static_cast<int32_t>(row.a * sizeof(CounterSlot));
  a_.mov(kPointer, qword_ptr(frame_, offsetof(Frame, counters)));
  a_.mov(eax, dword_ptr(frame_, offsetof(Frame, length)));
  a_.add(qword_ptr(kPointer, slot + static_cast<int32_t>(offsetof(CounterSlot, packets))), 1);
  if (Has(Fault::kCounter)) return;
  a_.add(qword_ptr(kPointer, slot + static_cast<int32_t>(offsetof(CounterSlot, bytes))), rax);
}

Condition Emitter::EmitLimit(const Row& row) {
  Call1(RuntimeCall::kLimit, row.a);
  a_.test(eax, eax);
  return Condition::Flags(CondCode::kNZ);
}

void Emitter::EmitLog(const Row& row) { Call1(RuntimeCall::kLog, row.a); }

}  // namespace nftjit::x86
