// Emits the machine code of one Program: a class whose parts lie in files by family of ops (op_*.cpp), the order of
// code in chain.cpp.
//
// Conventions inside a chain: a row's code may clobber the scratch registers, xmm0-6 and the flags; values stay in
// their homes; rsp does not move. See registers.h and plan.h.
#ifndef NFTJIT_JIT_X86_EMITTER_H_
#define NFTJIT_JIT_X86_EMITTER_H_

#include <asmjit/x86.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/code_map.h"
#include "jit/x86/columns.h"
#include "jit/x86/literals.h"
#include "jit/x86/plan.h"
#include "jit/x86/registers.h"
#include "jit/x86/x86.h"
#include "lib/ir/ir.h"

namespace nftjit::x86 {

using asmjit::Imm;
using asmjit::Label;
using asmjit::x86::CondCode;
using asmjit::x86::Gp;
using asmjit::x86::Mem;
using jit::CodePart;

// How a test came out: known at compile time, or told by the flags.
struct Condition {
  enum class Kind : uint8_t { kFlags, kAlways, kNever };
  Kind kind = Kind::kFlags;
  CondCode code = CondCode::kZ;  // The test passed if this holds.

  static Condition Constant(bool passes) { return {passes ? Kind::kAlways : Kind::kNever, CondCode::kZ}; }
  static Condition Flags(CondCode code) { return {Kind::kFlags, code}; }
  [[nodiscard]] Condition Negated() const {
    if (kind == Kind::kFlags) return Flags(asmjit::x86::negateCond(code));
    return Constant(kind == Kind::kNever);
  }
};

// Functions of runtime/calls.h, by their place in the arena's call table.
enum class RuntimeCall : uint8_t {
  kMetaLoad,
  kMetaStore,
  kMetaKnown,
  kCtKnown,
  kCtLoad,
  kExthdrLoad,
  kRoomInner,
  kLoadOrZero,
  kLookup,
  kMap,
  kVerdictMap,
  kLimit,
  kLog,
};
inline constexpr size_t kRuntimeCalls = 13;

// Rules in a line before what was put off is emitted behind them.
inline constexpr uint32_t kRulesPerLine = 256;

class Emitter {
 public:
  // `columns` by chain.
  Emitter(const ir::Program& program, const Plan& plan, const std::vector<std::vector<ColumnRun>>& columns,
          const X86Options& options, asmjit::CodeHolder& code);

  // Emits everything. Errors are asmjit's, and go to the CodeHolder's error handler.
  void EmitProgram();

  [[nodiscard]] uint64_t EntryOffset(ir::ChainId chain) const;  // Of a base chain, from the start of the code.
  [[nodiscard]] jit::CodeMap TakeMap() { return std::move(map_); }
  [[nodiscard]] const X86Report& report() const { return report_; }

 private:
  enum class Next : uint8_t { kGoOn, kEnded };  // Whether code behind a row is reached from it.

  // Code to be emitted out of line.
  struct Cold {
    enum class Kind : uint8_t { kRule, kBlock, kVerdictMap, kMapElement, kShortLoad, kShortField, kColumnGroup };
    Kind kind;
    RegisterMask live;
    // kRule and kBlock: the row to go on with. kVerdictMap, kMapElement, kShortLoad: the row itself. kShortField,
    // kColumnGroup: the first item of the run, and the group's first rule in it.
    uint32_t item, row;
    Label entry, next;     // `next`: where the rule, block or group ends, or where the value is there.
    uint32_t element = 0;  // kMapElement: of the verdict map.
  };

  // chain.cpp: order of code.
  void EmitChain(ir::ChainId chain);
  void EmitItems(uint32_t first, uint32_t end);
  void EmitRule(uint32_t item);
  void EmitBlock(uint32_t item);
  void EmitBlockRows(uint32_t item, uint32_t row, Label end);
  void EmitRuleRows(uint32_t item, uint32_t row, Label next, bool hot);
  Next EmitRuleRow(uint32_t item, uint32_t row, Label next, Condition& condition);
  Condition EmitCondition(const ir::Row& row);
  void EmitPendingInLine();
  void EmitPending();
  [[nodiscard]] RegisterMask RegistersOf(const ir::Item& item) const;
  [[nodiscard]] bool ExpectedToPass(uint32_t row, uint32_t last_row) const;
  void Branch(Condition condition, Label target);  // Jumps if the test passed.
  void Mark(CodePart part, uint32_t item, uint32_t row);
  void MarkChain();
  void MarkData();
  [[nodiscard]] const ColumnRun* RunAt(uint32_t item) const;  // Null: none begins there.

  // entry.cpp: entry, exits, calls.
  void EmitPrologue();
  void EmitEpilogue();  // Releases the chain's memory, restores registers and returns.
  void EmitExits();
  void EmitTables();
  const Label& Exit(nft::VerdictCode code);
  const Label& LabelOf(Label& exit);  // Makes it at its first use.
  void Call(RuntimeCall function);    // Then reloads the values that the call clobbered. Keeps the flags of the result.
  void Reload(RegisterMask registers);
  void Call1(RuntimeCall function, uint32_t number);

  // value.cpp: operands.
  const ir::Row& RowOf(ir::ValueId value) const { return program_.rows[value.index]; }
  const Home& HomeOf(ir::ValueId value) const { return plan_.homes[value.index]; }
  Gp ValueRegister(ir::ValueId value) const { return map_of_registers_.values[HomeOf(value).index]; }
  bool InRegister(ir::ValueId value) const { return HomeOf(value).place == Place::kRegister; }
  // Computes a value for its home. Empty condition kAlways, or whether it did not break.
  Condition EmitValue(uint32_t row);
  // The address of a value's bytes. `pointer` may be clobbered and be part of it; clobbers kOther and flags.
  Mem PlaceOf(ir::ValueId value, Gp pointer);
  // A value of at most 8 bytes, zero extended. Clobbers kPointer, kOther and flags; `to` may be any but kPointer.
  void Evaluate(Gp to, ir::ValueId value);
  void EvaluateRow(Gp to, const ir::Row& row);
  // Writes all bytes of a value. Clobbers all scratch registers.
  void Store(const Mem& to, ir::ValueId value);
  void StoreRow(const Mem& to, const ir::Row& row);
  void LoadPacked(Gp to, const Mem& from, uint32_t length);
  void StorePacked(const Mem& to, Gp from, uint32_t length);  // Clobbers `from`.
  void CopyBytes(const Mem& to, const Mem& from, uint32_t length);
  void FillZero(const Mem& to, uint32_t length);
  ByteSpan BytesOf(uint32_t constant) const { return program_.constants[ir::ConstId(constant)]; }
  Mem Literal(ByteSpan bytes, size_t alignment = 8);
  Mem Literal64(uint64_t value);
  Mem SlotOf(ir::ValueId value) const;
  void MoveConstant(Gp to, uint64_t value);

  // op_payload.cpp
  Gp BasePointer(ir::Base base, Gp pointer);
  Mem LoadPlace(const ir::Row& row, Gp pointer);
  void EmitLoadOrZero(uint32_t row);
  void EmitShortLoad(const Cold& cold);
  Condition EmitExthdr(uint32_t row);
  Condition EmitRoomGuard(const ir::Row& row);

  // op_meta.cpp
  Mem FactPlace(const ir::Row& row, Gp pointer);
  void EvaluateFact(Gp to, const ir::Row& row);
  void EmitMetaCall(uint32_t row);
  void EmitCtCall(uint32_t row);
  Condition EmitGuard(const ir::Row& row);
  void EmitSetMeta(const ir::Row& row);

  // op_bitwise.cpp
  void EvaluateLogic(Gp to, const ir::Row& row);
  void EvaluateShift(Gp to, const ir::Row& row);
  void EvaluateSwap(Gp to, const ir::Row& row);
  void EvaluateSlice(Gp to, const ir::Row& row);
  void StoreLogic(const Mem& to, const ir::Row& row);
  void StoreShift(const Mem& to, const ir::Row& row);
  void StoreSwap(const Mem& to, const ir::Row& row);

  // op_compare.cpp
  using Row = ir::Row;
  struct Comparand;
  Condition EmitTest(const ir::Row& row);
  void FoldOperand(Comparand& test) const;
  Condition EmitEquality(Comparand& test);
  Condition EmitNarrowEquality(const Comparand& test);
  Condition EmitWideEquality(const Comparand& test);
  Condition CompareEqual(const Mem& operand, uint32_t width, uint64_t mask, uint64_t value);
  Condition CompareEqual(Gp operand, uint32_t width, uint64_t mask, uint64_t value);
  Condition EmitOrder(const Comparand& test);
  Condition EmitNarrowOrder(const Comparand& test);
  Condition EmitWideOrder(const Comparand& test);
  void EmitBelow(const Mem& operand, uint32_t length, std::span<const uint8_t> bound);

  void ToInteger(uint32_t length);  // Packed bytes in eax or rax to the integer of the same order.

  // column_code.cpp
  void EmitRun(const ColumnRun& run);
  void EmitColumnField(const ColumnField& field);
  void EmitColumnBroadcast(const ColumnField& field);
  void EmitColumnTests(const ColumnRun& run, uint32_t first, uint32_t count);
  void EmitShortField(const Cold& cold);
  void EmitColumnGroup(const Cold& cold);
  bool EmitUniformEnds(std::span<const ColumnRule> rules);
  void EmitCandidates(std::span<const ColumnRule> rules);
  bool EmitRoomMasks(const ColumnRun& run, std::span<const ColumnRule> rules);

  // op_lookup.cpp
  void KeyArgument(ir::ValueId key);
  Condition EmitLookup(const ir::Row& row);
  Condition EmitSmallLookup(const ir::Row& row, const ir::SetInfo& set);
  void EmitKeyCompares(const ir::SetInfo& set);
  Condition EmitMap(uint32_t row);

  // op_stateful.cpp
  void EmitCount(const ir::Row& row);
  Condition EmitLimit(const ir::Row& row);
  void EmitLog(const ir::Row& row);

  // op_verdict.cpp
  Next EmitVerdict(uint32_t item, const ir::Row& row, Label next);
  void EmitReject(uint32_t item, const ir::Row& row);
  void EmitVerdictMap(uint32_t item, uint32_t row, Label next);
  void EmitSmallVerdictMap(uint32_t item, uint32_t row, const ir::SetInfo& set, Label next);
  void EmitMapElement(const Cold& cold);
  void EmitVerdictMapDispatch(const Cold& cold);
  // Control to a chain: `target` is a label or a register.
  void EmitJump(const asmjit::Operand& target, Label next);
  void EmitGoto(const asmjit::Operand& target);
  bool EmitCountedVerdict(uint32_t item, uint32_t row);

  const ir::Program& program_;
  const Plan& plan_;
  const std::vector<std::vector<ColumnRun>>& columns_;
  const X86Options& options_;
  asmjit::CodeHolder& code_;
  asmjit::x86::Assembler a_;
  RegisterMap map_of_registers_;
  Gp frame_;
  bool avx2_;
  LiteralPool literals_;
  Label literals_label_, call_table_, chain_table_;
  std::vector<Label> bodies_;  // By chain.
  jit::CodeMap map_;
  X86Report report_;

  // The chain being emitted.
  ir::ChainId chain_;
  const ChainPlan* chain_plan_ = nullptr;
  std::vector<Gp> saved_;     // Pushed by the entry.
  uint32_t stack_bytes_ = 0;  // What the prologue takes from rsp.
  RegisterMask live_ = 0;     // Values in registers here.
  std::vector<Cold> pending_;
  uint32_t hot_rules_ = 0;  // Since pending code was last emitted.
  bool in_cold_ = false;
  Label exit_drop_, exit_accept_, exit_continue_, exit_result_;
  Label exit_counted_drop_, exit_counted_accept_;
};

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_EMITTER_H_
