// What the x86 engine refuses to compile, and what it reports.
#include <catch2/catch.hpp>
#include <string>

#include "jit/x86/x86.h"
#include "lib/ir/text.h"

namespace nftjit::testing {
namespace {

absl::Status CompileText(const std::string& text, const EngineOptions& options = {}) {
  const absl::StatusOr<ir::Program> program = ir::Parse(text, "test.ir");
  REQUIRE(program.status() == absl::OkStatus());
  return X86Engine().Compile(*program, options).status();
}

TEST_CASE("unsupported rows are refused by name", "[x86]") {
  const absl::Status status = CompileText(
      "chain ip t c hook input priority 0 policy accept:\n"
      "rule 7 fw.nft:12:\n"
      "  guard l4\n"
      "  unsupported \"nat\"\n");
  REQUIRE(status.code() == absl::StatusCode::kUnimplemented);
  REQUIRE(status.message() == "fw.nft:12: row 1 of rule 7: nat is not supported");
}

TEST_CASE("jumps in a circle are refused", "[x86]") {
  const std::string circle =
      "chain ip t a:\nrule 1:\n  verdict jump b\n"
      "chain ip t b:\nrule 2:\n  verdict goto a\n";
  CHECK(CompileText(circle) == absl::OkStatus());  // No base chain gets there.
  CHECK(CompileText("chain ip t c hook input priority 0 policy accept:\nrule 3:\n  verdict jump b\n" + circle)
            .message() == "chain c: jumps go round in a circle");
}

TEST_CASE("the disassembly shows rules and rows beside the code", "[x86]") {
  const absl::StatusOr<ir::Program> program = ir::Parse(
      "counter #0\n"
      "chain ip t c hook input priority 0 policy accept:\n"
      "rule 1 fw.nft:3 \"web\":\n"
      "  guard room.transport 4\n"
      "  %0 = load transport+2, 2\n"
      "  test %0 == 0050\n"
      "  count #0\n"
      "  verdict drop\n",
      "test.ir");
  REQUIRE(program.status() == absl::OkStatus());
  const auto code = X86Engine().Compile(*program, {.keep_code_map = true});
  REQUIRE(code.status() == absl::OkStatus());
  const std::string text = (*code)->Disassemble();
  INFO(text);
  for (const char* part :
       {"chain ip t c:\n", " rule 1 fw.nft:3 \"web\":\n", "  ; guard room.transport 4\n", "  ; test %0 == 0050\n",
        " rule 1 fw.nft:3 \"web\", out of line:\n", "  ; count #0\n", "cmp eax, 0x5000\n", "ret\n"}) {
    CHECK(text.find(part) != std::string::npos);
  }
  CHECK(text.find("not an instruction") == std::string::npos);
  const x86::X86Report& report = x86::ReportOf(**code);
  CHECK(report.rows == 5);
  CHECK(report.called_rows == 0);
}

}  // namespace
}  // namespace nftjit::testing
