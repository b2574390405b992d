// Timing of several lanes against each other: slices of packets in turn, thread CPU time, minimum and median.
#ifndef NFTJIT_TOOLS_TRAFFIC_MEASURE_H_
#define NFTJIT_TOOLS_TRAFFIC_MEASURE_H_

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace nftjit {

// Runs packets [first, first + count).
using Lane = std::function<void(size_t first, size_t count)>;

struct LaneFigure {
  double min_ns = 0, median_ns = 0;  // Per packet.
  size_t slice_packets = 0;
};

// Times every lane over `slices` slices, lane after lane in each round (backwards in odd rounds), so that a drift of
// the machine's speed meets all of them. Each lane's slice is as many packets as take about `slice_ns`, out of
// `packets` that are gone round in windows, which keeps branch predictors from learning one short sequence.
std::vector<LaneFigure> MeasureInterleaved(std::span<const Lane> lanes, size_t packets, int slices = 41,
                                           double slice_ns = 2e6);

}  // namespace nftjit

#endif  // NFTJIT_TOOLS_TRAFFIC_MEASURE_H_
