// Random valid Programs over every op, with constants that a given packet nearly meets.
#ifndef NFTJIT_TESTS_X86_RANDOM_PROGRAM_H_
#define NFTJIT_TESTS_X86_RANDOM_PROGRAM_H_

#include <cstdint>
#include <span>

#include "lib/ir/ir.h"

namespace nftjit::testing {

struct ProgramShape {
  uint32_t rules = 12;          // Of the base chain, those in blocks included.
  uint32_t block_values = 4;    // At most, per block.
  uint32_t block_percent = 25;  // Of items.
  bool columns = false;         // Mostly rules that begin with a test of one field.
};

// Chain 0 is a base chain of the inet family at the input hook; the others can be jumped to, in ascending order.
// `sample` is an IPv4 packet: tests of its bytes pass about every other time.
ir::Program RandomProgram(uint64_t seed, std::span<const uint8_t> sample, const ProgramShape& shape);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_X86_RANDOM_PROGRAM_H_
