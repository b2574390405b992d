#include "tests/control/nft_session.h"

#include <catch2/catch.hpp>
#include <future>
#include <string_view>

#include "lib/control/frontend.h"
#include "tests/support/network_namespace.h"

namespace nftjit::control {
namespace {

// A command that nft refuses by its grammar: the error closes what was said of the command before it.
std::string Marker(size_t command) { return "end_of_command_" + std::to_string(command); }

bool IsCarets(std::string_view line) { return line.find_first_not_of(" ^~") == std::string_view::npos; }

// Runs beside another thread: without a check of the test's.
absl::StatusOr<std::vector<std::string>> RunKernelSession(const std::vector<std::string>& commands,
                                                          const std::string& options) {
  const auto network = testing::NetworkNamespace::Create();
  if (!network.ok()) return network.status();
  return RunSession(commands, [&](const std::string& input) {
    std::string said;
    // Its status is of no interest: it says of each command how it went, and may crash.
    (void)(*network)->Inside([&] { return testing::RunProgram(InteractiveNft(options), input, &said); });
    return said;
  });
}

}  // namespace

std::vector<std::string> InteractiveNft(const std::string& options) {
  return {"sh", "-c", "exec 2>&1; HOME=/nonexistent exec stdbuf -oL nft " + options + " -i"};
}

std::vector<std::string> RunSession(const std::vector<std::string>& commands, RunNft run) {
  std::vector<std::string> said;
  while (said.size() < commands.size()) {
    std::string input;
    for (size_t i = said.size(); i < commands.size(); ++i) input += commands[i] + '\n' + Marker(i) + '\n';
    const std::string printed = run(input);
    std::vector<std::string_view> lines;
    for (size_t at = 0; at < printed.size();) {
      const size_t end = std::min(printed.find('\n', at), printed.size());
      const std::string_view line(printed.data() + at, end - at);
      at = end + 1;
      if (line != Marker(said.size())) {
        if (!IsCarets(line)) lines.push_back(line);
        continue;
      }
      // The line before is the error about the marker.
      std::string text;
      for (size_t i = 0; i + 1 < lines.size(); ++i) text.append(i == 0 ? "" : "\n").append(lines[i]);
      said.push_back(std::move(text));
      lines.clear();
    }
    if (said.size() == commands.size()) break;
    std::string crash = "crash: ";
    for (const std::string_view line : lines) crash += line;
    said.push_back(std::move(crash));
  }
  return said;
}

std::vector<std::string> RunSession(const std::vector<std::string>& commands, Server& server,
                                    const std::string& options) {
  return RunSession(commands, [&](const std::string& input) {
    const absl::StatusOr<ChildOutcome> outcome = RunClient(server, InteractiveNft(options), {}, input);
    REQUIRE(outcome.ok());
    REQUIRE(outcome->greeted);
    REQUIRE(outcome->end != ChildOutcome::End::kTimedOut);
    return outcome->output;
  });
}

Sessions RunBothSessions(const std::vector<std::string>& commands, const std::string& options) {
  std::future<absl::StatusOr<std::vector<std::string>>> kernel =
      std::async(std::launch::async, RunKernelSession, commands, options);
  Server server;
  Sessions sessions;
  sessions.server = RunSession(commands, server, options);
  absl::StatusOr<std::vector<std::string>> from_kernel = kernel.get();
  REQUIRE(from_kernel.ok());
  sessions.kernel = *std::move(from_kernel);
  return sessions;
}

}  // namespace nftjit::control
