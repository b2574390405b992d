// Whole files, or the error that says why not.
#ifndef NFTJIT_LIB_SUPPORT_READ_FILE_H_
#define NFTJIT_LIB_SUPPORT_READ_FILE_H_

#include <absl/status/statusor.h>

#include <string>

namespace nftjit {

// All bytes of the file; "-" is the rest of standard input. Errors: NotFound, PermissionDenied, or FailedPrecondition
// (a folder, a device that fails), as "PATH: REASON".
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace nftjit

#endif  // NFTJIT_LIB_SUPPORT_READ_FILE_H_
