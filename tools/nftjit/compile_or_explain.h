// Compiling for the verbs that run packets, with messages that say what was left out and where.
#ifndef NFTJIT_TOOLS_NFTJIT_COMPILE_OR_EXPLAIN_H_
#define NFTJIT_TOOLS_NFTJIT_COMPILE_OR_EXPLAIN_H_

#include <absl/status/statusor.h>

#include <iosfwd>
#include <memory>

#include "nftjit/compile.h"
#include "tools/nftjit/ruleset_flags.h"

namespace nftjit::cli {

// Loads and compiles. When rules are not supported: with options.partial they are named on `notes`, else the result is
// an Unimplemented error that names them; in both cases with file and line.
absl::StatusOr<std::shared_ptr<const Program>> CompileOrExplain(RulesetFlags& ruleset, Host& host,
                                                                const CompileOptions& options, std::ostream& notes);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_COMPILE_OR_EXPLAIN_H_
