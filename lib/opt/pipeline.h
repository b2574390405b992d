// The optimiser: a list of passes, and the runner that gives each the same powers.
#ifndef NFTJIT_LIB_OPT_PIPELINE_H_
#define NFTJIT_LIB_OPT_PIPELINE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/ir/ir.h"

namespace nftjit::opt {

// One pass: rewrites the program in place, returns how many rewrites it made. `limit`: at most so many.
using PassFunction = int (*)(ir::Program& program, int limit);
struct Pass {
  std::string_view name;
  PassFunction run;
};

// The passes in pipeline order; also how a test finds one by name.
std::span<const Pass> Passes();

struct PassOptions {
#ifdef NDEBUG
  bool verify_each = false;
#else
  bool verify_each = true;
#endif
  std::string stop_after;         // Name of the last pass to run; empty: all.
  int rewrite_limit = INT32_MAX;  // Over the whole pipeline, for bisecting a wrong rewrite.
  std::function<void(std::string_view pass, const ir::Program&)> after_pass;  // Dumping.
};

struct PassStatistics {
  std::string_view name;
  int rewrites = 0;
  double seconds = 0;
};

// Errors: InvalidArgument for an unknown stop_after; Internal, naming the pass, when verification fails after it.
absl::Status Optimise(ir::Program& program, const PassOptions& options,
                      std::vector<PassStatistics>* statistics = nullptr);

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_PIPELINE_H_
