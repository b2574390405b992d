// Where the client programs and our shim are.
#ifndef NFTJIT_LIB_CONTROL_PROGRAMS_H_
#define NFTJIT_LIB_CONTROL_PROGRAMS_H_

#include <absl/status/statusor.h>

#include <string>

namespace nftjit::control {

// A name is sought in PATH, then in the directories of administrators' programs, which users' PATHs lack; a path is
// taken as it is. Errors: NotFound with what to install; FailedPrecondition for a statically linked program, which no
// shim can reach.
absl::StatusOr<std::string> FindProgram(const std::string& name);

// `wanted` if it is not empty; else $NFTJIT_PRELOAD, beside this program, where it was built, where it was installed.
absl::StatusOr<std::string> FindShim(const std::string& wanted);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_PROGRAMS_H_
