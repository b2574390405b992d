#include "tests/opt/random_case.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "lib/engine/compile.h"
#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "lib/support/bytes.h"
#include "tests/support/guarded_bytes.h"

namespace nftjit::opt {
namespace {

using testing::GenerateOptions;
using testing::PacketCase;

constexpr int kPackets = 40;

ClockTime ReadClock(void* context) noexcept { return *static_cast<const ClockTime*>(context); }

struct Theme {
  GenerateOptions options;
  bool ethernet;
};
std::vector<Theme> Themes() {
  using testing::RuleFamilies;
  std::vector<Theme> themes;
  for (const RuleFamilies families :
       {RuleFamilies::kL3, RuleFamilies::kL3, RuleFamilies::kL3AndDevices, RuleFamilies::kBridge, RuleFamilies::kArp}) {
    GenerateOptions options;
    options.families = families;
    options.conntrack = true;
    options.output = true;
    themes.push_back({options, families != RuleFamilies::kL3});
  }
  return themes;
}

void Add(std::string& out, std::initializer_list<uint64_t> numbers) {
  for (const uint64_t number : numbers) out += " " + std::to_string(number);
  out += ";";
}

// Whether the fixed part of the network header is among the first `length` bytes.
bool HasNetworkHeader(const PacketCase& packet, size_t length) {
  testing::Bytes bytes = packet.bytes;
  const Packet view = packet.View(bytes.data(), length);
  if (view.network_offset >= length) return false;
  const bool ipv6 = bytes[view.network_offset] >> 4 == 6 ||
                    std::any_of(packet.path.begin(), packet.path.end(),
                                [](const HookSite& site) { return site.family == Family::kIp6; });
  return length - view.network_offset >= (ipv6 ? 40U : 20U);
}

}  // namespace

RandomCase MakeRandomCase(uint64_t seed) {
  static const std::vector<Theme> kThemes = Themes();
  const Theme& theme = kThemes[seed % kThemes.size()];
  testing::Random random(seed);
  const testing::CraftOptions craft = CraftFor(theme.options, theme.ethernet);
  std::vector<testing::CraftedPacket> targets;
  for (int i = 0; i < 8; ++i) targets.push_back(CraftPacket(random, craft));
  RandomCase random_case;
  random_case.ruleset = GenerateRuleset(random, theme.options, targets);
  absl::StatusOr<ir::Program> lowered = ir::Lower(random_case.ruleset, {});
  REQUIRE(lowered.ok());
  random_case.lowered = *std::move(lowered);
  for (int i = 0; i < kPackets; ++i) {
    random_case.packets.push_back(MakePacketCase(random, theme.options, random.PickFrom(targets), theme.ethernet));
  }
  return random_case;
}

ReferenceRun::ReferenceRun(const ir::Program& program) {
  CompileIrOptions options;
  options.engine = &ReferenceEngine();
  options.optimise = false;
  absl::StatusOr<std::shared_ptr<const Program>> compiled = CompileIr(program, options);
  INFO(std::string(compiled.status().message()) << "\n" << ir::Print(program));
  REQUIRE(compiled.ok());
  InstanceOptions instance;
  instance.clock = &ReadClock;
  instance.clock_context = &clock_;
  instance_.emplace(*std::move(compiled), instance);
  worker_.emplace(instance_->NewWorker());
}

std::string ReferenceRun::Run(const PacketCase& packet, size_t length) {
  clock_.monotonic_ns += packet.gap_ns;
  clock_.wall_ns += packet.gap_ns;
  testing::GuardedBytes bytes({packet.bytes.data(), length});
  Packet view = packet.View(bytes.data(), length);
  const auto rules = instance_->program().rules();
  std::string out;
  for (const HookSite& site : packet.path) {
    const Result result = worker_->Run(site, view);
    LogEntry logs[64];
    const size_t logged = worker_->TakeLogs(logs);
    Add(out, {static_cast<uint64_t>(result.verdict), static_cast<uint64_t>(result.decided_by), result.base_chain,
              result.rule == Result::kNone ? 0 : rules[result.rule].handle, static_cast<uint64_t>(result.reject),
              result.reject_code, view.mark, view.priority, view.pkttype, view.secmark, logged});
    const auto descriptions = instance_->program().logs();
    for (size_t i = 0; i < logged; ++i) {
      const LogDescription& log = descriptions[logs[i].log];
      out += " " + std::to_string(rules[log.rule].handle) + " " + std::string(log.prefix);
    }
  }
  return out;
}

Counts ReferenceRun::Counters() const {
  Counts counts;
  for (const CounterReading& counter : instance_->counters()) {
    std::string name =
        std::to_string(static_cast<int>(counter.family)) + " " + std::string(counter.table) + " " +
        std::string(counter.chain) + " " + std::to_string(counter.rule_handle) + " " + std::string(counter.set) + " " +
        ToHex({reinterpret_cast<const uint8_t*>(counter.element_key.data()), counter.element_key.size()});
    int place = 0;
    while (counts.contains(name + " #" + std::to_string(place))) ++place;
    counts[name + " #" + std::to_string(place)] = {counter.packets, counter.bytes};
  }
  return counts;
}

std::optional<std::string> Difference(const RandomCase& random_case, const ir::Program& program, Packets which) {
  ReferenceRun judge(random_case.lowered), side(program);
  const Counts before = judge.Counters();
  for (size_t i = 0; i < random_case.packets.size(); ++i) {
    // Most packets whole, and each fourth cut somewhere.
    const PacketCase& packet = random_case.packets[i];
    const size_t length = i % 4 == 3 ? packet.bytes.size() * (i % 7) / 7 : packet.bytes.size();
    if (which == Packets::kWithNetworkHeader && !HasNetworkHeader(packet, length)) continue;
    const std::string expected = judge.Run(packet, length), seen = side.Run(packet, length);
    if (expected != seen) return absl::StrCat("packet ", i, "\nexpected", expected, "\nseen    ", seen);
  }
  const Counts seen = side.Counters();
  for (const auto& [name, count] : judge.Counters()) {
    const auto found = seen.find(name);
    const auto& [packets, bytes] = found == seen.end() ? before.at(name) : found->second;
    if (count == std::pair(packets, bytes)) continue;
    return "counter " + name + ": expected " + std::to_string(count.first) + " packets " +
           std::to_string(count.second) + " bytes, seen " + std::to_string(packets) + " and " + std::to_string(bytes);
  }
  return std::nullopt;
}

}  // namespace nftjit::opt
