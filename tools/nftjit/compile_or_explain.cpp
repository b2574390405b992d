#include "tools/nftjit/compile_or_explain.h"

#include <ostream>
#include <sstream>

#include "lib/engine/program_data.h"
#include "lib/ir/lower.h"
#include "tools/nftjit/unsupported.h"

namespace nftjit::cli {
namespace {

// The unsupported rules, with places: a second run of nft, which is why only this path asks for it.
absl::StatusOr<ir::Program> LowerWithPlaces(RulesetFlags& options, Host& host) {
  const absl::StatusOr<Ruleset> ruleset = options.Load(host, true);
  if (!ruleset.ok()) return ruleset.status();
  return ir::Lower(ruleset->model(), {.partial = true});
}

}  // namespace

absl::StatusOr<std::shared_ptr<const Program>> CompileOrExplain(RulesetFlags& options, Host& host,
                                                                const CompileOptions& compile, std::ostream& notes) {
  const absl::StatusOr<Ruleset> ruleset = options.Load(host, false);
  if (!ruleset.ok()) return ruleset.status();
  absl::StatusOr<std::shared_ptr<const Program>> program = Compile(*ruleset, compile);
  const bool left_out = program.ok() && !(*program)->unsupported().empty();
  if (!left_out && (program.ok() || program.status().code() != absl::StatusCode::kUnimplemented)) return program;

  const absl::StatusOr<ir::Program> lowered = LowerWithPlaces(options, host);
  if (!lowered.ok()) return lowered.status();
  std::ostringstream list;
  for (const ir::UnsupportedRule& rule : lowered->unsupported) list << '\n' << UnsupportedText(*lowered, rule);
  if (lowered->unsupported.empty()) return program;  // The engine, not the ruleset, lacks something.
  if (left_out) {
    notes << "nftjit: left out " << lowered->unsupported.size() << " rules:" << list.str() << '\n';
    return program;
  }
  return absl::UnimplementedError(std::to_string(lowered->unsupported.size()) +
                                  " rules are not supported; --partial leaves them out:" + list.str());
}

}  // namespace nftjit::cli
