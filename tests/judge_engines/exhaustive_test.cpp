// Everything small: every pair of tests over a tiny alphabet, as one rule, on every packet of four bytes from another.
#include <catch2/catch.hpp>
#include <iostream>

#include "lib/ir/lower.h"
#include "tests/support/engine_tester.h"
#include "tests/support/model_builder.h"

namespace nftjit::testing {
namespace {

constexpr size_t kRulesPerProgram = 512;

// A load from the transport header, perhaps a mask, a compare: into register `reg`.
std::vector<Expressions> SmallTests(nft::Register reg) {
  struct Field {
    uint16_t offset;
    uint8_t len;
  };
  std::vector<Expressions> tests;
  for (const Field field : {Field{0, 1}, Field{1, 1}, Field{0, 2}, Field{1, 2}, Field{0, 4}}) {
    for (const char* mask : {"", "f0000000", "00ff0000", "ff0f0000"}) {
      const std::string bits = std::string(mask).substr(0, field.len * 2U);
      if (*mask != '\0' && (bits.find_first_not_of('0') == std::string::npos)) continue;
      for (const char* constant : {"00000000", "0f0f0f0f", "ff0f0000"}) {
        for (const nft::CmpOp op : {nft::CmpOp::kEq, nft::CmpOp::kNeq, nft::CmpOp::kLte}) {
          Expressions test = {Load(nft::PayloadBase::kTransport, field.offset, field.len, reg)};
          if (!bits.empty()) test.push_back(MaskXor(reg, reg, bits, std::string(bits.size(), '0')));
          test.push_back(Compare(reg, op, std::string(constant).substr(0, field.len * 2U)));
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

TEST_CASE("Engines agree on every pair of small tests") {
  const std::vector<Expressions> first = SmallTests(R1), second = SmallTests(R2);
  const std::vector<PacketCase> packets = SmallPackets();
  Coverage coverage;
  size_t rules = 0;
  for (size_t next = 0; next < first.size() * second.size();) {
    RulesetBuilder builder;
    builder.Table(nft::Family::kIp, "t");
    const nft::Handle chain = builder.BaseChain("c", nft::kInput, 0);
    for (size_t i = 0; i < kRulesPerProgram && next < first.size() * second.size(); ++i, ++next, ++rules) {
      builder.Rule(chain, first[next / second.size()] + second[next % second.size()] + Expressions{Count()});
    }
    absl::StatusOr<ir::Program> lowered = ir::Lower(builder.ruleset(), {});
    REQUIRE(lowered.ok());
    coverage.Count(*lowered);
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
  std::cout << "small tests: " << rules << " rules, " << packets.size() << " packets each\n";
  CHECK(rules == first.size() * second.size());
}

}  // namespace
}  // namespace nftjit::testing
