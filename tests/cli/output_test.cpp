// Where output files go: whole or not at all, and never in the place of something that is no ordinary file.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/cli/program.h"

namespace nftjit {
namespace {

namespace fs = std::filesystem;

const std::string kOnePacket = "4500001c00000000401100000a0000010a0000020035003500080000";

std::string Rules(const Folder& folder) {
  return folder.Write("rules.nft", "table ip t {\n\tchain c {\n\t\ttype filter hook input priority 0\n\t}\n}\n");
}

size_t Files(const Folder& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder / ""), fs::directory_iterator()));
}

TEST_CASE("a pipe gets the image and stays a pipe") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(std::system(("mkfifo " + pipe).c_str()) == 0);
  const Outcome outcome = Run(folder, "compile -f " + Rules(folder) + " -o " + pipe + " & cat " + pipe + " >" +
                                          (folder / "image") + "; wait $! #");
  INFO(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(fs::is_fifo(pipe));
  CHECK(Run(folder, "check -f " + (folder / "image")).status == 0);
}

TEST_CASE("a device that takes nothing is an error and stays where it is") {
  const Folder folder;
  const std::string rules = Rules(folder);
  // By a link, so that a program that replaces what is there does no harm to the machine.
  const std::string full = folder / "full";
  fs::create_symlink("/dev/full", full);
  for (const std::string& arguments : {"compile -f " + rules + " -o " + full,
                                       "run -f " + rules + " --hook input --hex " + kOnePacket + " -w " + full}) {
    const Outcome outcome = Run(folder, arguments);
    INFO(arguments << '\n' << outcome.err);
    CHECK(outcome.status == 2);
    CHECK_THAT(outcome.err, Catch::Contains(full + ": could not be written: No space left on device"));
    CHECK(fs::is_symlink(full));
    CHECK(fs::is_character_file("/dev/full"));
  }
}

TEST_CASE("a link leads to the file that is replaced, which keeps its permissions") {
  const Folder folder;
  const std::string file = folder.Write("image", "old");
  const std::string link = folder / "link";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("image", link);
  const std::string rules = Rules(folder);
  CHECK(Run(folder, "compile -f " + rules + " -o " + link).status == 0);
  CHECK(fs::is_symlink(link));
  CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(Run(folder, "check -f " + file).status == 0);

  // Also one that is not there yet; a link to itself leads nowhere.
  const std::string ahead = folder / "ahead";
  fs::create_symlink("later", ahead);
  CHECK(Run(folder, "compile -f " + rules + " -o " + ahead).status == 0);
  CHECK(fs::is_symlink(ahead));
  CHECK(fs::is_regular_file(folder / "later"));
  const std::string loop = folder / "loop";
  fs::create_symlink("loop", loop);
  const Outcome outcome = Run(folder, "compile -f " + rules + " -o " + loop);
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains("loop: could not be written: Too many levels of symbolic links"));
  CHECK(fs::is_symlink(loop));
}

TEST_CASE("who is interrupted before the output is written leaves nothing beside it") {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(std::system(("mkfifo " + pipe).c_str()) == 0);
  const std::string image = folder.Write("image", "old");
  // Waits for a ruleset that does not come.
  const Outcome outcome =
      Run(folder, "--version >/dev/null; timeout -s KILL 2 " + kProgram + " compile -f " + pipe + " -o " + image);
  CHECK(outcome.status == 137);
  CHECK(folder.Read("image") == "old");
  for (const fs::directory_entry& entry : fs::directory_iterator(folder / "")) {
    CHECK(entry.path().extension() != ".part");
  }
}

TEST_CASE("an output that cannot be made is an error before anything is printed, and a failure leaves the file alone") {
  const Folder folder;
  const std::string rules = Rules(folder);
  const std::string run = "run -f " + rules + " --hook input --hex " + kOnePacket;
  Outcome outcome = Run(folder, run + " -w " + (folder / "missing/kept.pcap"));
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());
  CHECK_THAT(outcome.err, Catch::Contains("missing/kept.pcap: could not be written: No such file or directory"));
  outcome = Run(folder, run + " -w " + (folder / ""));
  CHECK(outcome.status == 2);
  CHECK_THAT(outcome.err, Catch::Contains(": could not be written: Is a directory"));
  outcome = Run(folder, run + " -w -");
  CHECK(outcome.status == 2);
  CHECK(outcome.out.empty());

  const std::string image = folder.Write("image", "old");
  const std::string bad = folder.Write("bad.nft", "table ip t {");
  const size_t files = Files(folder);
  CHECK(Run(folder, "compile -f " + bad + " -o " + image).status == 2);
  CHECK(folder.Read("image") == "old");
  CHECK(Files(folder) == files);
}

}  // namespace
}  // namespace nftjit
