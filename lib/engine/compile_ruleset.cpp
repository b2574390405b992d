// Compile() for the public Ruleset, apart so that programs without it need no front end.
#include "lib/engine/compile.h"
#include "nftjit/ruleset.h"

namespace nftjit {

absl::StatusOr<std::shared_ptr<const Program>> Compile(const Ruleset& ruleset, const CompileOptions& options) {
  return CompileModel(ruleset.model(), options);
}

}  // namespace nftjit
