// Interval sets: disjoint, sorted, inclusive at both ends, in memcmp order. Keys of up to 16 bytes are big-endian
// integers, for which that order is the integers' own.
#include "lib/runtime/set_tables.h"

namespace nftjit {
namespace {

// kLength 0: of any length up to sizeof(Key), known at run time.
template <class Key, size_t kLength>
class IntegerIntervals final : public ElementTable {
 public:
  IntegerIntervals(const ir::SetInfo& info, uint64_t created_ns)
      : ElementTable(info, created_ns), length_(info.key_len) {
    lower_.reserve(info.elements.size());
    span_.reserve(info.elements.size());
    for (const ir::SetElement& element : info.elements) {
      lower_.push_back(Load(Bytes(element.key)));
      span_.push_back(Load(Bytes(element.upper())) - lower_.back());
    }
  }

  [[nodiscard]] uint32_t Find(const uint8_t* bytes, uint64_t now_ns) const noexcept override {
    if (lower_.empty()) return FoundOrCatchAll(kMiss, now_ns);
    const Key key = Load(bytes);
    const uint32_t element = LastNotAbove(lower_.data(), static_cast<uint32_t>(lower_.size()), key);
    // A key below the bound wraps around to a distance above any span.
    const bool hit = static_cast<Key>(key - lower_[element]) <= span_[element];
    return FoundOrCatchAll(element | (uint32_t{hit} - 1), now_ns);  // All ones are kMiss.
  }

 private:
  [[nodiscard]] Key Load(const uint8_t* bytes) const {
    return LoadBigKey<Key>(bytes, kLength != 0 ? kLength : length_);
  }
  std::vector<Key> lower_, span_;  // `span_`: from the lower to the upper bound.
  size_t length_;
};

// Keys of more than 16 bytes.
class StringIntervals final : public ElementTable {
 public:
  StringIntervals(const ir::SetInfo& info, uint64_t created_ns) : ElementTable(info, created_ns) {}

  [[nodiscard]] uint32_t Find(const uint8_t* key, uint64_t now_ns) const noexcept override {
    const auto& elements = info().elements;
    uint32_t from = 0, to = static_cast<uint32_t>(elements.size());  // The first whose lower bound is above `key`.
    while (from < to) {
      const uint32_t middle = from + (to - from) / 2;
      if (std::memcmp(elements[middle].key.data(), key, info().key_len) <= 0) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    const bool hit = from != 0 && std::memcmp(key, elements[from - 1].upper().data(), info().key_len) <= 0;
    return FoundOrCatchAll(hit ? from - 1 : kMiss, now_ns);
  }
};

}  // namespace

std::unique_ptr<const SetTable> BuildInterval(const ir::SetInfo& info, uint64_t created_ns) {
  switch (info.key_len) {
    case 1:
      return std::make_unique<IntegerIntervals<uint32_t, 1>>(info, created_ns);
    case 2:
      return std::make_unique<IntegerIntervals<uint32_t, 2>>(info, created_ns);
    case 4:
      return std::make_unique<IntegerIntervals<uint32_t, 4>>(info, created_ns);
    case 8:
      return std::make_unique<IntegerIntervals<uint64_t, 8>>(info, created_ns);
    case 16:
      return std::make_unique<IntegerIntervals<Uint128, 16>>(info, created_ns);
    default:
      if (info.key_len < 8) return std::make_unique<IntegerIntervals<uint64_t, 0>>(info, created_ns);
      if (info.key_len < 16) return std::make_unique<IntegerIntervals<Uint128, 0>>(info, created_ns);
      return std::make_unique<StringIntervals>(info, created_ns);
  }
}

}  // namespace nftjit
