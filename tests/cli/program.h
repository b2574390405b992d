// The program run as a user runs it, in a folder of the test's own.
#ifndef NFTJIT_TESTS_CLI_PROGRAM_H_
#define NFTJIT_TESTS_CLI_PROGRAM_H_

#include <filesystem>
#include <string>
#include <string_view>

namespace nftjit {

inline const std::string kProgram = NFTJIT_BINARY_DIR "/bin/nftjit";

// A folder of this test's own; it goes with the object.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string Write(const std::string& name, std::string_view text) const;
  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string Read(const std::string& name) const;

 private:
  std::filesystem::path path_;
};

struct Outcome {
  int status = -1;
  std::string out, err;
};

// `arguments` are words of the shell.
Outcome Run(const Folder& folder, const std::string& arguments, const std::string& input = "");

}  // namespace nftjit

#endif  // NFTJIT_TESTS_CLI_PROGRAM_H_
