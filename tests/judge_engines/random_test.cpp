// Seeded random rules and near-miss packets through every engine, optimised and not. NFTJIT_SEED and NFTJIT_CASES
// change where it begins and how many packets it runs; a failure names the seed of its program.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "lib/ir/lower.h"
#include "tests/support/engine_tester.h"
#include "tests/support/generate.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

constexpr uint64_t kDefaultCases = 100000;
constexpr size_t kPacketsPerProgram = 64;

struct Theme {
  std::string_view name;
  GenerateOptions options;
  bool ethernet;
};

std::vector<Theme> Themes() {
  GenerateOptions l3;
  l3.conntrack = true;
  l3.output = true;
  GenerateOptions devices = l3;
  devices.families = RuleFamilies::kL3AndDevices;
  GenerateOptions bridge = l3;
  bridge.families = RuleFamilies::kBridge;
  GenerateOptions arp = l3;
  arp.families = RuleFamilies::kArp;
  return {{"L3", l3, false},           {"L3 of Ethernet", devices, true}, {"L3", l3, false},
          {"devices", devices, false}, {"bridge", bridge, true},          {"ARP", arp, true}};
}

// One program and its packets. On a disagreement, shrinks it and fails with a case file.
void RunProgram(const Theme& theme, uint64_t seed, Coverage& coverage) {
  Random random(seed);
  const CraftOptions craft = CraftFor(theme.options, theme.ethernet);
  std::vector<CraftedPacket> targets;
  for (int i = 0; i < 12; ++i) targets.push_back(CraftPacket(random, craft));
  const nft::Ruleset ruleset = GenerateRuleset(random, theme.options, targets);
  absl::StatusOr<ir::Program> lowered = ir::Lower(ruleset, {});
  INFO("seed " << seed << ", " << theme.name);
  REQUIRE(lowered.ok());
  REQUIRE(lowered->unsupported.empty());
  coverage.Count(*lowered);
  absl::StatusOr<std::unique_ptr<EngineTester>> tester = EngineTester::Make(*lowered);
  std::vector<PacketCase> ran;
  std::optional<std::string> wrong;
  if (!tester.ok()) wrong = std::string(tester.status().message());
  const auto run = [&](const PacketCase& packet, size_t length) {
    if (wrong) return;
    ran.push_back(packet);
    ran.back().bytes.resize(length);
    wrong = (*tester)->Run(packet, length, &coverage);
  };
  for (size_t i = 0; i < kPacketsPerProgram / 2; ++i) {
    const PacketCase packet = MakePacketCase(random, theme.options, random.PickFrom(targets), theme.ethernet);
    run(packet, packet.bytes.size());
  }
  // One packet at every length, from its whole to nothing.
  const PacketCase packet = MakePacketCase(random, theme.options, random.PickFrom(targets), theme.ethernet);
  for (size_t length = packet.bytes.size() + 1; length-- > 0;) run(packet, length);
  if (tester.ok()) (*tester)->CountPassedRules(coverage);
  if (!wrong) return;
  const EngineCase shrunk = Shrink({*lowered, ran});
  FAIL("engines disagree: " << *wrong << "\nafter shrinking: " << Disagreement(shrunk).value_or("nothing") << '\n'
                            << KeepFound("tests/judge_engines/cases", absl::StrCat("seed-", seed), Print(shrunk)));
}

TEST_CASE("Engines agree on random rules and near-miss packets") {
  const uint64_t seed = NumberFromEnvironment("NFTJIT_SEED", 1);
  const uint64_t cases = NumberFromEnvironment("NFTJIT_CASES", kDefaultCases);
  const std::vector<Theme> themes = Themes();
  Coverage coverage;
  for (uint64_t i = 0; coverage.cases < cases; ++i) RunProgram(themes[i % themes.size()], seed + i, coverage);
  std::cout << "engine tester: " << Print(coverage);
  const std::vector<std::string> empty = EmptyClasses(coverage);
  INFO("nothing fell into: " << absl::StrJoin(empty, ", "));
  CHECK((empty.empty() || cases < kDefaultCases));
}

}  // namespace
}  // namespace nftjit::testing
