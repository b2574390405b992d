#include "lib/control/frontend.h"

#include <absl/strings/str_format.h>

#include <map>
#include <optional>
#include <utility>

#include "lib/control/nft_messages.h"
#include "lib/control/programs.h"
#include "lib/control/wire.h"
#include "lib/environment/host.h"
#include "lib/support/read_file.h"

namespace nftjit::control {
namespace {

// What nft is given: a file, or a text on its standard input.
struct Source {
  std::string path;
  std::optional<std::string> text;
};

absl::Status NotGreeted(const ChildCommand& command, std::string_view end) {
  return absl::FailedPreconditionError(absl::StrFormat(
      "%s did not load the shim %s: is it statically linked, setuid, or a script that clears the environment? %s",
      command.program, command.shim, end));
}

// A client's end that no ruleset explains; ok for one that ended with status 0 or with messages of its own.
absl::Status CheckEnd(const ChildOutcome& outcome, const ChildCommand& command) {
  const std::string said = outcome.errors + outcome.output;
  const std::string end = absl::StrFormat("%s %s", command.program, DescribeEnd(outcome, command));
  const std::string with_output = said.empty()
                                      ? end + "; it printed nothing"
                                      : end + "; it printed:\n" + said.substr(0, said.find_last_not_of('\n') + 1);
  switch (outcome.end) {
    case ChildOutcome::End::kTimedOut:
      return absl::DeadlineExceededError(with_output);
    case ChildOutcome::End::kSignalled:
    case ChildOutcome::End::kLost:
      return absl::InternalError(with_output);
    case ChildOutcome::End::kExited:
      break;
  }
  if (!outcome.greeted) return NotGreeted(command, with_output);
  if (outcome.code == NFTJIT_EXIT_STATUS) return absl::InternalError(with_output);
  return absl::OkStatus();
}

absl::StatusOr<ChildCommand> MakeCommand(const std::string& program, const NftOptions& options) {
  const absl::StatusOr<std::string> path = FindProgram(program);
  if (!path.ok()) return path.status();
  const absl::StatusOr<std::string> shim = FindShim(options.shim);
  if (!shim.ok()) return shim.status();
  ChildCommand command;
  command.program = *path;
  command.shim = *shim;
  command.timeout = options.timeout;
  return command;
}

// One run of `nft -f` against `server`. The outcome is an exit, well or with messages.
absl::StatusOr<ChildOutcome> RunNft(Server& server, const Source& source, const NftOptions& options) {
  absl::StatusOr<ChildCommand> command =
      MakeCommand(options.nft_program.empty() ? "nft" : options.nft_program, options);
  if (!command.ok()) return command.status();
  command->arguments = {"nft"};
  command->arguments.insert(command->arguments.end(), options.arguments.begin(), options.arguments.end());
  command->arguments.insert(command->arguments.end(), {"-f", source.text.has_value() ? "-" : source.path});
  command->input = source.text;
  absl::StatusOr<ChildOutcome> outcome = RunChild(*command, server);
  if (!outcome.ok()) return outcome;
  if (absl::Status status = CheckEnd(*outcome, *command); !status.ok()) return status;
  return outcome;
}

size_t CountRules(const nft::Ruleset& ruleset) {
  size_t rules = 0;
  for (const nft::Table& table : ruleset.tables) {
    for (const nft::Chain& chain : table.chains) rules += chain.rules.size();
  }
  return rules;
}

// Messages carry no places; but nft prints the place of each rule that is refused. So the batch is sent to a server
// that refuses all its rules, and the n-th message is about the n-th rule sent.
absl::Status LocateRules(const Source& source, const NftOptions& options, ServerOptions server_options,
                         nft::Ruleset& ruleset) {
  server_options.rule_answer = RuleAnswer::kRefuseAll;
  Server server(std::move(server_options));
  const absl::StatusOr<ChildOutcome> outcome = RunNft(server, source, options);
  if (!outcome.ok()) return outcome.status();
  const std::vector<NftMessage> messages = ParseNftMessages(outcome->errors);
  const std::vector<RuleName>& rules = server.refused_rules();
  if (messages.size() != rules.size()) return absl::OkStatus();  // An nft that prints otherwise: places stay unknown.

  std::map<std::pair<nft::Handle, nft::Handle>, const SourcePos*> places;
  for (size_t i = 0; i < rules.size(); ++i) places[{rules[i].table, rules[i].rule}] = &messages[i].where;
  for (nft::Table& table : ruleset.tables) {
    for (nft::Chain& chain : table.chains) {
      for (nft::Rule& rule : chain.rules) {
        if (const auto place = places.find({table.handle, rule.handle}); place != places.end()) {
          rule.where = *place->second;
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Refusal(const ChildOutcome& outcome) {
  const std::string& said = outcome.errors.empty() ? outcome.output : outcome.errors;
  const size_t end = said.find_last_not_of('\n');
  if (end == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrFormat("nft exited with status %d and said nothing", outcome.code));
  }
  return absl::InvalidArgumentError(said.substr(0, end + 1));
}

absl::StatusOr<nft::Ruleset> CompileNft(const Source& source, const NftOptions& options) {
  absl::StatusOr<ServerOptions> server_options = MakeServerOptions(options);
  if (!server_options.ok()) return server_options.status();
  for (;;) {
    Server server(*server_options);
    const absl::StatusOr<ChildOutcome> outcome = RunNft(server, source, options);
    if (!outcome.ok()) return outcome.status();
    if (outcome->succeeded()) {
      if (options.warnings != nullptr) *options.warnings = outcome->errors;
      nft::Ruleset ruleset = server.ruleset();
      if (options.locate_rules && CountRules(ruleset) <= NftOptions::kLocatedRules) {
        if (absl::Status status = LocateRules(source, options, *server_options, ruleset); !status.ok()) return status;
      }
      return ruleset;
    }
    // nft reads all interfaces before it looks for one: those that it misses are invented, and it tries again.
    bool invented = false;
    for (const std::string& name : UnknownInterfaces(outcome->errors)) {
      if (server_options->links.Has(name)) continue;
      invented = server_options->links.Add(name).ok() || invented;
    }
    if (!invented) return Refusal(*outcome);
  }
}

}  // namespace

absl::StatusOr<ServerOptions> MakeServerOptions(const NftOptions& options) {
  ServerOptions server;
  server.host_names = options.dns;
  if (options.host != nullptr) {
    for (const auto& interface : options.host->interfaces()) {
      if (absl::Status status = server.links.Add(interface.name.data(), interface.index); !status.ok()) return status;
    }
    server.users = options.host->users();
    server.groups = options.host->groups();
  }
  for (const nft::Interface& interface : options.interfaces) {
    if (absl::Status status = server.links.Add(interface.name, interface.index); !status.ok()) return status;
  }
  return server;
}

absl::StatusOr<nft::Ruleset> CompileNftFile(const std::string& path, const NftOptions& options) {
  if (path != "-") return CompileNft({.path = path, .text = std::nullopt}, options);
  const absl::StatusOr<std::string> text = ReadFile(path);
  return text.ok() ? CompileNftText(*text, options) : text.status();
}

absl::StatusOr<nft::Ruleset> CompileNftText(const std::string& text, const NftOptions& options) {
  return CompileNft({.path = {}, .text = text}, options);
}

absl::StatusOr<ChildOutcome> RunClient(Server& server, const std::vector<std::string>& arguments,
                                       const NftOptions& options, std::optional<std::string> input) {
  if (arguments.empty()) return absl::InvalidArgumentError("no client program named");
  absl::StatusOr<ChildCommand> command = MakeCommand(arguments.front(), options);
  if (!command.ok()) return command.status();
  command->arguments = arguments;
  command->input = std::move(input);
  return RunChild(*command, server);
}

absl::StatusOr<ChildOutcome> RunClientHere(Server& server, const std::vector<std::string>& arguments,
                                           const NftOptions& options) {
  if (arguments.empty()) return absl::InvalidArgumentError("no client program named");
  absl::StatusOr<ChildCommand> command = MakeCommand(arguments.front(), options);
  if (!command.ok()) return command.status();
  command->arguments = arguments;
  command->callers_streams = true;
  command->timeout = std::chrono::milliseconds(0);
  absl::StatusOr<ChildOutcome> outcome = RunChild(*command, server);
  if (outcome.ok() && !outcome->greeted) {
    return NotGreeted(*command, command->program + " " + DescribeEnd(*outcome, *command));
  }
  return outcome;
}

}  // namespace nftjit::control
