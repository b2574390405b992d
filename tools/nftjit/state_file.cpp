#include "tools/nftjit/state_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/netlink/image.h"
#include "tools/nftjit/output_file.h"

namespace nftjit::cli {
namespace {

absl::Status FileError(const std::string& path, std::string_view what) {
  return absl::InvalidArgumentError(path + ": " + std::string(what) + ": " + std::strerror(errno));
}

// The file of this name, locked. -1: there is none. Whoever waited for the lock may hold a file that has been replaced
// meanwhile, and tries again.
absl::StatusOr<int> OpenLocked(const std::string& path) {
  for (;;) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
      if (errno == ENOENT) return -1;
      return FileError(path, "could not be opened");
    }
    struct stat held {
    }, named{};
    int locked;
    do {
      locked = flock(fd, LOCK_EX);
    } while (locked != 0 && errno == EINTR);
    if (locked != 0 || fstat(fd, &held) != 0) {
      absl::Status status = FileError(path, "could not be locked");
      close(fd);
      return status;
    }
    if (!S_ISREG(held.st_mode)) {
      close(fd);
      return absl::InvalidArgumentError(path + ": an ordinary file is expected");
    }
    if (stat(path.c_str(), &named) == 0 && named.st_ino == held.st_ino && named.st_dev == held.st_dev) return fd;
    close(fd);
  }
}

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path) {
  std::string bytes;
  char buffer[65536];
  for (;;) {
    const ssize_t n = read(fd, buffer, sizeof buffer);
    if (n == 0) return bytes;
    if (n > 0) {
      bytes.append(buffer, static_cast<size_t>(n));
    } else if (errno != EINTR) {
      return FileError(path, "could not be read");
    }
  }
}

}  // namespace

StateFile::StateFile(StateFile&& other) noexcept
    : path_(std::move(other.path_)),
      lock_(std::exchange(other.lock_, -1)),
      image_(std::move(other.image_)),
      ruleset_(std::move(other.ruleset_)) {}

StateFile::~StateFile() {
  if (lock_ >= 0) close(lock_);
}

absl::StatusOr<StateFile> StateFile::Open(const std::string& path) {
  const absl::StatusOr<int> fd = OpenLocked(path);
  if (!fd.ok()) return fd.status();
  StateFile state(path, *fd);
  if (*fd < 0) return state;
  absl::StatusOr<std::string> image = ReadAll(*fd, path);
  if (!image.ok()) return image.status();
  absl::StatusOr<nft::Ruleset> ruleset = netlink::ReadImage(*image, path);
  if (!ruleset.ok()) return ruleset.status();
  state.image_ = *std::move(image);
  state.ruleset_ = *std::move(ruleset);
  return state;
}

absl::Status StateFile::Save(const nft::Ruleset& ruleset) {
  std::string image = netlink::WriteImage(ruleset);
  if (image == image_) return absl::OkStatus();
  const IfExists if_exists = lock_ >= 0 ? IfExists::kReplace : IfExists::kFail;
  absl::StatusOr<OutputFile> file = OutputFile::Open(path_);
  if (!file.ok()) return file.status();
  if (absl::Status status = file->Commit(image, if_exists); !status.ok()) return status;
  image_ = std::move(image);
  return absl::OkStatus();
}

}  // namespace nftjit::cli
