// Cases that once failed or that show what a case is, kept as text: the kernel and every engine agree on them.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/support/files.h"
#include "tests/support/kernel_case.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

TEST_CASE("The kernel agrees on the kept cases") {
  const bool may_run = MayRun("kernel", NetworkNamespace::Available());
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NFTJIT_TEST_DIR "/cases")) {
    if (entry.path().extension() != ".txt") continue;
    ++files;
    INFO(entry.path().filename());
    const std::string text = ReadFile(entry.path());
    absl::StatusOr<KernelCase> kept = ParseKernelCase(text, entry.path().filename().string());
    INFO(kept.status().ToString());
    REQUIRE(kept.ok());
    CHECK(Print(*kept) == text);
    CHECK_FALSE(kept->packets.empty());
    if (!may_run) continue;
    absl::StatusOr<std::unique_ptr<LiveKernel>> kernel = LiveKernel::Start(kept->machine);
    REQUIRE(kernel.ok());
    REQUIRE(KernelJudge::Make(**kernel, kept->ruleset).ok());
    CHECK(Disagreement(**kernel, *kept).value_or("") == "");
  }
  CHECK(files > 0);
}

TEST_CASE("A damaged case is refused with its line") {
  const auto message = [](const char* text) { return std::string(ParseKernelCase(text, "c.txt").status().message()); };
  CHECK(message("topology round\n") == "c.txt:1: one of routed, ethernet, bridged is expected");
  CHECK(message("# a comment\npacket 123\n").rfind("c.txt:2: topology NAME, conntrack", 0) == 0);
  CHECK(message("input in0\n").rfind("c.txt:1: ", 0) == 0);
  CHECK(message("image 0011\n").rfind("c.txt:1: image", 0) == 0);
}

}  // namespace
}  // namespace nftjit::testing
