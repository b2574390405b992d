// What one row must be like, apart from where it stands; private to the verifier.
#ifndef NFTJIT_LIB_IR_ROW_CHECK_H_
#define NFTJIT_LIB_IR_ROW_CHECK_H_

#include <cstddef>
#include <string>

#include "lib/ir/ir.h"

namespace nftjit::ir {

inline constexpr size_t kOpCount = static_cast<size_t>(Op::kUnsupported) + 1;
inline constexpr size_t kMaxValueLength = 64;

// Keys, flags, numbers and lengths of `row`, whose operands must exist. Empty, or what is wrong.
std::string CheckRow(const Program& program, const Row& row);

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_ROW_CHECK_H_
