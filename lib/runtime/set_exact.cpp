// Exact sets: open addressing with linear probing, at most a third full, so that the first slot decides most lookups.
// Element keys come from the ruleset, so the longest probe is the ruleset's doing, not the packets'.
#include <bit>

#include "lib/runtime/set_tables.h"

namespace nftjit {
namespace {

// Multiplies to 128 bits and folds: every bit of the key reaches the low bits.
uint64_t Mix(uint64_t a, uint64_t b) {
  const Uint128 product = Uint128{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15U, kMultiplier2 = 0xd1b54a32d192ed03U;

uint64_t Hash(uint32_t key) { return Mix(key, kMultiplier); }
uint64_t Hash(uint64_t key) { return Mix(key, kMultiplier); }
uint64_t Hash(Uint128 key) {
  return Mix(static_cast<uint64_t>(key) ^ kMultiplier, static_cast<uint64_t>(key >> 64) ^ kMultiplier2);
}

uint32_t SlotCount(size_t elements) { return static_cast<uint32_t>(std::bit_ceil(elements * 3 + 1)); }

// Keys as native integers. kLength 0: of any length up to sizeof(Key), known at run time.
template <class Key, size_t kLength>
class IntegerTable final : public ElementTable {
 public:
  IntegerTable(const ir::SetInfo& info, uint64_t created_ns) : ElementTable(info, created_ns), length_(info.key_len) {
    slots_.resize(SlotCount(info.elements.size()));
    mask_ = static_cast<uint32_t>(slots_.size() - 1);
    for (uint32_t i = 0; i < info.elements.size(); ++i) {
      const Key key = Load(Bytes(info.elements[i].key));
      Slot& slot = slots_[SlotOf(key)];
      if (slot.element == kMiss) slot = {key, i};
    }
  }

  [[nodiscard]] uint32_t Find(const uint8_t* key, uint64_t now_ns) const noexcept override {
    return FoundOrCatchAll(slots_[SlotOf(Load(key))].element, now_ns);
  }

 private:
  struct Slot {
    Key key = 0;
    uint32_t element = kMiss;
  };

  [[nodiscard]] Key Load(const uint8_t* bytes) const {
    Key key = 0;
    std::memcpy(&key, bytes, kLength != 0 ? kLength : length_);
    return key;
  }
  // The slot of `key`, or the free one where it would go. That one or the other ends the search is a single branch (by
  // the lesser of two differences that are 0 then), and for most keys the first slot ends it.
  [[nodiscard]] uint32_t SlotOf(Key key) const {
    uint32_t i = static_cast<uint32_t>(Hash(key)) & mask_;
    while (std::min(Fold(slots_[i].key ^ key), uint64_t{~slots_[i].element}) != 0) i = (i + 1) & mask_;
    return i;
  }
  static uint64_t Fold(Key difference) {
    if constexpr (sizeof(Key) <= 8) return difference;
    return static_cast<uint64_t>(difference) | static_cast<uint64_t>(difference >> (sizeof(Key) * 4));
  }

  std::vector<Slot> slots_;
  uint32_t mask_ = 0;
  size_t length_;
};

// Keys of more than 16 bytes, compared where the ruleset keeps them.
class StringTable final : public ElementTable {
 public:
  StringTable(const ir::SetInfo& info, uint64_t created_ns) : ElementTable(info, created_ns), length_(info.key_len) {
    slots_.resize(SlotCount(info.elements.size()));
    mask_ = static_cast<uint32_t>(slots_.size() - 1);
    keys_.reserve(info.elements.size() * length_);
    for (uint32_t i = 0; i < info.elements.size(); ++i) {
      const uint8_t* key = Bytes(info.elements[i].key);
      keys_.insert(keys_.end(), key, key + length_);
      Slot& slot = slots_[SlotOf(key)];
      if (slot.element == kMiss) slot = {HashBytes(key), i};
    }
  }

  [[nodiscard]] uint32_t Find(const uint8_t* key, uint64_t now_ns) const noexcept override {
    return FoundOrCatchAll(slots_[SlotOf(key)].element, now_ns);
  }

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t element = kMiss;
  };

  [[nodiscard]] uint64_t HashBytes(const uint8_t* bytes) const {
    uint64_t hash = kMultiplier;
    size_t i = 0;
    for (; i + 8 <= length_; i += 8) hash = Mix(hash ^ LoadNative<uint64_t>(bytes + i), kMultiplier2);
    uint64_t rest = 0;
    std::memcpy(&rest, bytes + i, length_ - i);
    return Mix(hash ^ rest, kMultiplier);
  }
  [[nodiscard]] uint32_t SlotOf(const uint8_t* key) const {
    const uint64_t hash = HashBytes(key);
    uint32_t i = static_cast<uint32_t>(hash) & mask_;
    while (slots_[i].element != kMiss) {
      const uint8_t* other = keys_.data() + size_t{slots_[i].element} * length_;
      if (slots_[i].hash == hash && std::memcmp(other, key, length_) == 0) break;
      i = (i + 1) & mask_;
    }
    return i;
  }

  std::vector<Slot> slots_;
  std::vector<uint8_t> keys_;
  uint32_t mask_ = 0;
  size_t length_;
};

}  // namespace

std::unique_ptr<const SetTable> BuildExact(const ir::SetInfo& info, uint64_t created_ns) {
  switch (info.key_len) {
    case 1:
      return std::make_unique<IntegerTable<uint32_t, 1>>(info, created_ns);
    case 2:
      return std::make_unique<IntegerTable<uint32_t, 2>>(info, created_ns);
    case 4:
      return std::make_unique<IntegerTable<uint32_t, 4>>(info, created_ns);
    case 6:
      return std::make_unique<IntegerTable<uint64_t, 6>>(info, created_ns);
    case 8:
      return std::make_unique<IntegerTable<uint64_t, 8>>(info, created_ns);
    case 12:
      return std::make_unique<IntegerTable<Uint128, 12>>(info, created_ns);
    case 16:
      return std::make_unique<IntegerTable<Uint128, 16>>(info, created_ns);
    default:
      if (info.key_len < 16) return std::make_unique<IntegerTable<Uint128, 0>>(info, created_ns);
      return std::make_unique<StringTable>(info, created_ns);
  }
}

}  // namespace nftjit
