// Linear rules: N distinct prefix-and-port rules, every engine and the switch interpreter on the same packets in one
// interleaved run. Figures are counters of the benchmark: `<engine>_min`, `<engine>_median` in ns per packet.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "benchmarks/linear_case.h"
#include "benchmarks/report.h"
#include "lib/engine/program_data.h"

namespace nftjit::bench {
namespace {

void Linear(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  LinearCase linear(count, static_cast<PrefixTraffic>(state.range(1)));
  for (auto _ : state) {
    const std::vector<LaneFigure> figures = MeasureAndReport(state, linear.lanes());
    state.counters["switch_to_x86"] = figures.back().min_ns / figures[0].min_ns;
    state.counters["x86_ns_per_rule"] = figures[0].min_ns / static_cast<double>(count);
  }
  state.counters["code_bytes_per_rule"] = static_cast<double>(linear.x86().code_bytes()) / static_cast<double>(count);
}

// From the model to something callable; its stages in the quickest repetition.
void Compiling(benchmark::State& state) {
  const auto count = static_cast<size_t>(state.range(0));
  const nft::Ruleset ruleset = MakePrefixRuleset(MakePrefixRules(count));
  std::vector<double> times;
  for (auto _ : state) {
    const auto start = std::chrono::steady_clock::now();
    const std::shared_ptr<const Program> program = MustCompile(ruleset, X86Engine(), true);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    state.SetIterationTime(elapsed.count());
    times.push_back(elapsed.count() * 1e3);
    if (times.back() > *std::min_element(times.begin(), times.end())) continue;
    state.counters["lower_ms"] = program->data().lower_seconds * 1e3;
    state.counters["optimise_ms"] = program->data().optimise_seconds * 1e3;
    state.counters["engine_ms"] = program->data().engine_seconds * 1e3;
  }
  std::sort(times.begin(), times.end());
  state.counters["min_ms"] = times.front();
  state.counters["median_ms"] = times[times.size() / 2];
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
