// The bytecode of nft's own rule tests, in both dialects: parsed, printed back, and each dialect against the other.
//
// A block is one rule with the anonymous sets that it uses; its text is compared byte for byte after Normalise(), which
// takes out what hand-edited files differ in and no nft prints.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>

#include "lib/nft/listing_parser.h"
#include "lib/nft/listing_printer.h"
#include "tests/support/requirement.h"

namespace nftjit::nft {
namespace {

struct Block {
  std::string name;  // FILE: # RULE
  std::string text;
};

std::vector<Block> ReadBlocks(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename().string().find(".payload") != std::string::npos) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Block> blocks;
  for (const auto& path : files) {
    const std::string file = path.lexically_relative(folder).string();
    std::ifstream in(path);
    std::string comment, text;
    const auto end = [&] {
      if (!text.empty()) blocks.push_back({absl::StrCat(file, ": ", comment), std::exchange(text, {})});
    };
    for (std::string line; std::getline(in, line);) {
      if (line.starts_with('#')) {
        end();
        comment = line;
      } else if (line.find_first_not_of(" \t") == std::string::npos) {
        end();
      } else {
        text += line + '\n';
      }
    }
    end();
  }
  return blocks;
}

// The words of a line, one blank between them: tabs became blanks in places, and blanks at ends of lines came and went.
std::vector<std::string> Words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

// Blanks aside, what blocks leave out is left out of their prints, too: the header line, or in it the table, and so in
// the lines of the sets (which name it nevertheless in the record).
std::string Normalise(const std::string& text, bool header, bool table) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words = Words(line);
    if (words.empty()) continue;
    const bool is_header = FamilyFromName(words[0]) || words[0] == "unspec";
    if (is_header && !header) continue;
    const bool is_set = words[0].starts_with("__");
    if (is_set && !table && words.size() > 2) words.erase(words.begin() + 1);
    for (const std::string& word : words) out += word + (&word == &words.back() ? "\n" : " ");
  }
  return out;
}
bool HasHeader(const Block& block, size_t words) {
  std::istringstream lines(block.text);
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> all = Words(line);
    if (!all.empty() && FamilyFromName(all[0])) return all.size() >= words;
  }
  return false;
}
std::string Normalise(const Block& block) { return Normalise(block.text, HasHeader(block, 1), HasHeader(block, 2)); }

// The sets that the block's rule brings along, and the rule; named sets are declared elsewhere.
std::string Print(const Block& block, const Listing& listing, ListingDialect dialect) {
  std::string text;
  for (const Table& table : listing.ruleset.tables) {
    for (const Chain& chain : table.chains) {
      for (const Rule& rule : chain.rules) {
        text += PrintAnonymousSets(table, rule, dialect) + PrintRule(table, chain, rule, dialect);
      }
    }
  }
  return Normalise(text, HasHeader(block, 1), true);
}

absl::StatusOr<Listing> Parse(const Block& block, ListingDialect dialect) {
  return ParseListing(block.text, {.file_name = block.name, .family = Family::kUnspec, .dialect = dialect});
}

constexpr ListingDialect kDialects[] = {ListingDialect::kLegacy, ListingDialect::kCurrent};
constexpr const char* kFolders[] = {"/nft-py-legacy", "/nft-py"};

// Blocks of which the print is not the record, and why. Both dialects unless one is named.
struct Exception {
  std::string block;
  std::string reason;
  std::optional<ListingDialect> dialect;
};
const std::string kOtherTable = "the record's set lines name another table than its rule: hand-edited";
const std::string kNoUserdata = "the current dialect prints length and sum of an element's user data, not its bytes";
const std::string kNoSetLine = "the record lacks the lines of the set: no parser could know its flags; an error";
const std::string kBrokenLine = "the record's second set line is damaged: an error";
const std::vector<Exception> kNotEqual = {
    {"inet/dccp.t.payload: # dccp dport {23, 24, 25}", kOtherTable, {}},
    {"inet/dccp.t.payload: # dccp dport != {23, 24, 25}", kOtherTable, {}},
    {"inet/ip.t.payload: # ip saddr . ip daddr . ether saddr { 1.1.1.1 . 2.2.2.2 . ca:fe:ca:fe:ca:fe }",
     kOtherTable,
     {}},
    {"inet/udplite.t.payload: # udplite sport { 49, 50} drop", kOtherTable, {}},
    {"inet/udplite.t.payload: # udplite sport != { 49, 50} accept", kOtherTable, {}},
    {"inet/udplite.t.payload: # udplite dport { 49, 50} drop", kOtherTable, {}},
    {"inet/udplite.t.payload: # udplite dport != { 49, 50} accept", kOtherTable, {}},
    {"inet/udplite.t.payload: # udplite checksum { 33, 55, 67, 88}", kOtherTable, {}},
    {"inet/udplite.t.payload: # udplite checksum != { 33, 55, 67, 88}", kOtherTable, {}},
    {"ip/numgen.t.payload: # dnat to numgen inc mod 2 map { 0 : 192.168.10.100, 1 : 192.168.20.200 }", kOtherTable, {}},
    {"ip/sets.t.payload.inet: # ip saddr { { 1.1.1.0, 3.3.3.0 }, 2.2.2.0 }", kOtherTable, {}},
    {"ip/sets.t.payload.inet: # ip saddr { { 1.1.1.0/24, 3.3.3.0/24 }, 2.2.2.0/24 }", kOtherTable, {}},
    {"ip6/ip6.t.payload.inet: # ip6 dscp vmap { 0x04 : accept, 0x3f : continue } counter", kOtherTable, {}},
    {"ip6/srh.t.payload: # srh last-entry { 0, 4-127, 255 }", kNoUserdata, ListingDialect::kCurrent},
    {"ip6/srh.t.payload: # srh flags { 0, 4-127, 255 }", kNoUserdata, ListingDialect::kCurrent},
    {"ip6/srh.t.payload: # srh tag { 0, 4-127, 0xffff }", kNoUserdata, ListingDialect::kCurrent},
    {"inet/fib.t.payload: # fib daddr check vmap { missing : drop, exists : accept }", kNoSetLine, {}},
    {"inet/fib.t.payload: # meta mark set fib daddr check . ct mark map { exists . 0x00000000 : 0x00000001 }",
     kNoSetLine,
     {}},
    {"ip/icmp.t.payload.ip: # icmp id 33-45", kBrokenLine, {}},
};

// Blocks that differ when one dialect is printed as the other: from legacy, what it does not tell; else the records.
const std::string kRecordsDiffer = "the two records differ in more than the dialect";
const std::string kNoObjects = "the legacy dialect does not print the objects of an object map";
const std::string kNoLength = "the legacy dialect does not tell the length, and no line of the rule does";
const std::string kNoMaskLength = "the legacy dialect does not tell the length of a mask that is longer than the value";
const std::vector<Exception> kNotTranslated = {
    {"any/tcpopt.t.payload: # tcp option md5sig exists", kRecordsDiffer, {}},
    {"ip/icmp.t.payload.ip: # icmp code != { prot-unreachable, frag-needed, 33, 54, 56}", kRecordsDiffer, {}},
    {"ip/ip.t.payload: # ip dscp {cs0, cs1,", kRecordsDiffer, {}},
    {"ip/ip.t.payload.inet: # ip dscp {cs0, cs1,", kRecordsDiffer, {}},
    {"ip6/ip6.t.payload.ip6: # ip6 dscp {cs0, cs1,", kRecordsDiffer, {}},
    {"ip/objects.t.payload: # counter name tcp dport map", kNoObjects, ListingDialect::kLegacy},
    {"ip/objects.t.payload: # quota name tcp dport map", kNoObjects, ListingDialect::kLegacy},
    {"ip/objects.t.payload: # ct helper set tcp dport map", kNoObjects, ListingDialect::kLegacy},
    {"ip/objects.t.payload: # limit name tcp dport map", kNoObjects, ListingDialect::kLegacy},
    {"ip/objects.t.payload: # synproxy name tcp dport map", kNoObjects, ListingDialect::kLegacy},
    {"ip/sets.t.payload.inet: # add @map2", kNoLength, ListingDialect::kLegacy},
    {"ip/sets.t.payload.ip: # add @map2", kNoLength, ListingDialect::kLegacy},
    {"ip/sets.t.payload.netdev: # add @map2", kNoLength, ListingDialect::kLegacy},
    {"ip6/sets.t.payload.inet: # add @map2", kNoLength, ListingDialect::kLegacy},
    {"ip6/sets.t.payload.ip6: # add @map2", kNoLength, ListingDialect::kLegacy},
    {"ip6/sets.t.payload.netdev: # add @map2", kNoLength, ListingDialect::kLegacy},
    {"ip/ct.t.payload: # ct mark set ip dscp & 0x0f << 1", kNoMaskLength, ListingDialect::kLegacy},
    {"ip/ct.t.payload: # ct mark set ip dscp & 0x0f << 2", kNoMaskLength, ListingDialect::kLegacy},
    {"ip6/ct.t.payload: # ct mark set ip6 dscp & 0x0f << 2", kNoMaskLength, ListingDialect::kLegacy},
};

const Exception* FindException(const std::vector<Exception>& list, const Block& block, ListingDialect dialect) {
  for (const Exception& exception : list) {
    if (block.name.starts_with(exception.block) && exception.dialect.value_or(dialect) == dialect) return &exception;
  }
  return nullptr;
}

// A print and the record that it should be, counted; a difference that no exception names is a failure, as is an
// exception that has become untrue.
struct Tally {
  size_t equal = 0;
  std::map<std::string, size_t> excused;

  void Count(const Block& block, const absl::StatusOr<std::string>& print, const std::string& record,
             const Exception* exception) {
    INFO(block.name);
    INFO((print.ok() ? *print : std::string(print.status().message())));
    INFO("expected:\n" << record);
    const bool same = print.ok() && *print == record;
    if (same && exception == nullptr) {
      ++equal;
    } else if (exception != nullptr) {
      CHECK_FALSE(same);
      ++excused[exception->reason];
    } else {
      FAIL_CHECK("the print differs");
    }
  }
  void Report(const std::string& what, size_t blocks) const {
    std::cerr << what << ": " << equal << " of " << blocks << " blocks are equal\n";
    for (const auto& [reason, count] : excused) std::cerr << "  " << count << ": " << reason << '\n';
  }
};

absl::StatusOr<std::string> PrintBlock(const Block& block, ListingDialect from, const Block& as, ListingDialect to) {
  const absl::StatusOr<Listing> listing = Parse(block, from);
  if (!listing.ok()) return listing.status();
  return Print(as, *listing, to);
}

TEST_CASE("the payloads of nft's tests parse and print back") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  for (int i = 0; i < 2; ++i) {
    const std::vector<Block> blocks = ReadBlocks(corpus + kFolders[i]);
    Tally tally;
    for (const Block& block : blocks) {
      tally.Count(block, PrintBlock(block, kDialects[i], block, kDialects[i]), Normalise(block),
                  FindException(kNotEqual, block, kDialects[i]));
    }
    tally.Report(kFolders[i], blocks.size());
    CHECK(blocks.size() == 2532);
    CHECK(tally.equal * 100 >= blocks.size() * 99);
  }
}

TEST_CASE("the payloads of one dialect are those of the other") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  const std::vector<Block> blocks[] = {ReadBlocks(corpus + kFolders[0]), ReadBlocks(corpus + kFolders[1])};
  REQUIRE(blocks[0].size() == blocks[1].size());
  for (int i = 0; i < 2; ++i) {
    Tally tally;
    for (size_t b = 0; b < blocks[i].size(); ++b) {
      const Block &block = blocks[i][b], &other = blocks[1 - i][b];
      const Exception* exception = FindException(kNotTranslated, block, kDialects[i]);
      if (exception == nullptr) exception = FindException(kNotEqual, block, kDialects[i]);
      tally.Count(block, PrintBlock(block, kDialects[i], other, kDialects[1 - i]), Normalise(other), exception);
    }
    tally.Report(std::string(kFolders[i]) + " in the other dialect", blocks[i].size());
  }
}

// The dialect is found out from the text alone, or the text says nothing that depends on it.
TEST_CASE("the dialect of the payloads is recognised") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  for (int i = 0; i < 2; ++i) {
    size_t found = 0, ambiguous = 0;
    for (const Block& block : ReadBlocks(corpus + kFolders[i])) {
      const absl::StatusOr<Listing> told = Parse(block, kDialects[i]);
      if (!told.ok()) continue;
      const absl::StatusOr<Listing> listing = ParseListing(block.text, {.file_name = block.name});
      INFO(block.name);
      if (!listing.ok()) {
        CHECK_THAT(std::string(listing.status().message()), Catch::Contains("no line of the text shows which"));
        ++ambiguous;
        continue;
      }
      ++found;
      for (size_t t = 0; t < told->ruleset.tables.size(); ++t) {
        for (size_t c = 0; c < told->ruleset.tables[t].chains.size(); ++c) {
          for (size_t r = 0; r < told->ruleset.tables[t].chains[c].rules.size(); ++r) {
            CHECK(told->ruleset.tables[t].chains[c].rules[r].expressions ==
                  listing->ruleset.tables[t].chains[c].rules[r].expressions);
          }
        }
      }
    }
    std::cerr << kFolders[i] << ": " << found << " blocks show their dialect or need none, " << ambiguous
              << " do not show it\n";
    CHECK(found > 1500);
  }
}

}  // namespace
}  // namespace nftjit::nft
