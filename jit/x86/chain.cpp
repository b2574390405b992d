// The order of code: the line that a miss runs through first, everything else behind it.
//
// A rule that does not match must not take a branch: beyond some thousand taken branches the branch target buffer
// overflows, and each costs more than the tests of ten rules. So the first test of a rule branches out of the line when
// it passes; what follows in the rule is emitted behind each kRulesPerLine rules, where it stays within reach of
// caches. Exceptions are what nearly every packet passes (guards, and tests of the protocol before others): they stay
// in the line and branch when they fail.
#include <algorithm>

#include "jit/x86/emitter.h"
#include "jit/x86/native.h"

namespace nftjit::x86 {

using ir::Op;
using ir::Row;

namespace {

// A block under a condition is emitted out of line if it is not larger than this; skipping a larger one is worth a
// branch.
constexpr uint32_t kSmallBlockItems = 16;

bool CanFail(const Row& row) { return (ir::Info(row.op).effects & ir::kBreaks) != 0; }

}  // namespace

Emitter::Emitter(const ir::Program& program, const Plan& plan, const std::vector<std::vector<ColumnRun>>& columns,
                 const X86Options& options, asmjit::CodeHolder& code)
    : program_(program),
      plan_(plan),
      columns_(columns),
      options_(options),
      code_(code),
      a_(&code),
      map_of_registers_(MakeRegisterMap(options.register_map)),
      frame_(map_of_registers_.frame),
      avx2_(options.avx2) {
#ifndef NDEBUG
  a_.addDiagnosticOptions(asmjit::DiagnosticOptions::kValidateAssembler);
#endif
}

void Emitter::EmitProgram() {
  for (const ir::Item& item : program_.items) {
    for (uint32_t i = item.first_row; i < item.first_row + item.row_count; ++i) {
      const Row& row = program_.rows[i];
      const bool dead = ir::Info(row.op).kind == ir::OpKind::kValue && plan_.homes[i].place == Place::kNone;
      report_.rows += dead ? 0 : 1;
      report_.called_rows += !dead && CallsRuntime(program_, row) ? 1 : 0;
    }
  }
  literals_label_ = a_.newLabel();
  call_table_ = a_.newLabel();
  chain_table_ = a_.newLabel();
  for (size_t i = 0; i < program_.chains.size(); ++i) bodies_.push_back(a_.newLabel());
  for (uint32_t i = 0; i < program_.chains.size(); ++i) EmitChain(ir::ChainId(i));
  EmitTables();
}

uint64_t Emitter::EntryOffset(ir::ChainId chain) const { return code_.labelOffset(bodies_[chain.index]); }

void Emitter::EmitChain(ir::ChainId id) {
  const ir::Chain& chain = program_.chains[id.index];
  chain_ = id;
  chain_plan_ = &plan_.chains[id.index];
  live_ = 0;
  hot_rules_ = 0;
  exit_drop_ = exit_accept_ = exit_continue_ = exit_result_ = exit_counted_drop_ = exit_counted_accept_ = Label();
  a_.align(asmjit::AlignMode::kCode, 16);
  MarkChain();
  EmitPrologue();
  EmitItems(chain.first_item, chain.first_item + chain.item_count);
  MarkChain();
  a_.bind(Exit(nft::VerdictCode::kContinue));
  a_.mov(asmjit::x86::eax, static_cast<int32_t>(nft::VerdictCode::kContinue));
  EmitEpilogue();
  EmitPending();
  MarkChain();
  EmitExits();
}

void Emitter::EmitItems(uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end;) {
    if (!in_cold_ && hot_rules_ >= kRulesPerLine) EmitPendingInLine();
    if (const ColumnRun* run = RunAt(i)) {
      EmitRun(*run);
      i = run->end_item;
      continue;
    }
    if (program_.items[i].kind == ir::ItemKind::kBlock) {
      EmitBlock(i);
    } else {
      EmitRule(i);
    }
    i = program_.items[i].end;
  }
}

const ColumnRun* Emitter::RunAt(uint32_t item) const {
  const std::vector<ColumnRun>& runs = columns_[chain_.index];
  const auto run = std::lower_bound(runs.begin(), runs.end(), item,
                                    [](const ColumnRun& r, uint32_t first) { return r.first_item < first; });
  return run != runs.end() && run->first_item == item ? &*run : nullptr;
}

RegisterMask Emitter::RegistersOf(const ir::Item& item) const {
  RegisterMask mask = 0;
  for (uint32_t i = item.first_row; i < item.first_row + item.row_count; ++i) {
    const Home& home = plan_.homes[i];
    if (home.place == Place::kRegister) mask |= static_cast<RegisterMask>(1U << home.index);
  }
  return mask;
}

void Emitter::EmitRule(uint32_t item) {
  const RegisterMask outer = live_;
  live_ |= RegistersOf(program_.items[item]);
  const Label next = a_.newLabel();
  EmitRuleRows(item, program_.items[item].first_row, next, /*hot=*/true);
  a_.bind(next);
  live_ = outer;
  ++hot_rules_;
}

void Emitter::EmitBlock(uint32_t item) {
  const RegisterMask outer = live_;
  live_ |= RegistersOf(program_.items[item]);
  const Label end = a_.newLabel();
  EmitBlockRows(item, program_.items[item].first_row, end);
  a_.bind(end);
  live_ = outer;
}

// The rows of a block from `row` on, then its items. `end` is bound by the caller right behind.
void Emitter::EmitBlockRows(uint32_t item_index, uint32_t row, Label end) {
  const ir::Item& item = program_.items[item_index];
  const uint32_t last = item.first_row + item.row_count;
  const bool small = item.end - item_index <= kSmallBlockItems;
  for (; row < last; ++row) {
    Mark(CodePart::kBlock, item_index, row);
    const Row& content = program_.rows[row];
    const Condition condition =
        ir::Info(content.op).kind == ir::OpKind::kValue ? EmitValue(row) : EmitCondition(content);
    if (condition.kind == Condition::Kind::kAlways) continue;
    if (condition.kind == Condition::Kind::kNever) return;
    if (small && !ExpectedToPass(row, last)) {
      pending_.push_back({Cold::Kind::kBlock, live_, item_index, row + 1, a_.newLabel(), end});
      Branch(condition, pending_.back().entry);
      return;
    }
    Branch(condition.Negated(), end);
  }
  EmitItems(item_index + 1, item.end);
}

void Emitter::EmitRuleRows(uint32_t item_index, uint32_t row, Label next, bool hot) {
  const ir::Item& item = program_.items[item_index];
  const uint32_t last = item.first_row + item.row_count;
  for (; row < last; ++row) {
    Mark(hot ? CodePart::kRule : CodePart::kCold, item_index, row);
    if (last - row == 2 && EmitCountedVerdict(item_index, row)) return;
    Condition condition = Condition::Constant(true);
    if (EmitRuleRow(item_index, row, next, condition) == Next::kEnded) return;
    if (condition.kind == Condition::Kind::kAlways) continue;
    if (condition.kind == Condition::Kind::kNever) break;
    if (hot && !ExpectedToPass(row, last)) {
      if (row + 1 == last) return;
      pending_.push_back({Cold::Kind::kRule, live_, item_index, row + 1, a_.newLabel(), next});
      Branch(condition, pending_.back().entry);
      return;
    }
    Branch(condition.Negated(), next);
  }
  if (!hot) a_.jmp(next);
}

// One row of a rule; `condition` is set where it may end the rule.
Emitter::Next Emitter::EmitRuleRow(uint32_t item, uint32_t row_index, Label next, Condition& condition) {
  const Row& row = program_.rows[row_index];
  switch (row.op) {
    case Op::kConst:
    case Op::kStale:
    case Op::kLoad:
    case Op::kMeta:
    case Op::kCt:
    case Op::kExthdr:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
    case Op::kShl:
    case Op::kShr:
    case Op::kSwap:
    case Op::kConcat:
    case Op::kSlice:
    case Op::kZext:
    case Op::kMap:
      condition = EmitValue(row_index);
      return Next::kGoOn;
    case Op::kGuard:
    case Op::kTest:
    case Op::kLookup:
    case Op::kLimit:
      condition = EmitCondition(row);
      return Next::kGoOn;
    case Op::kCount:
      EmitCount(row);
      return Next::kGoOn;
    case Op::kLog:
      EmitLog(row);
      return Next::kGoOn;
    case Op::kSetMeta:
      EmitSetMeta(row);
      return Next::kGoOn;
    case Op::kVerdict:
      return EmitVerdict(item, row, next);
    case Op::kVerdictMap:
      EmitVerdictMap(item, row_index, next);
      return Next::kEnded;
    case Op::kReject:
      EmitReject(item, row);
      return Next::kEnded;
    case Op::kUnsupported:  // Refused before.
      return Next::kGoOn;
  }
  return Next::kGoOn;
}

Condition Emitter::EmitCondition(const Row& row) {
  switch (row.op) {
    case Op::kGuard:
      return EmitGuard(row);
    case Op::kTest:
      return EmitTest(row);
    case Op::kLookup:
      return EmitLookup(row);
    case Op::kLimit:
      return EmitLimit(row);
    default:
      return Condition::Constant(true);
  }
}

bool Emitter::ExpectedToPass(uint32_t row_index, uint32_t last_row) const {
  const Row& row = program_.rows[row_index];
  if (row.op == Op::kGuard) return true;
  if (row.op != Op::kTest || row.comparison() != ir::Comparison::kEq) return false;
  const Row& value = RowOf(row.value_a());
  if (value.op != Op::kMeta) return false;
  const auto key = static_cast<nft::MetaKey>(value.key);
  if (key != nft::MetaKey::kNfproto && key != nft::MetaKey::kL4proto && key != nft::MetaKey::kProtocol) return false;
  for (uint32_t i = row_index + 1; i < last_row; ++i) {
    if (program_.rows[i].op != Op::kGuard && CanFail(program_.rows[i])) return true;
  }
  return false;
}

void Emitter::Branch(Condition condition, Label target) { a_.j(condition.code, target); }

// What was put off, in the middle of a line of rules: the line goes on behind it.
void Emitter::EmitPendingInLine() {
  hot_rules_ = 0;
  if (pending_.empty()) return;
  const Label over = a_.newLabel();
  a_.jmp(over);
  EmitPending();
  a_.bind(over);
}

// Emits what was put off, and what is put off meanwhile.
void Emitter::EmitPending() {
  const RegisterMask outer = live_;
  in_cold_ = true;
  for (size_t i = 0; i < pending_.size(); ++i) {
    const Cold cold = pending_[i];
    a_.bind(cold.entry);
    live_ = cold.live;
    switch (cold.kind) {
      case Cold::Kind::kRule:
        EmitRuleRows(cold.item, cold.row, cold.next, /*hot=*/false);
        break;
      case Cold::Kind::kBlock:
        EmitBlockRows(cold.item, cold.row, cold.next);
        a_.jmp(cold.next);
        break;
      case Cold::Kind::kVerdictMap:
        EmitVerdictMapDispatch(cold);
        break;
      case Cold::Kind::kMapElement:
        EmitMapElement(cold);
        break;
      case Cold::Kind::kShortLoad:
        EmitShortLoad(cold);
        break;
      case Cold::Kind::kShortField:
        EmitShortField(cold);
        break;
      case Cold::Kind::kColumnGroup:
        EmitColumnGroup(cold);
        break;
    }
  }
  pending_.clear();
  in_cold_ = false;
  live_ = outer;
}

void Emitter::MarkChain() {
  if (!options_.engine.keep_code_map) return;
  map_.push_back({static_cast<uint32_t>(a_.offset()), CodePart::kChain, chain_, ir::RuleId(), ir::RowId()});
}

void Emitter::MarkData() {
  if (!options_.engine.keep_code_map) return;
  map_.push_back({static_cast<uint32_t>(a_.offset()), CodePart::kData, chain_, ir::RuleId(), ir::RowId()});
}

void Emitter::Mark(CodePart part, uint32_t item, uint32_t row) {
  if (!options_.engine.keep_code_map) return;
  map_.push_back({static_cast<uint32_t>(a_.offset()), part, chain_, program_.items[item].rule, ir::RowId(row)});
}

}  // namespace nftjit::x86
