// The fast portable interpreter: the engine object around encoder and dispatch loop.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "interp/interpreter_code.h"
#include "interp/interpreter_encoder.h"
#include "interp/interpreter_run.h"
#include "lib/engine/engine.h"

namespace nftjit {
namespace {

class InterpretedProgram : public CompiledProgram {
 public:
  InterpretedProgram(const ir::Program& program, interp::Encoding encoding)
      : program_(program), encoding_(std::move(encoding)) {
    const interp::Inst* insts = encoding_.insts.data();
    for (const uint32_t entry : encoding_.entries) {
      chains_.push_back({&encoding_, insts, entry == interp::kNoEntry ? nullptr : insts + entry});
    }
  }

  [[nodiscard]] ChainEntry Entry(ir::ChainId chain) const override { return {interp::RunChain, &chains_[chain.index]}; }

  [[nodiscard]] size_t code_bytes() const override {
    size_t bytes = encoding_.insts.size() * sizeof(interp::Inst) + encoding_.bytes.size() + encoding_.column_bytes;
    for (const interp::Table& table : encoding_.tables) bytes += table.bodies.size() * sizeof(uint32_t);
    return bytes;
  }

  [[nodiscard]] std::string Disassemble() const override {
    return encoding_.rule_of.empty() ? std::string() : interp::Disassemble(program_, encoding_);
  }

 private:
  const ir::Program& program_;
  const interp::Encoding encoding_;
  std::vector<interp::ChainCode> chains_;
};

class Interpreter : public EngineInterface {
 public:
  [[nodiscard]] std::string_view name() const override { return "interp"; }

  [[nodiscard]] absl::StatusOr<std::unique_ptr<const CompiledProgram>> Compile(
      const ir::Program& program, const EngineOptions& options) const override {
    absl::StatusOr<interp::Encoding> encoding = interp::Encode(program, options.keep_code_map);
    if (!encoding.ok()) return encoding.status();
    return std::make_unique<const InterpretedProgram>(program, *std::move(encoding));
  }
};

}  // namespace

const EngineInterface& InterpreterEngine() {
  static const Interpreter engine;
  return engine;
}

}  // namespace nftjit
