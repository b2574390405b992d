#include "lib/opt/pipeline.h"

#include <absl/strings/str_cat.h>

#include <chrono>

#include "lib/ir/verifier.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"
#include "lib/support/absl_view.h"

namespace nftjit::opt {
namespace {

// Cold placement is no pass: the engines put everything behind a rule's first tests out of line. What they need for it
// is that every rule is tests first and effects behind, which order-tests leaves.
constexpr Pass kPasses[] = {
    {"fold-constants", FoldConstants},
    {"sets-to-tests", SetsToTests},
    {"fold-byteorder", FoldByteorder},
    {"fold-inverted", FoldInverted},
    {"canonicalise-fields", CanonicaliseFields},
    {"share-loads", ShareLoads},
    {"merge-ranges", MergeRanges},
    {"drop-rules", DropRules},
    {"hoist-loads", HoistLoads},
    {"eliminate-prefix-masks", EliminatePrefixMasks},
    {"order-tests", OrderTests},
    {"drop-guards", DropGuards},
};

absl::Status UnknownPass(std::string_view name) {
  std::string known;
  for (const Pass& pass : kPasses) absl::StrAppend(&known, known.empty() ? "" : ", ", View(pass.name));
  return absl::InvalidArgumentError(absl::StrCat("pass '", View(name), "' does not exist; expected one of ", known));
}

// Gives each pass the same powers: a name, a time, a count, a limit, a dump, a verification.
class PassRunner {
 public:
  PassRunner(ir::Program& program, const PassOptions& options, std::vector<PassStatistics>* statistics)
      : program_(program), options_(options), statistics_(statistics), left_(options.rewrite_limit) {}

  absl::Status Run(const Pass& pass) {
    const auto start = std::chrono::steady_clock::now();
    const int rewrites = pass.run(program_, left_);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    left_ -= rewrites;
    if (statistics_ != nullptr) statistics_->push_back({pass.name, rewrites, time.count()});
    if (options_.verify_each) {
      if (absl::Status status = ir::Verify(program_); !status.ok()) {
        return absl::InternalError(absl::StrCat("after ", View(pass.name), ": ", status.message()));
      }
    }
    if (options_.after_pass) options_.after_pass(pass.name, program_);
    return absl::OkStatus();
  }

 private:
  ir::Program& program_;
  const PassOptions& options_;
  std::vector<PassStatistics>* const statistics_;
  int left_;
};

}  // namespace

std::span<const Pass> Passes() { return kPasses; }

absl::Status Optimise(ir::Program& program, const PassOptions& options, std::vector<PassStatistics>* statistics) {
  const auto is_last = [&](const Pass& pass) { return pass.name == options.stop_after; };
  if (!options.stop_after.empty() && std::none_of(std::begin(kPasses), std::end(kPasses), is_last)) {
    return UnknownPass(options.stop_after);
  }
  Linearise(program);
  PassRunner runner(program, options, statistics);
  for (const Pass& pass : kPasses) {
    if (absl::Status status = runner.Run(pass); !status.ok()) return status;
    if (is_last(pass)) break;
  }
  return absl::OkStatus();
}

}  // namespace nftjit::opt
