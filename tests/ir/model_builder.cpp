#include "tests/ir/model_builder.h"

#include <catch2/catch.hpp>

#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "lib/ir/verifier.h"

namespace nftjit::ir {
namespace {

ByteSpan Span(const std::string& bytes) { return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}; }

// What the pure ops mean, written without regard to the engines.
class Evaluator {
 public:
  Evaluator(const Program& program, std::string packet) : p_(program), packet_(std::move(packet)) {}

  // The bytes of the key of the rule's last lookup.
  std::string LastKey(const Item& rule) {
    values_.resize(p_.rows.size());
    std::string key;
    for (uint32_t i = rule.first_row; i < rule.first_row + rule.row_count; ++i) {
      if (p_.rows[i].op == Op::kLookup) key = values_[p_.rows[i].a];
      if (Info(p_.rows[i].op).kind == OpKind::kValue) values_[i] = Evaluate(p_.rows[i]);
    }
    return key;
  }

 private:
  std::string Constant(uint32_t id) const {
    const ByteSpan bytes = p_.constants[ConstId(id)];
    return {bytes.begin(), bytes.end()};
  }
  static std::string Combine(Op op, std::string a, const std::string& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (op == Op::kAnd || op == Op::kAndValue) a[i] &= b[i];
      if (op == Op::kOr || op == Op::kOrValue) a[i] |= b[i];
      if (op == Op::kXor || op == Op::kXorValue) a[i] ^= b[i];
    }
    return a;
  }
  static std::string Shift(std::string value, bool left, uint32_t count) {
    const size_t words = value.size() / 4;
    uint32_t carry = 0;
    for (size_t n = 0; n < words; ++n) {
      auto* word = reinterpret_cast<uint8_t*>(value.data()) + 4 * (left ? words - 1 - n : n);
      const auto old = LoadNative<uint32_t>(word);
      StoreNative<uint32_t>(word, (left ? old << count : old >> count) | carry);
      carry = left ? old >> (32 - count) : old << (32 - count);
    }
    return value;
  }
  std::string Evaluate(const Row& row) const {
    const std::string a = Info(row.op).a == Operand::kValue ? values_[row.a] : std::string();
    switch (row.op) {
      case Op::kConst:
        return Constant(row.a);
      case Op::kStale:
        return std::string(row.length, '\0');
      case Op::kLoad:
        REQUIRE(row.base() == Base::kNetwork);
        return packet_.substr(row.a, row.length);
      case Op::kAnd:
      case Op::kOr:
      case Op::kXor:
        return Combine(row.op, a, Constant(row.b));
      case Op::kAndValue:
      case Op::kOrValue:
      case Op::kXorValue:
        return Combine(row.op, a, values_[row.b]);
      case Op::kShl:
      case Op::kShr:
        return Shift(a, row.op == Op::kShl, row.b);
      case Op::kSwap: {
        std::string swapped = a;
        for (size_t i = 0; i < a.size(); i += row.key) std::reverse(swapped.begin() + i, swapped.begin() + i + row.key);
        return swapped;
      }
      case Op::kConcat:
        return a + values_[row.b];
      case Op::kSlice:
        return a.substr(row.b, row.length);
      case Op::kZext:
        return a + std::string(row.length - a.size(), '\0');
      case Op::kMap:
        return p_.sets[row.b].elements.at(0).data;  // Tests that get here have one
                                                    // element.
      default:
        FAIL("no pure op");
        return {};
    }
  }

  const Program& p_;
  const std::string packet_;
  std::vector<std::string> values_;
};

}  // namespace

std::string RawBytes(std::string_view hex) {
  std::string digits, bytes;
  for (const char c : hex) {
    if (c != ' ') digits += c;
  }
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

Bytes16 ToBytes16(std::string_view hex) { return Bytes16(Span(RawBytes(hex))); }

nft::Register Reg(uint32_t number) { return nft::Register::FromNetlink(number).value(); }

nft::Expression Immediate(uint32_t dreg, std::string_view hex) {
  return Of(nft::Immediate{Reg(dreg), ToBytes16(hex), {}});
}

nft::Expression Verdict(nft::VerdictCode code, nft::Handle chain) {
  return Of(nft::Immediate{nft::Register(), {}, {code, chain}});
}

nft::Expression Cmp(uint32_t sreg, nft::CmpOp op, std::string_view hex) {
  return Of(nft::Cmp{Reg(sreg), op, ToBytes16(hex)});
}

nft::Expression Range(uint32_t sreg, nft::RangeOp op, std::string_view from, std::string_view to) {
  return Of(nft::Range{Reg(sreg), op, ToBytes16(from), ToBytes16(to)});
}

nft::Expression MaskXor(uint32_t sreg, uint32_t dreg, std::string_view mask, std::string_view xor_bits) {
  const Bytes16 bytes = ToBytes16(mask);
  return Of(nft::Bitwise{Reg(sreg),
                         Reg(dreg),
                         static_cast<uint8_t>(bytes.size()),
                         nft::BitwiseOp::kMaskXor,
                         bytes,
                         ToBytes16(xor_bits),
                         {},
                         std::nullopt});
}

nft::Expression BitwiseConstant(nft::BitwiseOp op, uint32_t sreg, uint32_t dreg, std::string_view data) {
  const Bytes16 bytes = ToBytes16(data);
  return Of(nft::Bitwise{Reg(sreg), Reg(dreg), static_cast<uint8_t>(bytes.size()), op, {}, {}, bytes, std::nullopt});
}

nft::Expression BitwiseValue(nft::BitwiseOp op, uint32_t sreg, uint32_t sreg2, uint32_t dreg, uint8_t length) {
  return Of(nft::Bitwise{Reg(sreg), Reg(dreg), length, op, {}, {}, {}, Reg(sreg2)});
}

nft::Expression Shift(nft::BitwiseOp op, uint32_t sreg, uint32_t dreg, uint8_t length, uint32_t count) {
  Bytes16 data;
  data.resize(4);
  StoreNative(data.data(), count);
  return Of(nft::Bitwise{Reg(sreg), Reg(dreg), length, op, {}, {}, data, std::nullopt});
}

nft::Expression Byteorder(uint32_t sreg, uint32_t dreg, uint8_t length, uint8_t size) {
  return Of(nft::Byteorder{Reg(sreg), Reg(dreg), nft::ByteorderOp::kHton, length, size});
}

nft::Expression Load(nft::PayloadBase base, uint16_t offset, uint8_t length, uint32_t dreg) {
  return Of(nft::PayloadLoad{Reg(dreg), base, offset, length});
}

nft::Expression Meta(nft::MetaKey key, uint32_t dreg) { return Of(nft::MetaLoad{Reg(dreg), key}); }

nft::Expression Ct(nft::CtKey key, uint32_t dreg, std::optional<nft::Direction> direction) {
  return Of(nft::CtLoad{Reg(dreg), key, direction});
}

nft::Expression Lookup(nft::Handle set, uint32_t sreg, std::optional<uint32_t> dreg, bool inverted) {
  return Of(nft::Lookup{set, Reg(sreg), dreg ? std::optional(Reg(*dreg)) : std::nullopt, inverted ? 1U : 0U});
}

nft::Ruleset MakeRuleset(std::vector<Rule> rules) {
  nft::Ruleset ruleset;
  nft::Table& table = ruleset.tables.emplace_back();
  table.family = nft::Family::kInet;
  table.name = "t";
  table.handle = 1;
  nft::Chain& base = table.chains.emplace_back();
  base.name = "c";
  base.handle = 1;
  base.base = nft::BaseChain{};
  base.base->hook = nft::kInput;
  for (size_t i = 0; i < rules.size(); ++i) {
    nft::Rule& rule = base.rules.emplace_back();
    rule.handle = 10 + i;
    rule.expressions = std::move(rules[i]);
    rule.where = {"f", static_cast<uint32_t>(i + 1), 0};
  }
  nft::Chain& other = table.chains.emplace_back();
  other.name = "d";
  other.handle = 2;
  return ruleset;
}

nft::Set MakeSet(std::string name, nft::Handle handle, uint32_t flags, uint32_t key_len) {
  nft::Set set;
  set.name = std::move(name);
  set.handle = handle;
  set.flags = flags;
  set.key_len = key_len;
  return set;
}

nft::Element MakeElement(std::string_view key_hex, uint32_t flags) {
  nft::Element element;
  element.key = RawBytes(key_hex);
  element.flags = flags;
  return element;
}

Program MustLower(const nft::Ruleset& ruleset, bool partial) {
  absl::StatusOr<Program> program = Lower(ruleset, {.partial = partial});
  INFO(program.status());
  REQUIRE(program.ok());
  const std::string text = Print(*program, {.origins = true});
  INFO(text);
  REQUIRE(Verify(*program) == absl::OkStatus());
  const absl::StatusOr<Program> again = Parse(text, "printed");
  INFO(again.status());
  REQUIRE(again.ok());
  REQUIRE(Print(*again, {.origins = true}) == text);
  REQUIRE(again->origins == program->origins);
  REQUIRE(again->rules == program->rules);
  REQUIRE(again->counters == program->counters);
  REQUIRE(again->sets == program->sets);
  REQUIRE(again->unsupported == program->unsupported);
  return *std::move(program);
}

std::string RowsOf(const Program& program) {
  const Item& rule = program.items.at(0);
  const RowPrinter print(program);
  std::string text;
  for (uint32_t i = rule.first_row; i < rule.first_row + rule.row_count; ++i) text += print(RowId(i)) + "\n";
  return text;
}

std::string LoweredRows(Rule rule) { return RowsOf(MustLower(MakeRuleset({std::move(rule)}))); }

std::string RegistersAfter(Rule rule, std::string_view packet_hex) {
  Rule filled;
  for (uint32_t reg = 1; reg <= 4; ++reg) {
    std::string bytes;
    for (uint32_t i = 0; i < 16; ++i) bytes += static_cast<char>((9 + reg) << 4 | i);
    filled.push_back(Immediate(reg, ToHex(Span(bytes))));
  }
  filled.insert(filled.end(), rule.begin(), rule.end());
  filled.push_back(Lookup(100, 1));
  nft::Ruleset ruleset = MakeRuleset({filled});
  ruleset.tables[0].sets.push_back(MakeSet("registers", 100, 0, 64));
  nft::Set map = MakeSet("map", 101, nft::kSetMap, 4);
  map.data_len = 6;
  map.elements = {MakeElement("a0a1a2a3")};
  map.elements[0].data = RawBytes("010203040506");
  ruleset.tables[0].sets.push_back(map);
  const Program program = MustLower(ruleset);
  const std::string key = Evaluator(program, RawBytes(packet_hex)).LastKey(program.items.at(0));
  std::string words;
  for (size_t i = 0; i < key.size(); i += 4) words += (i == 0 ? "" : " ") + ToHex(Span(key.substr(i, 4)));
  return words;
}

}  // namespace nftjit::ir
