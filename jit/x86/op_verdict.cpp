// The ends of rules: verdict, vmap, reject; control between chains.
#include "jit/x86/emitter.h"
#include "jit/x86/native.h"
#include "jit/x86/small_set.h"
#include "lib/runtime/frame.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Op;
using ir::Row;
using nft::VerdictCode;

Emitter::Next Emitter::EmitVerdict(uint32_t item, const Row& row, Label next) {
  switch (row.verdict()) {
    case VerdictCode::kContinue:
      return Next::kGoOn;
    case VerdictCode::kBreak:
      a_.jmp(next);
      return Next::kEnded;
    case VerdictCode::kJump:
      EmitJump(bodies_[row.a], next);
      return Next::kEnded;
    case VerdictCode::kGoto:
      EmitGoto(bodies_[row.a]);
      return Next::kEnded;
    case VerdictCode::kReturn:
      a_.jmp(Exit(VerdictCode::kContinue));
      return Next::kEnded;
    case VerdictCode::kDrop:
    case VerdictCode::kAccept:
      a_.mov(eax, program_.items[item].rule.index);
      a_.jmp(Exit(row.verdict()));
      return Next::kEnded;
    case VerdictCode::kStolen:
    case VerdictCode::kQueue:
      break;
  }
  // No rule of nf_tables can say these as a constant; the outcome is the code all the same.
  a_.mov(dword_ptr(frame_, offsetof(Frame, rule)), program_.items[item].rule.index);
  a_.mov(eax, static_cast<int32_t>(row.verdict()));
  a_.jmp(LabelOf(exit_result_));
  return Next::kEnded;
}

// `count` and a final verdict as the last two rows: one shared tail.
bool Emitter::EmitCountedVerdict(uint32_t item, uint32_t row) {
  const Row& count = program_.rows[row];
  const Row& verdict = program_.rows[row + 1];
  if (count.op != Op::kCount || verdict.op != Op::kVerdict) return false;
  if (verdict.verdict() != VerdictCode::kDrop && verdict.verdict() != VerdictCode::kAccept) return false;
  a_.mov(eax, program_.items[item].rule.index);
  a_.mov(ecx, static_cast<uint32_t>(count.a * sizeof(CounterSlot)));
  a_.jmp(LabelOf(verdict.verdict() == VerdictCode::kDrop ? exit_counted_drop_ : exit_counted_accept_));
  return true;
}

void Emitter::EmitReject(uint32_t item, const Row& row) {
  a_.mov(dword_ptr(frame_, offsetof(Frame, reject)), kRejected | uint32_t{row.key} << 8 | (row.a & 0xff));
  a_.mov(eax, program_.items[item].rule.index);
  a_.jmp(Exit(VerdictCode::kDrop));
}

// Looks up; anything but a break goes on out of line, with the verdict in rax.
void Emitter::EmitVerdictMap(uint32_t item, uint32_t row_index, Label next) {
  const Row& row = program_.rows[row_index];
  if (const ir::SetInfo* set = SmallSetOf(program_, row)) return EmitSmallVerdictMap(item, row_index, *set, next);
  KeyArgument(row.value_a());
  a_.mov(rdi, frame_);
  a_.mov(esi, row.b);
  Call(RuntimeCall::kVerdictMap);
  a_.cmp(eax, static_cast<int32_t>(VerdictCode::kBreak));
  pending_.push_back({Cold::Kind::kVerdictMap, live_, item, row_index, a_.newLabel(), next});
  Branch(Condition::Flags(CondCode::kNE), pending_.back().entry);
  if (in_cold_) a_.jmp(next);  // In the line, it follows.
}

// A compare and a branch for each key, what it leads to out of line.
void Emitter::EmitSmallVerdictMap(uint32_t item, uint32_t row_index, const ir::SetInfo& set, Label next) {
  if (!set.elements.empty()) Evaluate(kResult, program_.rows[row_index].value_a());
  for (uint32_t i = 0; i < set.elements.size(); ++i) {
    const Cold cold{Cold::Kind::kMapElement, live_, item, row_index, a_.newLabel(), next, i};
    pending_.push_back(cold);
    a_.cmp(eax, PackedKey(set.elements[i]));
    a_.je(cold.entry);
  }
  if (in_cold_) a_.jmp(next);
}

void Emitter::EmitMapElement(const Cold& cold) {
  Mark(CodePart::kCold, cold.item, cold.row);
  const ir::SetElement& element = program_.sets[program_.rows[cold.row].b].elements[cold.element];
  Row verdict{};
  verdict.op = Op::kVerdict;
  verdict.key = static_cast<uint8_t>(element.verdict);
  verdict.a = element.chain.index;
  if (EmitVerdict(cold.item, verdict, cold.next) == Next::kEnded) return;
  EmitRuleRows(cold.item, cold.row + 1, cold.next, /*hot=*/false);
}

void Emitter::EmitVerdictMapDispatch(const Cold& cold) {
  Mark(CodePart::kCold, cold.item, cold.row);
  const Label transfer = a_.newLabel(), jump = a_.newLabel(), go_on = a_.newLabel();
  a_.cmp(eax, static_cast<int32_t>(VerdictCode::kContinue));
  a_.je(go_on);
  a_.jl(transfer);
  a_.mov(dword_ptr(frame_, offsetof(Frame, rule)), program_.items[cold.item].rule.index);
  a_.jmp(LabelOf(exit_result_));

  a_.bind(transfer);
  a_.cmp(eax, static_cast<int32_t>(VerdictCode::kReturn));
  a_.je(Exit(VerdictCode::kContinue));
  a_.mov(ecx, eax);
  a_.shr(rax, 32);  // The chain.
  a_.lea(rdx, ptr(chain_table_));
  a_.movsxd(rax, dword_ptr(rdx, rax, 2));
  a_.add(rax, rdx);
  a_.cmp(ecx, static_cast<int32_t>(VerdictCode::kJump));
  a_.je(jump);
  EmitGoto(rax);
  a_.bind(jump);
  EmitJump(rax, cold.next);

  a_.bind(go_on);
  EmitRuleRows(cold.item, cold.row + 1, cold.next, /*hot=*/false);
}

void Emitter::EmitJump(const asmjit::Operand& target, Label next) {
  a_.emit(Inst::kIdCall, target);
  a_.test(eax, eax);
  a_.jns(LabelOf(exit_result_));
  Reload(live_);
  a_.jmp(next);
}

// From a base chain a goto is a call whose outcome is the chain's own: the registers of the C caller are still to be
// restored.
void Emitter::EmitGoto(const asmjit::Operand& target) {
  if (program_.chains[chain_.index].base) {
    a_.emit(Inst::kIdCall, target);
    a_.jmp(LabelOf(exit_result_));
    return;
  }
  if (stack_bytes_ != 0) a_.add(rsp, stack_bytes_);
  a_.emit(Inst::kIdJmp, target);
}

}  // namespace nftjit::x86
