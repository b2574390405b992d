// Comparisons and lookups: part of RuleGenerator.
#include <algorithm>

#include "tests/support/rule_generator.h"

namespace nftjit::testing {
namespace {

using nft::Register;

// The byte string before or after `value`, in memcmp order.
Bytes Neighbour(Bytes value, bool up) {
  for (size_t i = value.size(); i-- > 0;) {
    if (up ? ++value[i] != 0 : value[i]-- != 0) break;
  }
  return value;
}

}  // namespace

// `value` itself, or something near it.
Bytes RuleGenerator::NearConstant(const Bytes& value, uint32_t exact_percent) {
  if (random_.Percent(exact_percent)) return value;
  Bytes near = value;
  switch (random_.Below(4)) {
    case 0:
      return Neighbour(near, true);
    case 1:
      return Neighbour(near, false);
    case 2:
      near[random_.Below(static_cast<uint32_t>(near.size()))] ^= static_cast<uint8_t>(1U << random_.Below(8));
      return near;
    default:
      return random_.Bytes(near.size());
  }
}

void RuleGenerator::AddTest(RegisterValue value) {
  const uint32_t kind = random_.Below(100);
  if (kind < 55) return AddCompare(value);
  if (kind < 75) return AddRange(value);
  AddLookup(value, {});
}

// The compared bytes may be fewer than the value, or reach into the padding of its last word.
void RuleGenerator::AddCompare(RegisterValue value) {
  uint32_t len = std::min<uint32_t>(value.len, 16);
  if (random_.OneIn(8)) len = random_.Between(1, std::min<uint32_t>(16, RegisterGuess::WordsOf(value.len) * 4U));
  const Bytes held = BytesOf({value.word, static_cast<uint8_t>(len)});
  const auto op = random_.Percent(60) ? nft::CmpOp::kEq : static_cast<nft::CmpOp>(random_.Below(6));
  Bytes constant;
  switch (op) {
    case nft::CmpOp::kEq:
      constant = NearConstant(held, 85);
      break;
    case nft::CmpOp::kNeq:
      constant = NearConstant(held, 30);
      break;
    default:
      constant = NearConstant(held, 40);
      break;
  }
  Emit(nft::Cmp{Register::Word(value.word), op, Bytes16(ByteSpan(constant))});
}

void RuleGenerator::AddRange(RegisterValue value) {
  const auto len = static_cast<uint8_t>(std::min<uint32_t>(value.len, 16));
  const Bytes held = BytesOf({value.word, len});
  Bytes from = NearConstant(held, 30), to = NearConstant(held, 30);
  if (from > to && !random_.OneIn(12)) std::swap(from, to);
  Emit(nft::Range{Register::Word(value.word), random_.Percent(70) ? nft::RangeOp::kEq : nft::RangeOp::kNeq,
                  Bytes16(ByteSpan(from)), Bytes16(ByteSpan(to))});
}

void RuleGenerator::AddLookup(RegisterValue value, const std::vector<uint8_t>& fields) {
  const Bytes key = BytesOf(value);
  const uint32_t kind = random_.Below(100);
  if (kind < 70) {
    const nft::Set& set = MakeSet(key, fields, SetUse::kPlain);
    Emit(nft::Lookup{set.handle, Register::Word(value.word), std::nullopt, random_.OneIn(4) ? 1U : 0U});
    return;
  }
  const nft::Set& map = MakeSet(key, fields, SetUse::kMap);
  const auto data_len = static_cast<uint8_t>(map.data_len);
  Bytes guess(data_len);
  for (const nft::Element& element : map.elements) {
    const auto* data = std::get_if<std::string>(&element.data);
    if (data != nullptr && (guess == Bytes(data_len) || element.key == std::string(key.begin(), key.end()))) {
      guess.assign(data->begin(), data->end());
    }
  }
  const uint8_t to = PlaceFor(data_len);
  Emit(nft::Lookup{map.handle, Register::Word(value.word), Register::Word(to), 0});
  registers_.Store(to, guess);
  AddCompare({to, data_len});
}

// Two to four loads side by side as one key.
void RuleGenerator::AddConcatenatedLookup() {
  const uint32_t count = random_.Between(2, 4);
  const auto first = static_cast<uint8_t>(random_.OneIn(3) ? random_.Below(4) : 0);
  uint8_t word = first;
  std::vector<uint8_t> fields;
  for (uint32_t i = 0; i < count && word < RegisterGuess::kWords; ++i) {
    const auto room = static_cast<uint8_t>(std::min(16, (RegisterGuess::kWords - word) * 4));
    const RegisterValue value = PayloadInto(word, room);
    fields.push_back(value.len);
    word = static_cast<uint8_t>(word + RegisterGuess::WordsOf(value.len));
  }
  if (fields.size() < 2) fields.clear();
  MaybeCount(20);
  AddLookup({first, static_cast<uint8_t>((word - first) * 4)}, fields);
}

}  // namespace nftjit::testing
