// Clients that do well, badly, or never see the shim.
#include "lib/control/child.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>

#include "lib/control/programs.h"
#include "lib/control/wire.h"
#include "tests/control/static_program.h"
#include "tests/support/files.h"

namespace nftjit::control {
namespace {

// Greets and has nothing to say.
class SilentServer final : public ClientHandler {
 public:
  std::vector<std::string> Request(const Caller&, uint16_t, ByteSpan) override { return {}; }
  Answer Lookup(uint32_t, uint32_t, std::string_view) override { return {.result = NFTJIT_ASK_MACHINE}; }
  [[nodiscard]] bool allows_host_names() const override { return false; }
};

ChildOutcome Run(const std::string& script, std::optional<std::string> input = std::nullopt,
                 std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  SilentServer server;
  const absl::StatusOr<std::string> shim = FindShim("");
  REQUIRE(shim.ok());
  const ChildCommand command{.program = "/bin/sh",
                             .arguments = {"sh", "-c", script},
                             .input = std::move(input),
                             .shim = *shim,
                             .timeout = timeout};
  absl::StatusOr<ChildOutcome> outcome = RunChild(command, server);
  REQUIRE(outcome.ok());
  return *outcome;
}

TEST_CASE("a client's input, output and status come through") {
  const ChildOutcome outcome = Run("cat; echo complaint >&2; exit 3", "some text");
  CHECK(outcome.end == ChildOutcome::End::kExited);
  CHECK(outcome.code == 3);
  CHECK(outcome.output == "some text");
  CHECK(outcome.errors == "complaint\n");
  CHECK(outcome.greeted);
  CHECK_FALSE(outcome.succeeded());
  CHECK(Run("true").succeeded());
}

TEST_CASE("a client can open /dev/stdin anew, and reads nothing where nothing is given") {
  CHECK(Run("cat /dev/stdin", "text").output == "text");
  CHECK(Run("cat").output.empty());
}

TEST_CASE("output longer than a pipe holds comes through") {
  const ChildOutcome outcome = Run("yes 0123456789 | head -n 100000; yes abcdef 2>&1 | head -n 50000 >&2");
  CHECK(outcome.output.size() == 1'100'000);
  CHECK(outcome.errors.size() == 350'000);
}

TEST_CASE("a crash, a kill and a hang are told apart, with what was printed") {
  const ChildOutcome crashed = Run("echo before; kill -SEGV $$");
  CHECK(crashed.end == ChildOutcome::End::kSignalled);
  CHECK(crashed.code == SIGSEGV);
  CHECK(crashed.output == "before\n");
  CHECK(Run("kill -KILL $$").code == SIGKILL);

  const ChildOutcome hung = Run("echo before; exec sleep 60", std::nullopt, std::chrono::milliseconds(300));
  CHECK(hung.end == ChildOutcome::End::kTimedOut);
  CHECK(hung.output == "before\n");
}

TEST_CASE("a client that leaves a child behind is not waited for longer than itself") {
  const auto start = std::chrono::steady_clock::now();
  const ChildOutcome outcome = Run("sleep 3 & echo done");
  CHECK(outcome.output == "done\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("the ends are described") {
  const ChildCommand command{.timeout = std::chrono::milliseconds(1500)};
  CHECK(DescribeEnd({.end = ChildOutcome::End::kExited, .code = 2}, command) == "exited with status 2");
  CHECK(DescribeEnd({.end = ChildOutcome::End::kSignalled, .code = 11}, command) ==
        "was killed by signal 11 (Segmentation fault)");
  CHECK(DescribeEnd({.end = ChildOutcome::End::kTimedOut}, command) == "did not end within 1.5 s");
}

TEST_CASE("a program that cannot be run is an error that says why") {
  SilentServer server;
  const absl::StatusOr<ChildOutcome> outcome =
      RunChild({.program = "/nonexistent/nft", .arguments = {"nft"}, .shim = "/x.so"}, server);
  CHECK(outcome.status().message() == "/nonexistent/nft: cannot be run: No such file or directory");
}

TEST_CASE("a shim whose path the loader would split is loaded all the same") {
  const testing::Folder folder;
  const std::string copy = folder.Write("a shim: copy.so", testing::ReadFile(*FindShim("")));
  SilentServer server;
  const absl::StatusOr<ChildOutcome> outcome =
      RunChild({.program = "/bin/sh", .arguments = {"sh", "-c", "exit 0"}, .shim = copy}, server);
  REQUIRE(outcome.ok());
  CHECK(outcome->succeeded());
}

TEST_CASE("a static client neither greets nor reaches the kernel's netlink") {
  const StaticProgram program;
  CHECK(FindProgram(program.path()).status().message() ==
        program.path() + ": is statically linked, but the shim needs a program that loads libmnl");
  SilentServer server;
  const absl::StatusOr<ChildOutcome> outcome =
      RunChild({.program = program.path(), .arguments = {"static"}, .shim = *FindShim("")}, server);
  REQUIRE(outcome.ok());
  CHECK_FALSE(outcome->greeted);
  CHECK(outcome->end == ChildOutcome::End::kExited);
  CHECK(outcome->code == EPERM);
}

TEST_CASE("programs are found where administrators' programs are, or the error says what is missing") {
  CHECK(FindProgram("sh").ok());
  CHECK(FindProgram("no-such-program").status().message() ==
        "no-such-program: no such program in PATH, /usr/sbin or /sbin");
  CHECK(FindProgram("/no/such/nft").status().message() == "/no/such/nft: no such program");
}

}  // namespace
}  // namespace nftjit::control
