// Compiles a ruleset model: lowers it, then as compile.cpp.
#include <utility>

#include "lib/engine/compile.h"
#include "lib/engine/compile_steps.h"
#include "lib/ir/lower.h"
#include "lib/ir/verifier.h"

namespace nftjit {

absl::StatusOr<std::shared_ptr<const Program>> CompileModel(const nft::Ruleset& ruleset, const CompileOptions& options,
                                                            const opt::PassOptions& passes) {
  const CompileClock::time_point start = CompileClock::now();
  absl::StatusOr<ir::Program> lowered = ir::Lower(ruleset, ir::LowerOptions{.partial = options.partial});
  if (!lowered.ok()) return lowered.status();
  if (!options.partial && !lowered->unsupported.empty()) return RefuseUnsupported(*lowered, lowered->unsupported);
#ifndef NDEBUG
  if (absl::Status status = ir::Verify(*lowered); !status.ok()) return status;
#endif
  auto data = std::make_unique<ProgramData>();
  data->lowered = *std::move(lowered);
  data->lower_seconds = SecondsSince(start);
  return FinishCompile(std::move(data), start,
                       {.engine = options.engine,
                        .optimise = options.optimise,
                        .keep_code_map = options.keep_code_map,
                        .passes = passes});
}

}  // namespace nftjit
