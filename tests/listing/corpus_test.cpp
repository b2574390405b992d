// The listing of every real ruleset of the corpus against what nft 1.0.6 printed while it loaded the file, line by
// line.
//
// Left out of the comparison: the order of rules and sets (nft prints in the order of its messages), the names of
// anonymous sets (`__set%d` before the kernel has named them), and what the kernel fills in on its own, which the model
// has and nft's messages have not (Normalise() and what follows it list it).
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <regex>
#include <set>
#include <sstream>
#include <string_view>

#include "lib/control/frontend.h"
#include "lib/nft/listing_parser.h"
#include "lib/nft/listing_printer.h"
#include "lib/support/absl_view.h"
#include "tests/support/files.h"
#include "tests/support/requirement.h"

namespace nftjit::nft {
namespace {

using testing::ReadFile;

// The line of a set's elements without those that are given twice. No regular expression: std::regex recurses per
// character.
std::string WithoutRepeatedElements(std::string_view line) {
  std::set<absl::string_view> seen;
  std::vector<absl::string_view> kept;
  for (const absl::string_view element : absl::StrSplit(View(line), '\t')) {
    if (seen.insert(element).second) kept.push_back(element);
  }
  return absl::StrJoin(kept, "\t");
}

// Takes out of a line what nft's messages and the kernel's dumps have differently.
std::string Normalise(std::string line) {
  if (line.starts_with('\t')) return WithoutRepeatedElements(line);
  struct Rule {
    std::regex what;
    const char* to;
  };
  static const std::array<Rule, 5> kRules = {{
      {std::regex("__(set|map|objmap)[0-9]+"), "__$1%d"},
      // The kernel completes ranges of one value, and says in the flags what there is.
      {std::regex("((addr|proto)_min reg ([0-9]+)) (addr|proto)_max reg \\3 "), "$1 "},
      {std::regex("(\\[ (nat|redir|masq) .*?)( flags 0x[123])? \\]"), "$1 ]"},
      {std::regex("(\\[ log prefix .*) level 4 "), "$1 "},
      // The size of a set that rules add to.
      {std::regex(" size 65535$"), ""},
  }};
  for (const Rule& rule : kRules) {
    for (std::string last; last != line;) {
      last = line;
      line = std::regex_replace(line, rule.what, rule.to);
    }
  }
  return line;
}

// Interfaces have other numbers here.
std::string NormaliseParagraph(const std::string& paragraph) {
  static const std::regex kTest("(meta load [io]if => reg [0-9]+ \\]\n  \\[ cmp [a-z]+ reg [0-9]+) 0x[0-9a-f]{8}");
  static const std::regex kForward("(immediate reg [0-9]+) 0x[0-9a-f]{8}( \\]\n  \\[ fwd sreg_dev)");
  return std::regex_replace(std::regex_replace(paragraph, kTest, "$1 INDEX"), kForward, "$1 INDEX$2");
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
  for (std::string& paragraph : paragraphs) paragraph = NormaliseParagraph(paragraph);
  // nft prints the message of a set's elements also where there are none.
  static const std::regex kNoElements("\\S+ \\S+ 0\n");
  std::erase_if(paragraphs, [](const std::string& paragraph) { return std::regex_match(paragraph, kNoElements); });
  std::sort(paragraphs.begin(), paragraphs.end());
  return paragraphs;
}

// Whether the paragraphs are the same; says the first that differ.
bool AreEqual(const std::filesystem::path& file, const std::string& nft, const std::string& ours) {
  const std::vector<std::string> expected = Paragraphs(nft), printed = Paragraphs(ours);
  std::vector<std::string> missing, surplus;
  std::set_difference(expected.begin(), expected.end(), printed.begin(), printed.end(), std::back_inserter(missing));
  std::set_difference(printed.begin(), printed.end(), expected.begin(), expected.end(), std::back_inserter(surplus));
  if (missing.empty() && surplus.empty()) return true;
  std::cerr << file.filename().string() << ": " << missing.size() << " of " << expected.size()
            << " differ, first\n--- nft\n"
            << (missing.empty() ? "" : missing[0]) << "+++ ours\n"
            << (surplus.empty() ? "" : surplus[0]);
  return false;
}

// Calls `compare(path of the .nft file, its ruleset, nft's listing)` for each; all must return true.
template <class Compare>
void CheckAll(const char* what, Compare&& compare) {
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
    if (compare(entry.path(), *ruleset, ReadFile(listing))) ++equal;
  }
  std::cerr << equal << " of " << files << ' ' << what << '\n';
  CHECK(equal == files);
}

TEST_CASE("the listing of real rulesets is nft's") {
  CheckAll("listings are equal", [](const auto& path, const Ruleset& ruleset, const std::string& listing) {
    return AreEqual(path, listing, PrintListing(ruleset));
  });
}

// What a legacy text can tell: not the objects of elements, nor how long the keys of a set are that no rule looks up.
Ruleset Told(Ruleset ruleset) {
  for (Table& table : ruleset.tables) {
    const SetShapes used = ShapesOf(table);
    std::erase_if(table.sets, [&](const Set& set) { return !used.contains(set.handle); });
    for (Set& set : table.sets) {
      for (Element& element : set.elements) element.object = 0;
    }
  }
  return ruleset;
}

// The current dialect prints the lengths and orders that the parser found out.
TEST_CASE("nft's listing of real rulesets parses to the ruleset, and prints back") {
  CheckAll("listings parse to their rulesets", [](const auto& path, const Ruleset& ruleset, const std::string& text) {
    const absl::StatusOr<Listing> listing = ParseListing(text, {.dialect = ListingDialect::kLegacy});
    INFO(listing.status().message());
    REQUIRE(listing.ok());
    constexpr ListingDialect kCurrent = ListingDialect::kCurrent;
    return AreEqual(path, text, PrintListing(listing->ruleset)) &&
           AreEqual(path, PrintListing(Told(ruleset), {.dialect = kCurrent}),
                    PrintListing(Told(listing->ruleset), {.dialect = kCurrent}));
  });
}

}  // namespace
}  // namespace nftjit::nft
