// What a public Program holds, for the tools and tests of this project.
#ifndef NFTJIT_LIB_ENGINE_PROGRAM_DATA_H_
#define NFTJIT_LIB_ENGINE_PROGRAM_DATA_H_

#include <memory>
#include <optional>
#include <vector>

#include "lib/engine/engine.h"
#include "lib/engine/hook_plan.h"
#include "lib/ir/ir.h"
#include "lib/opt/pipeline.h"
#include "nftjit/program.h"

namespace nftjit {

struct ProgramData {
  ir::Program lowered;                   // As lowered, or as given to CompileIr().
  std::optional<ir::Program> optimised;  // After the passes; empty if they were not run.
  const EngineInterface* engine = nullptr;
  std::unique_ptr<const CompiledProgram> code;
  HookPlans plans;

  std::vector<opt::PassStatistics> passes;
  double lower_seconds = 0, optimise_seconds = 0, engine_seconds = 0;
  double compile_seconds = 0;  // All of it.

  std::vector<ChainDescription> chains;
  std::vector<RuleDescription> rules;
  std::vector<LogDescription> logs;
  std::vector<UnsupportedDescription> unsupported;

  // What the engine compiled. Rules, chains, counters, limits, logs and sets have the same ids in both programs.
  [[nodiscard]] const ir::Program& program() const { return optimised ? *optimised : lowered; }
};

// Fills the descriptions from the program.
void DescribeProgram(ProgramData& data);

}  // namespace nftjit

#endif  // NFTJIT_LIB_ENGINE_PROGRAM_DATA_H_
