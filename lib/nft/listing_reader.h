// Expressions of the listing, read: the fields of their structs, with constants left as words.
#ifndef NFTJIT_LIB_NFT_LISTING_READER_H_
#define NFTJIT_LIB_NFT_LISTING_READER_H_

#include <vector>

#include "lib/nft/listing_builder.h"
#include "lib/support/line_cursor.h"

namespace nftjit::nft {

// An expression whose constants, and what lengths follow from them, are still missing.
struct RawExpression {
  Expression expression;
  std::vector<RawValue> constants;  // In the order of the text.
  SourcePos where;
};

// Reads one expression at `in`, from `[` to `]`. Things that it names come from `table`; sets from `builder`.
// False: `in` holds the error.
bool ReadExpression(LineCursor& in, ListingBuilder& builder, RawTable& table, RawExpression* raw);

// Fills the constants of a rule in, and the lengths that follow from them. Notes what its sets are keyed by.
//
// With `in_memory_order` values of the current dialect are in the order of the registers, as where nft lists what the
// kernel told it. `*misfits` counts constants whose length no version of nft would have printed in this dialect.
absl::Status ResolveRule(std::vector<RawExpression>& rule, ListingBuilder& builder, RawTable& table,
                         ListingDialect dialect, bool in_memory_order, size_t* misfits);

// Words of hex digits up to something else, each behind `prefix`; with `fields` also ` . ` between fields.
bool ReadWords(LineCursor& in, std::string_view prefix, bool fields, RawValue* value);
// accept, drop, jump -> CHAIN … `chain` stays empty if none is named.
bool ReadVerdict(LineCursor& in, VerdictCode* code, std::string_view* chain);
std::optional<VerdictCode> VerdictFromName(std::string_view name);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_LISTING_READER_H_
