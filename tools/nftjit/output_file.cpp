#include "tools/nftjit/output_file.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

namespace nftjit::cli {
namespace {

absl::Status WriteError(const std::string& path, int error) {
  return absl::FailedPreconditionError(
      absl::StrCat(path == "-" ? "standard output" : path, ": could not be written: ", std::strerror(error)));
}

}  // namespace

OutputFile::OutputFile(std::string path, std::string target, std::string part, int fd)
    : path_(std::move(path)), target_(std::move(target)), part_(std::move(part)), fd_(fd) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      part_(std::exchange(other.part_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!part_.empty()) std::remove(part_.c_str());
}

absl::StatusOr<OutputFile> OutputFile::Open(const std::string& path) {
  struct stat there {};
  const bool exists = path != "-" && stat(path.c_str(), &there) == 0;
  std::string target = path;
  std::string part;
  int fd;
  if (path == "-") {
    fd = dup(STDOUT_FILENO);
  } else if (exists && !S_ISREG(there.st_mode)) {
    fd = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    if (exists) target = std::filesystem::canonical(path);
    part = absl::StrCat(target, ".", getpid(), ".part");
    fd = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (fd < 0) return WriteError(path, errno);
  OutputFile file(path, std::move(target), std::move(part), fd);
  if (!file.part_.empty() && exists && fchmod(fd, there.st_mode & 07777) != 0) return WriteError(path, errno);
  return file;
}

absl::Status OutputFile::Commit(std::string_view bytes, IfExists if_exists) {
  if (!WriteAll(bytes) || !PutInPlace(if_exists)) return WriteError(path_, errno);
  return absl::OkStatus();
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
  if (part_.empty()) return true;
  if (if_exists == IfExists::kFail) return link(part_.c_str(), target_.c_str()) == 0;
  if (std::rename(part_.c_str(), target_.c_str()) != 0) return false;
  part_.clear();
  return true;
}

}  // namespace nftjit::cli
