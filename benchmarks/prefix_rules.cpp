#include "benchmarks/prefix_rules.h"

#include <random>
#include <set>
#include <tuple>

namespace nftjit::bench {
namespace {

constexpr uint32_t kMissNetwork = 0xc0000000;  // 192.0.0.0/4

Bytes16 Big(uint32_t value, size_t bytes) {
  uint8_t all[4];
  StoreBig32(all, value);
  return Bytes16(ByteSpan(all, bytes));
}

nft::Expression Load(nft::PayloadBase base, uint16_t offset, uint8_t len) {
  return {nft::PayloadLoad{nft::Register::Word(0), base, offset, len}, nullptr};
}
nft::Expression Equal(const Bytes16& data) {
  return {nft::Cmp{nft::Register::Word(0), nft::CmpOp::kEq, data}, nullptr};
}

nft::Rule MakeRule(const PrefixRule& rule, nft::Handle handle) {
  nft::Rule made;
  made.handle = handle;
  const bool whole_bytes = rule.bits % 8 == 0;
  const auto bytes = static_cast<uint8_t>(whole_bytes ? rule.bits / 8 : 4);
  made.expressions.push_back(Load(nft::PayloadBase::kNetwork, 12, bytes));
  if (!whole_bytes) {
    const uint32_t mask = ~uint32_t{0} << (32 - rule.bits);
    nft::Bitwise bitwise{};
    bitwise.sreg = bitwise.dreg = nft::Register::Word(0);
    bitwise.len = 4;
    bitwise.op = nft::BitwiseOp::kMaskXor;
    bitwise.mask = Big(mask, 4);
    bitwise.xor_bits = Big(0, 4);
    made.expressions.push_back({bitwise, nullptr});
  }
  made.expressions.push_back(Equal(Big(rule.prefix, bytes)));
  made.expressions.push_back({nft::MetaLoad{nft::Register::Word(0), nft::MetaKey::kL4proto}, nullptr});
  made.expressions.push_back(Equal(Big(uint32_t{17} << 24, 1)));
  made.expressions.push_back(Load(nft::PayloadBase::kTransport, 2, 2));
  made.expressions.push_back(Equal(Big(uint32_t{rule.port} << 16, 2)));
  made.expressions.push_back({nft::Immediate{nft::Register(), {}, nft::Verdict{nft::VerdictCode::kDrop, 0}}, nullptr});
  return made;
}

// `number`, the source port, makes every header another.
void AppendPacket(std::vector<uint8_t>& out, uint32_t source, uint16_t port, size_t number) {
  static_assert(kPacketCount <= 65536);
  uint8_t packet[kPacketBytes] = {0x45, 0, 0, kPacketBytes, 0, 1, 0, 0, 64, 17};
  StoreBig32(packet + 12, source);
  StoreBig32(packet + 16, 0x0a000001);
  StoreBig16(packet + 20, static_cast<uint16_t>(number));
  StoreBig16(packet + 22, port);
  packet[25] = 8;
  out.insert(out.end(), packet, packet + kPacketBytes);
}

}  // namespace

std::vector<PrefixRule> MakePrefixRules(size_t count) {
  std::mt19937 random(11);
  std::set<std::tuple<uint32_t, uint8_t, uint16_t>> seen;
  std::vector<PrefixRule> rules;
  while (rules.size() < count) {
    const auto bits = static_cast<uint8_t>(8 + random() % 25);
    const uint32_t prefix = static_cast<uint32_t>(random()) & ~uint32_t{0} << (32 - bits);
    if ((prefix & 0xf0000000) == kMissNetwork) continue;
    const auto port = static_cast<uint16_t>(1 + random() % 65535);
    if (seen.emplace(prefix, bits, port).second) rules.push_back({prefix, bits, port});
  }
  return rules;
}

nft::Ruleset MakePrefixRuleset(const std::vector<PrefixRule>& rules) {
  nft::Chain chain;
  chain.name = "c";
  chain.handle = 1;
  chain.flags = 1;
  chain.base = nft::BaseChain{};
  chain.base->hook = nft::kPrerouting;
  chain.base->priority = -300;
  for (size_t i = 0; i < rules.size(); ++i) chain.rules.push_back(MakeRule(rules[i], i + 2));
  nft::Table table;
  table.family = nft::Family::kIp;
  table.name = "t";
  table.handle = 1;
  table.chains.push_back(std::move(chain));
  nft::Ruleset ruleset;
  ruleset.tables.push_back(std::move(table));
  return ruleset;
}

std::vector<uint8_t> MakePrefixTraffic(const std::vector<PrefixRule>& rules, PrefixTraffic kind) {
  std::mt19937 random(12);
  std::vector<uint8_t> packets;
  packets.reserve(kPacketBytes * kPacketCount);
  for (size_t i = 0; i < kPacketCount; ++i) {
    if (kind == PrefixTraffic::kMiss) {
      const uint32_t source = kMissNetwork | (static_cast<uint32_t>(random()) & 0x0fffffff);
      AppendPacket(packets, source, static_cast<uint16_t>(random()), i);
      continue;
    }
    const PrefixRule& rule = rules[kind == PrefixTraffic::kFirstHit ? 0 : random() % rules.size()];
    const uint32_t host_bits = rule.bits == 32 ? 0 : ~uint32_t{0} >> rule.bits;
    AppendPacket(packets, rule.prefix | (static_cast<uint32_t>(random()) & host_bits), rule.port, i);
  }
  return packets;
}

}  // namespace nftjit::bench
