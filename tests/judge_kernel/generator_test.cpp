// The generator promises valid rulesets and packets that the stack takes: the kernel says whether that is so.
#include <catch2/catch.hpp>

#include "tests/support/generate.h"
#include "tests/support/live_kernel.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

TEST_CASE("The kernel takes every generated ruleset, and most packets reach the first hook") {
  if (!MayRun("kernel", NetworkNamespace::Available())) return;
  const uint64_t seed = NumberFromEnvironment("NFTJIT_SEED", 1);
  const uint64_t rulesets = NumberFromEnvironment("NFTJIT_RULESETS", 20);
  for (const auto& [topology, families] :
       std::vector<std::pair<Topology, RuleFamilies>>{{Topology::kRouted, RuleFamilies::kL3AndDevices},
                                                      {Topology::kRoutedEthernet, RuleFamilies::kL3AndDevices},
                                                      {Topology::kRoutedEthernet, RuleFamilies::kArp},
                                                      {Topology::kBridged, RuleFamilies::kBridge}}) {
    LiveKernelOptions live;
    live.topology = topology;
    live.input_index = 2;
    live.output_index = 3;
    absl::StatusOr<std::unique_ptr<LiveKernel>> kernel = LiveKernel::Start(live);
    INFO(kernel.status().ToString());
    REQUIRE(kernel.ok());
    GenerateOptions options;
    options.families = families;
    options.for_kernel = true;
    const bool ethernet = topology != Topology::kRouted;
    for (uint64_t i = 0; i < rulesets; ++i) {
      Random random(seed + i);
      std::vector<CraftedPacket> packets;
      for (int k = 0; k < 12; ++k) packets.push_back(CraftPacket(random, CraftFor(options, ethernet)));
      const absl::Status loaded = (*kernel)->Load(GenerateRuleset(random, options, packets));
      INFO("seed " << seed + i << ": " << loaded.ToString());
      REQUIRE(loaded.ok());
    }
    REQUIRE((*kernel)->Unload().ok());
  }
}

}  // namespace
}  // namespace nftjit::testing
