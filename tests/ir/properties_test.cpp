// Properties over random rulesets and damaged text.
#include <catch2/catch.hpp>
#include <set>

#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "lib/ir/verifier.h"
#include "tests/support/generate.h"
#include "tests/support/requirement.h"

namespace nftjit::ir {
namespace {

using testing::GenerateOptions;
using testing::Random;
using testing::RuleFamilies;

nft::Ruleset SomeRuleset(Random& random) {
  GenerateOptions options;
  options.families =
      random.Pick({RuleFamilies::kL3, RuleFamilies::kL3AndDevices, RuleFamilies::kBridge, RuleFamilies::kArp});
  options.conntrack = random.OneIn(2);
  options.output = random.OneIn(2);
  std::vector<testing::CraftedPacket> packets;
  for (int i = 0; i < 4; ++i) packets.push_back(CraftPacket(random, CraftFor(options, random.OneIn(2))));
  return GenerateRuleset(random, options, packets);
}

TEST_CASE("random rulesets lower to verified programs that read back", "[ir][properties]") {
  const uint64_t seed = testing::NumberFromEnvironment("NFTJIT_SEED", 1);
  const uint64_t count = testing::NumberFromEnvironment("NFTJIT_COUNT", 150);
  std::set<Op> seen;
  std::set<GuardKind> guards;
  for (uint64_t i = 0; i < count; ++i) {
    Random random(seed + i);
    INFO("seed " << seed + i);
    const nft::Ruleset ruleset = SomeRuleset(random);
    const absl::StatusOr<Program> program = Lower(ruleset, {});
    INFO(program.status());
    REQUIRE(program.ok());
    const std::string text = Print(*program, {.origins = true});
    INFO(text);
    REQUIRE(Verify(*program) == absl::OkStatus());
    REQUIRE(program->unsupported.empty());
    const absl::StatusOr<Program> again = Parse(text, "printed");
    INFO(again.status());
    REQUIRE(again.ok());
    REQUIRE(Print(*again, {.origins = true}) == text);
    REQUIRE(again->items == program->items);
    REQUIRE(again->origins == program->origins);
    const std::string plain = Print(*program);
    const absl::StatusOr<Program> from_plain = Parse(plain, "plain");
    INFO(from_plain.status());
    REQUIRE(from_plain.ok());
    REQUIRE(Print(*from_plain) == plain);
    REQUIRE(Verify(*from_plain) == absl::OkStatus());
    for (const Row& row : program->rows) {
      seen.insert(row.op);
      if (row.op == Op::kGuard) guards.insert(row.guard());
    }
  }
  // The generator reaches what lowering can make, but for what nothing of it leaves unread or unsupported.
  if (count < 150) return;
  for (size_t op = 0; op < static_cast<size_t>(Op::kUnsupported); ++op) {
    INFO(Info(static_cast<Op>(op)).text);
    CHECK((seen.contains(static_cast<Op>(op)) || static_cast<Op>(op) == Op::kStale));
  }
  CHECK(guards.size() == kGuardKindCount);
}

TEST_CASE("damaged text is refused or means something, and never more", "[ir][properties]") {
  Random random(testing::NumberFromEnvironment("NFTJIT_SEED", 7));
  const uint64_t count = testing::NumberFromEnvironment("NFTJIT_COUNT", 4000);
  const absl::StatusOr<Program> program = Lower(SomeRuleset(random), {});
  REQUIRE(program.ok());
  const std::string original = Print(*program, {.origins = true});
  uint64_t refused = 0, unverified = 0, fine = 0;
  for (uint64_t i = 0; i < count; ++i) {
    std::string text = original;
    for (uint32_t damage = 0; damage < random.Between(1, 3); ++damage) {
      const uint32_t at = random.Below(static_cast<uint32_t>(text.size()));
      switch (random.Below(4)) {
        case 0:
          text[at] = static_cast<char>(random.Byte());
          break;
        case 1:
          text.erase(at, random.Between(1, 20));
          break;
        case 2:
          text.insert(at, 1, "0123456789:;.-+@#%\" \nabcdef"[random.Below(27)]);
          break;
        default: {  // A piece of somewhere else.
          const std::string piece =
              original.substr(random.Below(static_cast<uint32_t>(original.size())), random.Between(1, 30));
          text.insert(at, piece);
          break;
        }
      }
    }
    INFO(text);
    const absl::StatusOr<Program> damaged = Parse(text, "damaged");
    if (!damaged.ok()) {
      REQUIRE(damaged.status().message().substr(0, 8) == "damaged:");
      ++refused;
    } else if (!Verify(*damaged).ok()) {
      ++unverified;
    } else {
      // What is verified prints and reads back.
      const std::string printed = Print(*damaged, {.origins = true});
      const absl::StatusOr<Program> again = Parse(printed, "printed");
      INFO(printed);
      INFO(again.status());
      REQUIRE(again.ok());
      REQUIRE(Print(*again, {.origins = true}) == printed);
      ++fine;
    }
  }
  CHECK(refused > count / 4);
  CHECK(unverified > 0);
  CHECK(fine > 0);
}

}  // namespace
}  // namespace nftjit::ir
