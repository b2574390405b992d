// Seeded random rulesets: valid by construction (the kernel takes them), over everything that engines run, and written
// to meet given packets: constants are what the packet holds there, or nearly.
#ifndef NFTJIT_TESTS_SUPPORT_GENERATE_H_
#define NFTJIT_TESTS_SUPPORT_GENERATE_H_

#include <string>
#include <vector>

#include "lib/nft/ruleset.h"
#include "tests/support/craft_packet.h"
#include "tests/support/random.h"

namespace nftjit::testing {

enum class RuleFamilies : uint8_t { kL3, kL3AndDevices, kBridge, kArp };

struct GenerateOptions {
  RuleFamilies families = RuleFamilies::kL3;
  // Leave out what differs from run to run or machine to machine (clocks, cpu, random numbers, limits that refill), and
  // what the test kernels are built without (ct and reject in bridge tables).
  bool for_kernel = false;
  bool conntrack = false;  // ct loads, in the families that have them.
  bool output = false;     // Chains at the output hook too.
  uint32_t rules = 12;     // About so many a table.
  std::string input_name = "in0", output_name = "out0";
  uint32_t input_index = 2, output_index = 3;
};

nft::Ruleset GenerateRuleset(Random& random, const GenerateOptions& options, const std::vector<CraftedPacket>& packets);

// One ip or ip6 table with one prerouting chain whose rules fill all registers and then load and compute, without a
// test: for comparing register files.
nft::Ruleset GenerateValueRules(Random& random, const GenerateOptions& options,
                                const std::vector<CraftedPacket>& packets, nft::Family family, uint32_t rules);

// How packets for `options` are made.
CraftOptions CraftFor(const GenerateOptions& options, bool ethernet);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_GENERATE_H_
