// Facts beside the packet's bytes: meta, ct, set, and the guards of their presence.
#include "jit/x86/emitter.h"
#include "jit/x86/native.h"
#include "lib/runtime/frame.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Row;
using nft::MetaKey;

namespace {

// What a device that is not there looks like: all zeros.
constexpr uint8_t kNoDevice[sizeof(Interface)] = {};

}  // namespace

Mem Emitter::FactPlace(const Row& row, Gp pointer) {
  const Fact fact = *FactOf(row);
  int32_t holder = 0;
  switch (fact.holder) {
    case Fact::Holder::kFrame:
      return ptr(frame_, fact.offset);
    case Fact::Holder::kPacket:
      holder = offsetof(Frame, packet);
      break;
    case Fact::Holder::kInputDevice:
      holder = offsetof(Frame, iif);
      break;
    case Fact::Holder::kOutputDevice:
      holder = offsetof(Frame, oif);
      break;
    case Fact::Holder::kConntrack:
      holder = offsetof(Frame, ct);
      break;
  }
  a_.mov(pointer, qword_ptr(frame_, holder));
  if (fact.may_lack) {
    a_.lea(kOther, Sized(Literal(kNoDevice, 16), 0, 0));
    a_.test(pointer, pointer);
    a_.cmovz(pointer, kOther);
  }
  return ptr(pointer, fact.offset);
}

void Emitter::EvaluateFact(Gp to, const Row& row) {
  LoadPacked(to, FactPlace(row, kPointer), row.length);
  if (FactOf(row)->swapped) a_.rol(to.r16(), 8);
}

void Emitter::EmitMetaCall(uint32_t row_index) {
  const Row& row = program_.rows[row_index];
  a_.lea(rcx, SlotOf(ir::ValueId(row_index)));
  a_.mov(edx, uint32_t{row.length});
  a_.mov(rdi, frame_);
  a_.mov(esi, uint32_t{row.key});
  Call(RuntimeCall::kMetaLoad);
}

void Emitter::EmitCtCall(uint32_t row_index) {
  const Row& row = program_.rows[row_index];
  a_.lea(r8, SlotOf(ir::ValueId(row_index)));
  a_.mov(ecx, uint32_t{row.length});
  a_.mov(edx, uint32_t{row.flags});
  a_.mov(rdi, frame_);
  a_.mov(esi, uint32_t{row.key});
  Call(RuntimeCall::kCtLoad);
}

Condition Emitter::EmitGuard(const Row& row) {
  const auto flag = [&](size_t offset) {
    a_.cmp(byte_ptr(frame_, static_cast<int32_t>(offset)), 0);
    return Condition::Flags(CondCode::kNE);
  };
  const auto device = [&](size_t offset) {
    a_.cmp(qword_ptr(frame_, static_cast<int32_t>(offset)), 0);
    return Condition::Flags(CondCode::kNE);
  };
  switch (row.guard()) {
    case ir::GuardKind::kRoomLink:
    case ir::GuardKind::kRoomNetwork:
    case ir::GuardKind::kRoomTransport:
    case ir::GuardKind::kRoomInner:
      return EmitRoomGuard(row);
    case ir::GuardKind::kUnfragmented:
      return flag(offsetof(Frame, unfragmented));
    case ir::GuardKind::kL4:
      return flag(offsetof(Frame, l4_valid));
    case ir::GuardKind::kIif:
      return device(offsetof(Frame, iif));
    case ir::GuardKind::kOif:
      return device(offsetof(Frame, oif));
    case ir::GuardKind::kCtEntry:
      a_.mov(kPointer, qword_ptr(frame_, offsetof(Frame, ct)));
      a_.cmp(byte_ptr(kPointer, offsetof(Conntrack, has_entry)), 0);
      return Condition::Flags(CondCode::kNE);
    case ir::GuardKind::kMetaKnown:
      a_.mov(rdi, frame_);
      a_.mov(esi, row.a);
      Call(RuntimeCall::kMetaKnown);
      break;
    case ir::GuardKind::kCtKnown:
      a_.mov(rdi, frame_);
      a_.mov(esi, row.a & 0xff);
      a_.mov(edx, row.a >> 8);
      Call(RuntimeCall::kCtKnown);
      break;
  }
  a_.test(eax, eax);
  return Condition::Flags(CondCode::kNZ);
}

void Emitter::EmitSetMeta(const Row& row) {
  const auto key = static_cast<MetaKey>(row.key);
  if (CallsRuntime(program_, row)) {
    KeyArgument(row.value_a());
    a_.mov(rdi, frame_);
    a_.mov(esi, uint32_t{row.key});
    return Call(RuntimeCall::kMetaStore);
  }
  Evaluate(kResult, row.value_a());
  a_.mov(kPointer, qword_ptr(frame_, offsetof(Frame, packet)));
  const size_t field = key == MetaKey::kMark ? offsetof(Packet, mark) : offsetof(Packet, priority);
  a_.mov(dword_ptr(kPointer, static_cast<int32_t>(field)), eax);
}

}  // namespace nftjit::x86
