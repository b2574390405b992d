// The listing of every real ruleset of the corpus against what nft 1.0.6 printed while it loaded the file, line by
// line.
//
// Left out of the comparison: the order of rules and sets (nft prints in the order of its messages), the names of
// anonymous sets (`__set%d` before the kernel has named them), and what the kernel fills in on its own, which the model
// has and nft's messages have not (Normalise() lists it).
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>
#include <sstream>

#include "lib/control/frontend.h"
#include "lib/nft/listing_printer.h"
#include "tests/support/requirement.h"

namespace nftjit::nft {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Normalise(const std::string& line) {
  static const std::regex kAnonymous("__(set|map)[0-9]+");
  return std::regex_replace(line, kAnonymous, "__$1%d");
}

// A rule with its expressions, or a set with its elements, each as one text; sorted.
std::vector<std::string> Paragraphs(const std::string& listing) {
  std::vector<std::string> paragraphs;
  std::istringstream lines(listing);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    const bool continues = line[0] == ' ' || line[0] == '\t';
    if (!continues) paragraphs.emplace_back();
    paragraphs.back() += Normalise(line) + "\n";
  }
  std::sort(paragraphs.begin(), paragraphs.end());
  return paragraphs;
}

TEST_CASE("the listing of real rulesets is nft's") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  size_t files = 0, equal = 0;
  for (const auto& entry : std::filesystem::directory_iterator(corpus + "/rulesets")) {
    if (entry.path().extension() != ".nft") continue;
    ++files;
    std::filesystem::path listing = entry.path();
    listing.replace_extension(".listing");
    const absl::StatusOr<Ruleset> ruleset = control::CompileNftText(ReadFile(entry.path()), {.locate_rules = false});
    CAPTURE(entry.path().filename().string());
    INFO(ruleset.status().message());
    REQUIRE(ruleset.ok());
    const std::vector<std::string> expected = Paragraphs(ReadFile(listing)),
                                   printed = Paragraphs(PrintListing(*ruleset));
    std::vector<std::string> missing, surplus;
    std::set_difference(expected.begin(), expected.end(), printed.begin(), printed.end(), std::back_inserter(missing));
    std::set_difference(printed.begin(), printed.end(), expected.begin(), expected.end(), std::back_inserter(surplus));
    if (missing.empty() && surplus.empty()) {
      ++equal;
      continue;
    }
    std::cerr << entry.path().filename().string() << ": " << missing.size() << " of " << expected.size()
              << " differ, first\n--- nft\n"
              << (missing.empty() ? "" : missing[0]) << "+++ ours\n"
              << (surplus.empty() ? "" : surplus[0]);
  }
  std::cerr << equal << " of " << files << " listings are equal\n";
  CHECK(equal == files);
}

}  // namespace
}  // namespace nftjit::nft
