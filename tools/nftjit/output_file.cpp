#include "tools/nftjit/output_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace nftjit::cli {
namespace {

std::string PartOf(const std::string& target) { return absl::StrCat(target, ".", getpid(), ".part"); }

}  // namespace

absl::Status OutputFile::Error(int error) const {
  return absl::FailedPreconditionError(
      absl::StrCat(path_ == "-" ? "standard output" : path_, ": could not be written: ", std::strerror(error)));
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      mode_(other.mode_),
      has_part_(std::exchange(other.has_part_, false)),
      fd_(std::exchange(other.fd_, -1)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (has_part_) std::remove(PartOf(target_).c_str());
}

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path) {
  OutputFile file(path);
  struct stat there {};
  bool opened;
  if (path == "-") {
    opened = file.OpenItself(dup(STDOUT_FILENO));
  } else if (stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode)) {
    opened = file.OpenItself(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  } else {
    if (there.st_mode != 0) file.mode_ = there.st_mode & 07777;
    opened = file.FollowLinks() && file.OpenPart();
  }
  if (!opened) return file.Error(errno);
  if (!file.has_part_) return file;
  close(std::exchange(file.fd_, -1));
  std::remove(PartOf(file.target_).c_str());
  file.has_part_ = false;
  return file;
}

// Also a link to a file that is not there yet leads to its place.
bool OutputFile::FollowLinks() {
  constexpr int kLinks = 40;  // As the kernel follows.
  std::filesystem::path at = path_;
  for (int i = 0; i < kLinks; ++i) {
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) {
      target_ = at.string();
      return true;
    }
    at = at.parent_path() / next;
  }
  errno = ELOOP;
  return false;
}

bool OutputFile::OpenItself(int fd) {
  fd_ = fd;
  return fd >= 0;
}

bool OutputFile::OpenPart() {
  const std::string part = PartOf(target_);
  std::remove(part.c_str());  // Left by a process of this number that was killed.
  fd_ = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  has_part_ = fd_ >= 0;
  return has_part_ && (!mode_ || fchmod(fd_, *mode_) == 0);
}

absl::Status OutputFile::Commit(std::string_view bytes, IfExists if_exists) {
  const bool done = (target_.empty() || OpenPart()) && WriteAll(bytes) && PutInPlace(if_exists);
  return done ? absl::OkStatus() : Error(errno);
}

bool OutputFile::WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (n == 0 || errno != EINTR) {
      return false;
    }
  }
  return close(std::exchange(fd_, -1)) == 0;
}

bool OutputFile::PutInPlace(IfExists if_exists) {
  if (!has_part_) return true;
  const std::string part = PartOf(target_);
  if (if_exists == IfExists::kFail) return link(part.c_str(), target_.c_str()) == 0;
  if (std::rename(part.c_str(), target_.c_str()) != 0) return false;
  has_part_ = false;
  return true;
}

}  // namespace nftjit::cli
