// nftjit dump: the ruleset at any stage.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "lib/engine/compile.h"
#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "lib/nft/listing_printer.h"
#include "lib/opt/pipeline.h"
#include "lib/opt/raise.h"
#include "tools/nftjit/commands.h"
#include "tools/nftjit/exit_status.h"
#include "tools/nftjit/packet_options.h"
#include "tools/nftjit/ruleset_flags.h"
#include "tools/nftjit/ruleset_json.h"

namespace nftjit::cli {
namespace {

struct DumpOptions {
  std::string stage;
  RulesetFlags ruleset;
  EngineFlags engine;
  opt::PassOptions passes;
  std::vector<std::string> print_after;
  bool optimised_listing = false, time_passes = false, declarations = false;
  std::string print_dialect = "legacy";
};

// Prints after the passes that --print-after names; `all` is every one.
void SetPrinting(DumpOptions& options) {
  if (options.print_after.empty()) return;
  options.passes.after_pass = [&names = options.print_after](std::string_view pass, const ir::Program& program) {
    const auto wanted = [&](const std::string& name) { return name == pass || name == "all"; };
    if (std::none_of(names.begin(), names.end(), wanted)) return;
    std::cout << "# after " << pass << '\n' << ir::Print(program) << '\n';
  };
}

void PrintTimes(const std::vector<opt::PassStatistics>& statistics) {
  for (const opt::PassStatistics& pass : statistics) {
    std::cerr << pass.name << ": " << pass.rewrites << " rewrites, " << pass.seconds * 1e3 << " ms\n";
  }
}

int DumpAssembly(const DumpOptions& options, const nft::Ruleset& model) {
  const absl::StatusOr<const EngineInterface*> engine = options.engine.Find();
  if (!engine.ok()) return Fail(engine.status());
  const absl::StatusOr<std::shared_ptr<const Program>> program = CompileModel(model,
                                                                              {.engine = *engine,
                                                                               .optimise = !options.engine.no_optimise,
                                                                               .partial = options.engine.partial,
                                                                               .keep_code_map = true},
                                                                              options.passes);
  if (!program.ok()) return Fail(program.status());
  const std::string text = (*program)->Disassemble();
  if (text.empty()) {
    return Fail(absl::UnimplementedError("dump asm: the engine '" + options.engine.engine + "' makes no code"));
  }
  std::cout << text;
  return kDone;
}

int DumpIr(DumpOptions& options, const nft::Ruleset& model) {
  absl::StatusOr<ir::Program> program = ir::Lower(model, {.partial = options.engine.partial});
  if (!program.ok()) return Fail(program.status());
  if (options.stage != "ir") {
    SetPrinting(options);
    std::vector<opt::PassStatistics> statistics;
    const absl::Status status = opt::Optimise(*program, options.passes, &statistics);
    if (options.time_passes) PrintTimes(statistics);
    if (!status.ok()) return Fail(status);
  }
  if (options.stage == "listing") {
    std::cout << opt::RaiseToListing(*program, model);
  } else if (options.print_after.empty()) {
    std::cout << ir::Print(*program);
  }
  return kDone;
}

int Dump(DumpOptions& options) {
  if (options.stage == "llvm") {
    return Fail(absl::UnimplementedError("dump llvm: this build has no LLVM code generator"));
  }
  absl::StatusOr<Host> host = options.ruleset.LoadHost();
  if (!host.ok()) return Fail(host.status());
  const bool places = options.stage == "ir" || options.stage == "opt" || options.stage == "asm";
  const absl::StatusOr<Ruleset> ruleset = options.ruleset.Load(*host, places);
  if (!ruleset.ok()) return Fail(ruleset.status());
  const nft::Ruleset& model = ruleset->model();
  if (options.stage == "asm") return DumpAssembly(options, model);
  if (options.stage == "json") {
    const absl::StatusOr<std::string> json = RulesetAsJson(model);
    if (!json.ok()) return Fail(json.status());
    std::cout << *json;
    return kDone;
  }
  if (options.stage == "listing" && !options.optimised_listing) {
    const nft::ListingDialect dialect =
        options.print_dialect == "current" ? nft::ListingDialect::kCurrent : nft::ListingDialect::kLegacy;
    std::cout << nft::PrintListing(model, {.dialect = dialect, .declarations = options.declarations});
    return kDone;
  }
  return DumpIr(options, model);
}

}  // namespace

Command AddDump(CLI::App& app) {
  auto options = std::make_shared<DumpOptions>();
  CLI::App* parser = app.add_subcommand("dump", "Print the ruleset at a stage of its way to code");
  parser->add_option("stage", options->stage, "listing, ir, opt, asm, llvm or json")
      ->required()
      ->check(CLI::IsMember({"listing", "ir", "opt", "asm", "llvm", "json"}));
  options->ruleset.AddTo(*parser);
  options->ruleset.AddListingPlaceTo(*parser);
  options->engine.AddTo(*parser);
  parser->add_flag("--opt", options->optimised_listing, "listing: the optimised rules as VM instructions");
  parser->add_option("--as", options->print_dialect, "listing: the dialect to print")
      ->check(CLI::IsMember({"legacy", "current"}))
      ->capture_default_str();
  parser->add_flag("--declarations", options->declarations,
                   "listing: lines of tables, chains, objects, flowtables, too");
  parser->add_option("--print-after", options->print_after, "opt: print after this pass; 'all': after every one");
  parser->add_option("--stop-after", options->passes.stop_after, "opt: the last pass to run");
  parser->add_option("--pass-limit", options->passes.rewrite_limit, "opt: at most so many rewrites");
  parser->add_flag("--verify-each", options->passes.verify_each, "opt: verify after each pass");
  parser->add_flag("--time-passes", options->time_passes, "opt: rewrites and time of each pass, on standard error");
  return {parser, [options] { return Dump(*options); }};
}

}  // namespace nftjit::cli
