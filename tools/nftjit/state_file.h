// The file that keeps a server's ruleset between commands.
#ifndef NFTJIT_TOOLS_NFTJIT_STATE_FILE_H_
#define NFTJIT_TOOLS_NFTJIT_STATE_FILE_H_

#include <absl/status/statusor.h>

#include <string>

#include "lib/nft/ruleset.h"

namespace nftjit::cli {

// A ruleset image, locked from Open() to the end of the object, so that commands with one file wait for each other.
class StateFile {
 public:
  // A file that is not there is an empty ruleset. Errors: what ReadImage() says, and files that cannot be read.
  static absl::StatusOr<StateFile> Open(const std::string& path);
  StateFile(StateFile&& other) noexcept;
  StateFile& operator=(StateFile&&) = delete;
  ~StateFile();

  [[nodiscard]] const nft::Ruleset& ruleset() const { return ruleset_; }
  // Replaces the file as a whole; leaves it alone if nothing has changed. Fails if somebody made it since Open() did
  // not find it.
  absl::Status Save(const nft::Ruleset& ruleset);

 private:
  StateFile(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;
  int lock_;           // The opened file; -1: there was none.
  std::string image_;  // What the file holds.
  nft::Ruleset ruleset_;
};

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_STATE_FILE_H_
