// The steps that compiling from the model and from IR share.
#ifndef NFTJIT_LIB_ENGINE_COMPILE_STEPS_H_
#define NFTJIT_LIB_ENGINE_COMPILE_STEPS_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <memory>
#include <vector>

#include "lib/engine/compile.h"

namespace nftjit {

using CompileClock = std::chrono::steady_clock;
inline double SecondsSince(CompileClock::time_point start) {
  return std::chrono::duration<double>(CompileClock::now() - start).count();
}

// Unimplemented, with a line for each rule.
absl::Status RefuseUnsupported(const ir::Program& program, const std::vector<ir::UnsupportedRule>& unsupported);

// Passes, engine and hook plans. `data->lowered` is in place and verified; `start` is when compiling began.
absl::StatusOr<std::shared_ptr<const Program>> FinishCompile(std::unique_ptr<ProgramData> data,
                                                             CompileClock::time_point start,
                                                             const CompileIrOptions& options);

}  // namespace nftjit

#endif  // NFTJIT_LIB_ENGINE_COMPILE_STEPS_H_
