// Writing a file whole or not at all.
#ifndef NFTJIT_TOOLS_NFTJIT_OUTPUT_FILE_H_
#define NFTJIT_TOOLS_NFTJIT_OUTPUT_FILE_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace nftjit::cli {

enum class IfExists { kReplace, kFail };

// A file that is about to be written. Opened early, so that a place that cannot be written to is an error before any
// work is done; what is there stays until the last byte of the new is.
class OutputFile {
 public:
  // Opens a part beside the file (where a link leads, not in the link's place); a device or a pipe is opened itself,
  // "-" is standard output. Errors: FailedPrecondition, as "PATH: could not be written: REASON".
  static absl::StatusOr<OutputFile> Open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Writes all and puts the part in the file's place. Once.
  absl::Status Commit(std::string_view bytes, IfExists if_exists = IfExists::kReplace);

 private:
  OutputFile(std::string path, std::string target, std::string part, int fd);
  bool WriteAll(std::string_view bytes);
  bool PutInPlace(IfExists if_exists);

  std::string path_;
  std::string target_;  // path_, links followed
  std::string part_;    // empty: there is none
  int fd_;
};

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_OUTPUT_FILE_H_
