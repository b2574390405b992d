// Random rules and packets cut at random lengths: whatever the reference engine says of what is left, unless that it is
// unknown, is what it says of the whole packet. NFTJIT_SEED and NFTJIT_CUTS change where it begins and how many it
// runs.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "lib/engine/compile.h"
#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "nftjit/instance.h"
#include "tests/support/generate.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/packet_case.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

constexpr uint64_t kDefaultCuts = 20000;

ClockTime ReadClock(void* /*context*/) noexcept {
  return {.monotonic_ns = 1000000000000, .wall_ns = 1700000000000000000};
}

// What one packet does to a new instance, hook by hook up to one that is unknown.
struct Passage {
  struct Hook {
    Result result;
    uint32_t mark, priority, secmark;
    size_t logs;
    bool operator==(const Hook&) const = default;
  };
  std::vector<Hook> hooks;
  std::vector<CounterReading> counters;
  [[nodiscard]] bool unknown() const { return !hooks.empty() && hooks.back().result.verdict == Verdict::kUnknown; }
};

Passage Run(const std::shared_ptr<const Program>& program, PacketCase packet, size_t present) {
  InstanceOptions options;
  options.clock = &ReadClock;
  Instance instance(program, options);
  Worker worker = instance.NewWorker();
  const GuardedBytes guarded(std::span(packet.bytes.data(), present));
  packet.facts.missing = static_cast<uint32_t>(packet.bytes.size() - present);
  Packet view = packet.View(guarded.data(), present);
  // Which version it is of, is told by a first byte that is missing.
  if (!packet.ethernet && present == 0 && !packet.bytes.empty()) view.protocol = 0;
  Passage passage;
  for (const HookSite& site : packet.path) {
    Passage::Hook hook{worker.Run(site, view), view.mark, view.priority, view.secmark, 0};
    std::vector<LogEntry> logs(64);
    hook.logs = worker.TakeLogs(logs);
    passage.hooks.push_back(hook);
    if (passage.unknown()) break;
  }
  passage.counters = instance.counters();
  return passage;
}

// What is wrong with what was said of a cut packet, or nothing.
std::optional<std::string> Contradiction(const Passage& whole, const Passage& cut, bool length_known) {
  if (whole.unknown()) return "the whole packet is unknown";
  for (size_t i = 0; i < cut.hooks.size(); ++i) {
    if (cut.hooks[i].result.verdict == Verdict::kUnknown) continue;
    if (!(cut.hooks[i] == whole.hooks[i])) return absl::StrCat("hook ", i, " of the path differs");
  }
  for (size_t i = 0; i < whole.counters.size(); ++i) {
    const CounterReading &a = whole.counters[i], &b = cut.counters[i];
    if (b.packets > a.packets || b.bytes > a.bytes) return absl::StrCat("counter ", i, " counted more");
    const bool same = b.packets == a.packets && b.bytes == a.bytes;
    if (!same && !cut.unknown() && length_known) return absl::StrCat("counter ", i, " differs");
  }
  return std::nullopt;
}

struct Tally {
  uint64_t cuts = 0, unknown = 0, at_header = 0;
  std::map<DecidedBy, uint64_t> decided;  // Hooks of packets with missing bytes.
};

void RunProgram(uint64_t seed, const GenerateOptions& options, bool ethernet, bool optimise, Tally& tally) {
  Random random(seed);
  const CraftOptions craft = CraftFor(options, ethernet);
  std::vector<CraftedPacket> targets;
  targets.reserve(6);
  for (int i = 0; i < 6; ++i) targets.push_back(CraftPacket(random, craft));
  absl::StatusOr<ir::Program> lowered = ir::Lower(GenerateRuleset(random, options, targets), {});
  REQUIRE(lowered.ok());
  const auto program = CompileIr(*lowered, {.engine = &ReferenceEngine(), .optimise = optimise});
  INFO("seed " << seed << (optimise ? ", optimised" : "") << '\n' << program.status());
  REQUIRE(program.ok());
  for (int i = 0; i < 6; ++i) {
    const PacketCase packet = MakePacketCase(random, options, random.PickFrom(targets), ethernet);
    const auto size = static_cast<uint32_t>(packet.bytes.size());
    const Passage whole = Run(*program, packet, size);
    for (uint32_t k = 0; k < 24 && size != 0; ++k) {
      const uint32_t present = random.Below(std::min<uint32_t>(size, 110));
      const Passage cut = Run(*program, packet, present);
      if (const auto wrong = Contradiction(whole, cut, present >= 18 + 10)) {
        FAIL(*wrong << ": " << present << " bytes of\n" << Print(packet) << ir::Print((*program)->data().program()));
      }
      ++tally.cuts;
      if (cut.unknown()) {
        ++tally.unknown;
        if (cut.hooks.back().result.rule == Result::kNone) ++tally.at_header;
      }
      for (const Passage::Hook& hook : cut.hooks) ++tally.decided[hook.result.decided_by];
    }
  }
}

TEST_CASE("what is said of a cut packet holds for the whole one", "[engine][cut]") {
  const uint64_t seed = NumberFromEnvironment("NFTJIT_SEED", 1),
                 cuts = NumberFromEnvironment("NFTJIT_CUTS", kDefaultCuts);
  GenerateOptions l3;
  l3.conntrack = true;
  l3.output = true;
  GenerateOptions devices = l3;
  devices.families = RuleFamilies::kL3AndDevices;
  GenerateOptions bridge = l3;
  bridge.families = RuleFamilies::kBridge;
  GenerateOptions arp = l3;
  arp.families = RuleFamilies::kArp;
  const std::pair<GenerateOptions, bool> themes[] = {{l3, false},     {l3, true},     {devices, false},
                                                     {devices, true}, {bridge, true}, {arp, true}};
  Tally tally;
  for (uint64_t i = 0; tally.cuts < cuts; ++i) {
    const auto& [options, ethernet] = themes[i % std::size(themes)];
    RunProgram(seed + i, options, ethernet, i / std::size(themes) % 2 == 1, tally);
  }
  std::cout << "cut packets: " << tally.cuts << ", " << tally.unknown << " unknown, " << tally.at_header
            << " of them at the header; hooks decided by rule " << tally.decided[DecidedBy::kRule] << ", policy "
            << tally.decided[DecidedBy::kPolicy] << ", header " << tally.decided[DecidedBy::kHeader] << ", no chain "
            << tally.decided[DecidedBy::kNoChain] << '\n';
  if (cuts < kDefaultCuts) return;
  CHECK(tally.unknown > cuts / 10);
  CHECK(tally.at_header > 0);
  CHECK(tally.decided[DecidedBy::kRule] > cuts / 20);
  CHECK(tally.decided[DecidedBy::kPolicy] > cuts / 20);
  CHECK(tally.decided[DecidedBy::kHeader] > 0);
}

}  // namespace
}  // namespace nftjit::testing
