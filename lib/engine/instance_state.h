// What an Instance and its Workers share, and what one Worker has of its own.
#ifndef NFTJIT_LIB_ENGINE_INSTANCE_STATE_H_
#define NFTJIT_LIB_ENGINE_INSTANCE_STATE_H_

#include <memory>
#include <mutex>
#include <vector>

#include "lib/engine/program_data.h"
#include "lib/runtime/effects.h"
#include "lib/runtime/frame.h"
#include "lib/runtime/limit.h"
#include "lib/runtime/set.h"
#include "nftjit/instance.h"

namespace nftjit {

struct InstanceState {
  InstanceState(std::shared_ptr<const Program> p, const InstanceOptions& o);

  // The program's counters and then the policy counters (hook_plan.h).
  [[nodiscard]] size_t counter_count() const { return initial.size(); }
  // Initial values and all workers' counts, by slot. Thread-safe.
  [[nodiscard]] std::vector<CounterSlot> CounterSums() const;
  [[nodiscard]] const ir::Program& rules() const { return program->data().program(); }

  const std::shared_ptr<const Program> program;
  const InstanceOptions options;
  std::vector<std::unique_ptr<const SetTable>> sets;
  std::vector<const SetTable*> set_pointers;  // By SetId, as frames want them.
  std::unique_ptr<LimitState[]> limits;
  std::vector<CounterSlot> initial;

  mutable std::mutex mutex;  // Guards what follows.
  std::vector<WorkerState*> workers;
  std::vector<CounterSlot> retired;  // Counts of Workers that are gone.
  uint32_t next_worker = 0;
};

// On cache lines of its own.
struct alignas(64) WorkerState {
  explicit WorkerState(std::shared_ptr<InstanceState> i);
  ~WorkerState();
  WorkerState(const WorkerState&) = delete;
  WorkerState& operator=(const WorkerState&) = delete;

  struct FreeSlots {
    void operator()(CounterSlot* slots) const { ::operator delete[](slots, std::align_val_t{64}); }
  };

  const std::shared_ptr<InstanceState> instance;
  const HookPlans* plans;
  const bool follows_missing_bytes;  // Of the engine.
  std::unique_ptr<CounterSlot[], FreeSlots> counters;
  std::unique_ptr<LogRecord[]> log_records;
  EffectLog log;
  uint64_t logs_taken = 0, logs_lost = 0;
  uint64_t random = 0;
  Frame frame;
};

// Counter slots are written by their worker's thread and may be read by others meanwhile: with relaxed order, which
// costs nothing on the machines that engines generate code for.
inline CounterSlot ReadSlot(const CounterSlot& slot) {
  return {__atomic_load_n(&slot.packets, __ATOMIC_RELAXED), __atomic_load_n(&slot.bytes, __ATOMIC_RELAXED)};
}
inline void AddTo(CounterSlot& slot, uint64_t packets, uint64_t bytes) {
  __atomic_store_n(&slot.packets, slot.packets + packets, __ATOMIC_RELAXED);
  __atomic_store_n(&slot.bytes, slot.bytes + bytes, __ATOMIC_RELAXED);
}

}  // namespace nftjit

#endif  // NFTJIT_LIB_ENGINE_INSTANCE_STATE_H_
