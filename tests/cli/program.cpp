#include "tests/cli/program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace nftjit {

Folder::Folder() : path_(std::filesystem::temp_directory_path() / ("nftjit-cli-" + std::to_string(getpid()))) {
  std::filesystem::create_directories(path_);
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

std::string Folder::Write(const std::string& name, std::string_view text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return (path_ / name).string();
}

std::string Folder::Read(const std::string& name) const {
  std::ifstream file(path_ / name, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Outcome Run(const Folder& folder, const std::string& arguments, const std::string& input) {
  folder.Write("in", input);
  const std::string command =
      kProgram + " " + arguments + " <" + (folder / "in") + " >" + (folder / "out") + " 2>" + (folder / "err");
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, folder.Read("out"), folder.Read("err")};
}

}  // namespace nftjit
