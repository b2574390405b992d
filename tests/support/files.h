// Files of tests: whole ones read, and a folder of a test's own.
#ifndef NFTJIT_TESTS_SUPPORT_FILES_H_
#define NFTJIT_TESTS_SUPPORT_FILES_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace nftjit::testing {

// All bytes of a file; none where there is no such file.
std::string ReadFile(const std::filesystem::path& path);

// A folder that no other process or object has; it goes with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  // Returns the path.
  std::string Write(const std::string& name, std::string_view text) const;  // NOLINT(modernize-use-nodiscard)
  [[nodiscard]] std::string WriteProgram(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string Read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_FILES_H_
