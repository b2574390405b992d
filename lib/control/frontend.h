// Rulesets from the stock `nft` program, and stock clients run against a server of ours.
//
// No kernel, no privileges: the client is a child process whose netlink sockets end here.
#ifndef NFTJIT_LIB_CONTROL_FRONTEND_H_
#define NFTJIT_LIB_CONTROL_FRONTEND_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <string>
#include <vector>

#include "lib/control/child.h"
#include "lib/control/server.h"
#include "lib/nft/ruleset.h"

namespace nftjit {
class Host;  // lib/environment/host.h
}

namespace nftjit::control {

struct NftOptions {
  // Interfaces that exist, in addition to the host's. Index 0: the lowest free one. Every other name that the ruleset
  // needs the index of (`iif`, `oif`, sets of type iface_index) is invented; lo has index 1.
  std::vector<nft::Interface> interfaces;
  const Host* host = nullptr;  // Its interfaces, users and groups; null: users and groups of the machine.
  bool dns = false;            // Look host names up.
  // Fill Rule::where. Costs a second run of nft, whose time grows with the square of the number of rules: above
  // kLocatedRules it is left out and places stay unknown.
  bool locate_rules = true;
  static constexpr size_t kLocatedRules = 20'000;
  std::vector<std::string> arguments;         // For nft, before -f: --define=…, --includepath …
  std::string nft_program;                    // Path; empty: found in PATH, /usr/local/sbin, /usr/sbin, /sbin.
  std::string shim;                           // Path; empty: beside the program, as built, as installed.
  std::chrono::milliseconds timeout{60'000};  // Of one run of nft.
  std::string* warnings = nullptr;            // Takes what nft says of a ruleset that it loads.
};

// What nf_tables would hold after `nft -f`. "-" as `path` reads standard input.
//
// Errors: InvalidArgument with nft's own messages, unchanged, where nft or the server refuses the ruleset; NotFound
// where nft or the shim is missing; FailedPrecondition for an nft that the shim cannot reach (static, setuid);
// DeadlineExceeded for one that hangs; Internal for one that crashes.
absl::StatusOr<nft::Ruleset> CompileNftFile(const std::string& path, const NftOptions& options = {});
absl::StatusOr<nft::Ruleset> CompileNftText(const std::string& text, const NftOptions& options = {});

// Runs a client, `arguments[0]` by name or path, against `server`. How it fared is in the outcome: a client that fails
// is not an error of this function.
absl::StatusOr<ChildOutcome> RunClient(Server& server, const std::vector<std::string>& arguments,
                                       const NftOptions& options = {}, std::optional<std::string> input = std::nullopt);
// The same with the caller's standard streams, and without a timeout. FailedPrecondition where no process of the client
// loaded the shim.
absl::StatusOr<ChildOutcome> RunClientHere(Server& server, const std::vector<std::string>& arguments,
                                           const NftOptions& options = {});

// A server with the interfaces, users and groups of `options`.
absl::StatusOr<ServerOptions> MakeServerOptions(const NftOptions& options);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_FRONTEND_H_
