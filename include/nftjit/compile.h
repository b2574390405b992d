// From a ruleset to something that runs packets.
#ifndef NFTJIT_COMPILE_H_
#define NFTJIT_COMPILE_H_

#include <absl/status/statusor.h>

#include <memory>

#include "nftjit/engine.h"
#include "nftjit/program.h"

namespace nftjit {

class Ruleset;  // nftjit/ruleset.h

struct CompileOptions {
  const EngineInterface* engine = &InterpreterEngine();  // Not null.
  // False: the engine gets the rules as they were lowered, one item a rule.
  bool optimise = true;
  // Leave rules out that no engine can run, instead of refusing the ruleset. Program::unsupported() lists them.
  bool partial = false;
  // Keep what Program::Disassemble() needs.
  bool keep_code_map = false;
};

// Compiles every table of `ruleset`. The Program holds all it needs; `ruleset` may go. Thread-safe.
//
// Errors: Unimplemented, with one line `file:line: …` a rule, when rules need what no engine runs and `partial` is
// false, or when the engine lacks an operation; Internal where an invariant of ours is broken.
absl::StatusOr<std::shared_ptr<const Program>> Compile(const Ruleset& ruleset, const CompileOptions& options = {});

}  // namespace nftjit

#endif  // NFTJIT_COMPILE_H_
