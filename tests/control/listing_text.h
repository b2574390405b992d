// Ruleset texts made comparable: what `nft list` prints, without what may differ between two equal rulesets.
#ifndef NFTJIT_TESTS_CONTROL_LISTING_TEXT_H_
#define NFTJIT_TESTS_CONTROL_LISTING_TEXT_H_

#include <string>
#include <string_view>

namespace nftjit::control {

// Sorts the items of sets and maps, named and anonymous, which kernels list in the order of their hash tables, and
// takes out how long elements still live.
std::string Comparable(std::string_view listing);

// The first lines that differ, for messages; empty if none do.
std::string FirstDifference(std::string_view a, std::string_view b);

}  // namespace nftjit::control

#endif  // NFTJIT_TESTS_CONTROL_LISTING_TEXT_H_
