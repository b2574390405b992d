// nftjit, the command line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "tools/nftjit/commands.h"
#include "tools/nftjit/exit_status.h"

namespace nftjit::cli {

int Fail(const absl::Status& status) {
  std::cerr << "nftjit: " << std::string(status.message()) << '\n';
  return status.code() == absl::StatusCode::kUnimplemented ? kUnsupported : kBadInput;
}

namespace {

int Main(int argc, char** argv) {
  CLI::App app{"nftables rulesets on packets, in this process: no kernel, no root", "nftjit"};
  app.set_version_flag("--version", "nftjit " NFTJIT_VERSION, "Print the version and exit");
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 done, 2 usage or input error, 3 unsupported.\n"
      "A FILE may be nft text, a listing of nft's bytecode, or an image that 'nftjit compile' wrote; '-' is standard "
      "input.");
  const std::vector<Command> commands = {AddCheck(app),   AddRun(app),   AddDump(app),
                                         AddCompile(app), AddBench(app), AddExec(app)};
  // CLI11 would say of a word that is no verb that a verb is missing, and not name the word.
  const auto is_named = [&](const Command& command) { return command.parser->get_name() == argv[1]; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), is_named)) {
    return Fail(
        absl::InvalidArgumentError(std::string(argv[1]) + ": check, run, dump, compile, bench or exec is expected"));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error);  // Prints help, or what is wrong with the words.
    return status == 0 ? kDone : kBadInput;
  }
  for (const Command& command : commands) {
    if (command.parser->parsed()) return command.run();
  }
  return kBadInput;
}

}  // namespace
}  // namespace nftjit::cli

int main(int argc, char** argv) { return nftjit::cli::Main(argc, argv); }
