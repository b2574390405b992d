// The checks of nf_tables that need the whole table: which expressions may be reached from which hook, how deep chains
// nest. The kernel makes them on the state that a transaction leaves (validation.md 1 and 4).
#ifndef NFTJIT_LIB_NFT_VALIDATE_H_
#define NFTJIT_LIB_NFT_VALIDATE_H_

#include <optional>
#include <string>

#include "lib/nft/ruleset.h"

namespace nftjit::nft {

// What is wrong, and where. A violation of depth has no rule if it is an element's jump.
struct Violation {
  int error = 0;     // Positive errno: EOPNOTSUPP for a forbidden expression, EMLINK for depth and loops.
  Handle base = 0;   // The base chain whose walk found it.
  Handle chain = 0;  // The chain that holds the rule.
  Handle rule = 0;
  Handle set = 0;  // The verdict map whose element jumps too deep; else 0.
  size_t expression = 0;
  SourcePos where;      // The rule's.
  std::string message;  // "rule 7 of chain c: masq is not allowed at hook input of filter chain b".
};

// At most so many chains may nest below a base chain.
inline constexpr unsigned kMaxJumpDepth = 15;

// The first violation in the order of the kernel's walk: base chains in their order, each depth first. Chains that no
// base chain reaches are not looked at; dormant tables are checked like others.
std::optional<Violation> Validate(const Table& table);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_VALIDATE_H_
