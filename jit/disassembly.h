// Machine code as text.
#ifndef NFTJIT_JIT_DISASSEMBLY_H_
#define NFTJIT_JIT_DISASSEMBLY_H_

#include <cstdint>
#include <span>
#include <string>

#include "jit/code_map.h"
#include "lib/ir/ir.h"

namespace nftjit::jit {

// One line an instruction, addresses as offsets from the start of `code`; in front of each piece of code, the chain,
// the rule (as its IR prints) or the row that it came from. Without a map: the instructions alone.
std::string Disassemble(std::span<const uint8_t> code, const CodeMap& map, const ir::Program& program);

}  // namespace nftjit::jit

#endif  // NFTJIT_JIT_DISASSEMBLY_H_
