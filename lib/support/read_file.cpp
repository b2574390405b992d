#include "lib/support/read_file.h"

#include <absl/strings/str_cat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace nftjit {
namespace {

absl::Status ReadError(const std::string& path, int error) {
  const std::string message = absl::StrCat(path == "-" ? "standard input" : path, ": ", std::strerror(error));
  if (error == ENOENT) return absl::NotFoundError(message);
  if (error == EACCES || error == EPERM) return absl::PermissionDeniedError(message);
  return absl::FailedPreconditionError(message);
}

}  // namespace

// Not by std::ifstream: read through an istreambuf_iterator, a folder makes it throw; through an operator, it is empty.
absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const auto close = [](std::FILE* file) { return std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> opened(nullptr, close);
  std::FILE* file = stdin;
  if (path != "-") {
    opened.reset(std::fopen(path.c_str(), "rbe"));
    if (opened == nullptr) return ReadError(path, errno);
    file = opened.get();
  }
  std::string bytes;
  char buffer[65536];
  for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) != 0;) bytes.append(buffer, n);
  if (std::ferror(file) != 0) return ReadError(path, errno);
  return bytes;
}

}  // namespace nftjit
