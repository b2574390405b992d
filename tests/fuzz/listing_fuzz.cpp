// Listings: read or refused; what is read prints in both dialects, and what would load is a model like any other.
#include "lib/control/listing.h"
#include "lib/nft/listing_parser.h"
#include "lib/nft/listing_printer.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/model_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nftjit;  // NOLINT(google-build-using-namespace): a function of ten lines.
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<nft::Listing> listing = nft::ParseListing(text);
  if (!listing.ok()) return 0;
  for (const nft::ListingDialect dialect : {nft::ListingDialect::kLegacy, nft::ListingDialect::kCurrent}) {
    nft::PrintListing(listing->ruleset, {.dialect = dialect, .declarations = true});
  }
  const absl::StatusOr<nft::Ruleset> ruleset =
      control::CompileListing(text, {.dialect = listing->dialect, .assume_lost = true});
  if (ruleset.ok()) fuzz::CheckModel(*ruleset);
  return 0;
}
