// The text form of a Program: what `dump ir` prints is what tests contain.
#ifndef NFTJIT_LIB_IR_TEXT_H_
#define NFTJIT_LIB_IR_TEXT_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "lib/ir/ir.h"

namespace nftjit::ir {

struct PrintOptions {
  // Also the origins of rows (`; 5.2`: expression 2 of rule 5), the numbers of rules (`rule [5] 31 …`), rules without
  // an item, and what counters and logs belong to. Without them the text is what a person or a test wants to read.
  bool origins = false;
};

// Canonical text. Parse(Print(p)) equals p up to unused table entries, the numbering of constants and rules, and
// (without PrintOptions::origins) origins; Print(Parse(t)) equals t for canonical t. The grammar stands in docs/ir.md.
std::string Print(const Program& program, const PrintOptions& options = {});
std::string PrintChain(const Program& program, ChainId chain, const PrintOptions& options = {});
// One row without indentation and line end, as Print writes it. Walks the row's chain: for many rows use RowPrinter.
std::string PrintRow(const Program& program, RowId row);

// Prints rows in any order; numbers the values of the whole program once. `program` must outlive it unchanged.
class RowPrinter {
 public:
  explicit RowPrinter(const Program& program);
  [[nodiscard]] std::string operator()(RowId row) const;
  // The number of a value in its chain: 3 for `%3`.
  [[nodiscard]] uint32_t NumberOf(ValueId value) const { return numbers_[value.index]; }

 private:
  const Program& program_;
  std::vector<uint32_t> numbers_, chains_;  // Per row.
};

// Errors: InvalidArgument with `file_name:line:` in front. The text need not be canonical: values may have any names
// (`%src`), sets and chains may be declared after their uses. What is parsed is not verified.
absl::StatusOr<Program> Parse(std::string_view text, std::string_view file_name);

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_TEXT_H_
