// The parts of running that are calls out of the dispatch loop (interpreter_run.cpp).
#ifndef NFTJIT_INTERP_INTERPRETER_RUN_H_
#define NFTJIT_INTERP_INTERPRETER_RUN_H_

#include "interp/interpreter_code.h"
#include "lib/runtime/frame.h"

namespace nftjit::interp {

// What ChainEntry::code points to.
struct ChainCode {
  const Encoding* encoding = nullptr;
  const Inst* insts = nullptr;  // The encoding's.
  const Inst* entry = nullptr;  // Null for chains that are not in the encoding.
};

// Deeper jumps are refused when a program is encoded (the kernel allows 15 below the base chain).
inline constexpr uint32_t kMaxDepth = 16;

Outcome RunChain(const void* code, Frame* frame) noexcept;

// Code::kEvaluate.
void Evaluate(const Inst& inst, const Encoding& encoding, Frame& frame) noexcept;
// Code::kTestBytes, without its guards.
bool TestBytes(const Inst& inst, const Encoding& encoding, const Frame& frame) noexcept;

}  // namespace nftjit::interp

#endif  // NFTJIT_INTERP_INTERPRETER_RUN_H_
