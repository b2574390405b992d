// Every entry of docs/reference/kernel-quirks.md is a test that has its id in its name, or is in one of these lists:
// those that a test of another name shows, and those that wait for what they are about.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/files.h"

namespace nftjit::testing {
namespace {

struct Group {
  std::string_view ids, what;  // Ids with blanks between them.
};

// What is about loading is judged message by message: the name of the test case, or of its line in a table of messages.
constexpr Group kOtherNames[] = {
    {"E16", "store csum flags 2"},
    {"F14", "every row of the places of expressions is answered as recorded"},
    {"F15", "hooks, types and priorities"},
    {"F29", "loops are judged on the final state"},
    {"I5", "intervals beside [5, 10)"},
    {"I18", "sets, new and existing"},
    {"I20 I22", "sizes"},
    {"I21", "a lone open start is closed by an interval below it"},
    {"J16", "numgen type 2"},
    {"J20", "quota overdrawn"},
    {"J23", "a set that a rule adds to has a size"},
    {"K15", "fib both addresses "},
    {"K18", "inner hdrsize 65"},
    {"K19", "absent parts of the kernel are refused"},
};

constexpr Group kWaiting[] = {
    {"D6 D7 D8 D9 D12 E1 E2 E3 E4 E5 E6 E7 E8 E9 E17 E18 E19 E20 E21 E22 E23 E24 E25", "payload writes"},
    {"E10 E11 E12 E13 E14 E15", "writes of options"},
    {"F17 F18 F19 F23 F24 F30 F32 K23", "nat"},
    {"F22", "traces"},
    {"F28", "routing anew after the output hook"},
    {"C24 F31 G11 G14 G15 G16 G19 G20 G21 G26 G27 G28 J21", "a conntrack of our own"},
    {"G22 G23 G25", "a stack: the caller gives the facts, and acts on what was changed"},
    {"C23", "packets in pieces: docs/divergences.md, linear packets"},
    {"C36 K17", "inner headers of tunnels"},
    {"J1 J2 J3 J4 J5 J6 J7 J24 J25 J26", "dynset"},
    {"J8 J14 J17 J22", "quota, connlimit and objects"},
    {"J15 J18 J19", "numgen and hash"},
    {"K2 K3 K4 K5 K6 K20 K21", "the packets that reject sends"},
    {"K7 K8 K9 K22", "dup and fwd"},
    {"K10 K11", "tproxy and socket"},
    {"K12 K13 K14 K16", "fib and rt"},
};

std::vector<std::string> Words(std::string_view text) {
  static const std::regex kWord("[A-Z]+[0-9]+");
  const std::string copy(text);
  std::vector<std::string> words;
  for (std::sregex_iterator it(copy.begin(), copy.end(), kWord), end; it != end; ++it) words.push_back(it->str());
  return words;
}

// The rows of the tables begin with an id.
std::set<std::string> Documented() {
  static const std::regex kRow("\n\\| ([A-Z]+[0-9]+) \\|");
  const std::string text = ReadFile(NFTJIT_SOURCE_DIR "/docs/reference/kernel-quirks.md");
  std::set<std::string> ids;
  for (std::sregex_iterator it(text.begin(), text.end(), kRow), end; it != end; ++it) ids.insert((*it)[1]);
  return ids;
}

std::string SourcesOfTests() {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(NFTJIT_SOURCE_DIR "/tests")) {
    if (entry.path().extension() == ".cpp" && entry.path().filename() != "list_test.cpp") all += ReadFile(entry.path());
  }
  return all;
}

std::set<std::string> NamedInTests(const std::string& sources) {
  static const std::regex kName("TEST_CASE\\(\"([^\"]*)\"");
  std::set<std::string> ids;
  for (std::sregex_iterator it(sources.begin(), sources.end(), kName), end; it != end; ++it) {
    for (std::string& id : Words((*it)[1].str())) ids.insert(std::move(id));
  }
  return ids;
}

TEST_CASE("every quirk is a test or waits for something that is named") {
  const std::set<std::string> documented = Documented();
  CHECK(documented.size() > 200);
  const std::string sources = SourcesOfTests();
  const std::set<std::string> named = NamedInTests(sources);
  std::map<std::string, int> places;
  size_t tested = 0;
  for (const std::string& id : documented) {
    if (named.count(id) != 0) ++places[id], ++tested;
  }
  CHECK(tested >= 145);
  for (const Group& group : kOtherNames) {
    INFO(group.what);
    CHECK(sources.find("\"" + std::string(group.what)) != std::string::npos);
    for (const std::string& id : Words(group.ids)) ++places[id];
  }
  size_t waiting = 0;
  for (const Group& group : kWaiting) {
    for (const std::string& id : Words(group.ids)) ++places[id], ++waiting;
  }
  for (const std::string& id : documented) {
    INFO(id);
    CHECK(places[id] == 1);
  }
  for (const auto& [id, count] : places) {
    INFO(id << " is in no table of the document");
    CHECK(documented.count(id) == 1);
  }
  std::cout << "quirks: " << documented.size() << ", tested by id " << tested << ", waiting " << waiting << '\n';
}

}  // namespace
}  // namespace nftjit::testing
