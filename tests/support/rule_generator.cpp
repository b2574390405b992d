#include "tests/support/rule_generator.h"

#include "lib/support/bytes.h"

namespace nftjit::testing {

using nft::Register;

RuleGenerator::RuleGenerator(Random& random, const TableContext& context, std::vector<nft::Handle> targets)
    : random_(random), context_(context), targets_(std::move(targets)) {
  // A packet that the table's chains can meet, if there is one among a few picks.
  const std::vector<CraftedPacket>& packets = *context_.packets;
  for (int tries = 0; tries < 6; ++tries) {
    packet_ = &packets[random_.Below(static_cast<uint32_t>(packets.size()))];
    const uint16_t wanted = family() == nft::Family::kIp    ? 0x0800
                            : family() == nft::Family::kIp6 ? 0x86dd
                            : family() == nft::Family::kArp ? 0x0806
                                                            : packet_->ethertype;
    if (packet_->ethertype == wanted) break;
  }
}

bool RuleGenerator::IsL3() const {
  return family() == nft::Family::kIp || family() == nft::Family::kIp6 || family() == nft::Family::kInet;
}

void RuleGenerator::MaybeCount(uint32_t percent) {
  if (random_.Percent(percent)) Emit(nft::Counter{});
}

nft::Rule RuleGenerator::Generate() {
  rule_.handle = (*context_.next_handle)++;
  MaybeCount(10);
  const uint32_t units = random_.Percent(15) ? 0 : random_.Percent(70) ? 1 : random_.Between(2, 3);
  for (uint32_t i = 0; i < units; ++i) {
    AddUnit();
    MaybeCount(30);
  }
  if (random_.Percent(20)) AddAction();
  MaybeCount(units == 0 ? 60 : 90);
  AddEnd();
  return std::move(rule_);
}

nft::Rule RuleGenerator::GenerateValues() {
  rule_.handle = (*context_.next_handle)++;
  for (uint8_t word = 0; word < RegisterGuess::kWords; word = static_cast<uint8_t>(word + 4)) {
    const Bytes bytes = random_.Bytes(16);
    Emit(nft::Immediate{Register::Word(word), Bytes16(ByteSpan(bytes)), {}});
    registers_.Store(word, bytes);
  }
  for (uint32_t loads = random_.Between(1, 3); loads > 0; --loads) {
    RegisterValue value = LoadSomething();
    for (uint32_t steps = random_.Below(4); steps > 0; --steps) value = Transform(value);
  }
  return std::move(rule_);
}

void RuleGenerator::AddUnit() {
  if (random_.OneIn(8)) return AddConcatenatedLookup();
  RegisterValue value = LoadSomething();
  for (uint32_t steps = random_.Percent(60) ? 0 : random_.Between(1, 3); steps > 0; --steps) value = Transform(value);
  AddTest(value);
}

void RuleGenerator::AddMetaStore() {
  using Key = nft::MetaKey;
  Key key = random_.Pick({Key::kMark, Key::kMark, Key::kMark, Key::kPriority});
  // The kernel takes the type at some hooks only, and the secmark where it has a security module.
  if (!context_.options->for_kernel && random_.OneIn(8)) key = random_.OneIn(2) ? Key::kPkttype : Key::kSecmark;
  RegisterValue value;
  if (random_.OneIn(3)) {
    value = LoadSomething();
  } else {
    Bytes bytes(4);
    StoreNative(bytes.data(), random_.Below(4));
    value = {PlaceFor(4), 4};
    Emit(nft::Immediate{Register::Word(value.word), Bytes16(ByteSpan(bytes)), {}});
    registers_.Store(value.word, bytes);
  }
  Emit(nft::MetaStore{Register::Word(value.word), key});
}

void RuleGenerator::AddAction() {
  const uint32_t kind = random_.Below(100);
  if (kind < 60) return AddMetaStore();
  if (kind < 80) {
    nft::Limit limit{};
    limit.rate = random_.Between(1, 3);
    limit.unit_s = context_.options->for_kernel || random_.OneIn(2) ? 86400 : 1;
    limit.burst = random_.Below(6);
    limit.type = random_.OneIn(3) ? nft::LimitType::kBytes : nft::LimitType::kPackets;
    if (limit.type == nft::LimitType::kBytes) limit.burst *= 50;
    limit.flags = random_.OneIn(3) ? 1 : 0;
    Emit(limit);
    return;
  }
  nft::Log log;
  if (random_.OneIn(2)) {
    log.group = static_cast<uint16_t>(random_.Below(3));
  } else {
    log.level = random_.Below(8);
  }
  if (random_.OneIn(2)) log.prefix = "p" + std::to_string(random_.Below(10));
  if (!context_.options->for_kernel) Emit(log);  // A kernel may lack the logger of a family.
}

void RuleGenerator::AddEnd() {
  const uint32_t kind = random_.Below(100);
  if (kind < 35) return;
  if (kind < 50) {
    const RegisterValue key = random_.OneIn(3) ? LoadMeta() : PayloadInto(0xff, 16);
    const nft::Set& map = MakeSet(BytesOf(key), {}, SetUse::kVerdictMap);
    Emit(nft::Lookup{map.handle, Register::Word(key.word), Register(), 0});
    return MaybeCount(40);  // Reached by `continue` elements.
  }
  const bool reject_hooks = (IsL3() && (HooksWithin(0xf) || HooksWithin(1U << nft::kInetIngress))) ||
                            (family() == nft::Family::kNetdev && HooksWithin(1U << nft::kNetdevIngress));
  if (kind < 56 && reject_hooks) {
    const auto type = static_cast<nft::RejectType>(random_.Below(3));
    const auto code = static_cast<uint8_t>(type == nft::RejectType::kTcpReset ? 0 : random_.Below(4));
    Emit(nft::Reject{type, code});
    return;
  }
  nft::Verdict verdict = SomeVerdict();
  if (random_.OneIn(12)) verdict = {nft::VerdictCode::kBreak, 0};
  Emit(nft::Immediate{Register(), {}, verdict});
  if (random_.OneIn(6)) Emit(nft::Counter{});  // Dead, but after `continue`.
}

}  // namespace nftjit::testing
