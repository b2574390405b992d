// From the model to the rule IR.
#ifndef NFTJIT_LIB_IR_LOWER_H_
#define NFTJIT_LIB_IR_LOWER_H_

#include <absl/status/statusor.h>

#include "lib/ir/ir.h"
#include "lib/nft/ruleset.h"

namespace nftjit::ir {

struct LowerOptions {
  // Rules with an unsupported expression are left out (and listed in Program::unsupported) instead of being kept with
  // an Op::kUnsupported row.
  bool partial = false;
};

// Lowers every table of `ruleset`, one rule item per rule, rows in expression order, no optimisation: each expression
// becomes the rows that mean what vm-semantics 10 says, with its implicit checks as guard rows in front.
// Expressions that no engine runs become one Op::kUnsupported row that names them; so do base chains that cannot run
// as ordinary hooks (nat type). Program::unsupported lists the rules. Never guesses.
// Errors: Internal if `ruleset` violates what lib/nft/validate.h promises (a dangling handle and the like).
absl::StatusOr<Program> Lower(const nft::Ruleset& ruleset, const LowerOptions& options);

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_LOWER_H_
