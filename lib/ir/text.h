// The text form of a Program: what `dump ir` prints is what tests contain.
#ifndef NFTJIT_LIB_IR_TEXT_H_
#define NFTJIT_LIB_IR_TEXT_H_

#include <absl/status/statusor.h>

#include <string>
#include <string_view>

#include "lib/ir/ir.h"

namespace nftjit::ir {

// Canonical text. Parse(Print(p)) equals p up to unused table entries and the numbering of constants; Print(Parse(t))
// equals t for canonical t. The grammar stands in docs/ir.md.
std::string Print(const Program& program);
std::string PrintChain(const Program& program, ChainId chain);
// One row without its line end, as Print writes it.
std::string PrintRow(const Program& program, RowId row);

// Errors: InvalidArgument with `file_name:line:` in front.
absl::StatusOr<Program> Parse(std::string_view text, std::string_view file_name);

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_TEXT_H_
