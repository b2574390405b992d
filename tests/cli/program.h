// The program run as a user runs it, in a folder of the test's own.
#ifndef NFTJIT_TESTS_CLI_PROGRAM_H_
#define NFTJIT_TESTS_CLI_PROGRAM_H_

#include <string>

#include "tests/support/files.h"

namespace nftjit {

inline const std::string kProgram = NFTJIT_BINARY_DIR "/bin/nftjit";

using testing::Folder;

struct Outcome {
  int status = -1;
  std::string out, err;
};

// `arguments` are words of the shell.
Outcome Run(const Folder& folder, const std::string& arguments, const std::string& input = "");

}  // namespace nftjit

#endif  // NFTJIT_TESTS_CLI_PROGRAM_H_
