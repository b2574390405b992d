// From optimised rules back to VM instructions: what the kernel would have to be given to do the same.
#ifndef NFTJIT_LIB_OPT_RAISE_H_
#define NFTJIT_LIB_OPT_RAISE_H_

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "lib/ir/ir.h"
#include "lib/nft/ruleset.h"

namespace nftjit::opt {

// The rule of item `item` of `chain` as expressions of `table`, its own table. Values of blocks around it are loaded in
// the rule; guards come with the loads, and where no load has a guard's meaning, as a load of their own. Tests of
// blocks around the rule are not in it. Errors: Unimplemented names the operation that has no instruction, or that more
// than 64 bytes of registers are needed.
absl::StatusOr<std::vector<nft::Expression>> RaiseRule(const ir::Program& program, const ir::Chain& chain,
                                                       const ir::Item& item, const nft::Table& table);

// The optimised rules as `dump listing` prints rules. A rule that cannot be raised is printed as it was loaded, with a
// line `# as loaded: REASON` in front; rules that the passes removed are not there.
std::string RaiseToListing(const ir::Program& program, const nft::Ruleset& ruleset);

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_RAISE_H_
