// One engine's machine for a Program: its code, and all the state that an Instance and a Worker would hold, so that a
// test sees everything that a run changes.
#ifndef NFTJIT_TESTS_X86_MACHINE_H_
#define NFTJIT_TESTS_X86_MACHINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/engine/engine.h"
#include "lib/ir/ir.h"
#include "lib/runtime/effects.h"
#include "lib/runtime/frame.h"
#include "lib/runtime/limit.h"
#include "lib/runtime/parse.h"
#include "lib/runtime/set.h"

namespace nftjit::testing {

// What one run came to, for comparing and printing.
struct Observed {
  Outcome outcome = 0;
  uint32_t rule = kNoRule, reject = 0;
  uint32_t mark = 0, priority = 0, secmark = 0;
  uint8_t pkttype = 0;
  bool operator==(const Observed&) const = default;
};
std::string ToString(const Observed& observed);

class Machine {
 public:
  // `program` must outlive it.
  Machine(const ir::Program& program, std::unique_ptr<const CompiledProgram> code);
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // One packet through a base chain. `packet` is changed as the chain changes it. The clock advances by a millisecond.
  Observed Run(ir::ChainId chain, const HookPoint& point, Packet& packet);

  // Counters, limits and log records as one text: equal iff the states are.
  [[nodiscard]] std::string State() const;
  [[nodiscard]] const CounterSlot& counter(size_t number) const { return counters_[number]; }
  [[nodiscard]] const CompiledProgram& code() const { return *code_; }

 private:
  std::unique_ptr<const CompiledProgram> code_;
  std::vector<CounterSlot> counters_;
  std::unique_ptr<LimitState[]> limits_;
  size_t limit_count_;
  std::vector<std::unique_ptr<const SetTable>> sets_;
  std::vector<const SetTable*> set_pointers_;
  std::vector<LogRecord> records_;
  EffectLog log_;
  uint64_t random_ = 1;
  Frame frame_{};
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_X86_MACHINE_H_
