// The flags that say which ruleset, on what host.
#ifndef NFTJIT_TOOLS_NFTJIT_RULESET_FLAGS_H_
#define NFTJIT_TOOLS_NFTJIT_RULESET_FLAGS_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "nftjit/ruleset.h"
#include "tools/nftjit/host_flags.h"

namespace CLI {
class App;
}

namespace nftjit::cli {

struct RulesetFlags : HostFlags {
  std::string file;
  std::vector<std::string> defines, include_paths;
  ListingOptions listing;  // If the ruleset is one.

  void AddTo(CLI::App& parser);
  // --hook and --family for verbs that have no packets, where they belong to listings alone.
  void AddListingPlaceTo(CLI::App& parser);

  // `locate`: every rule gets its file and line, at the price of a second run of nft. Interfaces that the ruleset was
  // compiled against are added to `host`. Standard input is read at the first call and remembered.
  absl::StatusOr<Ruleset> Load(Host& host, bool locate);

 private:
  std::optional<std::string> standard_input_;
};

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_RULESET_FLAGS_H_
