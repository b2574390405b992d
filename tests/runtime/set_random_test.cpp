// Sets of random contents against a model that compares every element with memcmp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <random>

#include "lib/runtime/set.h"
#include "lib/support/bytes.h"

namespace nftjit {
namespace {

using Random = std::mt19937_64;

int Compare(const std::string& a, const std::string& b, size_t offset, size_t length) {
  return std::memcmp(a.data() + offset, b.data() + offset, length);
}

// The model: the first element that holds the key.
uint32_t FindNaively(const ir::SetInfo& info, const std::string& key) {
  const auto holds = [&](const ir::SetElement& element) {
    const std::string& end = element.key_end.empty() ? element.key : element.key_end;
    if (info.kind != ir::SetKind::kConcatRanges) {
      return Compare(element.key, key, 0, info.key_len) <= 0 && Compare(key, end, 0, info.key_len) <= 0;
    }
    size_t offset = 0;
    for (const uint8_t length : info.field_lengths) {
      if (Compare(element.key, key, offset, length) > 0 || Compare(key, end, offset, length) > 0) return false;
      offset += (length + 3U) / 4 * 4;
    }
    return true;
  };
  for (uint32_t i = 0; i < info.elements.size(); ++i) {
    if (holds(info.elements[i])) return i;
  }
  return info.catchall ? static_cast<uint32_t>(info.elements.size()) : SetTable::kMiss;
}

// Few different bytes, so that keys share prefixes and meet the bounds.
std::string RandomKey(Random& random, size_t length) {
  constexpr uint8_t kBytes[] = {0x00, 0x01, 0x7f, 0x80, 0xfe, 0xff};
  std::string key(length, '\0');
  for (char& byte : key) {
    byte = static_cast<char>(random() % 4 == 0 ? random() : kBytes[random() % std::size(kBytes)]);
  }
  return key;
}

// A key of the set, of one of its bounds' neighbours, or any.
std::string RandomProbe(Random& random, const ir::SetInfo& info) {
  if (info.elements.empty() || random() % 4 == 0) return RandomKey(random, info.key_len);
  const ir::SetElement& element = info.elements[random() % info.elements.size()];
  std::string key = element.key_end.empty() || random() % 2 == 0 ? element.key : element.key_end;
  if (random() % 2 == 0) {
    const size_t at = random() % key.size();
    key[at] = static_cast<char>(key[at] + (random() % 2 == 0 ? 1 : -1));
  }
  return key;
}

struct Tally {
  int hits = 0, misses = 0;
};

void CheckProbes(Random& random, const ir::SetInfo& info, int probes, Tally& tally) {
  const auto table = SetTable::Build(info, 0);
  for (int i = 0; i < probes; ++i) {
    const std::string key = RandomProbe(random, info);
    const uint32_t expected = FindNaively(info, key);
    const uint32_t found = table->Find(reinterpret_cast<const uint8_t*>(key.data()), 0);
    if (found != expected) {
      FAIL("key " << ToHex({reinterpret_cast<const uint8_t*>(key.data()), key.size()}) << " found " << found << ", not "
                  << expected << ", among " << info.elements.size() << " elements of " << int(info.key_len));
    }
    ++(found < info.elements.size() ? tally.hits : tally.misses);
  }
}

ir::SetInfo RandomExact(Random& random, uint8_t key_len, size_t count) {
  ir::SetInfo info;
  info.key_len = key_len;
  std::map<std::string, int> keys;
  for (size_t i = 0; i < count; ++i) keys[RandomKey(random, key_len)] = 0;
  for (const auto& [key, unused] : keys) info.elements.push_back({.key = key, .key_end = {}});
  std::shuffle(info.elements.begin(), info.elements.end(), random);
  return info;
}

// Sorted distinct keys, taken in pairs as bounds; some intervals are points.
ir::SetInfo RandomIntervals(Random& random, uint8_t key_len, size_t count) {
  ir::SetInfo exact = RandomExact(random, key_len, 2 * count);
  std::sort(exact.elements.begin(), exact.elements.end(),
            [](const auto& a, const auto& b) { return Compare(a.key, b.key, 0, a.key.size()) < 0; });
  ir::SetInfo info;
  info.kind = ir::SetKind::kInterval;
  info.key_len = key_len;
  for (size_t i = 0; i + 1 < exact.elements.size(); i += 2) {
    const bool point = random() % 4 == 0;
    const std::string& lower = exact.elements[i].key;
    info.elements.push_back({.key = lower, .key_end = point ? lower : exact.elements[i + 1].key});
  }
  return info;
}

ir::SetInfo RandomRanges(Random& random, const std::vector<uint8_t>& fields, size_t count) {
  ir::SetInfo info;
  info.kind = ir::SetKind::kConcatRanges;
  info.field_lengths = fields;
  for (const uint8_t length : fields) info.key_len = static_cast<uint8_t>(info.key_len + (length + 3U) / 4 * 4);
  for (size_t i = 0; i < count; ++i) {
    ir::SetElement element;
    element.key = RandomKey(random, info.key_len);
    element.key_end = RandomKey(random, info.key_len);
    size_t offset = 0;
    for (const uint8_t length : fields) {
      const auto from = static_cast<std::ptrdiff_t>(offset);
      if (random() % 3 == 0) std::copy_n(element.key.begin() + from, length, element.key_end.begin() + from);
      if (Compare(element.key, element.key_end, offset, length) > 0) {
        std::swap_ranges(element.key.begin() + from, element.key.begin() + from + length,
                         element.key_end.begin() + from);
      }
      offset += (length + 3U) / 4 * 4;
    }
    if (random() % 8 == 0) element.key_end.clear();
    info.elements.push_back(element);
  }
  return info;
}

constexpr size_t kCounts[] = {0, 1, 2, 3, 7, 16, 63, 64, 65, 200, 1000};

TEST_CASE("random exact sets", "[runtime][set]") {
  Random random(1);
  Tally tally;
  for (int length = 1; length <= 64; ++length) {
    for (const size_t count : kCounts) {
      ir::SetInfo info = RandomExact(random, static_cast<uint8_t>(length), count);
      if (random() % 4 == 0) info.catchall.emplace();
      CheckProbes(random, info, 30, tally);
    }
  }
  CHECK(tally.hits > 5000);
  CHECK(tally.misses > 5000);
}

TEST_CASE("random intervals", "[runtime][set]") {
  Random random(2);
  Tally tally;
  for (int length = 1; length <= 64; length += length < 20 ? 1 : 11) {
    for (const size_t count : kCounts) {
      ir::SetInfo info = RandomIntervals(random, static_cast<uint8_t>(length), count);
      if (random() % 4 == 0) info.catchall.emplace();
      CheckProbes(random, info, 60, tally);
    }
  }
  CHECK(tally.hits > 3000);
  CHECK(tally.misses > 3000);
}

TEST_CASE("random concatenated ranges", "[runtime][set]") {
  Random random(3);
  Tally tally;
  const std::vector<uint8_t> shapes[] = {{4, 2}, {2, 4}, {1, 1, 1}, {16, 2},  {16, 16, 2, 1},
                                         {3, 5}, {8, 4}, {9, 7},    {4, 4, 4}};
  for (const auto& fields : shapes) {
    for (const size_t count : kCounts) {
      ir::SetInfo info = RandomRanges(random, fields, count);
      if (random() % 4 == 0) info.catchall.emplace();
      CheckProbes(random, info, 60, tally);
    }
  }
  CHECK(tally.hits > 1000);
  CHECK(tally.misses > 500);
}

// So many elements that bitmaps would take too much, and lists are kept; with wide ranges not even those.
TEST_CASE("random concatenated ranges, very many", "[runtime][set]") {
  Random random(4);
  Tally tally;
  ir::SetInfo points = RandomRanges(random, {4, 4}, 20'000);
  for (ir::SetElement& element : points.elements) {
    if (!element.key_end.empty()) std::copy_n(element.key.begin(), 4, element.key_end.begin());
  }
  CheckProbes(random, points, 200, tally);
  CheckProbes(random, RandomRanges(random, {8, 8}, 12'000), 200, tally);
  CHECK(tally.hits > 100);
}

}  // namespace
}  // namespace nftjit
