// nftables' own rule tests: what nft takes, the server takes, and refuses what the kernel refuses.
#include "tests/control/rule_corpus.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <map>
#include <regex>

#include "tests/control/nft_session.h"
#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::control {
namespace {

using Kind = CorpusCommand::Kind;

// Of the corpus' own count: instances (a rule in one chain of one family) that load by nft 1.0.6 and kernel 6.18, and
// what a kernel with every optional part loads besides.
constexpr size_t kLoadedByKernel = 5381;
constexpr size_t kNeedOptionalParts = 100;

std::vector<std::string> TextsOf(const RuleFile& file) {
  std::vector<std::string> texts;
  for (const CorpusCommand& command : file.commands) texts.push_back(command.text);
  return texts;
}

// Whether the kernel refuses it for a part that it was built without: the expression or hook is unknown to it.
bool LacksPart(const std::string& command, const std::string& said) {
  static const std::regex kParts(R"(queue|reject|osf|ibrname|obrname|ibrpvid|ibrvproto|ibrhwaddr|broute|\bct\b)");
  return (said.find("No such file or directory") != std::string::npos ||
          said.find("Operation not supported") != std::string::npos) &&
         std::regex_search(command, kParts);
}

TEST_CASE("the rules of nftables' tests load as into the kernel") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  const bool ask_kernel = testing::MayRun("kernel", testing::NetworkNamespace::Available());
  size_t rules = 0, loaded = 0, crashes = 0, kernel_loaded = 0, lacking = 0;
  for (const RuleFile& file : ReadRuleCorpus(corpus + "/nft-py")) {
    const std::vector<std::string> texts = TextsOf(file);
    Server server;
    const auto [said, kernel_said] = ask_kernel ? RunBothSessions(texts) : Sessions{RunSession(texts, server), {}};
    for (size_t i = 0; i < texts.size(); ++i) {
      CAPTURE(file.name, texts[i], said[i]);
      const Kind kind = file.commands[i].kind;
      if (kind == Kind::kRule) {
        ++rules;
        loaded += said[i].empty() ? 1 : 0;
        crashes += said[i].starts_with("crash") ? 1 : 0;
      } else if (kind == Kind::kSetup) {
        CHECK(said[i] == "");
      } else {
        CHECK(said[i] != "");
      }
      if (!ask_kernel) continue;
      INFO("the kernel: " << kernel_said[i]);
      if (kind == Kind::kRule && kernel_said[i].empty()) ++kernel_loaded;
      if (said[i].empty() && LacksPart(texts[i], kernel_said[i])) {
        ++lacking;
      } else {
        CHECK(said[i] == kernel_said[i]);
      }
    }
  }
  std::cerr << "rules of nftables' tests: " << rules << " instances, loaded " << loaded << ", nft crashes at "
            << crashes << "; the kernel here: loaded " << kernel_loaded << ", refused for a missing part " << lacking
            << '\n';
  CHECK(rules == 5838);
  REQUIRE(loaded == kLoadedByKernel + kNeedOptionalParts);
  if (ask_kernel) REQUIRE(loaded == kernel_loaded + lacking);
}

}  // namespace
}  // namespace nftjit::control
