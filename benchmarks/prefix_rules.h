// The ruleset of the linear benchmarks: N distinct rules `ip saddr PREFIX/8..32 udp dport PORT drop`, as nft makes
// them.
#ifndef NFTJIT_BENCHMARKS_PREFIX_RULES_H_
#define NFTJIT_BENCHMARKS_PREFIX_RULES_H_

#include <cstdint>
#include <vector>

#include "lib/nft/ruleset.h"

namespace nftjit::bench {

struct PrefixRule {
  uint32_t prefix;  // Host order, bits after `bits` zero.
  uint8_t bits;
  uint16_t port;
};

// `count` rules, all different, deterministic. No prefix covers 192.0.0.0/4, which is left for packets that match none.
std::vector<PrefixRule> MakePrefixRules(size_t count);
// A table ip with one prerouting chain (policy accept) of these rules. nft narrows /8, /16 and /24 to short loads.
nft::Ruleset MakePrefixRuleset(const std::vector<PrefixRule>& rules);

// UDP packets, 28 bytes each, end to end; at least 65 536 distinct headers.
enum class PrefixTraffic : uint8_t { kMiss, kUniformHit, kFirstHit };
std::vector<uint8_t> MakePrefixTraffic(const std::vector<PrefixRule>& rules, PrefixTraffic kind);
inline constexpr size_t kPacketBytes = 28, kPacketCount = 65536;

}  // namespace nftjit::bench

#endif  // NFTJIT_BENCHMARKS_PREFIX_RULES_H_
