// The model as text, in the manner of `nft --debug=netlink`, in both dialects.
//
// Legacy is the text of nft 1.0.6 with libnftnl 1.2.4; where it prints less than the model knows, this prints what
// later versions do: `ct load id`, odd limit units as `5/2 second`, the base `tunnel` and bitwise with registers.
// Current is what nft prints while it adds rules, when it knows the byte order of its constants. Sets have their own
// names, also anonymous ones.
#ifndef NFTJIT_LIB_NFT_LISTING_PRINTER_H_
#define NFTJIT_LIB_NFT_LISTING_PRINTER_H_

#include <string>

#include "lib/nft/listing_dialect.h"
#include "lib/nft/ruleset.h"
#include "lib/nft/value_types.h"

namespace nftjit::nft {

struct ListingStyle {
  ListingDialect dialect = ListingDialect::kLegacy;
  // Lines of tables, chains, objects and flowtables in front: with them the text says where the rules run.
  bool declarations = false;
};

// Per table: its named sets with their elements, then the rules chain by chain, each after the anonymous sets that it
// uses.
std::string PrintListing(const Ruleset& ruleset, ListingStyle style = {});
std::string PrintListing(const Table& table, ListingStyle style = {});

// One rule: its header line, an expression a line, user data, and the empty line that the legacy nft puts between
// rules. `table` resolves the handles; one that it lacks is printed as its number.
std::string PrintRule(const Table& table, const Chain& chain, const Rule& rule,
                      ListingDialect dialect = ListingDialect::kLegacy);
// The two lines of a set, and its elements on a third if it has any.
std::string PrintSet(const Table& table, const Set& set, ListingDialect dialect = ListingDialect::kLegacy);
// The same of the anonymous sets that a rule uses, in the order of its expressions.
std::string PrintAnonymousSets(const Table& table, const Rule& rule, ListingDialect dialect = ListingDialect::kLegacy);

std::string PrintTableLine(const Table& table);
std::string PrintChainLine(const Table& table, const Chain& chain);
std::string PrintObjectLine(const Table& table, const Object& object);
std::string PrintFlowtableLine(const Table& table, const Flowtable& flowtable);

// Appends `name body `, what stands between `[ ` and `]`. `operand` is the type of its constants.
void AppendExpression(const Table& table, const Expression& expression, std::string& out,
                      ListingDialect dialect = ListingDialect::kLegacy, ValueType operand = {});
// Appends the bytes as words of 8 hex digits (the last of the current dialect may be shorter), each with `prefix` in
// front and a blank after it.
void AppendValue(ByteSpan bytes, ListingDialect dialect, ByteOrder order, std::string_view prefix, std::string& out);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_LISTING_PRINTER_H_
