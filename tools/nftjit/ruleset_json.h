// A ruleset in nft's own JSON.
#ifndef NFTJIT_TOOLS_NFTJIT_RULESET_JSON_H_
#define NFTJIT_TOOLS_NFTJIT_RULESET_JSON_H_

#include <absl/status/statusor.h>

#include <string>

#include "lib/nft/ruleset.h"

namespace nftjit::cli {

// What the stock `nft -j list ruleset` prints of it. Errors: NotFound without nft, Internal if nft fails.
absl::StatusOr<std::string> RulesetAsJson(const nft::Ruleset& ruleset);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_RULESET_JSON_H_
