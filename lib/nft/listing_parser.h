// The listing of `nft --debug=netlink` as a ruleset, in either dialect.
//
// The text has less than the kernel: no hooks, no lengths (legacy) or byte orders (current), no options of some
// expressions. What the rule itself tells is taken from there (a constant has the type of the register that it is
// compared with). For the rest the habits of nft are assumed, and each place where they had to be is a ListingLoss.
#ifndef NFTJIT_LIB_NFT_LISTING_PARSER_H_
#define NFTJIT_LIB_NFT_LISTING_PARSER_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/nft/listing_dialect.h"
#include "lib/nft/ruleset.h"

namespace nftjit::nft {

// A line whose meaning depends on something that the text lost.
struct ListingLoss {
  SourcePos where;
  std::string what;  // "the listing does not print …; … is assumed".
};

struct Listing {
  // As written: things that lines did not name have empty names, several anonymous sets may be called `__set%d`, and
  // chains are base chains only if a chain line said so.
  Ruleset ruleset;
  std::vector<ListingLoss> losses;
  ListingDialect dialect = ListingDialect::kLegacy;
};

struct ListingParseOptions {
  std::string file_name = "listing";
  Family family = Family::kInet;          // Of rules without a header line.
  std::optional<ListingDialect> dialect;  // Empty: found out from the text.
};

// Lines may be quoted (`> `) and commented (`#`); a rule without a header line is the next of the last chain.
// Errors: InvalidArgument "FILE:LINE:COLUMN: what was expected, what was found", also for a text that both dialects
// can read and that means something else in each.
absl::StatusOr<Listing> ParseListing(std::string_view text, const ListingParseOptions& options = {});

// Whether `text` has a line that only a listing has: an expression in brackets.
bool LooksLikeListing(std::string_view text);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_LISTING_PARSER_H_
