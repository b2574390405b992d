// Everything small: every pair of tests over a tiny alphabet, as one rule, on every packet of four bytes from another.
#include <catch2/catch.hpp>
#include <iostream>

#include "lib/ir/lower.h"
#include "tests/support/engine_tester.h"
#include "tests/support/model_builder.h"

namespace nftjit::testing {
namespace {

constexpr size_t kRulesPerProgram = 512;

struct Field {
  uint16_t offset;
  uint8_t len;
};
// What tests are made of; bytes behind a field's length are not used.
struct Alphabet {
  std::vector<Field> fields;
  std::vector<std::string> masks;  // "": none.
  std::vector<std::string> constants;
  std::vector<nft::CmpOp> operators;
};

// All tests: a load from the transport header, perhaps a mask, a compare, in register `reg`.
std::vector<Expressions> SmallTests(const Alphabet& alphabet, nft::Register reg) {
  std::vector<Expressions> tests;
  for (const Field field : alphabet.fields) {
    for (const std::string& mask : alphabet.masks) {
      const std::string bits = mask.substr(0, field.len * 2U);
      if (!mask.empty() && bits.find_first_not_of('0') == std::string::npos) continue;
      for (const std::string& constant : alphabet.constants) {
        for (const nft::CmpOp op : alphabet.operators) {
          Expressions test = {Load(nft::PayloadBase::kTransport, field.offset, field.len, reg)};
          if (!bits.empty()) test.push_back(MaskXor(reg, reg, bits, std::string(bits.size(), '0')));
          test.push_back(Compare(reg, op, constant.substr(0, field.len * 2U)));
          tests.push_back(std::move(test));
        }
      }
    }
  }
  return tests;
}

std::vector<PacketCase> SmallPackets() {
  std::vector<PacketCase> packets;
  constexpr std::array<uint8_t, 3> kAlphabet = {0x00, 0x0f, 0xff};
  for (size_t number = 0; number < 81 + 3; ++number) {
    // All of four bytes, then shorter ones.
    Bytes payload;
    for (size_t i = 0, rest = number; i < (number < 81 ? 4 : number - 81); ++i, rest /= 3) {
      payload.push_back(kAlphabet[rest % 3]);
    }
    PacketCase packet;
    packet.bytes = Stack(Ipv4().Protocol(17)) / Raw(payload);
    packet.path = {{Family::kIp, Hook::kInput}};
    packets.push_back(std::move(packet));
  }
  return packets;
}

// Runs every rule of one test out of each list, in this order, on every packet.
void JudgeAll(const std::vector<std::vector<Expressions>>& lists) {
  const std::vector<PacketCase> packets = SmallPackets();
  size_t count = 1;
  for (const auto& list : lists) count *= list.size();
  Coverage coverage;
  for (size_t next = 0; next < count;) {
    RulesetBuilder builder;
    builder.Table(nft::Family::kIp, "t");
    const nft::Handle chain = builder.BaseChain("c", nft::kInput, 0);
    for (size_t i = 0; i < kRulesPerProgram && next < count; ++i, ++next) {
      Expressions rule;
      size_t rest = next;
      for (const auto& list : lists) {
        rule = rule + list[rest % list.size()];
        rest /= list.size();
      }
      builder.Rule(chain, rule + Expressions{Count()});
    }
    absl::StatusOr<ir::Program> lowered = ir::Lower(builder.ruleset(), {});
    REQUIRE(lowered.ok());
    absl::StatusOr<std::unique_ptr<EngineTester>> tester = EngineTester::Make(*lowered);
    INFO(tester.status().ToString());
    REQUIRE(tester.ok());
    for (const PacketCase& packet : packets) {
      const std::optional<std::string> wrong = (*tester)->Run(packet, packet.bytes.size(), &coverage);
      if (wrong) {
        const EngineCase shrunk = Shrink({*lowered, {packet}});
        FAIL("engines disagree: " << *wrong << "\nsave this as tests/judge_engines/cases/NAME.txt:\n" << Print(shrunk));
      }
    }
  }
  std::cout << "rules of " << lists.size() << " small tests: " << count << ", " << packets.size() << " packets each\n";
}

const Alphabet kWide = {{{0, 1}, {1, 1}, {0, 2}, {1, 2}, {0, 4}},
                        {"", "f0000000", "00ff0000", "ff0f0000"},
                        {"00000000", "0f0f0f0f", "ff0f0000"},
                        {nft::CmpOp::kEq, nft::CmpOp::kNeq, nft::CmpOp::kLte}};
const Alphabet kNarrow = {{{0, 1}, {0, 2}, {1, 1}},
                          {"", "0fff0000"},
                          {"0f0f0000"},
                          {nft::CmpOp::kEq, nft::CmpOp::kNeq, nft::CmpOp::kLt, nft::CmpOp::kGte}};

TEST_CASE("Engines agree on every small test") { JudgeAll({SmallTests(kWide, R1)}); }

TEST_CASE("Engines agree on every pair of small tests") { JudgeAll({SmallTests(kWide, R1), SmallTests(kWide, R2)}); }

TEST_CASE("Engines agree on every three small tests") {
  JudgeAll({SmallTests(kNarrow, R1), SmallTests(kNarrow, R2), SmallTests(kNarrow, R1)});
}

}  // namespace
}  // namespace nftjit::testing
