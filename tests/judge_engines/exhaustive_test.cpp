// Everything small: every rule of one, two and three tests over an alphabet of fields, steps, operators and values, on
// every payload of up to four bytes over another.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "lib/ir/lower.h"
#include "tests/support/engine_tester.h"
#include "tests/support/model_builder.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

constexpr size_t kRulesPerProgram = 512, kLongest = 4, kIpv4Header = 20;

struct Field {
  uint16_t offset;
  uint8_t len;
};
// What becomes of a field before it is compared.
struct Change {
  std::string_view name;
  Expressions (*make)(nft::Register reg, uint8_t len);  // Nothing where a field of this length has no such change.
};
struct Operator {
  std::string_view name;
  nft::CmpOp op;
};
// What tests are made of. Of values, bytes behind a field's length are not used; each range is two of them.
struct Alphabet {
  std::vector<Field> fields;
  std::vector<Change> changes;
  std::vector<Operator> operators;
  std::vector<std::string> values;
  std::vector<std::pair<std::string, std::string>> ranges;
};

Expressions Masked(nft::Register reg, uint8_t len, std::string_view mask) {
  const std::string bits(mask.substr(0, len * 2U));
  return {MaskXor(reg, reg, bits, std::string(bits.size(), '0'))};
}
const Change kPlain = {"plain", [](nft::Register, uint8_t) { return Expressions{}; }};
const Change kPrefix = {"prefix", [](nft::Register reg, uint8_t len) { return Masked(reg, len, "ff0f0000"); }};
const Change kHoles = {"holes", [](nft::Register reg, uint8_t len) { return Masked(reg, len, "f00ff00f"); }};
const Change kSwapped = {"swapped", [](nft::Register reg, uint8_t len) {
                           return len == 2 || len == 4 ? Expressions{Swap(reg, reg, len, len)} : Expressions{};
                         }};
const Change kLeft = {"left", [](nft::Register reg, uint8_t len) {
                        return Expressions{Shift(reg, reg, len, nft::BitwiseOp::kLshift, 4)};
                      }};
const Change kRight = {"right", [](nft::Register reg, uint8_t len) {
                         return Expressions{Shift(reg, reg, len, nft::BitwiseOp::kRshift, 4)};
                       }};

const std::vector<Operator> kOperators = {{"==", nft::CmpOp::kEq},  {"!=", nft::CmpOp::kNeq}, {"<", nft::CmpOp::kLt},
                                          {"<=", nft::CmpOp::kLte}, {">", nft::CmpOp::kGt},   {">=", nft::CmpOp::kGte}};

// `name` is what a test is an instance of: change and operator.
struct SmallTest {
  std::string name;
  size_t reach;  // Bytes of payload that it needs.
  Expressions expressions;
};

// All tests: a load from the transport header, perhaps a change, a compare, in register `reg`.
std::vector<SmallTest> SmallTests(const Alphabet& alphabet, nft::Register reg) {
  std::vector<SmallTest> tests;
  for (const Field field : alphabet.fields) {
    for (const Change& change : alphabet.changes) {
      const Expressions changed = change.make(reg, field.len);
      if (changed.empty() && change.name != kPlain.name) continue;
      const Expressions value = Expressions{Load(nft::PayloadBase::kTransport, field.offset, field.len, reg)} + changed;
      const auto cut = [&](const std::string& hex) { return hex.substr(0, field.len * 2U); };
      const auto add = [&](std::string_view name, nft::Expression compare) {
        tests.push_back({absl::StrCat(std::string(change.name), " ", std::string(name)),
                         field.offset + size_t{field.len}, value + Expressions{std::move(compare)}});
      };
      for (const Operator& op : alphabet.operators) {
        for (const std::string& constant : alphabet.values) add(op.name, Compare(reg, op.op, cut(constant)));
      }
      for (const auto& [from, to] : alphabet.ranges) {
        add("in", InRange(reg, nft::RangeOp::kEq, cut(from), cut(to)));
        add("not in", InRange(reg, nft::RangeOp::kNeq, cut(from), cut(to)));
      }
    }
  }
  return tests;
}

// Every payload of up to kLongest of these bytes.
std::vector<PacketCase> SmallPackets(const Bytes& letters) {
  std::vector<PacketCase> packets;
  for (size_t length = 0, count = 1; length <= kLongest; ++length, count *= letters.size()) {
    for (size_t number = 0; number < count; ++number) {
      Bytes payload;
      for (size_t i = 0, rest = number; i < length; ++i, rest /= letters.size()) {
        payload.push_back(letters[rest % letters.size()]);
      }
      PacketCase packet;
      packet.bytes = Stack(Ipv4().Protocol(17)) / Raw(payload);
      packet.path = {{Family::kIp, Hook::kInput}};
      packets.push_back(std::move(packet));
    }
  }
  return packets;
}

// Rule `number` of all that have one test out of each list, in this order.
Expressions RuleOf(const std::vector<std::vector<SmallTest>>& lists, size_t number) {
  Expressions rule;
  for (const auto& list : lists) {
    rule = rule + list[number % list.size()].expressions;
    number /= list.size();
  }
  return rule + Expressions{Count()};
}

size_t CountRules(const std::vector<std::vector<SmallTest>>& lists) {
  size_t count = 1;
  for (const auto& list : lists) count *= list.size();
  return count;
}

// Runs every rule on every packet; returns how many packets each let pass.
std::vector<uint64_t> JudgeAll(const std::vector<std::vector<SmallTest>>& lists,
                               const std::vector<PacketCase>& packets) {
  const size_t count = CountRules(lists);
  std::vector<uint64_t> passed;
  for (size_t next = 0; next < count;) {
    RulesetBuilder builder;
    builder.Table(nft::Family::kIp, "t");
    const nft::Handle chain = builder.BaseChain("c", nft::kInput, 0);
    for (size_t i = 0; i < kRulesPerProgram && next < count; ++i, ++next) builder.Rule(chain, RuleOf(lists, next));
    absl::StatusOr<ir::Program> lowered = ir::Lower(builder.ruleset(), {});
    REQUIRE(lowered.ok());
    absl::StatusOr<std::unique_ptr<EngineTester>> tester = EngineTester::Make(*lowered);
    INFO(tester.status().ToString());
    REQUIRE(tester.ok());
    for (const PacketCase& packet : packets) {
      const std::optional<std::string> wrong = (*tester)->Run(packet, packet.bytes.size());
      if (!wrong) continue;
      const EngineCase shrunk = Shrink({*lowered, {packet}});
      FAIL("engines disagree: " << *wrong << '\n'
                                << KeepFound("tests/judge_engines/cases",
                                             absl::StrCat("small-", lists.size(), "-", next), Print(shrunk)));
    }
    for (const CounterReading& counter : (*tester)->counters()) passed.push_back(counter.packets);
  }
  std::cout << "rules of " << lists.size() << " small tests: " << count << ", " << packets.size() << " packets each\n";
  REQUIRE(passed.size() == count);
  return passed;
}

// Of each kind of test, some instance lets packets pass, and one of these stops others that are long enough for it.
void CheckKinds(const std::vector<SmallTest>& tests, const std::vector<uint64_t>& passed,
                const std::vector<PacketCase>& packets) {
  std::map<std::string, bool> kinds;
  for (size_t i = 0; i < tests.size(); ++i) {
    const auto enough = std::count_if(packets.begin(), packets.end(), [&](const PacketCase& packet) {
      return packet.bytes.size() >= kIpv4Header + tests[i].reach;
    });
    CHECK(passed[i] <= static_cast<uint64_t>(enough));
    kinds[tests[i].name] |= passed[i] > 0 && passed[i] < static_cast<uint64_t>(enough);
  }
  for (const auto& [name, both] : kinds) {
    INFO(name);
    CHECK(both);
  }
}

const Alphabet kAll = {
    {{0, 1}, {1, 1}, {3, 1}, {0, 2}, {1, 2}, {2, 2}, {0, 3}, {1, 3}, {0, 4}},
    {kPlain, kPrefix, kHoles, kSwapped, kLeft, kRight},
    kOperators,
    {"00000000", "0f0f0f0f", "ff0f0000", "f000f000"},
    {{"000f0000", "0fff0f0f"}, {"0f0f0f0f", "0f0f0f0f"}, {"0fff0000", "ffff000f"}, {"ff000000", "0f000000"}}};
const Alphabet kPairs = {{{0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 4}},
                         {kPlain, kPrefix, kHoles, kSwapped},
                         kOperators,
                         {"0f0f0f0f", "ff0f0000"},
                         {{"000f0000", "0fff0f0f"}}};
const Alphabet kTriples = {
    {{0, 1}, {1, 1}, {0, 2}}, {kPlain, kPrefix}, kOperators, {"0f0f0f0f", "f00ff00f"}, {{"000f0000", "0ff00f0f"}}};

TEST_CASE("Engines agree on every small test") {
  const std::vector<SmallTest> tests = SmallTests(kAll, R1);
  const std::vector<PacketCase> packets = SmallPackets({0x00, 0x0f, 0xf0, 0xff});
  CHECK(packets.size() == 1 + 4 + 16 + 64 + 256);
  CHECK(tests.size() > 1000);
  CheckKinds(tests, JudgeAll({tests}, packets), packets);
}

TEST_CASE("Engines agree on every pair of small tests") {
  const std::vector<PacketCase> packets = SmallPackets({0x00, 0x0f, 0xff});
  CHECK(packets.size() == 1 + 3 + 9 + 27 + 81);
  const std::vector<uint64_t> passed = JudgeAll({SmallTests(kPairs, R1), SmallTests(kPairs, R2)}, packets);
  CHECK(passed.size() > 50000);
  CHECK(std::count(passed.begin(), passed.end(), 0) < std::ptrdiff_t(passed.size() * 3 / 4));
}

TEST_CASE("Engines agree on every three small tests") {
  const std::vector<PacketCase> packets = SmallPackets({0x0f, 0xf0});
  CHECK(packets.size() == 1 + 2 + 4 + 8 + 16);
  // The third takes the register of the first.
  const std::vector<uint64_t> passed =
      JudgeAll({SmallTests(kTriples, R1), SmallTests(kTriples, R2), SmallTests(kTriples, R1)}, packets);
  CHECK(passed.size() > 500000);
  CHECK(std::count(passed.begin(), passed.end(), 0) < std::ptrdiff_t(passed.size() * 9 / 10));
}

}  // namespace
}  // namespace nftjit::testing
