// Every ruleset of the corpus loads, without privileges and without a netlink socket, and is listed as the kernel lists
// it.
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <regex>

#include "lib/control/frontend.h"
#include "tests/control/listing_text.h"
#include "tests/support/files.h"
#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::control {
namespace {

struct RulesetFile {
  std::string name, text;
};

std::vector<RulesetFile> ReadFolder(const std::string& folder) {
  std::vector<RulesetFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".nft") continue;
    files.push_back({entry.path().filename(), testing::ReadFile(entry.path())});
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return files;
}

// The corpus where there is one, and always the examples, so that the tests mean something without it.
std::vector<RulesetFile> ReadRulesets() {
  std::vector<RulesetFile> files = ReadFolder(NFTJIT_SOURCE_DIR "/examples/rulesets");
  REQUIRE(files.size() >= 3);
  std::string corpus;
  if (testing::MayRun("corpus", testing::FindCorpus(&corpus))) {
    std::vector<RulesetFile> more = ReadFolder(corpus + "/rulesets");
    CHECK(more.size() == 52);
    std::move(more.begin(), more.end(), std::back_inserter(files));
  }
  return files;
}

std::string List(const nft::Ruleset& ruleset) {
  ServerOptions options;
  for (const nft::Interface& interface : ruleset.interfaces) {
    REQUIRE(options.links.Add(interface.name, interface.index).ok());
  }
  Server server(std::move(options));
  server.Restore(ruleset);
  const absl::StatusOr<ChildOutcome> outcome = RunClient(server, {"nft", "list", "ruleset"});
  REQUIRE(outcome.ok());
  CHECK(outcome->errors == "");
  CHECK(outcome->succeeded());
  return outcome->output;
}

// nft makes a plain match of an anonymous set of one element, but lists such sets, which optimisation leaves, as sets.
std::string WithoutSingletons(const std::string& listing) {
  static const std::regex kSingleton(R"(\{ ([^{},:]*), \})");
  return std::regex_replace(Comparable(listing), kSingleton, "$1");
}

TEST_CASE("every ruleset loads, and every rule has a place") {
  for (const RulesetFile& file : ReadRulesets()) {
    CAPTURE(file.name);
    const absl::StatusOr<nft::Ruleset> ruleset = CompileNftText(file.text);
    INFO(ruleset.status().message());
    REQUIRE(ruleset.ok());
    for (const nft::Table& table : ruleset->tables) {
      for (const nft::Chain& chain : table.chains) {
        for (const nft::Rule& rule : chain.rules) CHECK(rule.where.line > 0);
      }
    }
  }
}

// Not for the corpus: some lists by nft 1.0.6 do not load again, or with less written out.
TEST_CASE("listing our server's ruleset and loading the list again gives the same list") {
  for (const RulesetFile& file : ReadFolder(NFTJIT_SOURCE_DIR "/examples/rulesets")) {
    CAPTURE(file.name);
    NftOptions options;
    options.locate_rules = false;
    const absl::StatusOr<nft::Ruleset> ruleset = CompileNftText(file.text, options);
    REQUIRE(ruleset.ok());
    const std::string listing = List(*ruleset);
    options.interfaces = ruleset->interfaces;
    const absl::StatusOr<nft::Ruleset> again = CompileNftText(listing, options);
    INFO(again.status().message());
    REQUIRE(again.ok());
    CHECK(FirstDifference(WithoutSingletons(listing), WithoutSingletons(List(*again))) == "");
  }
}

TEST_CASE("our server's list is the kernel's") {
  if (!testing::MayRun("kernel", testing::NetworkNamespace::Available())) return;
  size_t compared = 0;
  const std::vector<RulesetFile> files = ReadRulesets();
  for (const RulesetFile& file : files) {
    CAPTURE(file.name);
    NftOptions options;
    options.locate_rules = false;
    const absl::StatusOr<nft::Ruleset> ruleset = CompileNftText(file.text, options);
    REQUIRE(ruleset.ok());

    auto network = testing::NetworkNamespace::Create();
    REQUIRE(network.ok());
    for (const nft::Interface& interface : ruleset->interfaces) {
      if (interface.name == "lo") continue;
      const absl::Status made =
          (*network)->Ip("link add " + interface.name + " index " + std::to_string(interface.index) + " type bridge\n");
      INFO(made.message());
      REQUIRE(made.ok());
    }
    std::string expected;
    const absl::Status loaded = (*network)->Inside([&] {
      if (absl::Status status = testing::RunProgram({"nft", "-f", "-"}, file.text); !status.ok()) return status;
      return testing::RunProgram({"nft", "list", "ruleset"}, "", &expected);
    });
    if (!loaded.ok()) {
      std::cerr << "the kernel does not load " << file.name << ": " << loaded.message() << '\n';
      continue;
    }
    ++compared;
    CHECK(FirstDifference(Comparable(List(*ruleset)), Comparable(expected)) == "");
  }
  // A kernel with all of nf_tables loads every one; some parts may be missing.
  CHECK(compared * 10 >= files.size() * 9);
}

// Ends any process that asks the kernel for a netlink socket.
bool ForbidNetlink() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{};
  program.len = static_cast<unsigned short>(std::size(filter));
  program.filter = filter;
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs in a child without privileges; says what went wrong on stderr.
int LoadWithoutPrivileges(const std::vector<RulesetFile>& files) {
  constexpr unsigned kNobody = 65534;
  if (geteuid() == 0 && (setgroups(0, nullptr) != 0 || setgid(kNobody) != 0 || setuid(kNobody) != 0)) return 2;
  if (!ForbidNetlink()) return 3;
  int failures = 0;
  for (const RulesetFile& file : files) {
    const absl::StatusOr<nft::Ruleset> ruleset = CompileNftText(file.text);
    if (ruleset.ok() && !ruleset->tables.empty()) continue;
    ++failures;
    std::cerr << file.name << ": " << ruleset.status() << '\n';
  }
  return failures == 0 ? 0 : 1;
}

TEST_CASE("every ruleset loads without privileges and without a netlink socket") {
  const std::vector<RulesetFile> files = ReadRulesets();
  const pid_t pid = fork();
  REQUIRE(pid >= 0);
  if (pid == 0) _exit(LoadWithoutPrivileges(files));
  int status = 0;
  REQUIRE(waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace nftjit::control
