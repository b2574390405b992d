// Lowering of one rule after the other; private to this folder. Each family of
// expressions has its file: lower_payload, lower_compare, lower_lookup,
// lower_stateful, lower_verdict, lower_meta, lower_exthdr. lower.cpp has the
// frame around.
#ifndef NFTJIT_LIB_IR_LOWERING_H_
#define NFTJIT_LIB_IR_LOWERING_H_

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>

#include <string>
#include <string_view>

#include "lib/ir/ir.h"
#include "lib/ir/lower.h"
#include "lib/ir/register_file.h"
#include "lib/nft/ruleset.h"

namespace nftjit::ir {

// What became of a set: an id, or why rules that look it up cannot run.
struct LoweredSet {
  SetId id;
  std::string unsupported;
};

// A table with its handles resolved.
struct TableScope {
  const nft::Table* table = nullptr;
  absl::flat_hash_map<nft::Handle, ChainId> chains;
  absl::flat_hash_map<nft::Handle, LoweredSet> sets;
};

// Adds every set of the table to `program` and to `scope`, whose chains must be
// there (lower_sets.cpp).
absl::Status LowerSets(Program& program, TableScope& scope);
LimitInfo LimitInfoOf(const nft::Limit& limit);

class RuleLowering {
 public:
  RuleLowering(Program& program, const LowerOptions& options) : p_(program), options_(options) {}

  // Appends the items of `chain` for its rules.
  absl::Status LowerChain(const TableScope& scope, const nft::Chain& chain, ChainId id);

 private:
  // What an expression means for those behind it.
  enum class Step : uint8_t {
    kNext,
    kEnd,          // They never run.
    kUnsupported,  // See unsupported_.
    kError,        // See error_.
  };

  Step LowerRule(const nft::Rule& rule);
  // Makes the rows from `first_row` on the item of the rule, or leaves the rule
  // out.
  void FinishRule(uint32_t first_row, Step step);
  // The counters that no row counts.
  void AddCounters(const nft::Rule& rule, size_t first_counter);

  Step Lower(const nft::Immediate& immediate);
  Step Lower(const nft::Cmp& cmp);
  Step Lower(const nft::Range& range);
  Step Lower(const nft::Bitwise& bitwise);
  Step LowerMaskXor(const nft::Bitwise& bitwise);
  Step LowerBitwiseConstant(const nft::Bitwise& bitwise);
  Step LowerBitwiseValue(const nft::Bitwise& bitwise);
  Step LowerShift(const nft::Bitwise& bitwise);
  Step Lower(const nft::Byteorder& byteorder);
  Step Lower(const nft::PayloadLoad& load);
  Step Lower(const nft::PayloadStore& store);
  Step Lower(const nft::MetaLoad& load);
  Step Lower(const nft::MetaStore& store);
  Step Lower(const nft::CtLoad& load);
  Step Lower(const nft::CtStore& store);
  Step Lower(const nft::Lookup& lookup);
  Step Lower(const nft::Counter& counter);
  Step Lower(const nft::Limit& limit);
  Step Lower(const nft::Log& log);
  Step Lower(const nft::Reject& reject);
  Step Lower(const nft::ExthdrLoad& load);
  Step Lower(const nft::ExthdrStore& store);
  Step Lower(const nft::ExthdrStrip& strip);
  Step Lower(const nft::CompatMatch& match);
  Step Lower(const nft::CompatTarget& target);
  // Everything that no engine runs.
  template <class Body>
  Step Lower(const Body&) {
    return Unsupported(nft::Name(expression_->body));
  }
  Step LowerVerdict(const nft::Verdict& verdict);

  Step Unsupported(std::string_view what);
  // `ruleset` breaks a promise of validation.
  Step Error(std::string_view what);

  // Rows get the origin of the current expression.
  ValueId Emit(const Row& row) {
    p_.rows.push_back(row);
    p_.origins.push_back(origin_);
    return ValueId(static_cast<uint32_t>(p_.rows.size() - 1));
  }
  void EmitGuard(GuardKind kind, uint32_t number = 0) { Emit({Op::kGuard, 0, static_cast<uint8_t>(kind), 0, number}); }
  // The guards of RequiredGuards(row), then the row.
  ValueId EmitGuarded(const Row& row);
  uint32_t Intern(ByteSpan bytes) { return p_.constants.Intern(bytes).index; }
  uint32_t InternText(const std::string& text);

  // Registers (vm-semantics 1). A range that leaves the file is an error in the
  // ruleset: false after noting it.
  bool CheckRange(nft::Register reg, size_t length);
  ValueId Read(nft::Register reg, size_t length) { return ReadBytes(reg.word() * 4U, length); }
  // `length` bytes from byte `begin` on, with the rows that piece them
  // together.
  ValueId ReadBytes(size_t begin, size_t length);
  ValueId ReadPiece(const RegisterFile::Piece& piece);
  // Stores a value as most expressions do: the rest of its last word becomes
  // zero.
  void Store(nft::Register reg, ValueId value, size_t length) {
    registers_.Write(reg.word() * 4U, value, length);
    registers_.ZeroRestOfWord(reg.word() * 4U + length);
  }

  Program& p_;
  const LowerOptions options_;
  const TableScope* scope_ = nullptr;
  const nft::Rule* rule_ = nullptr;
  const nft::Expression* expression_ = nullptr;
  RuleId rule_id_;
  Origin origin_;
  RegisterFile registers_;
  absl::flat_hash_map<std::string, uint32_t> texts_;  // Of Program::texts.
  std::string unsupported_;
  absl::Status error_;
};

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_LOWERING_H_
