// Real rulesets, judged by the live kernel on the first packets of each capture and on packets made from their own
// constants.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>

#include "lib/control/frontend.h"
#include "lib/ir/lower.h"
#include "tests/support/kernel_case.h"
#include "tests/support/requirement.h"
#include "tests/support/ruleset_traffic.h"
#include "tools/capture/capture.h"

namespace nftjit::testing {
namespace {

// The rulesets of the corpus whose rules all run. The others need what engines do not have yet (nat, dynamic sets …).
constexpr std::array<std::string_view, 18> kRunInFull = {
    "22-honeypot-blocklist",   "26-openwrt-fw4-time",  "29-pbx-autoban",        "31-tor-workstation",
    "33-vpn-netns-killswitch", "34-as-blocklist",      "39-bridge-filter-host", "45-desktop-vmap",
    "46-openwrt-fw4-ipsets",   "49-permaban-list",     "52-bridge-and-host",    "54-container-egress-skuid",
    "55-test-nat-router",      "59-workstation-zones", "60-qubes-antispoof",    "61-bridge-ap-isolation",
    "62-appliance-base",       "76-web-servers"};

constexpr size_t kCraftedPackets = 160, kPacketsOfCapture = 6;

std::vector<std::filesystem::path> RulesetFiles(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".nft") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// IP packets of the captures, as their L3 bytes; with `frames`, whole Ethernet frames.
std::vector<Bytes> CapturedPackets(const std::string& folder, bool frames) {
  std::vector<Bytes> packets;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    if (file.extension() != ".pcap" && file.extension() != ".pcapng") continue;
    absl::StatusOr<Capture> capture = Capture::FromFile(file.string());
    if (!capture.ok()) continue;  // A link type that is not read; tests/capture has them.
    for (size_t i = 0; i < std::min(capture->size(), kPacketsOfCapture); ++i) {
      const Packet packet = capture->At(i);
      const bool ip = packet.protocol == 0x0800 || packet.protocol == 0x86dd;
      if (frames ? packet.link_offset == Packet::kNoOffset : !ip) continue;
      const uint8_t* begin = packet.data + (frames ? packet.link_offset : packet.network_offset);
      const auto size = static_cast<size_t>(packet.data + packet.length - begin);
      if (size >= (frames ? 14U : 20U) && size <= 1500) packets.emplace_back(begin, begin + size);
    }
  }
  return packets;
}

template <class Expression>
bool Has(
    const nft::Ruleset& ruleset, bool (*which)(const Expression&) = [](const Expression&) { return true; }) {
  for (const nft::Table& table : ruleset.tables) {
    for (const nft::Chain& chain : table.chains) {
      for (const nft::Rule& rule : chain.rules) {
        for (const nft::Expression& expression : rule.expressions) {
          if (const auto* body = std::get_if<Expression>(&expression.body); body != nullptr && which(*body))
            return true;
        }
      }
    }
  }
  return false;
}

Topology TopologyFor(const nft::Ruleset& ruleset) {
  Topology topology = Topology::kRouted;
  for (const nft::Table& table : ruleset.tables) {
    if (table.family == nft::Family::kBridge) return Topology::kBridged;
    if (table.family == nft::Family::kArp || table.family == nft::Family::kNetdev) topology = Topology::kRoutedEthernet;
  }
  const auto link = [](const nft::PayloadLoad& load) { return load.base == nft::PayloadBase::kLink; };
  return Has<nft::PayloadLoad>(ruleset, link) ? Topology::kRoutedEthernet : topology;
}

// Devices by the names and numbers that the ruleset was compiled with.
LiveKernelOptions DevicesFor(const nft::Ruleset& ruleset, const RulesetConstants& constants) {
  LiveKernelOptions options;
  options.topology = TopologyFor(ruleset);
  // Bridge chains have no conntrack here, and chains of other families beside them get no packet to track.
  options.conntrack = options.topology != Topology::kBridged && Has<nft::CtLoad>(ruleset);
  std::vector<std::pair<std::string, uint32_t>> devices;
  for (const nft::Interface& interface : ruleset.interfaces) {
    if (interface.name != "lo") devices.emplace_back(interface.name, interface.index);
  }
  uint32_t next = 1000;
  for (const std::string& name : constants.interface_names) {
    const bool known = std::any_of(devices.begin(), devices.end(), [&](const auto& d) { return d.first == name; });
    if (!known && name != "lo" && name.size() < 16) devices.emplace_back(name, ++next);
  }
  while (devices.size() < 2) devices.emplace_back(absl::StrCat("more", devices.size()), ++next);
  options.input_name = devices[0].first;
  options.input_index = devices[0].second;
  options.output_name = devices[1].first;
  options.output_index = devices[1].second;
  options.further.assign(devices.begin() + 2, devices.end());
  return options;
}

Bytes WithDestination(Bytes frame, Topology topology) {
  const Bytes own = {2, 0, 0, 0, 0, static_cast<uint8_t>(topology == Topology::kBridged ? 0x0b : 1)};
  std::copy(own.begin(), own.end(), frame.begin());
  return frame;
}

bool IsFragment(const Bytes& packet, size_t network) {
  if (packet.size() < network + 20) return false;
  if (packet[network] >> 4 == 4) return (LoadBig16(packet.data() + network + 6) & 0x3fff) != 0;
  // An IPv6 packet with a 44 in it perhaps has a fragment header: not worth a walk.
  return std::find(packet.begin() + static_cast<ptrdiff_t>(network + 6), packet.end(), 44) != packet.end();
}

std::vector<Bytes> TrafficFor(const LiveKernelOptions& live, const RulesetConstants& constants,
                              const std::string& captures) {
  Random random(1);
  std::vector<Bytes> packets;
  CraftOptions craft;
  craft.ethernet = live.topology != Topology::kRouted;
  craft.for_kernel = true;
  craft.for_bridge = live.topology == Topology::kBridged;
  for (size_t i = 0; i < kCraftedPackets; ++i) {
    packets.push_back(NearMiss(random, CraftFromConstants(random, constants, craft), craft));
  }
  for (Bytes& packet : CapturedPackets(captures, craft.ethernet)) {
    packets.push_back(craft.ethernet ? WithDestination(packet, live.topology) : packet);
  }
  const size_t network = craft.ethernet ? 14 : 0;
  if (live.conntrack) {  // Conntrack would put fragments together.
    packets.erase(std::remove_if(packets.begin(), packets.end(),
                                 [&](const Bytes& packet) { return IsFragment(packet, network); }),
                  packets.end());
  }
  if (live.conntrack && !craft.ethernet) {
    // Answers, so that some connections are established.
    for (size_t i = 0, count = packets.size(); i < count; i += 3) {
      Bytes answer = packets[i];
      if (answer[0] >> 4 != 4 || answer.size() < 28) continue;
      const size_t ports = (answer[0] & 15U) * 4U;
      std::swap_ranges(answer.begin() + 12, answer.begin() + 16, answer.begin() + 16);
      if (answer.size() >= ports + 4) std::swap_ranges(&answer[ports], &answer[ports] + 2, &answer[ports] + 2);
      packets.push_back(std::move(answer));
    }
  }
  return packets;
}

void JudgeRuleset(const std::string& name, const nft::Ruleset& compiled, const std::string& captures,
                  KernelCoverage& coverage) {
  const nft::Ruleset ruleset = MakeJudgeable(compiled);
  const RulesetConstants constants = CollectConstants(ruleset);
  const LiveKernelOptions live = DevicesFor(ruleset, constants);
  absl::StatusOr<std::unique_ptr<LiveKernel>> kernel = LiveKernel::Start(live);
  INFO(kernel.status().ToString());
  REQUIRE(kernel.ok());
  absl::StatusOr<std::unique_ptr<KernelJudge>> judge = KernelJudge::Make(**kernel, ruleset);
  INFO(judge.status().ToString());
  REQUIRE(judge.ok());
  std::vector<Bytes> sent;
  for (const Bytes& packet : TrafficFor(live, constants, captures)) {
    sent.push_back(packet);
    absl::StatusOr<std::optional<std::string>> wrong = (*judge)->Run(packet, &coverage);
    REQUIRE(wrong.ok());
    if (*wrong) {
      const KernelCase shrunk = Shrink(**kernel, {live, ruleset, sent});
      FAIL_CHECK("kernel and engines disagree: " << **wrong << "\nafter shrinking: "
                                                 << Disagreement(**kernel, shrunk).value_or("not reproduced") << '\n'
                                                 << KeepFound("tests/judge_kernel/cases", name, Print(shrunk)));
      return;
    }
  }
  absl::StatusOr<std::optional<std::string>> wrong = (*judge)->CompareElements();
  REQUIRE(wrong.ok());
  CHECK(wrong->value_or("") == "");
  (*judge)->CountRules(coverage);
}

TEST_CASE("The kernel agrees on real rulesets and captures") {
  if (!MayRun("kernel", NetworkNamespace::Available())) return;
  std::vector<std::filesystem::path> files = RulesetFiles(NFTJIT_SOURCE_DIR "/examples/rulesets");
  std::string corpus, captures = NFTJIT_SOURCE_DIR "/examples/captures";
  const bool has_corpus = MayRun("corpus", FindCorpus(&corpus));
  if (has_corpus) {
    const std::vector<std::filesystem::path> more = RulesetFiles(corpus + "/rulesets");
    files.insert(files.end(), more.begin(), more.end());
    captures = corpus + "/pcaps";
  }
  KernelCoverage coverage;
  std::vector<std::string> in_full;
  for (const std::filesystem::path& file : files) {
    INFO(file.filename().string());
    absl::StatusOr<nft::Ruleset> ruleset = control::CompileNftFile(file.string());
    INFO(ruleset.status().ToString());
    REQUIRE(ruleset.ok());
    absl::StatusOr<ir::Program> program = ir::Lower(*ruleset, {});
    REQUIRE(program.ok());
    if (!program->unsupported.empty()) continue;
    if (has_corpus && file.string().starts_with(corpus)) in_full.push_back(file.stem().string());
    JudgeRuleset(file.stem(), *ruleset, captures, coverage);
  }
  std::cout << "real rulesets: " << Print(coverage);
  if (!has_corpus) return;
  CHECK(in_full == std::vector<std::string>(kRunInFull.begin(), kRunInFull.end()));
  CHECK(coverage.dropped_early * 5 <= coverage.packets);
}

}  // namespace
}  // namespace nftjit::testing
