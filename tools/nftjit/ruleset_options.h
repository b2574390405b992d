// The flags that say which ruleset, on what host.
#ifndef NFTJIT_TOOLS_NFTJIT_RULESET_OPTIONS_H_
#define NFTJIT_TOOLS_NFTJIT_RULESET_OPTIONS_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "lib/environment/host.h"
#include "nftjit/ruleset.h"

namespace CLI {
class App;
}

namespace nftjit::cli {

struct RulesetOptions {
  std::string file;
  std::vector<std::string> defines, include_paths, interfaces;
  std::string host_file;
  bool resolve_names = false;

  void AddTo(CLI::App& parser);

  // The host: its file, the interfaces of --iface, and after Load() those that the ruleset mentions.
  absl::StatusOr<Host> LoadHost() const;
  // `locate`: every rule gets its file and line, at the price of a second run of nft.
  absl::StatusOr<Ruleset> Load(Host& host, bool locate) const;
};

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_RULESET_OPTIONS_H_
