// Seeded random rules and near-miss packets, judged by the live kernel. NFTJIT_SEED and NFTJIT_CASES change where it
// begins and how many packets it sends; a failure prints what is left after shrinking.
#include <absl/strings/str_cat.h>

#include <catch2/catch.hpp>
#include <iostream>

#include "tests/support/checksums.h"
#include "tests/support/kernel_case.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

constexpr uint64_t kDefaultPackets = 50000;
constexpr size_t kPacketsPerRuleset = 80;

struct Theme {
  std::string_view name;
  Topology topology;
  RuleFamilies families;
  uint64_t share;  // Per cent of the packets.
  bool conntrack = false;
};
constexpr std::array<Theme, 6> kThemes = {{{"TUN", Topology::kRouted, RuleFamilies::kL3, 25},
                                           {"TUN, conntrack", Topology::kRouted, RuleFamilies::kL3, 10, true},
                                           {"TUN, devices", Topology::kRouted, RuleFamilies::kL3AndDevices, 20},
                                           {"TAP", Topology::kRoutedEthernet, RuleFamilies::kL3AndDevices, 20},
                                           {"bridge", Topology::kBridged, RuleFamilies::kBridge, 17},
                                           {"ARP", Topology::kRoutedEthernet, RuleFamilies::kArp, 8}}};

// Conntrack puts fragments together and wants flows: makes the last packet whole, or an answer to an earlier one.
void MakeFlow(Random& random, std::vector<Bytes>& packets) {
  Bytes& packet = packets.back();
  if (packets.size() > 1 && random.OneIn(2)) {
    packet = packets[random.Below(static_cast<uint32_t>(packets.size() - 1))];
    const bool ipv4 = packet[0] >> 4 == 4;
    const size_t addresses = ipv4 ? 12 : 8, size = ipv4 ? 4 : 16, ports = ipv4 ? (packet[0] & 15U) * 4U : 40;
    std::swap_ranges(packet.begin() + addresses, packet.begin() + addresses + size, packet.begin() + addresses + size);
    if (packet.size() >= ports + 4) std::swap_ranges(&packet[ports], &packet[ports] + 2, &packet[ports] + 2);
  }
  if (packet[0] >> 4 == 4) packet[6] = packet[7] = 0;
  if (packet[0] >> 4 == 6) {
    // No fragment header, not even the beginning of one: destination options instead.
    for (size_t next = 6, at = 40; at <= packet.size();) {
      if (packet[next] == 44) {
        packet[next] = 60;
        if (at + 1 < packet.size()) packet[at + 1] = 0;
      }
      const uint8_t kind = packet[next];
      if (at + 8 > packet.size() || (kind != 60 && kind != 43 && kind != 0 && kind != 51)) break;
      next = at;
      at += kind == 51 ? (packet[at + 1] + 2U) * 4U : (packet[at + 1] + 1U) * 8U;
    }
  }
  FixChecksums(packet);
}

void RunRuleset(LiveKernel& kernel, const LiveKernelOptions& machine, const Theme& theme, uint64_t seed,
                KernelCoverage& coverage) {
  GenerateOptions options;
  options.families = theme.families;
  options.for_kernel = true;
  options.conntrack = theme.conntrack;
  Random random(seed);
  const CraftOptions craft = CraftFor(options, theme.topology != Topology::kRouted);
  std::vector<CraftedPacket> targets;
  for (int i = 0; i < 12; ++i) targets.push_back(CraftPacket(random, craft));
  const nft::Ruleset ruleset = GenerateRuleset(random, options, targets);
  INFO("seed " << seed << ", " << theme.name);
  absl::StatusOr<std::unique_ptr<KernelJudge>> judge = KernelJudge::Make(kernel, ruleset);
  INFO(judge.status().ToString());
  REQUIRE(judge.ok());
  std::vector<Bytes> sent;
  std::optional<std::string> wrong;
  for (size_t i = 0; i < kPacketsPerRuleset && !wrong; ++i) {
    sent.push_back(NearMiss(random, random.PickFrom(targets), craft));
    if (theme.conntrack) MakeFlow(random, sent);
    absl::StatusOr<std::optional<std::string>> result = (*judge)->Run(sent.back(), &coverage);
    INFO(result.status().ToString());
    REQUIRE(result.ok());
    wrong = *result;
  }
  if (!wrong) {
    absl::StatusOr<std::optional<std::string>> result = (*judge)->CompareElements();
    REQUIRE(result.ok());
    wrong = *result;
  }
  (*judge)->CountRules(coverage);
  if (!wrong) return;
  const KernelCase shrunk = Shrink(kernel, {machine, ruleset, sent});
  FAIL("kernel and engines disagree: " << *wrong << "\nafter shrinking: "
                                       << Disagreement(kernel, shrunk).value_or("not reproduced") << '\n'
                                       << KeepFound("tests/judge_kernel/cases", absl::StrCat("seed-", seed),
                                                    Print(shrunk)));
}

TEST_CASE("The kernel agrees on random rules and near-miss packets") {
  if (!MayRun("kernel", NetworkNamespace::Available())) return;
  const uint64_t seed = NumberFromEnvironment("NFTJIT_SEED", 1);
  const uint64_t packets = NumberFromEnvironment("NFTJIT_CASES", kDefaultPackets);
  KernelCoverage all;
  for (size_t number = 0; number < kThemes.size(); ++number) {
    const Theme& theme = kThemes[number];
    LiveKernelOptions live;
    live.topology = theme.topology;
    live.input_index = 2;
    live.output_index = 3;
    live.conntrack = theme.conntrack;
    absl::StatusOr<std::unique_ptr<LiveKernel>> kernel = LiveKernel::Start(live);
    INFO(kernel.status().ToString());
    REQUIRE(kernel.ok());
    const uint64_t end = all.packets + packets * theme.share / 100;
    for (uint64_t i = 0; all.packets < end; ++i)
      RunRuleset(**kernel, live, theme, seed + i * kThemes.size() + number, all);
  }
  std::cout << "kernel judge: " << Print(all);
  CHECK(all.dropped_early * 5 <= all.packets);
  CHECK(all.refused_by_device * 50 <= all.packets);
  CHECK(all.beyond_model * 10 <= all.packets);
  if (packets < kDefaultPackets) return;
  CHECK(all.rules_matched * 10 >= all.rules);
  for (size_t i = 0; i < kStationCount; ++i) {
    INFO(Name(static_cast<Station>(i)));
    CHECK(all.passed[i] > 0);
    CHECK(all.dropped[i] > 0);
  }
}

}  // namespace
}  // namespace nftjit::testing
