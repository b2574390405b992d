#include "tools/traffic/measure.h"

#include <algorithm>
#include <ctime>

namespace nftjit {
namespace {

double ThreadNanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

struct LaneState {
  size_t slice = 1, next = 0;
  std::vector<double> per_packet;
};

// One slice, from where the last one ended. Returns its time.
double RunSlice(const Lane& lane, LaneState& state, size_t packets) {
  if (state.next + state.slice > packets) state.next = 0;
  const double start = ThreadNanoseconds();
  lane(state.next, state.slice);
  const double elapsed = ThreadNanoseconds() - start;
  state.next += state.slice;
  return elapsed;
}

void Calibrate(const Lane& lane, LaneState& state, size_t packets, double slice_ns) {
  state.slice = std::min<size_t>(packets, 16);
  for (double elapsed = 0; state.slice < packets; state.slice = std::min(packets, state.slice * 2)) {
    elapsed = RunSlice(lane, state, packets);
    if (elapsed >= slice_ns) break;
  }
}

}  // namespace

std::vector<LaneFigure> MeasureInterleaved(std::span<const Lane> lanes, size_t packets, int slices, double slice_ns) {
  std::vector<LaneState> states(lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) Calibrate(lanes[i], states[i], packets, slice_ns);
  for (int round = 0; round < slices; ++round) {
    for (size_t step = 0; step < lanes.size(); ++step) {
      const size_t i = round % 2 == 0 ? step : lanes.size() - 1 - step;
      const double elapsed = RunSlice(lanes[i], states[i], packets);
      states[i].per_packet.push_back(elapsed / static_cast<double>(states[i].slice));
    }
  }
  std::vector<LaneFigure> figures;
  for (LaneState& state : states) {
    std::sort(state.per_packet.begin(), state.per_packet.end());
    figures.push_back({state.per_packet.front(), state.per_packet[state.per_packet.size() / 2], state.slice});
  }
  return figures;
}

}  // namespace nftjit
