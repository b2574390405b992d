// Capture files written byte by byte.
#ifndef NFTJIT_TESTS_CAPTURE_CAPTURE_FILE_H_
#define NFTJIT_TESTS_CAPTURE_CAPTURE_FILE_H_

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tools/capture/capture.h"

namespace nftjit {

// A file of this process's own that goes with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("nftjit-capture-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

inline std::string Little32(uint32_t value) { return {reinterpret_cast<const char*>(&value), 4}; }
inline std::string Swapped32(uint32_t value) { return Little32(__builtin_bswap32(value)); }

inline std::string FileHeader(uint32_t link_type) {
  return Little32(0xa1b2c3d4) + Little32(4 << 16 | 2) + Little32(0) + Little32(0) + Little32(65535) +
         Little32(link_type);
}
inline std::string Record(const std::string& bytes, uint32_t wire) {
  return Little32(1000) + Little32(5) + Little32(static_cast<uint32_t>(bytes.size())) + Little32(wire) + bytes;
}

inline std::string WholeRecord(const std::string& bytes) { return Record(bytes, static_cast<uint32_t>(bytes.size())); }

inline const std::string kIp = std::string("\x45\0\0\x14\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2", 20);
inline const std::string kMacs("\2\0\0\0\0\1\2\0\0\0\0\2", 12);

// What Capture::FromFile() says of a file of these bytes, without the path: "read" if it reads it.
inline std::string Message(const std::string& file) {
  const TemporaryFile temporary(file);
  const absl::StatusOr<Capture> capture = Capture::FromFile(temporary.path());
  if (capture.ok()) return "read";
  const std::string message(capture.status().message());
  REQUIRE(message.rfind(temporary.path() + ": ", 0) == 0);
  return message.substr(temporary.path().size() + 2);
}

}  // namespace nftjit

#endif  // NFTJIT_TESTS_CAPTURE_CAPTURE_FILE_H_
