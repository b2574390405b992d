// From a verified ir::Program to an Encoding.
#ifndef NFTJIT_INTERP_INTERPRETER_ENCODER_H_
#define NFTJIT_INTERP_INTERPRETER_ENCODER_H_

#include <absl/status/statusor.h>

#include <array>
#include <span>
#include <vector>

#include "interp/interpreter_code.h"
#include "interp/interpreter_operands.h"
#include "interp/interpreter_table_builder.h"

namespace nftjit::interp {

// Encodes the chains that base chains reach.
//
// Errors: Unimplemented where values of a chain do not fit in the frame's scratch area; Internal for chains nested
// deeper than the kernel allows, or in a circle, and for operations that no engine runs.
absl::StatusOr<Encoding> Encode(const ir::Program& program, bool keep_rules);

// Reachable chains, each after all chains that jump to it. Errors as above.
absl::StatusOr<std::vector<ir::ChainId>> ChainsInOrder(const ir::Program& program);
// The chains that rules of a chain jump or go to, in order, possibly repeated.
std::vector<ir::ChainId> TargetsOf(const ir::Program& program, ir::ChainId chain);

class Encoder {
 public:
  Encoder(const ir::Program& program, bool keep_rules)
      : program_(program), keep_rules_(keep_rules), operands_(program, out_) {}
  absl::StatusOr<Encoding> Run();

 private:
  // Instructions whose `miss` is to be the place where the scope ends.
  using Misses = std::vector<uint32_t>;

  // interpreter_encoder.cpp: chains, blocks, rules, tables.
  void EncodeChain(ir::ChainId chain);
  void EncodeItems(uint32_t first, uint32_t end);
  void EncodeBlock(uint32_t index);
  void EncodeRules(std::span<const uint32_t> rules);
  void EncodeRule(const ir::Item& rule);
  void EncodeTable(std::span<const uint32_t> rules, TableRun run);
  // The rule's rows but those in `done`, which is sorted.
  void EncodeRows(const ir::Item& rule, std::span<const uint32_t> done, Misses& misses);
  void EncodeRow(uint32_t index, const ir::Item& rule, Misses& misses);

  // interpreter_encode_rows.cpp: single rows.
  void EncodeValue(uint32_t index, const ir::Item& item, Misses& misses);
  // True if the value has to be computed where it stands rather than where it is used.
  [[nodiscard]] bool IsComputedInPlace(uint32_t index, const ir::Item& item) const;
  void AddGuard(const ir::Row& row, Misses& misses);
  void AddNeeds(const Needs& needs);
  void EncodeTest(const ir::Row& row, Misses& misses);
  void EncodeBytesTest(const ir::Row& row, Misses& misses);
  void EncodeIntegerTest(const ir::Row& row, Misses& misses);
  void EncodeLookup(const ir::Row& row, Misses& misses);
  void EncodeAction(const ir::Row& row);
  void EncodeEnd(const ir::Row& row, ir::RuleId rule, Misses& misses);
  void EncodeVerdict(const ir::Row& row, ir::RuleId rule);

  // Guards are kept back to be folded into the next test; this makes instructions of those still waiting, but the ones
  // of `folded_into`, which takes them itself.
  void FlushGuards(Misses& misses, Inst* folded_into = nullptr);

  [[nodiscard]] uint32_t here() const { return static_cast<uint32_t>(out_.insts.size()); }
  void Patch(const Misses& misses);
  Inst& Emit(const Inst& inst) { return operands_.Emit(inst); }
  Inst& EmitTest(const Inst& inst, Misses& misses) {
    misses.push_back(here());
    return Emit(inst);
  }
  // Notes the rule of the instructions made since the last note.
  void NoteRule(uint32_t rule) {
    if (keep_rules_) out_.rule_of.resize(here(), rule);
  }
  const uint32_t* KeepColumns(const std::vector<uint32_t>& data);

  const ir::Program& program_;
  const bool keep_rules_;
  Encoding out_;
  Operands operands_;
  Needs waiting_;
  uint32_t count_at_ = UINT32_MAX;  // The rule's last instruction, if it is a kCount.
  absl::Status status_;
};

}  // namespace nftjit::interp

#endif  // NFTJIT_INTERP_INTERPRETER_ENCODER_H_
