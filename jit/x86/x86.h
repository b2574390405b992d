// The x86-64 engine beyond its common interface: options and figures for tests, benchmarks and `dump`.
#ifndef NFTJIT_JIT_X86_X86_H_
#define NFTJIT_JIT_X86_X86_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "lib/engine/engine.h"

namespace nftjit::x86 {

struct X86Options {
  EngineOptions engine;
  unsigned register_map = 0;  // See registers.h.
  bool avx2 = true;           // False: as on a processor without AVX2.
};

// What became of the rows of a Program.
struct X86Report {
  uint32_t rows = 0;          // Rows in chains, those of dead values left out.
  uint32_t called_rows = 0;   // Of these, rows whose code is a call into runtime/calls.h.
  uint32_t column_rules = 0;  // Rules whose first test is compared eight at a time.
};

// As X86Engine().Compile().
absl::StatusOr<std::unique_ptr<const CompiledProgram>> CompileX86(const ir::Program& program,
                                                                  const X86Options& options);
// `compiled` must come from CompileX86 or X86Engine().
const X86Report& ReportOf(const CompiledProgram& compiled);

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_X86_H_
