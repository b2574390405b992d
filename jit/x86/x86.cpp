#include "jit/x86/x86.h"

#include <absl/strings/str_cat.h>
#include <asmjit/x86.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/code_arena.h"
#include "jit/disassembly.h"
#include "jit/x86/emitter.h"
#include "jit/x86/plan.h"
#include "jit/x86/refusals.h"

namespace nftjit::x86 {
namespace {

// Keeps the first error that asmjit reports.
class FirstError : public asmjit::ErrorHandler {
 public:
  void handleError(asmjit::Error /*error*/, const char* message, asmjit::BaseEmitter* /*origin*/) override {
    if (!message_) message_ = message;
  }
  [[nodiscard]] absl::Status status() const {
    return message_ ? absl::InternalError("x86: assembler: " + *message_) : absl::OkStatus();
  }

 private:
  std::optional<std::string> message_;
};

class X86Program : public CompiledProgram {
 public:
  X86Program(const ir::Program& program, jit::CodeArena arena, std::vector<const uint8_t*> entries, jit::CodeMap map,
             const X86Report& report)
      : program_(program),
        arena_(std::move(arena)),
        entries_(std::move(entries)),
        map_(std::move(map)),
        report_(report) {}

  [[nodiscard]] ChainEntry Entry(ir::ChainId chain) const override {
    const uint8_t* code = entries_[chain.index];
    // NOLINTNEXTLINE(performance-no-int-to-ptr): bytes become a function.
    return {reinterpret_cast<ChainFunction>(reinterpret_cast<uintptr_t>(code)), code};
  }
  [[nodiscard]] size_t code_bytes() const override { return arena_.bytes().size(); }
  [[nodiscard]] std::string Disassemble() const override { return jit::Disassemble(arena_.bytes(), map_, program_); }
  [[nodiscard]] const X86Report& report() const { return report_; }

 private:
  const ir::Program& program_;
  jit::CodeArena arena_;
  std::vector<const uint8_t*> entries_;  // By chain; null where it is no base chain.
  jit::CodeMap map_;
  X86Report report_;
};

absl::StatusOr<jit::CodeArena> Seal(asmjit::CodeHolder& code) {
  if (code.flatten() != asmjit::kErrorOk || code.resolveUnresolvedLinks() != asmjit::kErrorOk ||
      code.hasUnresolvedLinks()) {
    return absl::InternalError("x86: a label was used but never bound");
  }
  return jit::CodeArena::Build(code.codeSize(), [&](std::span<uint8_t> memory) {
    if (code.relocateToBase(reinterpret_cast<uint64_t>(memory.data())) != asmjit::kErrorOk ||
        code.copyFlattenedData(memory.data(), memory.size()) != asmjit::kErrorOk) {
      return absl::InternalError("x86: could not relocate the code");
    }
    return absl::OkStatus();
  });
}

class Engine : public EngineInterface {
 public:
  [[nodiscard]] std::string_view name() const override { return "x86"; }
  [[nodiscard]] absl::StatusOr<std::unique_ptr<const CompiledProgram>> Compile(
      const ir::Program& program, const EngineOptions& options) const override {
    return CompileX86(program, {.engine = options});
  }
};

}  // namespace

absl::StatusOr<std::unique_ptr<const CompiledProgram>> CompileX86(const ir::Program& program,
                                                                  const X86Options& options) {
  if (absl::Status status = Refuse(program); !status.ok()) return status;
  absl::StatusOr<Plan> plan = MakePlan(program);
  if (!plan.ok()) return plan.status();
  X86Options usable = options;
  const auto& processor = asmjit::CpuInfo::host().features().x86();
  usable.avx2 = options.avx2 && processor.hasAVX2() && processor.hasBMI();
  std::vector<std::vector<ColumnRun>> columns(program.chains.size());
  if (usable.avx2) columns = PlanColumns(program, *plan);

  FirstError errors;
  asmjit::CodeHolder code;
  code.init(asmjit::Environment::host());
  code.setErrorHandler(&errors);
  Emitter emitter(program, *plan, columns, usable, code);
  emitter.EmitProgram();
  if (absl::Status status = errors.status(); !status.ok()) return status;
  absl::StatusOr<jit::CodeArena> arena = Seal(code);
  if (!arena.ok()) return arena.status();
  if (absl::Status status = errors.status(); !status.ok()) return status;

  std::vector<const uint8_t*> entries(program.chains.size());
  for (uint32_t i = 0; i < program.chains.size(); ++i) {
    if (program.chains[i].base) entries[i] = arena->bytes().data() + emitter.EntryOffset(ir::ChainId(i));
  }
  return std::make_unique<X86Program>(program, *std::move(arena), std::move(entries), emitter.TakeMap(),
                                      emitter.report());
}

const X86Report& ReportOf(const CompiledProgram& compiled) {
  return dynamic_cast<const X86Program&>(compiled).report();
}

}  // namespace nftjit::x86

namespace nftjit {

const EngineInterface& X86Engine() {
  static const x86::Engine engine;
  return engine;
}

}  // namespace nftjit
