// The server ruleset of examples/rulesets against the same rules as a C++ function: 0, 50, 90 and 100 % of the packets
// belong to established flows.
#include <benchmark/benchmark.h>

#include "benchmarks/report.h"
#include "benchmarks/server_case.h"

namespace nftjit::bench {
namespace {

void Server(benchmark::State& state) {
  ServerCase server(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    const std::vector<LaneFigure> figures = MeasureAndReport(state, server.lanes());
    state.counters["x86_to_handwritten"] = figures[0].min_ns / figures[2].min_ns;
  }
}

BENCHMARK(Server)
    ->ArgName("established")
    ->Arg(0)
    ->Arg(50)
    ->Arg(90)
    ->Arg(100)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nftjit::bench
