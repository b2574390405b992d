#include "tests/ir/lowered.h"

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
      if (op == Op::kAnd || op == Op::kAndValue) a[i] = static_cast<char>(a[i] & b[i]);
      if (op == Op::kOr || op == Op::kOrValue) a[i] = static_cast<char>(a[i] | b[i]);
      if (op == Op::kXor || op == Op::kXorValue) a[i] = static_cast<char>(a[i] ^ b[i]);
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
  const testing::Bytes bytes = testing::FromHex(hex);
  return {bytes.begin(), bytes.end()};
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
  using testing::R1, testing::R2, testing::R3, testing::R4;
  Rule filled = {
      testing::Set(R1, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"), testing::Set(R2, "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf"),
      testing::Set(R3, "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf"), testing::Set(R4, "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf")};
  filled.insert(filled.end(), rule.begin(), rule.end());
  filled.push_back(testing::Lookup(100, R1));
  nft::Ruleset ruleset = MakeRuleset({filled});
  ruleset.tables[0].sets.push_back(MakeSet("registers", 100, 0, 64));
  nft::Set map = MakeSet("map", 101, nft::kSetMap, 4);
  map.data_len = 6;
  map.elements = {testing::Element("a0a1a2a3", "010203040506")};
  ruleset.tables[0].sets.push_back(map);
  const Program program = MustLower(ruleset);
  const std::string key = Evaluator(program, RawBytes(packet_hex)).LastKey(program.items.at(0));
  std::string words;
  for (size_t i = 0; i < key.size(); i += 4) words += (i == 0 ? "" : " ") + ToHex(Span(key.substr(i, 4)));
  return words;
}

}  // namespace nftjit::ir
