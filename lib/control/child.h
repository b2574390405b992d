// Runs a stock netlink client as a child process (with children of its own, if it likes) whose netlink sockets
// end at a handler. Unix only.
#ifndef NFTJIT_LIB_CONTROL_CHILD_H_
#define NFTJIT_LIB_CONTROL_CHILD_H_

#include <absl/status/statusor.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lib/control/connection.h"

namespace nftjit::control {

struct ChildCommand {
  std::string program;                        // Path, not searched for.
  std::vector<std::string> arguments;         // With the program's name first.
  bool callers_streams = false;               // The child reads and writes the caller's standard streams.
  std::optional<std::string> input;           // Else: standard input; empty: nothing to read.
  std::string shim;                           // Path of the preload shim.
  std::chrono::milliseconds timeout{60'000};  // The child is killed when it is over. 0: never.
};

struct ChildOutcome {
  enum class End { kExited, kSignalled, kTimedOut, kLost };  // Lost: somebody else reaped the child.
  End end = End::kExited;
  int code = 0;          // Exit status or signal number.
  std::string output;    // Standard output, unless it was the caller's.
  std::string errors;    // Standard error, likewise.
  bool greeted = false;  // The shim was loaded and spoke to us.

  [[nodiscard]] bool succeeded() const { return greeted && end == End::kExited && code == 0; }
};

// "exited with status 1", "was killed by signal 11 (Segmentation fault)", "did not end within 60 s".
std::string DescribeEnd(const ChildOutcome& outcome, const ChildCommand& command);

// Runs the command to its end while `handler` answers it. The child cannot open a netlink or raw IP socket of the
// kernel's (a seccomp filter refuses it where the kernel has seccomp), gains no privileges, and dies with the caller.
//
// An error means that the child could not be started; how it fared is in the outcome.
absl::StatusOr<ChildOutcome> RunChild(const ChildCommand& command, ClientHandler& handler);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_CHILD_H_
