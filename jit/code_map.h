// Which row of the IR each piece of machine code came from: one table for disassembly and profilers.
#ifndef NFTJIT_JIT_CODE_MAP_H_
#define NFTJIT_JIT_CODE_MAP_H_

#include <cstdint>
#include <vector>

#include "lib/ir/ir.h"

namespace nftjit::jit {

// What the code from an entry to the next one is.
enum class CodePart : uint8_t {
  kChain,    // Entry, exits and shared tails of `chain`.
  kBlock,    // Code of a block's row.
  kRule,     // Code of a rule's row, in the line that a miss runs through.
  kCold,     // Code of a rule's row, out of line.
  kColumns,  // Tests of several rules at once; `row` is of the first of them.
  kData,     // Constants and tables, not instructions.
};

struct CodeMapEntry {
  uint32_t offset;  // Bytes from the start of the arena; ascending over the map.
  CodePart part;
  ir::ChainId chain;
  ir::RuleId rule;  // Invalid where the code is of no single rule.
  ir::RowId row;    // Invalid where the code is of no single row.
};
using CodeMap = std::vector<CodeMapEntry>;

}  // namespace nftjit::jit

#endif  // NFTJIT_JIT_CODE_MAP_H_
