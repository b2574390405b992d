// Writing a file whole or not at all.
#ifndef NFTJIT_TOOLS_NFTJIT_OUTPUT_FILE_H_
#define NFTJIT_TOOLS_NFTJIT_OUTPUT_FILE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace nftjit::cli {

enum class IfExists { kReplace, kFail };

// A file that is about to be written. Opened early, so that a place that cannot be written to is an error before any
// work is done; what is there stays until the last byte of the new is.
class OutputFile {
 public:
  // Sees whether there can be a new file beside this one (where a link leads, not in the link's place), and leaves none
  // there for whoever interrupts the work; a device or a pipe is opened, "-" is standard output. Errors:
  // FailedPrecondition, as "PATH: could not be written: REASON".
  static absl::StatusOr<OutputFile> Open(const std::string& path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  // Writes all beside the file and puts it in its place. Once.
  absl::Status Commit(std::string_view bytes, IfExists if_exists = IfExists::kReplace);

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  [[nodiscard]] absl::Status Error(int error) const;
  bool FollowLinks();
  bool OpenItself(int fd);
  bool OpenPart();
  bool WriteAll(std::string_view bytes);
  bool PutInPlace(IfExists if_exists);

  std::string path_;
  std::string target_;            // path_, links followed; empty: written itself
  std::optional<uint32_t> mode_;  // Permissions of the file that is there.
  bool has_part_ = false;
  int fd_ = -1;
};

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_OUTPUT_FILE_H_
