// The exit statuses of every verb.
#ifndef NFTJIT_TOOLS_NFTJIT_EXIT_STATUS_H_
#define NFTJIT_TOOLS_NFTJIT_EXIT_STATUS_H_

#include <absl/status/status.h>

namespace nftjit::cli {

inline constexpr int kDone = 0;
inline constexpr int kBadInput = 2;     // Usage or input error.
inline constexpr int kUnsupported = 3;  // Depends on something unknown, or is not supported.

// Prints the message on standard error and returns the status that goes with its code.
int Fail(const absl::Status& status);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_EXIT_STATUS_H_
