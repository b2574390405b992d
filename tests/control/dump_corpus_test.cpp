// The rulesets of nftables' shell tests, one after the other into a server that lives on: listed, echoed and refused as
// by the kernel, handles included.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <regex>

#include "tests/control/listing_text.h"
#include "tests/control/nft_session.h"
#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::control {
namespace {

std::vector<std::string> FindDumps(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".nft") files.push_back(std::filesystem::absolute(entry.path()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

constexpr size_t kCommands = 3;  // For each file: load, list, flush.

std::vector<std::string> CommandsFor(const std::vector<std::string>& files) {
  std::vector<std::string> commands;
  for (const std::string& file : files) {
    commands.insert(commands.end(), {"include \"" + file + "\"", "list ruleset", "flush ruleset"});
  }
  return commands;
}

std::string WithoutLinesOf(std::string text, std::string_view words) {
  for (size_t at; (at = text.find(words)) != std::string::npos;) {
    const size_t before = text.rfind('\n', at);
    const size_t start = before == std::string::npos ? 0 : before + 1;
    text.erase(start, text.find('\n', at) - start);
  }
  return text;
}

// What differs from run to run or from namespace to namespace: the number and process of a new generation (a refused
// ruleset makes none), and the numbers of binding chains, which the kernel counts for all namespaces together. nft
// echoes such a chain once more or less by the order that its name has in a hash table. An echoed element of a type
// that nft does not know is what lay in nft's memory.
std::string WithoutChance(const std::string& text) {
  static const std::regex kGeneration("new generation [0-9]+ by process [0-9]+"), kBinding("__chain[0-9]+"),
      kEchoed("add chain [a-z0-9]+ [^ ]+ __chain # handle [0-9]+\n");
  std::string plain = WithoutLinesOf(text, "[invalid type]");
  if (text.find("new generation") != std::string::npos)
    plain = std::regex_replace(plain, kGeneration, "new generation");
  if (text.find("__chain") != std::string::npos) {
    plain = std::regex_replace(plain, kBinding, "__chain");
    plain = std::regex_replace(plain, kEchoed, "");
  }
  return plain;
}

bool IsEqual(const std::string& a, const std::string& b) {
  if (a == b) return true;
  return Comparable(WithoutChance(a)) == Comparable(WithoutChance(b));
}

bool IsRefusal(const std::string& said) { return said.find("In file included from") != std::string::npos; }

// Whether what a kernel refuses first is a part that it may have been built without.
bool IsOfMissingPart(const std::string& refusal) {
  static const std::regex kFirst("Could not process rule: No such file or directory\n\\s*([^\n]*)"),
      kParts("^(flowtable|secmark) |\\bqueue ");
  std::smatch first;
  return std::regex_search(refusal, first, kFirst) && std::regex_search(first[1].str(), kParts);
}

bool Has(std::string_view options, std::string_view option) { return options.find(option) != std::string_view::npos; }

// Why what is echoed of a file, of which `listing` is the kernel's, may differ; null: it may not.
const char* KnownEcho(std::string_view command, std::string_view options, const std::string& listing) {
  if (!Has(options, "-e")) return nullptr;
  if (command.find("nft-f/sample-ruleset.nft") != std::string_view::npos) {
    return "the kernel's events do not all fit into nft's socket";
  }
  static const std::regex kConcatenatedRanges(R"re(\btype(of)? [^\n{}]* \. [^{}]*\bflags [^\n]*\binterval\b)re");
  if (std::regex_search(listing, kConcatenatedRanges)) {
    return "nft echoes an element of concatenated ranges as what lies in its memory, or crashes";
  }
  return nullptr;
}

// Why all that is said of the file may differ.
const char* KnownDifference(std::string_view options, const std::string& listing) {
  static const std::regex kTableFlags(R"re("table": \{[^{}]*"flags")re");
  if (Has(options, "-j") && std::regex_search(listing, kTableFlags)) {
    return "nft prints the flags of a table as what lies in its memory, or crashes";
  }
  return nullptr;
}

struct Counts {
  size_t loaded = 0, equal = 0, refused_alike = 0, lacking = 0;
};

Counts CompareDumps(const std::vector<std::string>& files, const std::string& options) {
  const std::vector<std::string> commands = CommandsFor(files);
  const auto [ours, kernels] = RunBothSessions(commands, options);
  Counts counts;
  for (size_t i = 0; i < commands.size(); i += kCommands) {
    CAPTURE(options, commands[i]);
    const bool refused = IsRefusal(kernels[i]);
    if (refused && ours[i] != kernels[i]) {
      INFO(kernels[i] << ours[i]);
      CHECK_FALSE(IsRefusal(ours[i]));
      CHECK(IsOfMissingPart(kernels[i]));
      ++counts.lacking;
      continue;
    }
    if (refused) {
      ++counts.refused_alike;
    } else {
      ++counts.loaded;
    }
    const bool lists_equal = IsEqual(ours[i + 1], kernels[i + 1]) && IsEqual(ours[i + 2], kernels[i + 2]);
    const bool equal = IsEqual(ours[i], kernels[i]) && lists_equal;
    if (!refused) counts.equal += equal ? 1 : 0;
    const char* reason = KnownDifference(options, kernels[i + 1] + ours[i + 1]);
    if (reason == nullptr && lists_equal) reason = KnownEcho(commands[i], options, kernels[i + 1]);
    if (reason != nullptr && !equal) {
      std::cerr << commands[i] << " differs: " << reason << '\n';
      continue;
    }
    // The first difference says more than the two texts.
    for (size_t k = i; k < i + kCommands && !equal; ++k) {
      UNSCOPED_INFO(FirstDifference(Comparable(WithoutChance(ours[k])), Comparable(WithoutChance(kernels[k]))));
    }
    CHECK(equal);
  }
  return counts;
}

TEST_CASE("the rulesets of nftables' shell tests are listed as by the kernel, with handles") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  if (!testing::MayRun("kernel", testing::NetworkNamespace::Available())) return;
  const std::vector<std::string> files = FindDumps(corpus + "/nft-dumps");
  for (const char* options : {"-a", "-a -e", "-j -a", "-c", "-n -s", "-t -y -p -u -T"}) {
    const Counts counts = CompareDumps(files, options);
    std::cerr << "rulesets of nftables' shell tests by nft " << options << ": " << files.size() << ", the kernel loads "
              << counts.loaded << ", " << counts.equal << " of them are listed alike; " << counts.refused_alike
              << " are refused in the same words, " << counts.lacking << " need what it lacks\n";
    REQUIRE(counts.loaded >= 310);
    REQUIRE(counts.equal * 100 >= counts.loaded * 98);
  }
}

}  // namespace
}  // namespace nftjit::control
