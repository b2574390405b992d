// nftables' own rule tests (tests/py of its source), read into commands for nft.
#ifndef NFTJIT_TESTS_CONTROL_RULE_CORPUS_H_
#define NFTJIT_TESTS_CONTROL_RULE_CORPUS_H_

#include <string>
#include <vector>

namespace nftjit::control {

struct CorpusCommand {
  enum class Kind {
    kSetup,         // A table, chain, set, element or object that upstream expects to go in.
    kRefusedSetup,  // One that it expects to be refused.
    kRule,          // A rule that upstream expects to load, in one chain of one family.
  };
  Kind kind;
  std::string text;
};

struct RuleFile {
  std::string name;  // "ip/dnat.t".
  std::vector<CorpusCommand> commands;
};

// Every .t file below `folder`, by name. Rules that upstream expects to be refused, and those it has switched off, are
// left out.
std::vector<RuleFile> ReadRuleCorpus(const std::string& folder);

}  // namespace nftjit::control

#endif  // NFTJIT_TESTS_CONTROL_RULE_CORPUS_H_
