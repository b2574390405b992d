// The interface that every engine has: a name, and a function that turns a verified ir::Program into runnable code.
#ifndef NFTJIT_LIB_ENGINE_ENGINE_H_
#define NFTJIT_LIB_ENGINE_ENGINE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/ir/ir.h"
#include "lib/runtime/frame.h"

namespace nftjit {

// Runs one base chain of a compiled Program on an entered frame. `code` is ChainEntry::code.
// Returns a terminal nft::VerdictCode (drop, accept), or kContinue: fell off the end or returned, policy applies.
// An engine that FollowsMissingBytes() may also return kUnknownOutcome, and sets frame.rule then.
// Sets frame.rule and frame.reject when a rule's verdict ended the chain (both are reset by the caller).
using ChainFunction = Outcome (*)(const void* code, Frame* frame) noexcept;
struct ChainEntry {
  ChainFunction run = nullptr;
  const void* code = nullptr;
};

// What an engine made of a Program. Immutable; any number of threads may run it, each with its own Frame.
// It may refer to the Program, which must outlive it.
class CompiledProgram {
 public:
  virtual ~CompiledProgram() = default;
  // Of a base chain.
  [[nodiscard]] virtual ChainEntry Entry(ir::ChainId chain) const = 0;
  // Bytes of machine code, or of the encoding that an interpreter made; 0 where the Program itself is walked.
  [[nodiscard]] virtual size_t code_bytes() const = 0;
  // True if cut frames (EnterShortChain()) may be run. Others are for engines that take the bytes present for all.
  [[nodiscard]] virtual bool FollowsMissingBytes() const { return false; }
  // Machine code or encoding as text with rule and IR row beside it; `dump asm`. Addresses are offsets.
  [[nodiscard]] virtual std::string Disassemble() const { return {}; }
};

struct EngineOptions {
  bool keep_code_map = false;  // Needed by Disassemble().
};

class EngineInterface {
 public:
  virtual ~EngineInterface() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Errors: Unimplemented names the row that this engine lacks; Internal what the assembler or the system refused.
  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<const CompiledProgram>> Compile(
      const ir::Program& program, const EngineOptions& options) const = 0;
};

// Engines are stateless singletons with static storage.
const EngineInterface& ReferenceEngine();    // interp/reference.cpp
const EngineInterface& InterpreterEngine();  // interp/interpreter.cpp
const EngineInterface& X86Engine();          // jit/x86/x86.cpp, in nftjit_jit

}  // namespace nftjit

#endif  // NFTJIT_LIB_ENGINE_ENGINE_H_
