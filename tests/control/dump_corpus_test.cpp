// The rulesets of nftables' shell tests: listed by our server as by the kernel, handles included.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

#include "lib/control/frontend.h"
#include "tests/control/listing_text.h"
#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::control {
namespace {

struct Dump {
  std::string name, text;
};

std::vector<Dump> ReadDumps(const std::string& folder) {
  std::vector<Dump> dumps;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".nft") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    dumps.push_back(
        {std::filesystem::relative(entry.path(), folder), std::string(std::istreambuf_iterator<char>(file), {})});
  }
  std::sort(dumps.begin(), dumps.end(), [](const Dump& a, const Dump& b) { return a.name < b.name; });
  return dumps;
}

// What a ruleset became: its listing, or why it was refused.
struct Loaded {
  bool ok = false;
  std::string text;
};

Loaded LoadIntoKernel(const Dump& dump) {
  const auto network = testing::NetworkNamespace::Create();
  REQUIRE(network.ok());
  Loaded loaded;
  const absl::Status status = (*network)->Inside([&] {
    if (absl::Status status = testing::RunProgram({"nft", "-f", "-"}, dump.text, &loaded.text); !status.ok())
      return status;
    return testing::RunProgram({"nft", "-a", "list", "ruleset"}, "", &loaded.text);
  });
  loaded.ok = status.ok();
  return loaded;
}

Loaded LoadIntoServer(const Dump& dump) {
  Server server;
  absl::StatusOr<ChildOutcome> outcome = RunClient(server, {"nft", "-f", "-"}, {}, dump.text);
  REQUIRE(outcome.ok());
  if (!outcome->succeeded()) return {false, outcome->output + outcome->errors};
  outcome = RunClient(server, {"nft", "-a", "list", "ruleset"});
  REQUIRE(outcome.ok());
  return {outcome->succeeded(), outcome->output + outcome->errors};
}

// Dumps that differ, each with its reason.
const std::map<std::string, std::string>& KnownDifferences() {
  static const std::map<std::string, std::string> differences = {};
  return differences;
}

TEST_CASE("the rulesets of nftables' shell tests are listed as by the kernel, with handles") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  if (!testing::MayRun("kernel", testing::NetworkNamespace::Available())) return;
  size_t loaded = 0, equal = 0, refused_alike = 0, lacking = 0;
  const std::vector<Dump> dumps = ReadDumps(corpus + "/nft-dumps");
  for (const Dump& dump : dumps) {
    CAPTURE(dump.name);
    const Loaded kernel = LoadIntoKernel(dump);
    const Loaded server = LoadIntoServer(dump);
    if (!kernel.ok) {
      if (kernel.text == server.text) {
        ++refused_alike;
        continue;
      }
      // Flowtables, secmarks and the like, which the kernel at hand was built without.
      INFO(server.text);
      CHECK(server.ok);
      CHECK(kernel.text.find("Could not process rule: No such file or directory") != std::string::npos);
      std::cerr << dump.name << " needs what the kernel here lacks\n";
      ++lacking;
      continue;
    }
    ++loaded;
    const std::string difference = FirstDifference(Comparable(server.text), Comparable(kernel.text));
    const auto known = KnownDifferences().find(dump.name);
    if (difference.empty()) {
      ++equal;
      CHECK(known == KnownDifferences().end());
    } else if (known != KnownDifferences().end()) {
      std::cerr << dump.name << " is listed otherwise: " << known->second << '\n';
    } else {
      FAIL_CHECK(difference);
    }
  }
  std::cerr << "rulesets of nftables' shell tests: " << dumps.size() << ", the kernel loads " << loaded << ", " << equal
            << " of them are listed alike; " << refused_alike << " are refused in the same words, " << lacking
            << " need what it lacks\n";
  CHECK(loaded >= 310);
  CHECK(equal * 100 >= loaded * 98);
}

}  // namespace
}  // namespace nftjit::control
