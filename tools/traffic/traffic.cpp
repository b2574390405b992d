#include "tools/traffic/traffic.h"

#include <absl/container/flat_hash_set.h>

#include "tools/traffic/draft.h"

namespace nftjit {

Packet Traffic::At(size_t i) {
  Packet packet;
  packet.data = bytes_.data() + offsets_[i];
  packet.length = static_cast<uint32_t>((i + 1 < offsets_.size() ? offsets_[i + 1] : bytes_.size()) - offsets_[i]);
  packet.protocol = packet.data[0] >> 4 == 6 ? 0x86dd : 0x0800;
  return packet;
}

void Traffic::Append(const std::vector<uint8_t>& bytes) {
  offsets_.push_back(bytes_.size());
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

TrafficMaker::TrafficMaker(const ir::Program& lowered, uint64_t seed) : program_(lowered), state_(seed) {
  for (uint32_t i = 0; i < lowered.items.size(); ++i) {
    if (lowered.items[i].kind == ir::ItemKind::kRule) rule_items_.push_back(i);
  }
}

// splitmix64, a public-domain generator.
uint64_t TrafficMaker::Next() {
  uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

std::vector<uint8_t> TrafficMaker::Random() {
  // The families that the ruleset has chains of: an ip table sees no IPv6.
  const ir::Chain& chain = program_.chains.empty() ? ir::Chain{} : program_.chains[Next() % program_.chains.size()];
  return Draft(chain.family, [this] { return Next(); }).Build();
}

std::vector<uint8_t> TrafficMaker::Aimed() {
  if (rule_items_.empty()) return Random();
  const ir::Item& item = program_.items[rule_items_[Next() % rule_items_.size()]];
  const ir::Chain& chain = program_.chains[program_.rules[item.rule.index].chain.index];
  Draft draft(chain.family, [this] { return Next(); });
  draft.Satisfy(program_, item);
  return draft.Build();
}

absl::StatusOr<Traffic> TrafficMaker::Make(TrafficKind kind, size_t count,
                                           const std::function<bool(Packet&)>& matches) {
  constexpr size_t kTriesPerPacket = 64;
  Traffic traffic;
  absl::flat_hash_set<std::string> made;
  size_t tries = 0;
  for (; traffic.size() < count && tries < count * kTriesPerPacket; ++tries) {
    const bool aim = kind == TrafficKind::kHit || (kind == TrafficKind::kMixed && tries % 2 == 0);
    std::vector<uint8_t> bytes = aim ? Aimed() : Random();
    if (kind != TrafficKind::kMixed) {
      Traffic one;
      one.Append(bytes);
      Packet packet = one.At(0);
      if (matches(packet) != (kind == TrafficKind::kHit)) continue;
    }
    if (made.emplace(bytes.begin(), bytes.end()).second) traffic.Append(bytes);
  }
  if (traffic.size() == count) return traffic;
  return absl::FailedPreconditionError(std::string("traffic: the ruleset leaves too few distinct packets that ") +
                                       (kind == TrafficKind::kHit ? "a rule decides" : "no rule decides") + ": " +
                                       std::to_string(traffic.size()) + " in " + std::to_string(tries) +
                                       " tries; give a capture with -r, or another --traffic");
}

}  // namespace nftjit
