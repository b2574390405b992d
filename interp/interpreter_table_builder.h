// Which runs of rules become match tables, and their columns.
#ifndef NFTJIT_INTERP_INTERPRETER_TABLE_BUILDER_H_
#define NFTJIT_INTERP_INTERPRETER_TABLE_BUILDER_H_

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "interp/interpreter_code.h"
#include "interp/interpreter_operands.h"
#include "interp/interpreter_tests.h"
#include "lib/ir/ir.h"

namespace nftjit::interp {

// What the guards at the head of a rule ask for.
struct Needs {
  std::array<uint32_t, 3> room{};  // From link, network and transport header.
  uint8_t conditions = 0;
  bool operator==(const Needs&) const = default;
};

// A test at the head of a rule in the forms of columns.
struct PackedTest {
  uint32_t row = 0;
  Source source;
  std::optional<MaskedForm> masked;
  std::optional<RangeForm> range;
  bool whole = true;  // False: a part of the test's value only; the rule has to test all of it still.
};

// The tests that a rule can hand to a table: those that stand before anything that has an effect. A rule matches if all
// its tests pass, so their order does not matter; tests that no column can do stay with the rule.
struct RuleShape {
  Needs needs;
  std::vector<PackedTest> tests;
  std::vector<uint32_t> guards;  // Guard rows that `needs` stands for.
};
RuleShape ShapeOf(const ir::Program& program, const Operands& operands, const ir::Item& rule);

// A run that became a table.
struct TableRun {
  Needs common;                        // Checked once, before the table.
  std::vector<uint32_t> common_tests;  // Rows of the first rule whose test all rules share; checked before the table.
  Table table;                         // Without bodies.
  std::vector<uint32_t> data;
  std::vector<std::vector<uint32_t>> done;  // Per rule: the rows that the table and the common tests do, sorted.
};

// The longest run from the first of `shapes` on that is worth a table; empty if there is none. `length` gets the number
// of rules in it, or the number of rules at the front that are in no table.
std::optional<TableRun> BuildRun(std::span<const RuleShape> shapes, size_t& length);

}  // namespace nftjit::interp

#endif  // NFTJIT_INTERP_INTERPRETER_TABLE_BUILDER_H_
