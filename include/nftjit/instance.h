// The mutable state of a running ruleset: counters, limits, sets. Workers run packets against it.
#ifndef NFTJIT_INSTANCE_H_
#define NFTJIT_INSTANCE_H_

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "nftjit/program.h"
#include "nftjit/worker.h"

namespace nftjit {

// Monotonic time drives limits and timeouts, wall-clock time (since the epoch, UTC) `meta time`, `day` and `hour`.
struct ClockTime {
  uint64_t monotonic_ns = 0;
  uint64_t wall_ns = 0;
};
// CLOCK_MONOTONIC and CLOCK_REALTIME; the argument is not looked at.
ClockTime SystemClock(void*) noexcept;

struct InstanceOptions {
  // Read once when the Instance is made, and once per Run() of a hook whose rules depend on time; by any thread that
  // runs a Worker. `clock_context` is its argument. The monotonic time must not go back.
  ClockTime (*clock)(void* context) noexcept = &SystemClock;
  void* clock_context = nullptr;
  // Log entries that a Worker keeps until they are taken, at most 2^20; rounded up to a power of two.
  uint32_t log_capacity = 1024;
  // Of the generators behind `meta random`: equal seeds give equal numbers, worker by worker in order of creation.
  uint64_t random_seed = 0;
};

// A counter of the ruleset with its name. Texts live as long as the Program.
struct CounterReading {
  Family family = Family::kInet;
  std::string_view table;
  std::string_view chain;         // Empty: the counter of a set element.
  uint64_t rule_handle = 0;       // 0: the policy counter of the base chain `chain`, or of a set element.
  uint32_t rule = Result::kNone;  // Index into Program::rules(), where it is a rule's.
  uint32_t expression = 0;        // Its number in the rule, from 0.
  std::string_view comment;       // Of the rule.
  std::string_view set;           // Empty: not of an element.
  std::string_view element_key;   // Bytes; empty: the catch-all's.
  uint64_t packets = 0, bytes = 0;
};

struct InstanceState;  // lib/engine/instance_state.h, for tools of this project.

// Moving and destroying one is not thread-safe; its Workers need not be gone.
class Instance {
 public:
  // `program` is not null; the Instance keeps it.
  explicit Instance(std::shared_ptr<const Program> program, const InstanceOptions& options = {});
  ~Instance();
  Instance(Instance&&) noexcept;
  Instance& operator=(Instance&&) noexcept;

  [[nodiscard]] const Program& program() const;

  // Thread-safe. The Worker may outlive the Instance.
  [[nodiscard]] Worker NewWorker();

  // Every counter, initial values and all workers' counts included: rules in order, then policies, then set elements.
  // Thread-safe, also while workers run: then each number is one that its counter had during the call, but packets and
  // bytes of one counter may differ by packets that are under way.
  [[nodiscard]] std::vector<CounterReading> counters() const;

  [[nodiscard]] const InstanceState& state() const { return *state_; }

 private:
  std::shared_ptr<InstanceState> state_;
};

}  // namespace nftjit

#endif  // NFTJIT_INSTANCE_H_
