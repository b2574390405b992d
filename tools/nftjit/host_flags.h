// The flags that say on what host a ruleset is.
#ifndef NFTJIT_TOOLS_NFTJIT_HOST_FLAGS_H_
#define NFTJIT_TOOLS_NFTJIT_HOST_FLAGS_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "lib/environment/host.h"
#include "lib/nft/ruleset.h"

namespace CLI {
class App;
}

namespace nftjit::cli {

struct HostFlags {
  std::vector<std::string> interfaces;
  std::string host_file;
  bool resolve_names = false;

  void AddTo(CLI::App& parser);

  // The host file, with the interfaces that are `known` and those of --iface.
  [[nodiscard]] absl::StatusOr<Host> LoadHost(const std::vector<nft::Interface>& known = {}) const;
};

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_HOST_FLAGS_H_
