// nftjit bench: ns per packet of each engine, in turn in one process.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "lib/engine/program_data.h"
#include "nftjit/compile.h"
#include "nftjit/instance.h"
#include "tools/nftjit/commands.h"
#include "tools/nftjit/compile_or_explain.h"
#include "tools/nftjit/exit_status.h"
#include "tools/nftjit/packet_options.h"
#include "tools/nftjit/packet_path.h"
#include "tools/nftjit/ruleset_flags.h"
#include "tools/traffic/measure.h"
#include "tools/traffic/traffic.h"

namespace nftjit::cli {
namespace {

constexpr size_t kGeneratedPackets = 65536;
constexpr size_t kBurst = 64;

struct BenchOptions {
  RulesetFlags ruleset;
  PacketOptions packets;
  bool partial = false, json = false, no_optimise = false;
  std::string traffic = "mixed";
  std::vector<std::string> engines;
  int slices = 41;
};

// One engine with its own state and its own copy of the packets' facts.
struct Contender {
  std::shared_ptr<const Program> program;
  std::unique_ptr<Instance> instance;
  std::unique_ptr<Worker> worker;
  bool optimised = false;
  std::vector<Packet> packets;
  std::vector<Result> results;
};

// The one hook that is timed: --hook, or the only hook that the ruleset has ordinary base chains at.
absl::StatusOr<HookSite> SiteToTime(const PacketOptions& options, const ir::Program& program) {
  if (!options.hook.empty()) {
    return HookSite{options.family.empty() ? Family::kInet : *FamilyByName(options.family), *HookByName(options.hook)};
  }
  std::vector<HookSite> sites;
  for (const ir::Chain& chain : program.chains) {
    if (!chain.base || chain.dormant || chain.item_count == 0) continue;
    const bool l3 = chain.family == nft::Family::kIp || chain.family == nft::Family::kIp6;
    const HookSite site{l3 ? Family::kInet : static_cast<Family>(chain.family),
                        *HookByName(nft::HookName(chain.family, chain.base->hook))};
    if (std::find(sites.begin(), sites.end(), site) == sites.end()) sites.push_back(site);
  }
  if (sites.size() == 1) return sites[0];
  std::string names;
  for (const HookSite& site : sites) {
    names +=
        (names.empty() ? "" : ", ") + std::string(FamilyText(site.family)) + " " + std::string(HookText(site.hook));
  }
  return absl::InvalidArgumentError("bench: --hook NAME is expected: the ruleset has rules at " +
                                    (names.empty() ? "no hook" : names));
}

absl::StatusOr<std::vector<Contender>> MakeContenders(BenchOptions& options, Host& host) {
  std::vector<Contender> contenders;
  for (const EngineInterface* engine : AllEngines()) {
    const auto wanted = [&](const std::string& name) { return name == EngineName(*engine); };
    if (!options.engines.empty() && std::none_of(options.engines.begin(), options.engines.end(), wanted)) continue;
    Contender contender;
    // The reference engine walks the rules as they were lowered: it is the meaning, not a contender for speed.
    contender.optimised = !options.no_optimise && engine != &ReferenceEngine();
    const CompileOptions compile{.engine = engine, .optimise = contender.optimised, .partial = options.partial};
    absl::StatusOr<std::shared_ptr<const Program>> program =
        CompileOrExplain(options.ruleset, host, compile, std::cerr);
    if (!program.ok()) return program.status();
    contender.program = *std::move(program);
    contender.instance = std::make_unique<Instance>(contender.program);
    contender.worker = std::make_unique<Worker>(contender.instance->NewWorker());
    contenders.push_back(std::move(contender));
  }
  if (contenders.empty()) return absl::InvalidArgumentError("--engine: reference, interp or x86 is expected");
  return contenders;
}

absl::StatusOr<Traffic> Generate(const BenchOptions& options, HookSite site, const Facts& facts, Contender& judge) {
  const TrafficKind kind = options.traffic == "miss"  ? TrafficKind::kMiss
                           : options.traffic == "hit" ? TrafficKind::kHit
                                                      : TrafficKind::kMixed;
  TrafficMaker maker(judge.program->data().lowered, 1);
  return maker.Make(kind, kGeneratedPackets, [&](Packet& packet) {
    facts.ApplyTo(packet);
    return judge.worker->Run(site, packet).decided_by == DecidedBy::kRule;
  });
}

void RunWindow(Contender& contender, HookSite site, size_t first, size_t count) {
  for (size_t at = first; at < first + count; at += kBurst) {
    const size_t size = std::min(kBurst, first + count - at);
    contender.worker->Run(site, std::span(contender.packets).subspan(at, size),
                          std::span(contender.results).subspan(at, size));
  }
}

void PrintFigures(const BenchOptions& options, const std::vector<Contender>& contenders,
                  const std::vector<LaneFigure>& figures) {
  if (!options.json) {
    std::cout << std::left << std::setw(12) << "engine" << std::right << std::setw(12) << "ns/pkt min" << std::setw(12)
              << "median" << std::setw(10) << "ratio" << std::setw(14) << "compile ms" << std::setw(14)
              << "code bytes\n";
  }
  double best = figures[0].min_ns;
  for (const LaneFigure& figure : figures) best = std::min(best, figure.min_ns);
  for (size_t i = 0; i < contenders.size(); ++i) {
    const Contender& it = contenders[i];
    const double compile_ms = it.program->compile_seconds() * 1e3;
    if (options.json) {
      const nlohmann::ordered_json object = {{"version", 1},
                                             {"engine", std::string(it.program->engine_name())},
                                             {"optimised", it.optimised},
                                             {"ns_per_packet_min", figures[i].min_ns},
                                             {"ns_per_packet_median", figures[i].median_ns},
                                             {"packets", it.packets.size()},
                                             {"compile_ms", compile_ms},
                                             {"code_bytes", it.program->code_bytes()}};
      std::cout << object.dump() << '\n';
      continue;
    }
    std::cout << std::left << std::setw(12) << it.program->engine_name() << std::right << std::fixed
              << std::setprecision(1) << std::setw(12) << figures[i].min_ns << std::setw(12) << figures[i].median_ns
              << std::setw(10) << figures[i].min_ns / best << std::setw(14) << std::setprecision(3) << compile_ms
              << std::setw(13) << it.program->code_bytes() << '\n';
  }
}

int Bench(BenchOptions& options) {
  options.ruleset.listing.hook = options.packets.hook;
  options.ruleset.listing.family = options.packets.family;
  absl::StatusOr<Host> host = options.ruleset.LoadHost();
  if (!host.ok()) return Fail(host.status());
  absl::StatusOr<std::vector<Contender>> contenders = MakeContenders(options, *host);
  if (!contenders.ok()) return Fail(contenders.status());
  const ir::Program& program = contenders->front().program->data().lowered;
  const absl::StatusOr<HookSite> site = SiteToTime(options.packets, program);
  if (!site.ok()) return Fail(site.status());
  const absl::StatusOr<Facts> facts = Facts::From(options.packets, *host);
  if (!facts.ok()) return Fail(facts.status());

  Capture capture;
  Traffic traffic;
  std::vector<Packet> packets;
  if (options.packets.given()) {
    absl::StatusOr<Capture> read = options.packets.LoadPackets();
    if (!read.ok()) return Fail(read.status());
    capture = *std::move(read);
    for (size_t i = 0; i < capture.size(); ++i) packets.push_back(capture.At(i));
  } else {
    absl::StatusOr<Traffic> made = Generate(options, *site, *facts, contenders->back());
    if (!made.ok()) return Fail(made.status());
    traffic = *std::move(made);
    for (size_t i = 0; i < traffic.size(); ++i) packets.push_back(traffic.At(i));
  }
  if (packets.empty()) return Fail(absl::InvalidArgumentError("bench: the capture holds no packet"));
  for (Packet& packet : packets) {
    facts->ApplyTo(packet);
    packet.missing = 0;  // Every engine is to do the same work, so packets captured short are timed as they are.
  }

  std::vector<Lane> lanes;
  for (Contender& contender : *contenders) {
    contender.packets = packets;
    contender.results.resize(packets.size());
    lanes.emplace_back(
        [&contender, site = *site](size_t first, size_t count) { RunWindow(contender, site, first, count); });
  }
  PrintFigures(options, *contenders, MeasureInterleaved(lanes, packets.size(), options.slices));
  return kDone;
}

}  // namespace

Command AddBench(CLI::App& app) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* parser = app.add_subcommand("bench", "Time the engines on a capture or on generated traffic");
  options->ruleset.AddTo(*parser);
  options->packets.AddTo(*parser);
  parser->add_option("--traffic", options->traffic, "Without -r: miss, hit or mixed")
      ->check(CLI::IsMember({"miss", "hit", "mixed"}))
      ->capture_default_str();
  parser->add_option("--engine", options->engines, "Only this engine; repeatable")
      ->check(CLI::IsMember({"reference", "interp", "x86"}));
  parser->add_option("--slices", options->slices, "Slices per engine, at least 30")
      ->check(CLI::Range(30, 100000))
      ->capture_default_str();
  parser->add_flag("--no-opt", options->no_optimise, "Run the rules as they were lowered");
  parser->add_flag("--partial", options->partial, "Leave out rules that no engine runs");
  parser->add_flag("--json", options->json, "One JSON object an engine");
  return {parser, [options] { return Bench(*options); }};
}

}  // namespace nftjit::cli
