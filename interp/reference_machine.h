// The reference engine's view of a run, and the meaning of the ops by family. Private to interp/reference*.cpp.
//
// A row is evaluated by the function of its family: a value row writes its value, a test row answers whether the rule
// goes on, an action acts. All are total on verified programs: what could fail in the kernel is a guard row before.
#ifndef NFTJIT_INTERP_REFERENCE_MACHINE_H_
#define NFTJIT_INTERP_REFERENCE_MACHINE_H_

#include <cstdint>
#include <vector>

#include "lib/ir/ir.h"
#include "lib/runtime/frame.h"
#include "lib/support/bytes.h"

namespace nftjit::reference {

// Where the values of a Program are kept while its chains run.
struct Layout {
  std::vector<uint32_t> slot;         // By row: offset of its value in the chain's part of the value stack.
  std::vector<uint32_t> chain_bytes;  // By chain: what its values take.
  std::vector<bool> acts;             // By set: an element has expressions, so that finding it does something.
};

inline bool Acts(const ir::SetElement& element) { return !element.counters.empty() || !element.limits.empty(); }

// Slots are multiples of this.
inline constexpr uint32_t kSlotAlignment = 8;

// One chain in the course of being run.
struct Machine {
  const ir::Program& program;
  const Layout& layout;
  Frame& frame;
  uint8_t* values;   // This chain's part of the value stack.
  uint8_t* unknown;  // Of cut frames, a flag for each kSlotAlignment bytes of it: the value is not known. Else null.

  [[nodiscard]] const ir::Row& row(uint32_t index) const { return program.rows[index]; }
  [[nodiscard]] ByteSpan Value(uint32_t index) const { return {values + layout.slot[index], row(index).length}; }
  [[nodiscard]] uint8_t* Result(uint32_t index) const { return values + layout.slot[index]; }
  [[nodiscard]] ByteSpan Constant(uint32_t index) const { return program.constants[ir::ConstId(index)]; }
};

// reference_payload.cpp: what packet and metadata hold.
void Load(const Machine& machine, uint32_t index);
void Meta(const Machine& machine, uint32_t index);
void Ct(const Machine& machine, uint32_t index);
bool Exthdr(const Machine& machine, uint32_t index);  // False: no such header, the rule does not match.
bool Guard(const Machine& machine, uint32_t index);

// reference_compare.cpp: values from values, and tests of them.
void Constant(const Machine& machine, uint32_t index);
void Stale(const Machine& machine, uint32_t index);
void Bitwise(const Machine& machine, uint32_t index);  // And, Or, Xor and their forms with two values.
void Shift(const Machine& machine, uint32_t index);
void Swap(const Machine& machine, uint32_t index);
void Concat(const Machine& machine, uint32_t index);
void Slice(const Machine& machine, uint32_t index);
void Zext(const Machine& machine, uint32_t index);
bool Test(const Machine& machine, uint32_t index);

// reference_lookup.cpp: sets and maps.
bool Lookup(const Machine& machine, uint32_t index);
bool Map(const Machine& machine, uint32_t index);

// reference_stateful.cpp: state of the Instance, and metadata that later rules see.
bool Limit(const Machine& machine, uint32_t index);
void Count(const Machine& machine, uint32_t index);
void Log(const Machine& machine, uint32_t index);
void SetMeta(const Machine& machine, uint32_t index);

// Does what the row says, whatever its family, unless it ends the rule. False: the rule (or block) does not match.
bool Evaluate(const Machine& machine, uint32_t index);

// reference_verdict.cpp: how a rule ends, and what follows from it.
enum class Certainty : uint8_t {
  kCertain,
  kMaybe,    // Only of kContinue: the rows may or may not have matched. A rule did nothing in either case.
  kUnknown,  // The verdict depends on missing bytes.
};
struct Verdict {
  nft::VerdictCode code = nft::VerdictCode::kContinue;
  ir::ChainId chain;  // Of jump and goto.
  Certainty certainty = Certainty::kCertain;
};
// Runs the rows of a rule or block until one does not match (kBreak) or gives a verdict other than kContinue.
Verdict RunRows(const Machine& machine, const ir::Item& item);
Verdict End(const Machine& machine, uint32_t index);  // Verdict, VerdictMap, Reject.
// Runs a chain and all it jumps to. A terminal verdict, or kContinue: it returned or fell off its end. Of a cut frame
// (`unknown` is not null), kUnknownOutcome.
Outcome RunChain(const ir::Program& program, const Layout& layout, Frame& frame, ir::ChainId chain, uint8_t* values,
                 uint8_t* unknown);

// reference_cut.cpp: RunRows() of cut frames. `maybe`: whether the rows are run at all is not known.
Verdict RunCutRows(const Machine& machine, const ir::Item& item, bool maybe);

}  // namespace nftjit::reference

#endif  // NFTJIT_INTERP_REFERENCE_MACHINE_H_
