// Times lanes against each other and reports them as counters of a benchmark.
#ifndef NFTJIT_BENCHMARKS_REPORT_H_
#define NFTJIT_BENCHMARKS_REPORT_H_

#include <benchmark/benchmark.h>

#include <vector>

#include "benchmarks/engine_lane.h"
#include "benchmarks/prefix_rules.h"

namespace nftjit::bench {

inline std::vector<LaneFigure> MeasureAndReport(benchmark::State& state, const std::vector<NamedLane>& lanes) {
  std::vector<Lane> timed;
  for (const NamedLane& lane : lanes) timed.push_back(lane.run);
  std::vector<LaneFigure> figures = MeasureInterleaved(timed, kPacketCount);
  for (size_t i = 0; i < lanes.size(); ++i) {
    state.counters[lanes[i].name + "_min"] = figures[i].min_ns;
    state.counters[lanes[i].name + "_median"] = figures[i].median_ns;
  }
  return figures;
}

}  // namespace nftjit::bench

#endif  // NFTJIT_BENCHMARKS_REPORT_H_
