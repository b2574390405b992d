// nftjit check: does the ruleset load, and which rules does no engine run?
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "lib/ir/lower.h"
#include "tools/nftjit/commands.h"
#include "tools/nftjit/exit_status.h"
#include "tools/nftjit/ruleset_flags.h"
#include "tools/nftjit/unsupported.h"

namespace nftjit::cli {
namespace {

struct CheckOptions {
  RulesetFlags ruleset;
  bool json = false;
};

int Check(CheckOptions& options) {
  absl::StatusOr<Host> host = options.ruleset.LoadHost();
  if (!host.ok()) return Fail(host.status());
  absl::StatusOr<Ruleset> ruleset = options.ruleset.Load(*host, false);
  if (!ruleset.ok()) return Fail(ruleset.status());
  absl::StatusOr<ir::Program> program = ir::Lower(ruleset->model(), {.partial = true});
  if (!program.ok()) return Fail(program.status());
  if (!program->unsupported.empty()) {
    // Places cost a second run of nft, so they are looked for only when there is something to point at.
    ruleset = options.ruleset.Load(*host, true);
    if (!ruleset.ok()) return Fail(ruleset.status());
    program = ir::Lower(ruleset->model(), {.partial = true});
    if (!program.ok()) return Fail(program.status());
  }
  PrintUnsupported(std::cout, *program, options.json);
  const size_t rules = program->rules.size(), unsupported = program->unsupported.size();
  if (options.json) {
    const nlohmann::ordered_json summary = {{"version", 1}, {"rules", rules}, {"unsupported", unsupported}};
    std::cout << summary.dump() << '\n';
  } else if (unsupported == 0) {
    std::cout << rules << " rules: every one runs\n";
  } else {
    std::cout << rules << " rules: " << unsupported << " not supported\n";
  }
  return unsupported == 0 ? kDone : kUnsupported;
}

}  // namespace

Command AddCheck(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* parser = app.add_subcommand("check", "Load and validate; list the rules that no engine runs");
  options->ruleset.AddTo(*parser);
  options->ruleset.AddListingPlaceTo(*parser);
  parser->add_flag("--json", options->json, "One JSON object a line");
  return {parser, [options] { return Check(*options); }};
}

}  // namespace nftjit::cli
