// Cases that once failed, kept as text: every engine must agree on them.
#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/support/engine_tester.h"
#include "tests/support/files.h"

namespace nftjit::testing {
namespace {

TEST_CASE("Engines agree on the kept cases") {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(NFTJIT_TEST_DIR "/cases")) {
    if (entry.path().extension() != ".txt") continue;
    INFO(entry.path().filename());
    ++files;
    const absl::StatusOr<EngineCase> parsed = ParseEngineCase(ReadFile(entry.path()), entry.path().filename().string());
    INFO(parsed.status().ToString());
    REQUIRE(parsed.ok());
    CHECK_FALSE(parsed->packets.empty());
    CHECK(Disagreement(*parsed).value_or("") == "");
    CHECK(Print(*ParseEngineCase(Print(*parsed), "printed")) == Print(*parsed));
  }
  CHECK(files > 0);
}

}  // namespace
}  // namespace nftjit::testing
