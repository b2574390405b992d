// Runs each pass over its folder of cases. NFTJIT_BLESS=1 rewrites the `-- after` parts; read the diff like code.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "lib/ir/text.h"
#include "lib/ir/verifier.h"
#include "lib/opt/pipeline.h"
#include "tests/opt/case_file.h"

namespace nftjit::opt {
namespace {

std::string Text(const absl::Status& status) { return std::string(status.message()); }

ir::Program ParseCase(const CaseFile& file) {
  absl::StatusOr<ir::Program> program = ir::Parse(file.ir, file.path.filename().string());
  INFO(Text(program.status()));
  REQUIRE(program.ok());
  const absl::Status verified = ir::Verify(*program);
  INFO("before: " << Text(verified));
  REQUIRE(verified.ok());
  return *std::move(program);
}

void CheckAfter(const CaseFile& file, const ir::Program& program) {
  const std::string after = ir::Print(program);
  if (std::getenv("NFTJIT_BLESS") != nullptr) {
    BlessCase(file, after);
    return;
  }
  CHECK(after == file.after);
}

void CheckVerified(const ir::Program& program) {
  const absl::Status verified = ir::Verify(program);
  INFO("after: " << Text(verified) << "\n" << ir::Print(program));
  CHECK(verified.ok());
}

TEST_CASE("each pass does what its cases say, verified, and nothing the second time") {
  for (const Pass& pass : Passes()) {
    const std::vector<CaseFile> cases = ReadCases(std::string(pass.name));
    INFO(pass.name << " has no cases of both kinds");
    int changed = 0, unchanged = 0;
    for (const CaseFile& file : cases) {
      INFO(file.path.string());
      ir::Program program = ParseCase(file);
      const std::string before = ir::Print(program);
      const int rewrites = pass.run(program, INT32_MAX);
      CheckVerified(program);
      CheckAfter(file, program);
      const std::string once = ir::Print(program);
      CHECK((rewrites > 0) == (once != before));
      rewrites > 0 ? ++changed : ++unchanged;
      CHECK(pass.run(program, INT32_MAX) == 0);
      CHECK(ir::Print(program) == once);
    }
    CHECK(changed > 0);
    CHECK(unchanged > 0);
  }
}

TEST_CASE("a limit stops a pass after so many rewrites, and leaves a verified program") {
  for (const Pass& pass : Passes()) {
    for (const CaseFile& file : ReadCases(std::string(pass.name))) {
      INFO(file.path.string());
      ir::Program whole = ParseCase(file);
      const int rewrites = pass.run(whole, INT32_MAX);
      for (int limit = 0; limit <= rewrites; ++limit) {
        ir::Program program = ParseCase(file);
        CHECK(pass.run(program, limit) == limit);
        CheckVerified(program);
      }
    }
  }
}

TEST_CASE("the pipeline as a whole") {
  const std::vector<CaseFile> cases = ReadCases("pipeline");
  CHECK(!cases.empty());
  for (const CaseFile& file : cases) {
    INFO(file.path.string());
    ir::Program program = ParseCase(file);
    const absl::Status status = Optimise(program, {.verify_each = true});
    INFO(Text(status));
    CHECK(status.ok());
    CheckAfter(file, program);
  }
}

}  // namespace
}  // namespace nftjit::opt
