// Rulesets of tests as models, written short: nft::Ruleset by hand.
//
//   RulesetBuilder rules;
//   rules.Table(nft::Family::kIp, "t");
//   nft::Handle chain = rules.BaseChain("c", nft::kPrerouting, -300);
//   rules.Rule(chain, {Load(Base::kNetwork, 9, 1, R1), Eq(R1, "11"), Count(), Give(VerdictCode::kDrop)});
#ifndef NFTJIT_TESTS_SUPPORT_MODEL_BUILDER_H_
#define NFTJIT_TESTS_SUPPORT_MODEL_BUILDER_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/nft/ruleset.h"
#include "tests/support/packets.h"

namespace nftjit::testing {

inline constexpr nft::Register R1 = nft::Register::Word(0), R2 = nft::Register::Word(4), R3 = nft::Register::Word(8),
                               R4 = nft::Register::Word(12);
// A 32-bit register by its netlink number, 8 to 23.
inline nft::Register R32(uint32_t number) { return *nft::Register::FromNetlink(number); }

using Expressions = std::vector<nft::Expression>;
inline nft::Expression Make(nft::ExpressionBody body) { return nft::Expression{std::move(body), nullptr}; }
inline Bytes16 Constant(const Bytes& bytes) { return Bytes16(ByteSpan(bytes.data(), bytes.size())); }
inline Bytes16 Constant(std::string_view hex) { return Constant(FromHex(hex)); }

// Constants are hex of register bytes.
inline nft::Expression Set(nft::Register reg, std::string_view hex) {
  return Make(nft::Immediate{reg, Constant(hex), {}});
}
inline nft::Expression Load(nft::PayloadBase base, uint16_t offset, uint8_t len, nft::Register reg) {
  return Make(nft::PayloadLoad{reg, base, offset, len});
}
inline nft::Expression Compare(nft::Register reg, nft::CmpOp op, std::string_view hex) {
  return Make(nft::Cmp{reg, op, Constant(hex)});
}
inline nft::Expression Eq(nft::Register reg, std::string_view hex) { return Compare(reg, nft::CmpOp::kEq, hex); }
inline nft::Expression InRange(nft::Register reg, nft::RangeOp op, std::string_view from, std::string_view to) {
  return Make(nft::Range{reg, op, Constant(from), Constant(to)});
}
inline nft::Expression MaskXor(nft::Register from, nft::Register to, std::string_view mask, std::string_view xor_bits) {
  const Bytes16 bits = Constant(mask);
  return Make(nft::Bitwise{
      from, to, static_cast<uint8_t>(bits.size()), nft::BitwiseOp::kMaskXor, bits, Constant(xor_bits), {}, {}});
}
nft::Expression Shift(nft::Register from, nft::Register to, uint8_t len, nft::BitwiseOp op, uint32_t count);
inline nft::Expression BitwiseConstant(nft::Register from, nft::Register to, nft::BitwiseOp op, std::string_view hex) {
  const Bytes16 data = Constant(hex);
  return Make(nft::Bitwise{from, to, static_cast<uint8_t>(data.size()), op, {}, {}, data, {}});
}
inline nft::Expression BitwiseRegister(nft::Register a, nft::Register b, nft::Register to, uint8_t len,
                                       nft::BitwiseOp op) {
  return Make(nft::Bitwise{a, to, len, op, {}, {}, {}, b});
}
inline nft::Expression Swap(nft::Register from, nft::Register to, uint8_t len, uint8_t size) {
  return Make(nft::Byteorder{from, to, nft::ByteorderOp::kHton, len, size});
}
inline nft::Expression Meta(nft::MetaKey key, nft::Register reg) { return Make(nft::MetaLoad{reg, key}); }
inline nft::Expression SetMeta(nft::MetaKey key, nft::Register reg) { return Make(nft::MetaStore{reg, key}); }
inline nft::Expression Ct(nft::CtKey key, nft::Register reg, std::optional<nft::Direction> direction = {}) {
  return Make(nft::CtLoad{reg, key, direction});
}
inline nft::Expression Exthdr(nft::ExthdrOp op, uint8_t type, uint8_t offset, uint8_t len, nft::Register reg) {
  return Make(nft::ExthdrLoad{reg, type, offset, len, 0, op});
}
inline nft::Expression ExthdrPresent(nft::ExthdrOp op, uint8_t type, nft::Register reg) {
  return Make(nft::ExthdrLoad{reg, type, 0, 1, 1, op});
}
inline nft::Expression Count() { return Make(nft::Counter{}); }
inline nft::Expression Limit(uint64_t rate, uint64_t unit_s, uint32_t burst,
                             nft::LimitType type = nft::LimitType::kPackets, bool over = false) {
  return Make(nft::Limit{rate, unit_s, burst, type, over ? 1U : 0U});
}
inline nft::Expression Give(nft::VerdictCode code, nft::Handle chain = 0) {
  return Make(nft::Immediate{nft::Register(), {}, nft::Verdict{code, chain}});
}
inline nft::Expression Reject(nft::RejectType type, uint8_t code) { return Make(nft::Reject{type, code}); }
inline nft::Expression Lookup(nft::Handle set, nft::Register key, bool inverted = false) {
  return Make(nft::Lookup{set, key, std::nullopt, inverted ? 1U : 0U});
}
inline nft::Expression Map(nft::Handle set, nft::Register key, nft::Register to) {
  return Make(nft::Lookup{set, key, to, 0});
}
inline nft::Expression VerdictMap(nft::Handle set, nft::Register key) { return Map(set, key, nft::Register()); }
Expressions operator+(Expressions first, const Expressions& second);

// Elements; keys are hex.
nft::Element Element(std::string_view key, std::string_view data = {});
nft::Element IntervalEnd(std::string_view key);
nft::Element RangeElement(std::string_view key, std::string_view key_end, std::string_view data = {});
nft::Element VerdictElement(std::string_view key, nft::VerdictCode code, nft::Handle chain = 0);
nft::Element Catchall(nft::Element element);

struct SetShape {
  uint32_t flags = 0;
  uint32_t key_len = 4;
  std::vector<uint8_t> fields;  // Concatenations.
  uint32_t data_len = 0;        // Data maps; verdict maps are made by verdict_map.
  bool verdict_map = false;
  std::optional<uint32_t> size;
};

// Builds a Ruleset table by table. Handles count up from 1 and registrations in order of creation.
class RulesetBuilder {
 public:
  RulesetBuilder& Table(nft::Family family, std::string name, uint32_t flags = 0);
  // Of the table made last.
  nft::Handle BaseChain(std::string name, uint8_t hook, int32_t priority,
                        nft::VerdictCode policy = nft::VerdictCode::kAccept, std::string device = {});
  nft::Handle Chain(std::string name);
  nft::Handle Set(std::string name, const SetShape& shape, std::vector<nft::Element> elements);
  nft::Handle Rule(nft::Handle chain, Expressions expressions);
  [[nodiscard]] const nft::Ruleset& ruleset() const { return ruleset_; }
  [[nodiscard]] nft::Ruleset& ruleset() { return ruleset_; }

 private:
  nft::Table& table() { return ruleset_.tables.back(); }
  nft::Ruleset ruleset_;
  nft::Handle next_handle_ = 1;
  uint64_t registrations_ = 0;
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_MODEL_BUILDER_H_
