// Writing a file whole or not at all.
#ifndef NFTJIT_TOOLS_NFTJIT_WRITE_FILE_H_
#define NFTJIT_TOOLS_NFTJIT_WRITE_FILE_H_

#include <absl/status/status.h>

#include <string>
#include <string_view>

namespace nftjit::cli {

enum class IfExists { kReplace, kFail };

// Writes beside `path` and renames, so that a failure leaves what was there. "-" is standard output.
absl::Status WriteFile(const std::string& path, std::string_view bytes, IfExists if_exists = IfExists::kReplace);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_WRITE_FILE_H_
