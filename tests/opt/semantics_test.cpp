// Passes do not change what a program does: random rulesets and near-miss packets, the reference engine on the program
// as lowered against the reference engine after each pass. The first pass after which they differ is the guilty one;
// then a limit on its rewrites finds the wrong rewrite. NFTJIT_SEED and NFTJIT_OPT_RULESETS change where it begins and
// how much it runs.
#include <catch2/catch.hpp>
#include <cstdio>

#include "lib/ir/text.h"
#include "lib/opt/pipeline.h"
#include "tests/opt/random_case.h"
#include "tests/support/requirement.h"

namespace nftjit::opt {
namespace {

// Runs `pass` on `before` with growing limits: the rows around its first wrong rewrite.
std::string Blame(const RandomCase& random_case, const Pass& pass, const ir::Program& before) {
  for (int limit = 1;; ++limit) {
    ir::Program program = before;
    const int rewrites = pass.run(program, limit);
    if (Difference(random_case, program)) {
      ir::Program good = before;
      pass.run(good, limit - 1);
      return "rewrite " + std::to_string(limit) + " of " + std::string(pass.name) + "\nbefore it:\n" + ir::Print(good) +
             "after it:\n" + ir::Print(program);
    }
    if (rewrites < limit) return "no single rewrite";
  }
}

TEST_CASE("passes do not change what random programs do") {
  const uint64_t seed = testing::NumberFromEnvironment("NFTJIT_SEED", 1);
  const uint64_t rulesets = testing::NumberFromEnvironment("NFTJIT_OPT_RULESETS", 150);
  std::vector<int> rewrites(Passes().size());
  for (uint64_t i = 0; i < rulesets; ++i) {
    const RandomCase random_case = MakeRandomCase(seed + i);
    ir::Program program = random_case.lowered;
    for (size_t p = 0; p < Passes().size(); ++p) {
      const ir::Program before = program;
      const int made = Passes()[p].run(program, INT32_MAX);
      rewrites[p] += made;
      if (made == 0) continue;
      const std::optional<std::string> difference = Difference(random_case, program);
      if (!difference) continue;
      FAIL("seed " << seed + i << ", after " << Passes()[p].name << ": " << *difference << "\n"
                   << Blame(random_case, Passes()[p], before));
    }
  }
  // A pass that found nothing to do was not tested.
  for (size_t p = 0; p < Passes().size(); ++p) {
    INFO(Passes()[p].name << " made no rewrite in " << rulesets << " rulesets");
    CHECK((rewrites[p] > 0 || rulesets < 100));
    std::printf("%s: %d rewrites\n", Passes()[p].name.data(), rewrites[p]);
  }
}

TEST_CASE("each pass alone does not change what random programs do") {
  const uint64_t seed = testing::NumberFromEnvironment("NFTJIT_SEED", 1) + 1000000;
  const uint64_t rulesets = testing::NumberFromEnvironment("NFTJIT_OPT_RULESETS", 150) / 3;
  for (uint64_t i = 0; i < rulesets; ++i) {
    const RandomCase random_case = MakeRandomCase(seed + i);
    for (const Pass& pass : Passes()) {
      ir::Program program = random_case.lowered;
      if (pass.run(program, INT32_MAX) == 0) continue;
      const std::optional<std::string> difference = Difference(random_case, program);
      if (!difference) continue;
      FAIL("seed " << seed + i << ", " << pass.name << " alone: " << *difference << "\n"
                   << Blame(random_case, pass, random_case.lowered));
    }
  }
}

}  // namespace
}  // namespace nftjit::opt
