#include "tools/nftjit/write_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>

namespace nftjit::cli {

absl::Status WriteFile(const std::string& path, std::string_view bytes, IfExists if_exists) {
  if (path == "-") {
    std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
    return std::cout ? absl::OkStatus() : absl::InvalidArgumentError("standard output: could not be written");
  }
  const std::string partial = path + "." + std::to_string(getpid()) + ".part";
  std::ofstream file(partial, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  const bool written = file && (if_exists == IfExists::kReplace ? std::rename(partial.c_str(), path.c_str()) == 0
                                                                : link(partial.c_str(), path.c_str()) == 0);
  const std::string reason = std::strerror(errno);
  if (!written || if_exists == IfExists::kFail) std::remove(partial.c_str());
  if (!written) {
    return absl::InvalidArgumentError(path + ": could not be written: " + reason);
  }
  return absl::OkStatus();
}

}  // namespace nftjit::cli
