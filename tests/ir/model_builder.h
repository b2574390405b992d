// Builds small rulesets in code, and shows what they are lowered to.
#ifndef NFTJIT_TESTS_IR_MODEL_BUILDER_H_
#define NFTJIT_TESTS_IR_MODEL_BUILDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "lib/ir/ir.h"
#include "lib/nft/ruleset.h"

namespace nftjit::ir {

// From hex; blanks between the digits are allowed.
std::string RawBytes(std::string_view hex);
Bytes16 ToBytes16(std::string_view hex);
// By the kernel's number: 0 to 4, 8 to 23.
nft::Register Reg(uint32_t number);

nft::Expression Immediate(uint32_t dreg, std::string_view hex);
nft::Expression Verdict(nft::VerdictCode code, nft::Handle chain = 0);
nft::Expression Cmp(uint32_t sreg, nft::CmpOp op, std::string_view hex);
inline nft::Expression Eq(uint32_t sreg, std::string_view hex) { return Cmp(sreg, nft::CmpOp::kEq, hex); }
nft::Expression Range(uint32_t sreg, nft::RangeOp op, std::string_view from, std::string_view to);
nft::Expression MaskXor(uint32_t sreg, uint32_t dreg, std::string_view mask, std::string_view xor_bits);
// And, or, xor with a constant.
nft::Expression BitwiseConstant(nft::BitwiseOp op, uint32_t sreg, uint32_t dreg, std::string_view data);
nft::Expression BitwiseValue(nft::BitwiseOp op, uint32_t sreg, uint32_t sreg2, uint32_t dreg, uint8_t length);
nft::Expression Shift(nft::BitwiseOp op, uint32_t sreg, uint32_t dreg, uint8_t length, uint32_t count);
nft::Expression Byteorder(uint32_t sreg, uint32_t dreg, uint8_t length, uint8_t size);
nft::Expression Load(nft::PayloadBase base, uint16_t offset, uint8_t length, uint32_t dreg);
nft::Expression Meta(nft::MetaKey key, uint32_t dreg);
nft::Expression Ct(nft::CtKey key, uint32_t dreg, std::optional<nft::Direction> direction = std::nullopt);
nft::Expression Lookup(nft::Handle set, uint32_t sreg, std::optional<uint32_t> dreg = std::nullopt,
                       bool inverted = false);
inline nft::Expression Of(nft::ExpressionBody body) { return {std::move(body), nullptr}; }

using Rule = std::vector<nft::Expression>;

// A table `inet t` with base chain `c` (handle 1, hook input), chain `d`
// (handle 2), and `rules` in c with handles from 10 on.
nft::Ruleset MakeRuleset(std::vector<Rule> rules);
nft::Set MakeSet(std::string name, nft::Handle handle, uint32_t flags, uint32_t key_len);
nft::Element MakeElement(std::string_view key_hex, uint32_t flags = 0);

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

#endif  // NFTJIT_TESTS_IR_MODEL_BUILDER_H_
