// Who judges the judges: with a fault put into the engines (lib/support/fault.h), at least two of them must fail.
#include <sys/wait.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "build_options.h"
#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

struct Judge {
  std::string_view name;
  const char* command;  // Of the folder of test programs; enough cases to meet every fault, and few seconds.
  bool needs_kernel;
};
constexpr std::array<Judge, 5> kJudges = {
    {{"engine tester", "NFTJIT_CASES=4000 ./test_judge_engines 'Engines agree on random*'", false},
     {"reference against x86", "NFTJIT_X86_PROGRAMS=60 ./test_x86 'random programs*'", false},
     {"live kernel", "NFTJIT_CASES=2000 ./test_judge_kernel 'The kernel agrees on random rules*'", true},
     {"quirks", "./test_quirks", false},
     {"hooks", "./test_engine", false}}};

bool Fails(const Judge& judge, const std::string& fault) {
  // A judge prints what it covers; here only whether it fails is asked.
  const std::string command = std::string("cd '" NFTJIT_BINARY_DIR "/tests' && NFTJIT_REQUIRE= NFTJIT_FAULT='") +
                              fault + "' " + judge.command + " >/dev/null 2>&1";
  const int status = std::system(command.c_str());
  REQUIRE(status != -1);
  // 126, 127: it could not be run.
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
  REQUIRE(code != 126);
  REQUIRE(code != 127);
  return code != 0;
}

TEST_CASE("every fault is found by at least two judges") {
#ifdef NFTJIT_FAULTS
  constexpr bool kBuiltWithFaults = true;
#else
  constexpr bool kBuiltWithFaults = false;
#endif
  if (!MayRun("faults", kBuiltWithFaults ? absl::OkStatus()
                                         : absl::UnavailableError("this build has none: preset test, NFTJIT_FAULTS")))
    return;
  const bool kernel = MayRun("kernel", NetworkNamespace::Available());
  for (const char* fault : {"", "comparison", "bounds", "priority", "counter"}) {
    std::vector<std::string_view> found;
    for (const Judge& judge : kJudges) {
      if (judge.needs_kernel && !kernel) continue;
      if (Fails(judge, fault)) found.push_back(judge.name);
    }
    std::cout << "fault " << (*fault == '\0' ? "none" : fault) << " is found by:";
    for (const std::string_view name : found) std::cout << ' ' << name << ';';
    std::cout << '\n';
    INFO(fault);
    if (*fault == '\0') {
      CHECK(found.empty());
    } else {
      CHECK(found.size() >= 2);
    }
  }
}

}  // namespace
}  // namespace nftjit::testing
