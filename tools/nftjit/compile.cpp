// nftjit compile: nft text to a ruleset image.
#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <memory>

#include "lib/netlink/image.h"
#include "tools/nftjit/commands.h"
#include "tools/nftjit/exit_status.h"
#include "tools/nftjit/output_file.h"
#include "tools/nftjit/ruleset_flags.h"

namespace nftjit::cli {
namespace {

struct CompileFlags {
  RulesetFlags ruleset;
  std::string output;
};

int CompileImage(CompileFlags& flags) {
  absl::StatusOr<OutputFile> output = OutputFile::Open(flags.output);
  if (!output.ok()) return Fail(output.status());
  absl::StatusOr<Host> host = flags.ruleset.LoadHost();
  if (!host.ok()) return Fail(host.status());
  const absl::StatusOr<Ruleset> ruleset = flags.ruleset.Load(*host, true);
  if (!ruleset.ok()) return Fail(ruleset.status());
  if (absl::Status status = output->Commit(netlink::WriteImage(ruleset->model())); !status.ok()) return Fail(status);
  return kDone;
}

}  // namespace

Command AddCompile(CLI::App& app) {
  auto flags = std::make_shared<CompileFlags>();
  CLI::App* parser = app.add_subcommand("compile", "Write the ruleset as an image that every -f takes");
  flags->ruleset.AddTo(*parser);
  flags->ruleset.AddListingPlaceTo(*parser);
  parser->add_option("-o,--output", flags->output, "Image to write")->required();
  return {parser, [flags] { return CompileImage(*flags); }};
}

}  // namespace nftjit::cli
