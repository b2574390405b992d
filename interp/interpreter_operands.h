// Values of the rule IR while a chain is encoded: which are read in place, which live in slots of the frame's scratch
// area, and when the instructions that compute them are made.
//
// Packet bytes, device names and plain metadata are read where they are used, as often as they are used: no operation
// changes packet bytes, and a read costs no more than a slot would. What is left of pure values is computed at its
// first use in a rule, so that a rule that fails early does not pay for it. Blocks compute theirs on entry.
#ifndef NFTJIT_INTERP_INTERPRETER_OPERANDS_H_
#define NFTJIT_INTERP_INTERPRETER_OPERANDS_H_

#include <bitset>
#include <optional>
#include <vector>

#include "interp/interpreter_code.h"
#include "lib/ir/ir.h"

namespace nftjit::interp {

class Operands {
 public:
  static constexpr uint32_t kSlotBytes = 16, kSlots = Frame::kScratchBytes / kSlotBytes;

  Operands(const ir::Program& program, Encoding& encoding)
      : program_(program), out_(encoding), slots_(program.rows.size(), kNoSlot), last_use_(program.rows.size(), 0) {}

  // A new chain: the first `kept` slots hold values of chains that jump to it.
  void BeginChain(uint32_t kept);
  // The highest slot that a block of the chain has used so far, plus one.
  [[nodiscard]] uint32_t kept() const { return kept_; }

  // Values of a block keep their slots until EndBlock().
  void BeginBlock(const ir::Item& block);
  void EndBlock(const ir::Item& block);
  // The slots of a rule's values are free again after their last use.
  void BeginRule(const ir::Item& rule);
  void AfterRow(uint32_t row);
  void EndRule(const ir::Item& rule);

  // Where the value can be read without computing anything; empty if there is no such place.
  [[nodiscard]] std::optional<Source> Direct(ir::ValueId value) const;
  // The same, after computing the value into a slot where that is needed.
  Source Read(ir::ValueId value);
  // One with an address.
  Source Address(ir::ValueId value);
  // Computes the value now, whether or not it is used later.
  uint32_t Compute(ir::ValueId value);
  // Reserves the slot of a value that an instruction of the caller's makes (exthdr, map).
  uint32_t Reserve(ir::ValueId value);

  // True if slots ran out: the encoding is of no use.
  [[nodiscard]] bool overflowed() const { return overflowed_; }
  [[nodiscard]] const ir::Row& row(ir::ValueId value) const { return program_.rows[value.index]; }

  Inst& Emit(const Inst& inst) {
    out_.insts.push_back(inst);
    return out_.insts.back();
  }
  // Puts bytes into Encoding::bytes.
  uint32_t Constant(ByteSpan bytes);

 private:
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  uint32_t Allocate(ir::ValueId value);
  void Free(ir::ValueId value);
  void MarkUses(const ir::Item& item);
  // Instructions that put the value's bytes at scratch offset `to`.
  void Into(ir::ValueId value, uint32_t to);
  void EmitUnary(const ir::Row& row, uint32_t to);

  const ir::Program& program_;
  Encoding& out_;
  std::vector<uint32_t> slots_;     // By value: its scratch offset.
  std::vector<uint32_t> last_use_;  // By value of the rule at hand: the last row that needs it.
  std::vector<ir::ValueId> live_;   // Values of the rule at hand that have a slot.
  std::bitset<kSlots> used_;
  uint32_t kept_ = 0;
  bool in_rule_ = false;
  bool overflowed_ = false;
};

}  // namespace nftjit::interp

#endif  // NFTJIT_INTERP_INTERPRETER_OPERANDS_H_
