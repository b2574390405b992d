// Clients that do well, badly, or never see the shim.
#include "lib/control/child.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iterator>

#include "lib/control/programs.h"
#include "lib/control/wire.h"

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

// A program of a few instructions without a dynamic linker: it opens a netfilter netlink socket by a system call and
// exits with the error number, or with 200 if it got one.
class StaticProgram {
 public:
  StaticProgram() : path_("/tmp/nftjit-static-" + std::to_string(getpid())) {
    const unsigned char image[] = {
        0x7f, 'E',  'L',  'F', 2,    1, 1,    0, 0,    0,  0,    0, 0,
        0,    0,    0,  // ELF64, little-endian.
        2,    0,    0x3e, 0,   1,    0, 0,    0, 0x78, 0,  0x40, 0, 0,
        0,    0,    0,  // Executable for x86-64, entry 0x400078.
        0x40, 0,    0,    0,   0,    0, 0,    0, 0,    0,  0,    0, 0,
        0,    0,    0,  // Program headers at 0x40.
        0,    0,    0,    0,   0x40, 0, 0x38, 0, 1,    0,  0,    0, 0,
        0,    0,    0,  // One of 56 bytes.
        1,    0,    0,    0,   5,    0, 0,    0, 0,    0,  0,    0, 0,
        0,    0,    0,  // PT_LOAD, read and execute, from offset 0
        0,    0,    0x40, 0,   0,    0, 0,    0, 0,    0,  0x40, 0, 0,
        0,    0,    0,  // to 0x400000,
        0xa8, 0,    0,    0,   0,    0, 0,    0, 0xa8, 0,  0,    0, 0,
        0,    0,    0,                                                  // 0xa8 bytes.
        0,    0x10, 0,    0,   0,    0, 0,    0, 0xb8, 41, 0,    0, 0,  // mov eax, 41 (socket)
        0xbf, 16,   0,    0,   0,                                       // mov edi, AF_NETLINK
        0xbe, 3,    0,    0,   0,                                       // mov esi, SOCK_RAW
        0xba, 12,   0,    0,   0,                                       // mov edx, NETLINK_NETFILTER
        0x0f, 0x05,                                                     // syscall
        0xbf, 200,  0,    0,   0,                                       // mov edi, 200
        0x85, 0xc0,                                                     // test eax, eax
        0x79, 4,                                                        // jns +4
        0xf7, 0xd8,                                                     // neg eax
        0x89, 0xc7,                                                     // mov edi, eax
        0xb8, 60,   0,    0,   0,                                       // mov eax, 60 (exit)
        0x0f, 0x05,                                                     // syscall
        0,    0,    0,    0,   0,    0};
    std::ofstream(path_, std::ios::binary).write(reinterpret_cast<const char*>(image), sizeof image);
    chmod(path_.c_str(), 0755);
  }
  ~StaticProgram() { unlink(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

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
  const std::string directory = "/tmp/nftjit shim:" + std::to_string(getpid());
  REQUIRE(mkdir(directory.c_str(), 0755) == 0);
  const std::string copy = directory + "/libnftjit-preload.so";
  {
    std::ifstream from(*FindShim(""), std::ios::binary);
    std::ofstream to(copy, std::ios::binary);
    to << from.rdbuf();
  }
  SilentServer server;
  const absl::StatusOr<ChildOutcome> outcome =
      RunChild({.program = "/bin/sh", .arguments = {"sh", "-c", "exit 0"}, .shim = copy}, server);
  unlink(copy.c_str());
  rmdir(directory.c_str());
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
