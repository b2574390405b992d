// nftjit exec: stock netlink clients against a private server.
#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>
#include <optional>

#include "lib/control/frontend.h"
#include "tools/nftjit/commands.h"
#include "tools/nftjit/exit_status.h"
#include "tools/nftjit/host_flags.h"
#include "tools/nftjit/state_file.h"

namespace nftjit::cli {
namespace {

struct ExecFlags {
  HostFlags host;
  std::string state;
  std::vector<std::string> words;
};

// One word with white space in it is a line for the shell.
std::vector<std::string> CommandOf(const std::vector<std::string>& words) {
  if (words.size() > 1 || words.front().find_first_of(" \t\n") == std::string::npos) return words;
  return {"/bin/sh", "-c", words.front()};
}

// As a shell gives it.
int StatusOf(const control::ChildOutcome& outcome) {
  return outcome.end == control::ChildOutcome::End::kSignalled ? 128 + outcome.code : outcome.code;
}

// While the command runs, the terminal's signals are its business, as with system(). A handler, not SIG_IGN: exec gives
// the command the default back.
class LeaveSignalsToChild {
 public:
  LeaveSignalsToChild() {
    interrupt_ = std::signal(SIGINT, [](int) {});
    quit_ = std::signal(SIGQUIT, [](int) {});
  }
  ~LeaveSignalsToChild() {
    std::signal(SIGINT, interrupt_);
    std::signal(SIGQUIT, quit_);
  }
  LeaveSignalsToChild(const LeaveSignalsToChild&) = delete;
  LeaveSignalsToChild& operator=(const LeaveSignalsToChild&) = delete;

 private:
  void (*interrupt_)(int);
  void (*quit_)(int);
};

int Exec(const ExecFlags& flags) {
  std::optional<StateFile> state;
  if (!flags.state.empty()) {
    absl::StatusOr<StateFile> opened = StateFile::Open(flags.state);
    if (!opened.ok()) return Fail(opened.status());
    state.emplace(*std::move(opened));
  }
  const absl::StatusOr<Host> host =
      flags.host.LoadHost(state ? state->ruleset().interfaces : std::vector<nft::Interface>());
  if (!host.ok()) return Fail(host.status());
  const control::NftOptions options{.host = &*host, .dns = flags.host.resolve_names};
  absl::StatusOr<control::ServerOptions> server_options = control::MakeServerOptions(options);
  if (!server_options.ok()) return Fail(server_options.status());
  control::Server server(*std::move(server_options));
  if (state) server.Restore(state->ruleset());

  absl::StatusOr<control::ChildOutcome> outcome;
  {
    const LeaveSignalsToChild signals;
    outcome = control::RunClientHere(server, CommandOf(flags.words), options);
  }
  // What was committed before a client failed stays committed.
  if (state) {
    if (absl::Status status = state->Save(server.ruleset()); !status.ok()) return Fail(status);
  }
  return outcome.ok() ? StatusOf(*outcome) : Fail(outcome.status());
}

}  // namespace

Command AddExec(CLI::App& app) {
  auto flags = std::make_shared<ExecFlags>();
  CLI::App* parser = app.add_subcommand("exec", "Run a command whose netlink sockets end at a private server");
  flags->host.AddTo(*parser);
  parser->add_option("--state", flags->state, "Image to begin with and to keep the ruleset in");
  parser->add_option("command", flags->words, "Command and arguments, or one shell line")->required();
  parser->positionals_at_end();
  parser->footer("Exit status: the command's; 125 if it has no server to talk to; 2 for a usage or input error.");
  return {parser, [flags] { return Exec(*flags); }};
}

}  // namespace nftjit::cli
