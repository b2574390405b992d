// Sets and maps of every kind: part of RuleGenerator.
#include <algorithm>

#include "tests/support/rule_generator.h"

namespace nftjit::testing {
namespace {

std::string Text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

// Keys near `key`, sorted, without doubles.
std::vector<Bytes> KeysAround(Random& random, const Bytes& key, uint32_t count) {
  std::vector<Bytes> keys;
  for (uint32_t i = 0; i < count; ++i) {
    Bytes near = random.OneIn(3) ? random.Bytes(key.size()) : key;
    if (random.OneIn(2)) {
      near.back() = static_cast<uint8_t>(near.back() + random.Below(8) - 4);
    } else {
      near[random.Below(static_cast<uint32_t>(near.size()))] ^= static_cast<uint8_t>(1U << random.Below(8));
    }
    keys.push_back(std::move(near));
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

bool Overlap(const nft::Element& a, const nft::Element& b, const std::vector<uint8_t>& fields) {
  size_t at = 0;
  for (const uint8_t len : fields) {
    const auto part = [&](const std::string& key) { return std::string_view(key).substr(at, len); };
    // Compare as unsigned bytes: string_view does.
    if (part(a.key_end) < part(b.key) || part(b.key_end) < part(a.key)) return false;
    at += (len + 3U) & ~3U;
  }
  return true;
}

}  // namespace

nft::Verdict RuleGenerator::SomeVerdict() {
  const uint32_t kind = random_.Below(100);
  if (kind < 30 && !targets_.empty()) {
    return {random_.OneIn(3) ? nft::VerdictCode::kGoto : nft::VerdictCode::kJump, random_.PickFrom(targets_)};
  }
  return {random_.Pick({nft::VerdictCode::kAccept, nft::VerdictCode::kAccept, nft::VerdictCode::kDrop,
                        nft::VerdictCode::kContinue, nft::VerdictCode::kReturn}),
          0};
}

void RuleGenerator::GiveData(nft::Element& element, const nft::Set& set, SetUse use) {
  if (use == SetUse::kMap) element.data = Text(random_.Bytes(set.data_len));
  if (use == SetUse::kVerdictMap) element.data = SomeVerdict();
  element.expressions = set.expressions;
}

nft::Set& RuleGenerator::MakeSet(const Bytes& key, const std::vector<uint8_t>& fields, SetUse use) {
  nft::Set set;
  set.handle = (*context_.next_handle)++;
  const bool anonymous = random_.OneIn(2);
  set.name = (anonymous ? "__set" : "s") + std::to_string(set.handle);
  set.flags = anonymous ? nft::kSetAnonymous | nft::kSetConstant : 0;
  set.key_type = 1;
  set.key_len = static_cast<uint32_t>(key.size());
  if (use == SetUse::kMap) {
    set.flags |= nft::kSetMap;
    set.data_type = 1;
    set.data_len = random_.OneIn(6) ? random_.Between(1, 16) : random_.Pick({1U, 2U, 4U, 4U, 16U});
  } else if (use == SetUse::kVerdictMap) {
    set.flags |= nft::kSetMap;
    set.data_type = nft::kDataTypeVerdict;
    set.data_len = 16;
  }
  if (random_.OneIn(4)) set.expressions.push_back(nft::Expression{nft::Counter{}, nullptr});
  const bool concat = fields.size() >= 2;
  const bool fields_fit = std::all_of(fields.begin(), fields.end(), [](uint8_t len) { return len <= 16; });
  if (concat) {
    set.flags |= nft::kSetConcat;
    set.field_lengths = fields;
  }
  if (concat && fields_fit && random_.Percent(60)) {
    set.flags |= nft::kSetInterval;
    FillRanges(set, key, use);
  } else if (!concat && random_.Percent(50)) {
    set.flags |= nft::kSetInterval;
    FillIntervals(set, key, use);
  } else {
    FillExact(set, key, use);
    if (random_.OneIn(2)) set.size = static_cast<uint32_t>(set.elements.size() + random_.Below(8) + 1);
  }
  if (random_.OneIn(8)) {
    nft::Element element;
    element.flags = nft::kElementCatchall;
    GiveData(element, set, use);
    set.elements.push_back(std::move(element));
  }
  context_.table->sets.push_back(std::move(set));
  return context_.table->sets.back();
}

void RuleGenerator::FillExact(nft::Set& set, const Bytes& key, SetUse use) {
  std::vector<Bytes> keys = KeysAround(random_, key, random_.OneIn(10) ? 40 : random_.Below(8));
  const auto at = std::lower_bound(keys.begin(), keys.end(), key);
  const bool there = at != keys.end() && *at == key;
  if (random_.Percent(75)) {
    if (!there) keys.insert(at, key);
  } else if (there) {
    keys.erase(at);
  }
  for (const Bytes& k : keys) {
    nft::Element element;
    element.key = Text(k);
    GiveData(element, set, use);
    set.elements.push_back(std::move(element));
  }
}

// Boundaries as netlink has them: a start with data, an exclusive end; the last interval may be open.
void RuleGenerator::FillIntervals(nft::Set& set, const Bytes& key, SetUse use) {
  std::vector<Bytes> points = KeysAround(random_, key, 2 + random_.Below(10));
  if (random_.OneIn(2)) points.push_back(key);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  // The gap or interval that the key is in.
  const size_t above = static_cast<size_t>(std::upper_bound(points.begin(), points.end(), key) - points.begin());
  const bool hit = random_.Percent(75);
  const size_t first = hit ? (above + 1) % 2 : above % 2;
  const auto boundary = [&](const Bytes& at, bool end) {
    nft::Element element;
    element.key = Text(at);
    if (end) {
      element.flags = nft::kElementIntervalEnd;
    } else {
      GiveData(element, set, use);
    }
    set.elements.push_back(std::move(element));
  };
  if (random_.OneIn(2) && points.front() != Bytes(key.size()) && first < points.size()) {
    boundary(Bytes(key.size()), true);
  }
  for (size_t i = first; i < points.size(); i += 2) {
    boundary(points[i], false);
    if (i + 1 == points.size()) break;
    boundary(points[i + 1], true);
    if (i + 2 < points.size() && random_.OneIn(5)) {  // An adjacent one: the end and the next start have one key.
      boundary(points[i + 1], false);
      boundary(points[i + 2], true);
    }
  }
}

void RuleGenerator::FillRanges(nft::Set& set, const Bytes& key, SetUse use) {
  const uint32_t count = random_.OneIn(10) ? 24 : 1 + random_.Below(6);
  const bool hit = random_.Percent(75);
  for (uint32_t i = 0; i < count; ++i) {
    nft::Element element;
    size_t at = 0;
    for (const uint8_t len : set.field_lengths) {
      Bytes low(key.begin() + static_cast<ptrdiff_t>(at), key.begin() + static_cast<ptrdiff_t>(at + len));
      if (i > 0 || !hit) low = NearConstant(low, 30);
      Bytes high = low;
      if (random_.OneIn(2)) {
        Bytes& end = random_.OneIn(2) ? high : low;
        end[random_.Below(len)] ^= static_cast<uint8_t>(1U << random_.Below(8));
        if (random_.OneIn(8)) std::fill(high.begin(), high.end(), uint8_t{0xff});
        if (low > high) std::swap(low, high);
      }
      const size_t padded = (len + 3U) & ~3U;
      low.resize(padded);
      high.resize(padded);
      element.key += Text(low);
      element.key_end += Text(high);
      at += padded;
    }
    const bool clash = std::any_of(set.elements.begin(), set.elements.end(), [&](const nft::Element& other) {
      return Overlap(element, other, set.field_lengths);
    });
    if (clash) continue;
    GiveData(element, set, use);
    set.elements.push_back(std::move(element));
  }
}

}  // namespace nftjit::testing
