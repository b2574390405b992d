#include "lib/control/programs.h"

#include <absl/strings/str_format.h>
#include <elf.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

namespace nftjit::control {
namespace {

constexpr std::string_view kShimName = "libnftjit-preload.so";

bool IsExecutable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

std::vector<std::string> SearchPath() {
  std::vector<std::string> directories;
  const char* variable = getenv("PATH");
  for (std::string_view rest = variable == nullptr ? "" : variable; !rest.empty();) {
    const size_t end = rest.find(':');
    if (end != 0) directories.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  directories.insert(directories.end(), {"/usr/local/sbin", "/usr/sbin", "/sbin"});
  return directories;
}

// A 64-bit ELF program without an interpreter has no dynamic linker that could load a shim. What is no ELF file (a
// script) or cannot be read gets the benefit of the doubt: the greeting will tell.
bool IsStatic(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return false;
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return false;
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return false;
    if (segment.p_type == PT_INTERP) return false;
  }
  return true;
}

std::string DirectoryOfThisProgram() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0) return ".";
  const std::string_view text(path, static_cast<size_t>(length));
  return std::string(text.substr(0, text.rfind('/')));
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& name) {
  std::string path;
  if (name.find('/') != std::string::npos) {
    path = name;
  } else {
    for (const std::string& directory : SearchPath()) {
      path = directory;
      path.append("/").append(name);
      if (IsExecutable(path)) break;
    }
  }
  if (!IsExecutable(path)) {
    return absl::NotFoundError(
        absl::StrFormat("%s: no such program%s", name,
                        name.find('/') != std::string::npos
                            ? ""
                            : (name == "nft" ? " in PATH, /usr/sbin or /sbin: install the package nftables"
                                             : " in PATH, /usr/sbin or /sbin")));
  }
  if (IsStatic(path)) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: is statically linked, but the shim needs a program that loads libmnl", path));
  }
  return path;
}

absl::StatusOr<std::string> FindShim(const std::string& wanted) {
  std::vector<std::string> places;
  const char* variable = getenv("NFTJIT_PRELOAD");
  if (!wanted.empty()) {
    places = {wanted};
  } else if (variable != nullptr && *variable != '\0') {
    places = {variable};
  } else {
    const std::string here = DirectoryOfThisProgram();
    const std::string name(kShimName);
    places = {here + "/" + name, here + "/../lib/nftjit/" + name};
#if defined(NFTJIT_PRELOAD_BUILT)
    places.emplace_back(NFTJIT_PRELOAD_BUILT);
    places.emplace_back(NFTJIT_PRELOAD_INSTALLED);
#endif
  }
  std::string tried;
  for (const std::string& place : places) {
    if (access(place.c_str(), R_OK) == 0) return place;
    tried += (tried.empty() ? "" : ", ") + place;
  }
  return absl::NotFoundError(
      absl::StrFormat("%s, which lets nft talk to nftjit, is not there (looked for %s)", kShimName, tried));
}

}  // namespace nftjit::control
