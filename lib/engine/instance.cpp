// The mutable half of a program that runs: counters, limits and sets, and its Workers.
#include "nftjit/instance.h"

#include <time.h>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "lib/engine/instance_state.h"

namespace nftjit {
namespace {

uint64_t ReadClock(clockid_t id) noexcept {
  timespec now{};
  clock_gettime(id, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// SplitMix64: spreads a seed over a generator's state. Never 0, which some generators cannot leave.
uint64_t Spread(uint64_t seed) {
  uint64_t x = seed + 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return x == 0 ? 1 : x;
}

constexpr uint32_t kMaxLogCapacity = 1U << 20;

// Reading of counters: where each stands, and what it says.
class CounterList {
 public:
  CounterList(const InstanceState& state, const std::vector<CounterSlot>& sums)
      : program_(state.rules()), data_(state.program->data()), sums_(sums) {}

  std::vector<CounterReading> Make() {
    for (uint32_t i = 0; i < program_.counters.size(); ++i) {
      if (program_.counters[i].rule.valid()) AddRuleCounter(i);
    }
    auto slot = static_cast<uint32_t>(program_.counters.size());
    for (const ir::Chain& chain : program_.chains) {
      if (chain.base && chain.base->counters) AddPolicyCounter(chain, slot++);
    }
    for (const ir::SetInfo& set : program_.sets) {
      for (const ir::SetElement& element : set.elements) AddElementCounters(set, element);
      if (set.catchall) AddElementCounters(set, *set.catchall);
    }
    return std::move(readings_);
  }

 private:
  CounterReading Begin(nft::Family family, std::string_view table, uint32_t slot) const {
    CounterReading reading;
    reading.family = static_cast<Family>(family);
    reading.table = table;
    reading.packets = sums_[slot].packets;
    reading.bytes = sums_[slot].bytes;
    return reading;
  }

  void AddRuleCounter(uint32_t slot) {
    const ir::CounterInfo& counter = program_.counters[slot];
    const RuleDescription& rule = data_.rules[counter.rule.index];
    const ir::Chain& chain = program_.chains[rule.chain];
    CounterReading reading = Begin(chain.family, chain.table, slot);
    reading.chain = chain.name;
    reading.rule_handle = rule.handle;
    reading.rule = counter.rule.index;
    reading.expression = counter.expression;
    reading.comment = rule.comment;
    readings_.push_back(reading);
  }

  void AddPolicyCounter(const ir::Chain& chain, uint32_t slot) {
    CounterReading reading = Begin(chain.family, chain.table, slot);
    reading.chain = chain.name;
    readings_.push_back(reading);
  }

  void AddElementCounters(const ir::SetInfo& set, const ir::SetElement& element) {
    for (const ir::CounterId id : element.counters) {
      CounterReading reading = Begin(set.family, set.table, id.index);
      reading.set = set.name;
      reading.element_key = element.key;
      readings_.push_back(reading);
    }
  }

  const ir::Program& program_;
  const ProgramData& data_;
  const std::vector<CounterSlot>& sums_;
  std::vector<CounterReading> readings_;
};

}  // namespace

ClockTime SystemClock(void* /*context*/) noexcept { return {ReadClock(CLOCK_MONOTONIC), ReadClock(CLOCK_REALTIME)}; }

InstanceState::InstanceState(std::shared_ptr<const Program> p, const InstanceOptions& o)
    : program(std::move(p)), options(o), limits(new LimitState[rules().limits.size()]) {
  const uint64_t now_ns = options.clock(options.clock_context).monotonic_ns;
  for (size_t i = 0; i < rules().limits.size(); ++i) limits[i].Start(rules().limits[i], now_ns);
  for (const ir::SetInfo& set : rules().sets) {
    sets.push_back(SetTable::Build(set, now_ns));
    set_pointers.push_back(sets.back().get());
  }
  for (const ir::CounterInfo& counter : rules().counters) initial.push_back({counter.packets, counter.bytes});
  for (const ir::Chain& chain : rules().chains) {
    if (chain.base && chain.base->counters) {
      initial.push_back({chain.base->counters->packets, chain.base->counters->bytes});
    }
  }
  retired.resize(initial.size());
}

std::vector<CounterSlot> InstanceState::CounterSums() const {
  std::vector<CounterSlot> sums = initial;
  const std::lock_guard lock(mutex);
  for (size_t i = 0; i < sums.size(); ++i) {
    sums[i].packets += retired[i].packets;
    sums[i].bytes += retired[i].bytes;
    for (const WorkerState* worker : workers) {
      const CounterSlot slot = ReadSlot(worker->counters[i]);
      sums[i].packets += slot.packets;
      sums[i].bytes += slot.bytes;
    }
  }
  return sums;
}

WorkerState::WorkerState(std::shared_ptr<InstanceState> i)
    : instance(std::move(i)),
      plans(&instance->program->data().plans),
      follows_missing_bytes(instance->program->data().code->FollowsMissingBytes()),
      frame() {
  const size_t slots = std::max<size_t>(instance->counter_count(), 1);
  counters.reset(new (std::align_val_t{64}) CounterSlot[slots]);
  const uint32_t capacity = std::bit_ceil(std::clamp<uint32_t>(instance->options.log_capacity, 1, kMaxLogCapacity));
  log_records.reset(new LogRecord[capacity]);
  log.records = log_records.get();
  log.mask = capacity - 1;

  frame.counters = counters.get();
  frame.sets = instance->set_pointers.data();
  frame.limits = instance->limits.get();
  frame.effects = &log;
  frame.random = &random;

  const std::lock_guard lock(instance->mutex);
  frame.cpu = instance->next_worker++;
  random = Spread(Spread(instance->options.random_seed) + frame.cpu);
  instance->workers.push_back(this);
}

WorkerState::~WorkerState() {
  const std::lock_guard lock(instance->mutex);
  for (size_t i = 0; i < instance->counter_count(); ++i) {
    instance->retired[i].packets += counters[i].packets;
    instance->retired[i].bytes += counters[i].bytes;
  }
  std::erase(instance->workers, this);
}

Instance::Instance(std::shared_ptr<const Program> program, const InstanceOptions& options)
    : state_(std::make_shared<InstanceState>(std::move(program), options)) {}
Instance::~Instance() = default;
Instance::Instance(Instance&&) noexcept = default;
Instance& Instance::operator=(Instance&&) noexcept = default;

const Program& Instance::program() const { return *state_->program; }

Worker Instance::NewWorker() { return Worker(std::make_unique<WorkerState>(state_)); }

std::vector<CounterReading> Instance::counters() const { return CounterList(*state_, state_->CounterSums()).Make(); }

}  // namespace nftjit
