// Packet bytes: load, exthdr, and the guards of room.
#include "jit/x86/emitter.h"
#include "lib/runtime/frame.h"
#include "lib/support/fault.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Base;
using ir::Row;

namespace {

int32_t RoomOffset(Base base) {
  return static_cast<int32_t>(offsetof(Frame, room) + static_cast<size_t>(base) * sizeof(uint32_t));
}

int32_t BaseOffset(Base base) {
  return static_cast<int32_t>(offsetof(Frame, base) + static_cast<size_t>(base) * sizeof(const uint8_t*));
}

}  // namespace

// The register that points at a header; loads it into `pointer` where none does for good.
Gp Emitter::BasePointer(Base base, Gp pointer) {
  if (base == Base::kNetwork) return map_of_registers_.network;
  if (base == Base::kTransport) return map_of_registers_.transport;
  a_.mov(pointer, qword_ptr(frame_, BaseOffset(base)));
  return pointer;
}

Mem Emitter::LoadPlace(const Row& row, Gp pointer) {
  return ptr(BasePointer(row.base(), pointer), static_cast<int32_t>(row.a));
}

// load with kOrZero: in line where the packet has the bytes, else by a call out of line.
void Emitter::EmitLoadOrZero(uint32_t row_index) {
  const Row& row = program_.rows[row_index];
  const ir::ValueId value(row_index);
  const Home& home = HomeOf(value);
  const Label slow = a_.newLabel(), done = a_.newLabel();
  if (row.base() == Base::kInner) {
    a_.jmp(slow);  // Whether there is an inner header is not known yet.
  } else {
    a_.cmp(dword_ptr(frame_, RoomOffset(row.base())), row.a + row.length);
    a_.jb(slow);
    if (home.place == Place::kRegister) {
      LoadPacked(ValueRegister(value), LoadPlace(row, kPointer), row.length);
      a_.mov(qword_ptr(rsp, static_cast<int32_t>(RegisterHome(home.index))), ValueRegister(value));
    } else {
      CopyBytes(SlotOf(value), LoadPlace(row, kPointer), row.length);
    }
  }
  a_.bind(done);
  pending_.push_back({Cold::Kind::kShortLoad, live_, 0, row_index, slow, done});
}

void Emitter::EmitShortLoad(const Cold& cold) {
  const Row& row = program_.rows[cold.row];
  const ir::ValueId value(cold.row);
  const Home& home = HomeOf(value);
  const bool in_register = home.place == Place::kRegister;
  const Mem out = in_register ? qword_ptr(rsp, static_cast<int32_t>(RegisterHome(home.index))) : SlotOf(value);
  if (in_register) a_.mov(out, 0);  // The call writes `length` bytes; the home has eight.
  a_.mov(edx, row.a);
  a_.mov(ecx, uint32_t{row.length});
  a_.lea(r8, out);
  a_.mov(rdi, frame_);
  a_.mov(esi, static_cast<uint32_t>(row.base()));
  Call(RuntimeCall::kLoadOrZero);
  if (in_register) a_.mov(ValueRegister(value), out);
  a_.jmp(cold.next);
}

Condition Emitter::EmitExthdr(uint32_t row_index) {
  const Row& row = program_.rows[row_index];
  // The seventh argument goes on the stack, which must stay a multiple of 16.
  const Mem out = SlotOf(ir::ValueId(row_index));
  a_.lea(kResult, out);
  a_.mov(rdi, frame_);
  a_.mov(esi, uint32_t{row.key});
  a_.mov(edx, row.a);
  a_.mov(ecx, row.b);
  a_.mov(r8d, uint32_t{row.flags});
  a_.mov(r9d, uint32_t{row.length});
  a_.sub(rsp, 16);
  a_.mov(qword_ptr(rsp), kResult);
  a_.call(qword_ptr(call_table_, static_cast<int32_t>(RuntimeCall::kExthdrLoad) * 8));
  a_.add(rsp, 16);
  Reload(live_ & ~kCalleeSavedValues);
  a_.test(eax, eax);
  return Condition::Flags(CondCode::kNZ);
}

Condition Emitter::EmitRoomGuard(const Row& row) {
  Base base = Base::kLink;
  switch (row.guard()) {
    case ir::GuardKind::kRoomNetwork:
      base = Base::kNetwork;
      break;
    case ir::GuardKind::kRoomTransport:
      base = Base::kTransport;
      break;
    case ir::GuardKind::kRoomInner:
      a_.mov(rdi, frame_);
      a_.mov(esi, row.a);
      Call(RuntimeCall::kRoomInner);
      a_.test(eax, eax);
      return Condition::Flags(CondCode::kNZ);
    default:
      break;
  }
  a_.cmp(dword_ptr(frame_, RoomOffset(base)), row.a - (Has(Fault::kBounds) ? 1 : 0));
  return Condition::Flags(CondCode::kAE);
}

}  // namespace nftjit::x86
