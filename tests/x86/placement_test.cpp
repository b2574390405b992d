// Cold placement: where the code of a rule's rows lies. A packet that no rule matches runs one line of code without a
// jump taken; what a rule does lies behind it.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "jit/x86/x86.h"
#include "lib/ir/text.h"

namespace nftjit::testing {
namespace {

// The disassembly in its parts: the text of the line of misses up to its `ret`, that of what is out of line.
struct Placement {
  std::string line, out_of_line;
  std::vector<uint32_t> jumps;  // Targets of the conditional jumps of the rules in the line.
  uint32_t line_end = 0;        // Address of the `ret`.
};

Placement Place(const std::string& rules) {
  const absl::StatusOr<ir::Program> program =
      ir::Parse("counter #0\ncounter #1\nchain ip t c hook input priority 0 policy accept:\n" + rules, "test.ir");
  INFO(program.status());
  REQUIRE(program.ok());
  const auto code = X86Engine().Compile(*program, {.keep_code_map = true});
  REQUIRE(code.ok());
  Placement placement;
  bool in_rule = false, cold = false;
  const std::string text = (*code)->Disassemble();
  UNSCOPED_INFO(text);
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (line.substr(0, 6) == " rule ") {
      in_rule = true;
      cold = line.find("out of line") != absl::string_view::npos;
    }
    absl::StrAppend(cold ? &placement.out_of_line : &placement.line, line, "\n");
    uint32_t address = 0, target = 0;
    const std::vector<absl::string_view> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.empty() || !absl::SimpleHexAtoi(words[0], &address) || cold) continue;
    if (words.back() == "ret" && placement.line_end == 0) placement.line_end = address;
    if (in_rule && placement.line_end == 0 && words.size() == 3 && words[1][0] == 'j') {
      REQUIRE(absl::SimpleHexAtoi(words[2], &target));
      placement.jumps.push_back(target);
    }
  }
  REQUIRE(placement.line_end != 0);
  return placement;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("what a rule does lies out of line, and a miss takes no jump", "[x86]") {
  const Placement placement = Place(
      "rule 1:\n  guard room.transport 4\n  %0 = load transport+2, 2\n  test %0 == 0050\n  count #0\n  verdict drop\n"
      "rule 2:\n  %1 = meta mark\n  test %1 == 01000000\n  count #1\n  verdict drop\n");
  CHECK_FALSE(Has(placement.line, "; count"));
  CHECK(Has(placement.line, "; test %0 == 0050"));
  CHECK(Has(placement.out_of_line, "; count #0"));
  CHECK(Has(placement.out_of_line, "; count #1"));
  CHECK_FALSE(Has(placement.out_of_line, "; test"));
  // Only where the first rule cannot load is the second one jumped to.
  size_t hits = 0;
  for (const uint32_t target : placement.jumps) hits += target > placement.line_end ? 1 : 0;
  CHECK(hits == 2);
}

TEST_CASE("of several tests the first is in the line", "[x86]") {
  const Placement placement = Place(
      "rule 1:\n  %0 = meta mark\n  test %0 == 01000000\n  %1 = meta priority\n  test %1 == 02000000\n  count #0\n");
  CHECK(Has(placement.line, "; test %0"));
  CHECK_FALSE(Has(placement.line, "; test %1"));
  CHECK(Has(placement.out_of_line, "; test %1"));
  REQUIRE(placement.jumps.size() == 1);
  CHECK(placement.jumps[0] > placement.line_end);
}

TEST_CASE("what every packet does is not put out of line", "[x86]") {
  const Placement no_test = Place("rule 1:\n  count #0\nrule 2:\n  %0 = const 01000000\n  set mark %0\n");
  CHECK(Has(no_test.line, "; count #0"));
  CHECK(Has(no_test.line, "; set mark %0"));
  CHECK(no_test.out_of_line.empty());
  const Placement before = Place("rule 1:\n  count #0\n  %0 = meta mark\n  test %0 == 01000000\n  count #1\n");
  CHECK(Has(before.line, "; count #0"));
  CHECK(Has(before.line, "; test %0"));
  CHECK(Has(before.out_of_line, "; count #1"));
}

}  // namespace
}  // namespace nftjit::testing
