// The server ruleset of examples/rulesets against the same rules as a C++ function, header parsing included on both
// sides, on generated flows: 0, 50, 90 and 100 % of the packets belong to established flows.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>

#include "benchmarks/handwritten_server.h"
#include "lib/engine/compile.h"
#include "nftjit/compile.h"
#include "nftjit/instance.h"
#include "nftjit/ruleset.h"
#include "tools/traffic/measure.h"
#include "tools/traffic/traffic.h"

namespace nftjit::bench {
namespace {

constexpr size_t kPackets = 65536, kBurst = 64;
constexpr HookSite kSite{Family::kInet, Hook::kInput};

template <class T>
T Must(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << "benchmark: " << value.status() << '\n';
  std::abort();
}

struct Lanes {
  std::shared_ptr<const Program> program;
  std::unique_ptr<Instance> instance;
  std::unique_ptr<Worker> worker;
  std::vector<Packet> packets;
  std::vector<Result> results{kPackets};
};

Lanes MakeLane(const Ruleset& ruleset, const EngineInterface& engine, const std::vector<Packet>& packets) {
  Lanes lane;
  lane.program = Must(Compile(ruleset, {.engine = &engine}));
  lane.instance = std::make_unique<Instance>(lane.program);
  lane.worker = std::make_unique<Worker>(lane.instance->NewWorker());
  lane.packets = packets;
  return lane;
}

void Run(Lanes& lane, size_t first, size_t count) {
  for (size_t at = first; at < first + count; at += kBurst) {
    const size_t size = std::min(kBurst, first + count - at);
    lane.worker->Run(kSite, std::span(lane.packets).subspan(at, size), std::span(lane.results).subspan(at, size));
  }
}

void Server(benchmark::State& state) {
  const Ruleset ruleset = Must(Ruleset::FromFile(NFTJIT_SOURCE_DIR "/examples/rulesets/server.nft"));
  const std::shared_ptr<const Program> judge = Must(Compile(ruleset, {.engine = &ReferenceEngine()}));
  Traffic traffic = Must(TrafficMaker(judge->data().lowered, 5).Make(TrafficKind::kMixed, kPackets, {}));
  Interface eth0;
  eth0.index = 2;
  eth0.name = {'e', 't', 'h', '0'};
  Conntrack fresh, established;
  fresh.state = kCtNew;
  established.state = kCtEstablished;
  fresh.has_entry = established.has_entry = true;
  std::mt19937 random(6);
  std::vector<Packet> packets;
  for (size_t i = 0; i < kPackets; ++i) {
    packets.push_back(traffic.At(i));
    packets.back().iif = &eth0;
    packets.back().ct = static_cast<int64_t>(random() % 100) < state.range(0) ? &established : &fresh;
  }

  Lanes x86 = MakeLane(ruleset, X86Engine(), packets), interp = MakeLane(ruleset, InterpreterEngine(), packets);
  HandwrittenServer handwritten;
  Run(x86, 0, kPackets);
  Run(interp, 0, kPackets);
  for (size_t i = 0; i < kPackets; ++i) {
    const bool accepted = handwritten.Run(packets[i]);
    if (accepted == (x86.results[i].verdict == Verdict::kAccept) && x86.results[i] == interp.results[i]) continue;
    std::cerr << "benchmark: engines and handwritten function disagree on packet " << i << '\n';
    std::abort();
  }
  const std::vector<Lane> lanes = {[&](size_t first, size_t count) { Run(x86, first, count); },
                                   [&](size_t first, size_t count) { Run(interp, first, count); },
                                   [&](size_t first, size_t count) {
                                     for (size_t i = first; i < first + count; ++i)
                                       benchmark::DoNotOptimize(handwritten.Run(packets[i]));
                                   }};
  for (auto _ : state) {
    const std::vector<LaneFigure> figures = MeasureInterleaved(lanes, kPackets);
    const char* names[] = {"x86", "interp", "handwritten"};
    for (size_t i = 0; i < lanes.size(); ++i) {
      state.counters[std::string(names[i]) + "_min"] = figures[i].min_ns;
      state.counters[std::string(names[i]) + "_median"] = figures[i].median_ns;
    }
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
