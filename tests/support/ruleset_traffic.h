// Packets made from a ruleset's own constants, so that its rules are met and nearly met.
#ifndef NFTJIT_TESTS_SUPPORT_RULESET_TRAFFIC_H_
#define NFTJIT_TESTS_SUPPORT_RULESET_TRAFFIC_H_

#include <array>
#include <string>
#include <vector>

#include "lib/nft/ruleset.h"
#include "tests/support/craft_packet.h"

namespace nftjit::testing {

struct RulesetConstants {
  std::array<std::vector<Bytes>, 17>
      by_length;                             // Of compares, ranges and set elements; fields of concatenations apart.
  std::vector<std::string> interface_names;  // Constants that read like one, in order of appearance.
};
RulesetConstants CollectConstants(const nft::Ruleset& ruleset);

// An IP packet (behind an Ethernet header with `options.ethernet`) with addresses, ports, protocol and link addresses
// among the constants, often.
CraftedPacket CraftFromConstants(Random& random, const RulesetConstants& constants, const CraftOptions& options);

// A copy in which every rule counts: a counter stands in front of the verdict, or at the end, of each rule that has
// none. Limits hardly refill (one a day, burst kept), so that it does not matter when a packet is run.
nft::Ruleset MakeJudgeable(const nft::Ruleset& ruleset);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_RULESET_TRAFFIC_H_
