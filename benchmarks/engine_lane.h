// One engine on one ruleset and its packets, as a benchmark runs it in turn with others.
#ifndef NFTJIT_BENCHMARKS_ENGINE_LANE_H_
#define NFTJIT_BENCHMARKS_ENGINE_LANE_H_

#include <absl/status/statusor.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "nftjit/instance.h"
#include "nftjit/program.h"
#include "nftjit/worker.h"
#include "tools/traffic/measure.h"

namespace nftjit::bench {

struct NamedLane {
  std::string name;
  Lane run;
};

// The value, or the end of the program: benchmarks have no one to hand an error to.
template <class T>
T Must(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << "benchmark: " << value.status() << '\n';
  std::exit(1);
}

class EngineLane {
 public:
  EngineLane(std::string name, std::shared_ptr<const Program> program, HookSite site, std::vector<Packet> packets);

  // Packets [first, first + count) in bursts of 64.
  void Run(size_t first, size_t count);
  [[nodiscard]] NamedLane lane() {
    return {name_, [this](size_t first, size_t count) { Run(first, count); }};
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const Result& result(size_t packet) const { return results_[packet]; }

 private:
  std::string name_;
  std::shared_ptr<const Program> program_;
  HookSite site_;
  Instance instance_;
  Worker worker_;
  std::vector<Packet> packets_;
  std::vector<Result> results_;
};

}  // namespace nftjit::bench

#endif  // NFTJIT_BENCHMARKS_ENGINE_LANE_H_
