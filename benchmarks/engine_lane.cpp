#include "benchmarks/engine_lane.h"

#include <algorithm>
#include <span>
#include <utility>

namespace nftjit::bench {

EngineLane::EngineLane(std::string name, std::shared_ptr<const Program> program, HookSite site,
                       std::vector<Packet> packets)
    : name_(std::move(name)),
      program_(std::move(program)),
      site_(site),
      instance_(program_),
      worker_(instance_.NewWorker()),
      packets_(std::move(packets)),
      results_(packets_.size()) {}

void EngineLane::Run(size_t first, size_t count) {
  constexpr size_t kBurst = 64;
  for (size_t at = first; at < first + count; at += kBurst) {
    const size_t size = std::min(kBurst, first + count - at);
    worker_.Run(site_, std::span(packets_).subspan(at, size), std::span(results_).subspan(at, size));
  }
}

}  // namespace nftjit::bench
