#include "tests/support/files.h"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <iterator>

namespace nftjit::testing {

namespace fs = std::filesystem;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Folder::Folder() {
  static std::atomic<int> number{0};
  path_ = fs::temp_directory_path() / ("nftjit-" + std::to_string(getpid()) + "-" + std::to_string(number++));
  fs::create_directories(path_);
}

Folder::~Folder() { fs::remove_all(path_); }

std::string Folder::Write(const std::string& name, std::string_view text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return (path_ / name).string();
}

std::string Folder::WriteProgram(const std::string& name, std::string_view text) const {
  std::string path = Write(name, text);
  fs::permissions(path, fs::perms::owner_all | fs::perms::others_read | fs::perms::others_exec);
  return path;
}

std::string Folder::Read(const std::string& name) const { return ReadFile(path_ / name); }

}  // namespace nftjit::testing
