// Compile() for the tools and tests of this project: from the model, or from IR that a test wrote.
#ifndef NFTJIT_LIB_ENGINE_COMPILE_H_
#define NFTJIT_LIB_ENGINE_COMPILE_H_

#include <absl/status/statusor.h>

#include <memory>

#include "lib/engine/program_data.h"
#include "lib/nft/ruleset.h"
#include "lib/opt/pipeline.h"
#include "nftjit/compile.h"

namespace nftjit {

struct CompileIrOptions {
  const EngineInterface* engine = &InterpreterEngine();
  bool optimise = true;
  bool keep_code_map = false;
  opt::PassOptions passes;
};

// The second half of Compile(): passes (verified one by one in debug builds), engine, hook plans. `program` itself is
// verified in every build, since tests write it by hand.
// Errors: Internal with the verifier's message; Unimplemented for rows with Op::kUnsupported, which no engine runs.
absl::StatusOr<std::shared_ptr<const Program>> CompileIr(ir::Program program, const CompileIrOptions& options);

// Compile() of the public header, given the model.
absl::StatusOr<std::shared_ptr<const Program>> CompileModel(const nft::Ruleset& ruleset, const CompileOptions& options,
                                                            const opt::PassOptions& passes = {});

}  // namespace nftjit

#endif  // NFTJIT_LIB_ENGINE_COMPILE_H_
