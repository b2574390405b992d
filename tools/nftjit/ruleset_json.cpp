#include "tools/nftjit/ruleset_json.h"

#include "lib/control/frontend.h"

namespace nftjit::cli {

absl::StatusOr<std::string> RulesetAsJson(const nft::Ruleset& ruleset) {
  control::ServerOptions options;
  for (const nft::Interface& interface : ruleset.interfaces) {
    if (absl::Status status = options.links.Add(interface.name, interface.index); !status.ok()) return status;
  }
  control::Server server(std::move(options));
  server.Restore(ruleset);
  absl::StatusOr<control::ChildOutcome> outcome = control::RunClient(server, {"nft", "-j", "list", "ruleset"});
  if (!outcome.ok()) return outcome.status();
  if (!outcome->succeeded()) return absl::InternalError("nft -j list ruleset: " + outcome->errors);
  return std::move(outcome->output);
}

}  // namespace nftjit::cli
