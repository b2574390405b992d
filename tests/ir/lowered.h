// What small rulesets are lowered to.
#ifndef NFTJIT_TESTS_IR_LOWERED_H_
#define NFTJIT_TESTS_IR_LOWERED_H_

#include <string>
#include <string_view>
#include <vector>

#include "lib/ir/ir.h"
#include "lib/nft/ruleset.h"
#include "tests/support/model_builder.h"

namespace nftjit::ir {

std::string RawBytes(std::string_view hex);

using Rule = testing::Expressions;

// A table `inet t` with base chain `c` (handle 1, hook input), chain `d`
// (handle 2), and `rules` in c with handles from 10 on.
nft::Ruleset MakeRuleset(std::vector<Rule> rules);
nft::Set MakeSet(std::string name, nft::Handle handle, uint32_t flags, uint32_t key_len);

// Lowers, verifies and reads back what it prints, all of which must succeed.
Program MustLower(const nft::Ruleset& ruleset, bool partial = false);
// The rows of the first rule of `c`, one a line, with values from %0 on.
std::string RowsOf(const Program& program);
std::string LoweredRows(Rule rule);
// The register file in hex, a word at a time, after `rule` ran on `packet` (at
// the network header): registers are filled before with a0…af, b0…bf, c0…cf,
// d0…df, as in the kernel's own measurements. Evaluates the lowered rows.
std::string RegistersAfter(Rule rule, std::string_view packet_hex = {});

}  // namespace nftjit::ir

#endif  // NFTJIT_TESTS_IR_LOWERED_H_
