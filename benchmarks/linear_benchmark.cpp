// Linear rules: N distinct prefix-and-port rules, every engine and the switch interpreter on the same packets in one
// interleaved run. Figures are counters of the benchmark: `<engine>_min`, `<engine>_median` in ns per packet.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>

#include "benchmarks/prefix_rules.h"
#include "benchmarks/switch_interpreter.h"
#include "lib/engine/compile.h"
#include "nftjit/instance.h"
#include "tools/traffic/measure.h"

namespace nftjit::bench {
namespace {

constexpr size_t kBurst = 64;

std::vector<Packet> PacketsOver(std::vector<uint8_t>& bytes) {
  std::vector<Packet> packets(bytes.size() / kPacketBytes);
  for (size_t i = 0; i < packets.size(); ++i) {
    packets[i].data = bytes.data() + i * kPacketBytes;
    packets[i].length = kPacketBytes;
    packets[i].protocol = 0x0800;
  }
  return packets;
}

std::shared_ptr<const Program> MustCompile(const nft::Ruleset& ruleset, const EngineInterface& engine, bool optimise) {
  absl::StatusOr<std::shared_ptr<const Program>> program =
      CompileModel(ruleset, {.engine = &engine, .optimise = optimise});
  if (!program.ok()) {
    std::cerr << "benchmark: " << program.status() << '\n';
    std::abort();
  }
  return *std::move(program);
}

struct EngineLane {
  std::string name;
  std::shared_ptr<const Program> program;
  std::unique_ptr<Instance> instance;
  Worker worker;
  std::vector<Packet> packets;
  std::vector<Result> results;

  EngineLane(std::string lane_name, std::shared_ptr<const Program> compiled, std::vector<Packet> all)
      : name(std::move(lane_name)),
        program(std::move(compiled)),
        instance(std::make_unique<Instance>(program)),
        worker(instance->NewWorker()),
        packets(std::move(all)),
        results(packets.size()) {}

  void Run(size_t first, size_t count) {
    for (size_t at = first; at < first + count; at += kBurst) {
      const size_t size = std::min(kBurst, first + count - at);
      worker.Run({Family::kIp, Hook::kPrerouting}, std::span(packets).subspan(at, size),
                 std::span(results).subspan(at, size));
    }
  }
};

// Engines and yardstick must agree on what they drop, or their times mean nothing.
void CheckAgreement(const std::vector<std::unique_ptr<EngineLane>>& lanes, SwitchInterpreter& yardstick) {
  constexpr size_t kChecked = 512;
  for (const auto& lane : lanes) {
    lane->Run(0, kChecked);
    for (size_t i = 0; i < kChecked; ++i) {
      const bool accepted = yardstick.Run(lane->packets[i].data, kPacketBytes);
      if (accepted == (lane->results[i].verdict == Verdict::kAccept)) continue;
      std::cerr << "benchmark: " << lane->name << " and the switch interpreter disagree on packet " << i << '\n';
      std::abort();
    }
  }
}

void Linear(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const auto kind = static_cast<PrefixTraffic>(state.range(1));
  const std::vector<PrefixRule> rules = MakePrefixRules(count);
  const nft::Ruleset ruleset = MakePrefixRuleset(rules);
  std::vector<uint8_t> bytes = MakePrefixTraffic(rules, kind);
  std::vector<Packet> packets = PacketsOver(bytes);

  std::vector<std::unique_ptr<EngineLane>> lanes;
  const auto add = [&](std::string name, const EngineInterface& engine, bool optimise) {
    lanes.push_back(std::make_unique<EngineLane>(std::move(name), MustCompile(ruleset, engine, optimise), packets));
  };
  add("x86", X86Engine(), true);
  add("x86_noopt", X86Engine(), false);
  add("interp", InterpreterEngine(), true);
  if (count <= 1000) add("reference", ReferenceEngine(), false);
  SwitchInterpreter yardstick(ruleset.tables[0].chains[0]);
  CheckAgreement(lanes, yardstick);

  std::vector<Lane> timed;
  for (auto& lane : lanes) {
    timed.emplace_back([&lane](size_t first, size_t many) { lane->Run(first, many); });
  }
  timed.emplace_back([&](size_t first, size_t many) {
    for (size_t i = first; i < first + many; ++i) {
      benchmark::DoNotOptimize(yardstick.Run(packets[i].data, kPacketBytes));
    }
  });
  for (auto _ : state) {
    const std::vector<LaneFigure> figures = MeasureInterleaved(timed, packets.size());
    for (size_t i = 0; i < lanes.size(); ++i) {
      state.counters[lanes[i]->name + "_min"] = figures[i].min_ns;
      state.counters[lanes[i]->name + "_median"] = figures[i].median_ns;
    }
    state.counters["switch_min"] = figures.back().min_ns;
    state.counters["switch_median"] = figures.back().median_ns;
    state.counters["switch_to_x86"] = figures.back().min_ns / figures[0].min_ns;
    state.counters["x86_ns_per_rule"] = figures[0].min_ns / static_cast<double>(count);
  }
  state.counters["code_bytes_per_rule"] =
      static_cast<double>(lanes[0]->program->code_bytes()) / static_cast<double>(count);
}

// From the model to something callable, by stage. Warm: the minimum of the repetitions counts.
void Compiling(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const nft::Ruleset ruleset = MakePrefixRuleset(MakePrefixRules(count));
  double best = 1e9;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const std::shared_ptr<const Program> program = MustCompile(ruleset, X86Engine(), true);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(elapsed.count());
    if (elapsed.count() >= best) continue;
    best = elapsed.count();
    state.counters["lower_ms"] = program->data().lower_seconds * 1e3;
    state.counters["optimise_ms"] = program->data().optimise_seconds * 1e3;
    state.counters["engine_ms"] = program->data().engine_seconds * 1e3;
  }
  state.counters["min_ms"] = best * 1e3;
}

BENCHMARK(Linear)
    ->ArgNames({"rules", "traffic"})
    ->ArgsProduct({{10, 100, 1000, 10000}, {0, 1, 2}})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(Compiling)->ArgName("rules")->Arg(10)->Arg(100)->Arg(1000)->Arg(10000)->UseManualTime()->Unit(
    benchmark::kMillisecond);

}  // namespace
}  // namespace nftjit::bench

BENCHMARK_MAIN();
