// Entry and exits of chains, calls into the runtime, and the tables behind the code.
#include "jit/x86/emitter.h"
#include "lib/runtime/calls.h"
#include "lib/runtime/frame.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.

namespace {

constexpr int32_t kRuleOffset = offsetof(Frame, rule);

template <class Function>
uint64_t Address(Function* function) {
  return reinterpret_cast<uint64_t>(function);
}

}  // namespace

// Base chains are entered from C, as `Outcome (const void* code, Frame* frame)`, others by chains.
void Emitter::EmitPrologue() {
  a_.bind(bodies_[chain_.index]);
  saved_.clear();
  if (program_.chains[chain_.index].base) {
    RegisterMask used = chain_plan_->registers;
    if (chain_plan_->jumps) {
      for (const ChainPlan& other : plan_.chains) used |= other.registers;
    }
    saved_.push_back(frame_);
    if (plan_.network) saved_.push_back(map_of_registers_.network);
    if (plan_.transport) saved_.push_back(map_of_registers_.transport);
    for (size_t i = 0; i < kCalleeSavedValueRegisters; ++i) {
      if ((used >> i & 1) != 0) saved_.push_back(map_of_registers_.values[i]);
    }
    for (const Gp& saved : saved_) a_.push(saved);
    a_.mov(frame_, rsi);
    const auto load = [&](Gp to, ir::Base base) {
      a_.mov(to, qword_ptr(frame_, static_cast<int32_t>(offsetof(Frame, base) + static_cast<size_t>(base) * 8)));
    };
    if (plan_.network) load(map_of_registers_.network, ir::Base::kNetwork);
    if (plan_.transport) load(map_of_registers_.transport, ir::Base::kTransport);
  }
  stack_bytes_ = chain_plan_->frame_bytes;
  // The return address and what was pushed leave rsp at an odd multiple of eight, or at an even one.
  if (chain_plan_->calls && saved_.size() % 2 == 0) stack_bytes_ += 8;
  if (stack_bytes_ != 0) a_.sub(rsp, stack_bytes_);
}

void Emitter::EmitEpilogue() {
  if (stack_bytes_ != 0) a_.add(rsp, stack_bytes_);
  for (auto saved = saved_.rbegin(); saved != saved_.rend(); ++saved) a_.pop(*saved);
  a_.ret();
}

const Label& Emitter::LabelOf(Label& exit) {
  if (!exit.isValid()) exit = a_.newLabel();
  return exit;
}

// Drop and accept: the rule is in eax. Other codes: kContinue returns it, kStolen stands for "the outcome is in eax".
const Label& Emitter::Exit(nft::VerdictCode code) {
  switch (code) {
    case nft::VerdictCode::kDrop:
      return LabelOf(exit_drop_);
    case nft::VerdictCode::kAccept:
      return LabelOf(exit_accept_);
    case nft::VerdictCode::kContinue:
      return LabelOf(exit_continue_);
    default:
      return LabelOf(exit_result_);
  }
}

// The tails that rules share. The counted ones find the counter's offset in ecx.
void Emitter::EmitExits() {
  const auto verdict = [&](int32_t outcome) {
    if (outcome == 0) {
      a_.xor_(eax, eax);
    } else {
      a_.mov(eax, outcome);
    }
    EmitEpilogue();
  };
  const auto count = [&] {
    a_.mov(dword_ptr(frame_, kRuleOffset), eax);
    a_.add(rcx, qword_ptr(frame_, offsetof(Frame, counters)));
    a_.mov(eax, dword_ptr(frame_, offsetof(Frame, length)));
    a_.add(qword_ptr(rcx, offsetof(CounterSlot, packets)), 1);
    a_.add(qword_ptr(rcx, offsetof(CounterSlot, bytes)), rax);
  };
  for (const int32_t outcome : {0, 1}) {
    const Label plain = outcome == 0 ? exit_drop_ : exit_accept_;
    const Label counted = outcome == 0 ? exit_counted_drop_ : exit_counted_accept_;
    if (counted.isValid()) {
      a_.bind(counted);
      count();
      verdict(outcome);
    }
    if (plain.isValid()) {
      a_.bind(plain);
      a_.mov(dword_ptr(frame_, kRuleOffset), eax);
      verdict(outcome);
    }
  }
  if (exit_result_.isValid()) {
    a_.bind(exit_result_);
    EmitEpilogue();
  }
}

void Emitter::Call(RuntimeCall function) {
  a_.call(qword_ptr(call_table_, static_cast<int32_t>(function) * 8));
  Reload(live_ & ~kCalleeSavedValues);
}

void Emitter::Call1(RuntimeCall function, uint32_t number) {
  a_.mov(rdi, frame_);
  a_.mov(esi, number);
  Call(function);
}

// Keeps the flags.
void Emitter::Reload(RegisterMask registers) {
  for (uint32_t i = 0; i < kValueRegisters; ++i) {
    if ((registers >> i & 1) == 0) continue;
    a_.mov(map_of_registers_.values[i], qword_ptr(rsp, static_cast<int32_t>(RegisterHome(i))));
  }
}

void Emitter::EmitTables() {
  using namespace calls;  // NOLINT(google-build-using-namespace): the one place where their addresses are taken.
  chain_ = ir::ChainId();
  MarkData();
  a_.align(asmjit::AlignMode::kZero, LiteralPool::kAlignment);
  a_.bind(call_table_);
  const uint64_t addresses[kRuntimeCalls] = {
      Address(nftjit_meta_load), Address(nftjit_meta_store),  Address(nftjit_meta_known),  Address(nftjit_ct_known),
      Address(nftjit_ct_load),   Address(nftjit_exthdr_load), Address(nftjit_room_inner),  Address(nftjit_load_or_zero),
      Address(nftjit_lookup),    Address(nftjit_map),         Address(nftjit_verdict_map), Address(nftjit_limit),
      Address(nftjit_log),
  };
  a_.embed(addresses, sizeof addresses);
  // Where chains begin, for verdict maps: distances from the table.
  a_.bind(chain_table_);
  const uint64_t table = code_.labelOffset(chain_table_);
  for (const Label& body : bodies_) a_.embedUInt32(static_cast<uint32_t>(code_.labelOffset(body) - table));
  a_.align(asmjit::AlignMode::kZero, LiteralPool::kAlignment);
  a_.bind(literals_label_);
  a_.embed(literals_.bytes().data(), literals_.bytes().size());
}

}  // namespace nftjit::x86
