// Rulesets from a listing of `nft --debug=netlink`: what the text says, completed by what only its reader knows.
#ifndef NFTJIT_LIB_CONTROL_LISTING_H_
#define NFTJIT_LIB_CONTROL_LISTING_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/nft/listing_parser.h"
#include "lib/nft/ruleset.h"

namespace nftjit::control {

struct ListingContext {
  std::string file_name = "listing";
  // Of chains that nothing jumps to and no chain line declares. Empty: the hook that the chain is named after (INPUT,
  // output …), else ingress in netdev tables and input in all others. They have priority 0, policy accept, and type nat
  // if they reach a NAT statement.
  std::string hook;
  nft::Family family = nft::Family::kInet;     // Of rules without a header line.
  std::optional<nft::ListingDialect> dialect;  // Empty: found out.
  bool assume_lost = false;                    // Go on where the listing lost something, with the habits of nft.
};

// What nf_tables would hold: names and base chains completed, everything checked as if a client had sent it. Things
// without a name get one: table `listing`, a chain named after its hook, `__set0` … for anonymous sets.
//
// Errors: InvalidArgument with file, line and column, for text that is no listing, for the first line whose meaning
// depends on something that the text lost (unless `assume_lost`), and for rules that the kernel would refuse.
absl::StatusOr<nft::Ruleset> CompileListing(std::string_view text, const ListingContext& context = {});

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_LISTING_H_
