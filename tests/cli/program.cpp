#include "tests/cli/program.h"

#include <sys/wait.h>

#include <cstdlib>

namespace nftjit {

Outcome Run(const Folder& folder, const std::string& arguments, const std::string& input) {
  folder.Write("in", input);
  const std::string command =
      kProgram + " " + arguments + " <" + (folder / "in") + " >" + (folder / "out") + " 2>" + (folder / "err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder.Read("out"), folder.Read("err")};
}

}  // namespace nftjit
