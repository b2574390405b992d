// The model as text, in the manner of `nft --debug=netlink` of nft 1.0.6 with libnftnl 1.2.4.
//
// Constants are printed as the native integers read from each four bytes, as that version does. Where it prints less
// than the model knows, this prints what later versions do: `ct load id`, odd limit units as `5/2 second`, the base
// `tunnel` and bitwise with registers. Sets have their own names, also anonymous ones. Chains, objects and flowtables
// have no lines.
#ifndef NFTJIT_LIB_NFT_LISTING_PRINTER_H_
#define NFTJIT_LIB_NFT_LISTING_PRINTER_H_

#include <string>

#include "lib/nft/ruleset.h"

namespace nftjit::nft {

// Per table: its named sets with their elements, then the rules chain by chain, each after the anonymous sets that it
// uses.
std::string PrintListing(const Ruleset& ruleset);
std::string PrintListing(const Table& table);

// One rule: its header line, an expression a line, user data, and the empty line that nft puts between rules. `table`
// resolves the handles; one that it lacks is printed as its number.
std::string PrintRule(const Table& table, const Chain& chain, const Rule& rule);
// The two lines of a set, and its elements on a third if it has any.
std::string PrintSet(const Table& table, const Set& set);
// The same of the anonymous sets that a rule uses, in the order of its expressions.
std::string PrintAnonymousSets(const Table& table, const Rule& rule);

// Appends `name body `, what stands between `[ ` and `]`.
void AppendExpression(const Table& table, const Expression& expression, std::string& out);
// Appends the bytes as words of 8 hex digits, each with `prefix` in front and a blank after it.
void AppendWords(ByteSpan bytes, std::string_view prefix, std::string& out);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_LISTING_PRINTER_H_
