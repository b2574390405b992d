// Optimised rules as VM instructions: texts, and random rulesets that must do the same once they are raised and lowered
// again.
#include "lib/opt/raise.h"

#include <catch2/catch.hpp>
#include <cstdio>

#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "lib/nft/listing_printer.h"
#include "lib/opt/pipeline.h"
#include "tests/opt/random_case.h"
#include "tests/support/model_builder.h"
#include "tests/support/requirement.h"

namespace nftjit::opt {
namespace {

using namespace testing;  // NOLINT: the builder's words.

std::string Raised(const nft::Ruleset& ruleset) {
  absl::StatusOr<ir::Program> program = ir::Lower(ruleset, {});
  REQUIRE(program.ok());
  const absl::Status status = Optimise(*program, {.verify_each = true});
  INFO(std::string(status.message()));
  REQUIRE(status.ok());
  return RaiseToListing(*program, ruleset);
}

// What becomes of one rule of an ip table with a chain at prerouting.
std::string Raised(Expressions expressions, nft::Family family = nft::Family::kIp) {
  RulesetBuilder builder;
  builder.Table(family, "t");
  const nft::Handle chain = builder.BaseChain("c", nft::kPrerouting, 0);
  builder.Rule(chain, std::move(expressions));
  return Raised(builder.ruleset());
}

TEST_CASE("not 10.0.0.0/8 is one load of one byte and one compare, however it was written") {
  const std::string expected =
      "ip t c\n"
      "  [ payload load 1b @ network header + 12 => reg 1 ]\n"
      "  [ cmp neq reg 1 0x0000000a ]\n"
      "  [ immediate reg 0 drop ]\n\n";
  CHECK(Raised({Load(nft::PayloadBase::kNetwork, 12, 4, R1), MaskXor(R1, R1, "ff000000", "00000000"),
                Compare(R1, nft::CmpOp::kNeq, "0a000000"), Give(nft::VerdictCode::kDrop)}) == expected);
  CHECK(Raised({Load(nft::PayloadBase::kNetwork, 12, 1, R1), Compare(R1, nft::CmpOp::kNeq, "0a"),
                Give(nft::VerdictCode::kDrop)}) == expected);
}

TEST_CASE("/10 and /24 keep the mask") {
  CHECK(Raised({Load(nft::PayloadBase::kNetwork, 12, 4, R1), MaskXor(R1, R1, "ffc00000", "00000000"),
                Compare(R1, nft::CmpOp::kNeq, "0a000000"), Give(nft::VerdictCode::kDrop)}) ==
        "ip t c\n"
        "  [ payload load 4b @ network header + 12 => reg 1 ]\n"
        "  [ bitwise reg 1 = ( reg 1 & 0x0000c0ff ) ^ 0x00000000 ]\n"
        "  [ cmp neq reg 1 0x0000000a ]\n"
        "  [ immediate reg 0 drop ]\n\n");
  CHECK(Raised({Load(nft::PayloadBase::kNetwork, 12, 3, R1), Compare(R1, nft::CmpOp::kNeq, "0a0000"),
                Give(nft::VerdictCode::kDrop)}) ==
        "ip t c\n"
        "  [ payload load 4b @ network header + 12 => reg 1 ]\n"
        "  [ bitwise reg 1 = ( reg 1 & 0x00ffffff ) ^ 0x00000000 ]\n"
        "  [ cmp neq reg 1 0x0000000a ]\n"
        "  [ immediate reg 0 drop ]\n\n");
}

TEST_CASE("bounds become a range, a byteorder with its order test stays one") {
  CHECK(Raised({Load(nft::PayloadBase::kTransport, 2, 2, R1), Compare(R1, nft::CmpOp::kGte, "0050"),
                Compare(R1, nft::CmpOp::kLte, "0059"), Give(nft::VerdictCode::kDrop)}) ==
        "ip t c\n"
        "  [ payload load 2b @ transport header + 2 => reg 1 ]\n"
        "  [ range eq reg 1 0x00005000 0x00005900 ]\n"
        "  [ immediate reg 0 drop ]\n\n");
  CHECK(Raised({Meta(nft::MetaKey::kLen, R1), Swap(R1, R1, 4, 4), Compare(R1, nft::CmpOp::kGt, "00000064"),
                Give(nft::VerdictCode::kDrop)}) ==
        "ip t c\n"
        "  [ meta load len => reg 1 ]\n"
        "  [ byteorder reg 1 = hton(reg 1, 4, 4) ]\n"
        "  [ cmp gt reg 1 0x64000000 ]\n"
        "  [ immediate reg 0 drop ]\n\n");
}

TEST_CASE("a guard whose load the passes removed becomes a load of its own") {
  // The port is compared with everything: only that it is there counts.
  CHECK(Raised({Load(nft::PayloadBase::kTransport, 2, 2, R1), Compare(R1, nft::CmpOp::kGte, "0000"),
                Give(nft::VerdictCode::kDrop)}) ==
        "ip t c\n"
        "  [ payload load 1b @ transport header + 3 => reg 1 ]\n"
        "  [ immediate reg 0 drop ]\n\n");
}

TEST_CASE("a swapped halfword is zero beyond its end, for a key that is longer") {
  RulesetBuilder builder;
  builder.Table(nft::Family::kIp, "t");
  const nft::Handle chain = builder.BaseChain("c", nft::kPrerouting, 0);
  const nft::Handle values = builder.Set("m", {.key_len = 4, .data_len = 4}, {Element("00000001", "ffffffff")});
  const nft::Handle keys = builder.Set("s", {.key_len = 3}, {Element("020200")});
  // What the map gives is in register 1 before the halfword is.
  builder.Rule(chain, {Meta(nft::MetaKey::kMark, R1), Map(values, R1, R1), Compare(R1, nft::CmpOp::kEq, "ffffffff"),
                       Load(nft::PayloadBase::kNetwork, 16, 2, R1), Swap(R1, R1, 2, 2), Lookup(keys, R1)});
  CHECK_THAT(Raised(builder.ruleset()), Catch::EndsWith("  [ cmp eq reg 1 0xffffffff ]\n"
                                                        "  [ payload load 2b @ network header + 16 => reg 1 ]\n"
                                                        "  [ byteorder reg 1 = hton(reg 1, 2, 2) ]\n"
                                                        "  [ lookup reg 1 set s ]\n\n"));
}

TEST_CASE("no offset is above the last that an instruction has") {
  // Of the load before the counter only its guard is left there.
  CHECK(Raised({Load(nft::PayloadBase::kNetwork, 65535, 2, R1),
                {nft::Counter{}, nullptr},
                Compare(R1, nft::CmpOp::kEq, "0102"),
                Give(nft::VerdictCode::kDrop)}) ==
        "ip t c\n"
        "  [ payload load 2b @ network header + 65535 => reg 1 ]\n"
        "  [ counter pkts 0 bytes 0 ]\n"
        "  [ payload load 2b @ network header + 65535 => reg 1 ]\n"
        "  [ cmp eq reg 1 0x00000201 ]\n"
        "  [ immediate reg 0 drop ]\n\n");
  // The tested byte alone is at 65536.
  CHECK(Raised({Load(nft::PayloadBase::kNetwork, 65535, 4, R1), MaskXor(R1, R1, "00ff0000", "00000000"),
                Compare(R1, nft::CmpOp::kEq, "00010000"), Give(nft::VerdictCode::kDrop)}) ==
        "# as loaded: no instruction for a load that begins beyond offset 65535\n"
        "ip t c\n"
        "  [ payload load 4b @ network header + 65535 => reg 1 ]\n"
        "  [ bitwise reg 1 = ( reg 1 & 0x0000ff00 ) ^ 0x00000000 ]\n"
        "  [ cmp eq reg 1 0x00000100 ]\n"
        "  [ immediate reg 0 drop ]\n\n");
}

// The ruleset with the expressions that were raised; rules that the passes dropped are not in it. Counts rules that
// have no instructions.
nft::Ruleset RaisedRuleset(const RandomCase& random_case, const ir::Program& program, int& raised, int& refused) {
  nft::Ruleset ruleset = random_case.ruleset;
  std::map<nft::Handle, std::vector<nft::Expression>> expressions;
  for (const ir::Chain& chain : program.chains) {
    const auto table = std::find_if(ruleset.tables.begin(), ruleset.tables.end(), [&](const nft::Table& candidate) {
      return candidate.family == chain.family && candidate.name == chain.table;
    });
    for (nft::Chain& model : table->chains) {
      if (model.name != chain.name) continue;
      std::vector<nft::Rule> rules;
      for (const ir::Item& item : program.ItemsOf(chain)) {
        if (item.kind != ir::ItemKind::kRule) continue;
        const nft::Handle handle = program.rules[item.rule.index].handle;
        for (const nft::Rule& rule : model.rules) {
          if (rule.handle != handle) continue;
          rules.push_back(rule);
          absl::StatusOr<std::vector<nft::Expression>> written = RaiseRule(program, chain, item, *table);
          written.ok() ? ++raised : ++refused;
          if (written.ok()) rules.back().expressions = *std::move(written);
        }
      }
      model.rules = std::move(rules);
    }
  }
  return ruleset;
}

TEST_CASE("raised rules do what they did") {
  const uint64_t seed = NumberFromEnvironment("NFTJIT_SEED", 1) + 2000000;
  const uint64_t rulesets = NumberFromEnvironment("NFTJIT_OPT_RULESETS", 150);
  int raised = 0, refused = 0;
  for (uint64_t i = 0; i < rulesets; ++i) {
    const RandomCase random_case = MakeRandomCase(seed + i);
    ir::Program optimised = random_case.lowered;
    REQUIRE(Optimise(optimised, {.verify_each = false}).ok());
    const nft::Ruleset ruleset = RaisedRuleset(random_case, optimised, raised, refused);
    absl::StatusOr<ir::Program> lowered = ir::Lower(ruleset, {});
    INFO("seed " << seed + i << "\n" << ir::Print(optimised) << nft::PrintListing(ruleset));
    INFO(std::string(lowered.status().message()));
    REQUIRE(lowered.ok());
    // The kernel's stack promises whole network headers, and raised rules count on it.
    const std::optional<std::string> difference = Difference(random_case, *lowered, Packets::kWithNetworkHeader);
    if (difference) FAIL(*difference);
  }
  std::printf("%d rules raised, %d without instructions\n", raised, refused);
  CHECK(raised > refused * 10);
}

}  // namespace
}  // namespace nftjit::opt
