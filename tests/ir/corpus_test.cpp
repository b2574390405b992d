// Real rulesets through the stock nft: all of them lower to verified programs that read back.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "lib/control/frontend.h"
#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "lib/ir/verifier.h"
#include "tests/support/requirement.h"

namespace nftjit::ir {
namespace {

std::vector<std::string> FilesBelow(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".nft") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

absl::StatusOr<nft::Ruleset> Compile(const std::string& file) {
  control::NftOptions options;
  options.locate_rules = false;
  return control::CompileNftFile(file, options);
}

// Checks what lowering makes of `ruleset`, and adds what it does not support.
void CheckLowered(const nft::Ruleset& ruleset, std::map<std::string, int>& unsupported) {
  size_t rules = 0;
  for (const nft::Table& table : ruleset.tables) {
    for (const nft::Chain& chain : table.chains) rules += chain.rules.size();
  }
  for (const bool partial : {false, true}) {
    const absl::StatusOr<Program> program = Lower(ruleset, {.partial = partial});
    INFO(program.status());
    REQUIRE(program.ok());
    const absl::Status verified = Verify(*program);
    INFO(verified);
    REQUIRE(verified.ok());
    REQUIRE(program->rules.size() >= rules);
    REQUIRE(program->rows.size() == program->origins.size());
    const bool any_row = std::ranges::any_of(program->rows, [](const Row& row) { return row.op == Op::kUnsupported; });
    REQUIRE(any_row == (!partial && !program->unsupported.empty()));
    const std::string text = Print(*program, {.origins = true});
    const absl::StatusOr<Program> again = Parse(text, "printed");
    INFO(again.status());
    REQUIRE(again.ok());
    REQUIRE(Print(*again, {.origins = true}) == text);
    REQUIRE(again->items == program->items);
    REQUIRE(again->origins == program->origins);
    REQUIRE(again->rules == program->rules);
    REQUIRE(again->chains == program->chains);
    REQUIRE(again->sets == program->sets);
    REQUIRE(again->counters == program->counters);
    REQUIRE(again->unsupported == program->unsupported);
    const std::string plain = Print(*program);
    const absl::StatusOr<Program> from_plain = Parse(plain, "plain");
    INFO(from_plain.status());
    REQUIRE(from_plain.ok());
    REQUIRE(Print(*from_plain) == plain);
    if (partial) continue;
    for (const UnsupportedRule& rule : program->unsupported) ++unsupported[rule.what.substr(0, rule.what.find(" @"))];
  }
}

TEST_CASE("the example rulesets lower without anything unsupported", "[ir][corpus]") {
  const std::vector<std::string> files = FilesBelow(NFTJIT_SOURCE_DIR "/examples/rulesets");
  REQUIRE(files.size() >= 3);
  std::map<std::string, int> unsupported;
  for (const std::string& file : files) {
    INFO(file);
    const absl::StatusOr<nft::Ruleset> ruleset = Compile(file);
    INFO(ruleset.status().message());
    REQUIRE(ruleset.ok());
    CheckLowered(*ruleset, unsupported);
  }
  REQUIRE(unsupported.empty());
}

TEST_CASE("real rulesets and upstream's dumps lower", "[ir][corpus]") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  std::map<std::string, int> unsupported;
  for (const std::string& file : FilesBelow(corpus + "/rulesets")) {
    INFO(file);
    const absl::StatusOr<nft::Ruleset> ruleset = Compile(file);
    INFO(ruleset.status().message());
    REQUIRE(ruleset.ok());
    CheckLowered(*ruleset, unsupported);
  }
  // Some dumps need a newer nft than the installed one, which then says so.
  size_t loaded = 0, refused = 0;
  for (const std::string& file : FilesBelow(corpus + "/nft-dumps")) {
    INFO(file);
    const absl::StatusOr<nft::Ruleset> ruleset = Compile(file);
    if (!ruleset.ok()) {
      INFO(ruleset.status());
      // Refused by nft or by us; or nft itself fails: an assertion of 1.0.6.
      const bool crashed = ruleset.status().code() == absl::StatusCode::kInternal;
      if (!crashed) REQUIRE(ruleset.status().code() == absl::StatusCode::kInvalidArgument);
      ++refused;
      continue;
    }
    ++loaded;
    CheckLowered(*ruleset, unsupported);
  }
  std::cerr << "dumps: " << loaded << " lowered, " << refused << " not loaded by this nft; unsupported:";
  for (const auto& [what, count] : unsupported) std::cerr << ' ' << what << ' ' << count << ',';
  std::cerr << '\n';
  CHECK(loaded > refused);
}

}  // namespace
}  // namespace nftjit::ir
