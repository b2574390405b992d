// Concatenated ranges (the kernel's pipapo): every field has a range, and of the elements whose ranges all hold the
// first in the list matches. Padding between fields is never looked at.
//
// The bounds of one field cut its values into segments; all values of a segment are in the same elements' ranges. Two
// forms are made of that:
//  - lists: the elements of each segment of one field, the one whose longest list is shortest; their other fields are
//    compared one after the other. Right where that list is short, as with many different addresses or ports;
//  - bitmaps of elements per segment of every field: a lookup finds one segment per field, and the lowest bit of the
//  AND
//    of their bitmaps is the answer. They grow with the square of the elements, and are kept up to kMostBitmapBytes.
// What is left then (tens of thousands of wide ranges in every field) has a single list of all elements.
#include <algorithm>
#include <bit>

#include "lib/runtime/set_tables.h"

namespace nftjit {
namespace {

constexpr size_t kMostBitmapBytes = size_t{32} << 20;
constexpr size_t kMostListed = size_t{16} << 20;
// Comparing one element costs about as much as so many words of bitmaps.
constexpr size_t kWordsPerElement = 16;
constexpr uint32_t kBitsPerWord = 64;

// One field of the key: where it lies, and the first value of every segment, sorted; the lowest segment begins at 0.
struct Field {
  uint32_t offset = 0, length = 0;
  std::vector<uint64_t> narrow;  // Fields of up to 8 bytes.
  std::vector<Uint128> wide;     // Longer ones; the kernel has none above 16 bytes.

  [[nodiscard]] bool is_narrow() const { return length <= 8; }
  [[nodiscard]] uint32_t segments() const { return static_cast<uint32_t>(is_narrow() ? narrow.size() : wide.size()); }
  [[nodiscard]] uint32_t SegmentOf(const uint8_t* key) const {
    if (is_narrow()) return LastNotAbove(narrow.data(), segments(), LoadBigKey<uint64_t>(key + offset, length));
    return LastNotAbove(wide.data(), segments(), LoadBigKey<Uint128>(key + offset, length));
  }
  [[nodiscard]] bool Holds(const uint8_t* lower, const uint8_t* upper, const uint8_t* key) const {
    return is_narrow() ? HoldsAs<uint64_t>(lower, upper, key) : HoldsAs<Uint128>(lower, upper, key);
  }

 private:
  template <class Key>
  [[nodiscard]] bool HoldsAs(const uint8_t* lower, const uint8_t* upper, const uint8_t* key) const {
    const Key low = LoadBigKey<Key>(lower + offset, length);
    return LoadBigKey<Key>(key + offset, length) - low <= LoadBigKey<Key>(upper + offset, length) - low;
  }
};

template <class Key>
std::vector<Key> Bounds(const ir::SetInfo& info, const Field& field) {
  std::vector<Key> bounds;
  bounds.reserve(info.elements.size() * 2 + 1);
  bounds.push_back(0);
  const Key highest = field.length == sizeof(Key) ? ~Key{0} : (Key{1} << (field.length * 8)) - 1;
  for (const ir::SetElement& element : info.elements) {
    bounds.push_back(LoadBigKey<Key>(Bytes(element.key) + field.offset, field.length));
    const Key last = LoadBigKey<Key>(Bytes(element.upper()) + field.offset, field.length);
    if (last != highest) bounds.push_back(last + 1);
  }
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  return bounds;
}

// Fields lie one after the other, each padded to a multiple of four bytes.
std::vector<Field> Fields(const ir::SetInfo& info) {
  std::vector<Field> fields;
  uint32_t offset = 0;
  for (const uint8_t length : info.field_lengths) {
    Field field{offset, length, {}, {}};
    if (field.is_narrow()) {
      field.narrow = Bounds<uint64_t>(info, field);
    } else {
      field.wide = Bounds<Uint128>(info, field);
    }
    fields.push_back(std::move(field));
    offset += (length + 3U) & ~3U;
  }
  return fields;
}

// The segments of `field` that `element` covers, first and last.
std::pair<uint32_t, uint32_t> Covered(const Field& field, const ir::SetElement& element) {
  return {field.SegmentOf(Bytes(element.key)), field.SegmentOf(Bytes(element.upper()))};
}

class BitmapRanges final : public ElementTable {
 public:
  BitmapRanges(const ir::SetInfo& info, uint64_t created_ns, std::vector<Field> fields)
      : ElementTable(info, created_ns), fields_(std::move(fields)), words_(Words(info)) {
    size_t total = 0;
    for (const Field& field : fields_) {
      first_bitmap_.push_back(total);
      total += size_t{field.segments()} * words_;
    }
    bitmaps_.resize(total);
    for (size_t f = 0; f < fields_.size(); ++f) {
      for (uint32_t i = 0; i < info.elements.size(); ++i) {
        const auto [first, last] = Covered(fields_[f], info.elements[i]);
        for (uint32_t segment = first; segment <= last; ++segment) {
          bitmaps_[first_bitmap_[f] + size_t{segment} * words_ + i / kBitsPerWord] |= uint64_t{1} << i % kBitsPerWord;
        }
      }
    }
  }

  static uint32_t Words(const ir::SetInfo& info) {
    return static_cast<uint32_t>((info.elements.size() + kBitsPerWord - 1) / kBitsPerWord);
  }
  static size_t BitmapBytes(const ir::SetInfo& info, const std::vector<Field>& fields) {
    size_t segments = 0;
    for (const Field& field : fields) segments += field.segments();
    return segments * Words(info) * sizeof(uint64_t);
  }

  [[nodiscard]] uint32_t Find(const uint8_t* key, uint64_t now_ns) const noexcept override {
    const uint64_t* rows[kMostFields];
    const size_t count = fields_.size();
    for (size_t f = 0; f < count; ++f) {
      rows[f] = bitmaps_.data() + first_bitmap_[f] + size_t{fields_[f].SegmentOf(key)} * words_;
    }
    if (words_ == 1 && !HasTimeouts()) {  // Small sets: without a branch on whether there is a match.
      uint64_t bits = ~uint64_t{0};
      for (size_t f = 0; f < count; ++f) bits &= *rows[f];
      const auto element = static_cast<uint32_t>(std::countr_zero(bits));
      return FoundOrCatchAll(element | (uint32_t{bits != 0} - 1), now_ns);
    }
    for (uint32_t word = 0; word < words_; ++word) {
      uint64_t bits = ~uint64_t{0};
      for (size_t f = 0; f < count; ++f) bits &= rows[f][word];
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t element = word * kBitsPerWord + static_cast<uint32_t>(std::countr_zero(bits));
        if (Alive(element, now_ns)) return element;
      }
    }
    return FoundOrCatchAll(kMiss, now_ns);
  }

 private:
  static constexpr size_t kMostFields = 16;  // 64 bytes of key, four at least per field.
  std::vector<Field> fields_;
  uint32_t words_;
  std::vector<size_t> first_bitmap_;  // By field.
  std::vector<uint64_t> bitmaps_;
};

// Which field to list, and what its lists come to.
struct Listing {
  size_t field = 0;
  size_t longest = SIZE_MAX;  // Elements of its fullest segment.
  size_t total = SIZE_MAX;    // Over all segments.
};

Listing BestListing(const ir::SetInfo& info, const std::vector<Field>& fields) {
  Listing best;
  for (size_t f = 0; f < fields.size(); ++f) {
    // How many elements begin less how many end, from segment to segment.
    std::vector<int64_t> change(size_t{fields[f].segments()} + 1);
    for (const ir::SetElement& element : info.elements) {
      const auto [first, last] = Covered(fields[f], element);
      ++change[first];
      --change[last + 1];
    }
    Listing listing{f, 0, 0};
    size_t open = 0;
    for (uint32_t segment = 0; segment < fields[f].segments(); ++segment) {
      open += static_cast<size_t>(change[segment]);
      listing.total += open;
      listing.longest = std::max(listing.longest, open);
    }
    if (listing.longest < best.longest) best = listing;
  }
  return best;
}

class ListedRanges final : public ElementTable {
 public:
  ListedRanges(const ir::SetInfo& info, uint64_t created_ns, std::vector<Field> fields, const Listing& listing)
      : ElementTable(info, created_ns), fields_(std::move(fields)), listed_(&fields_[listing.field]) {
    bounds_.reserve(info.elements.size() * 2 * info.key_len);
    for (const ir::SetElement& element : info.elements) {
      bounds_.insert(bounds_.end(), element.key.begin(), element.key.end());
      bounds_.insert(bounds_.end(), element.upper().begin(), element.upper().end());
    }
    if (listing.total <= kMostListed) {
      FillLists(info, listing.total);
    } else {
      listed_ = nullptr;
      first_ = {0, info.elements.size()};
      for (uint32_t i = 0; i < info.elements.size(); ++i) lists_.push_back(i);
    }
  }

  [[nodiscard]] uint32_t Find(const uint8_t* key, uint64_t now_ns) const noexcept override {
    const uint32_t segment = listed_ == nullptr ? 0 : listed_->SegmentOf(key);
    for (size_t i = first_[segment]; i < first_[segment + 1]; ++i) {
      if (InRange(lists_[i], key) && Alive(lists_[i], now_ns)) return lists_[i];
    }
    return FoundOrCatchAll(kMiss, now_ns);
  }

 private:
  // Lists per segment, elements in ascending order: counted first, then filled.
  void FillLists(const ir::SetInfo& info, size_t size) {
    first_.assign(size_t{listed_->segments()} + 1, 0);
    for (const ir::SetElement& element : info.elements) {
      const auto [first, last] = Covered(*listed_, element);
      for (uint32_t segment = first; segment <= last; ++segment) ++first_[segment + 1];
    }
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    std::vector<size_t> next = first_;
    lists_.resize(size);
    for (uint32_t i = 0; i < info.elements.size(); ++i) {
      const auto [first, last] = Covered(*listed_, info.elements[i]);
      for (uint32_t segment = first; segment <= last; ++segment) lists_[next[segment]++] = i;
    }
  }

  [[nodiscard]] bool InRange(uint32_t element, const uint8_t* key) const {
    const size_t key_len = info().key_len;
    const uint8_t* lower = bounds_.data() + size_t{element} * 2 * key_len;
    for (const Field& field : fields_) {
      if (!field.Holds(lower, lower + key_len, key)) return false;
    }
    return true;
  }

  std::vector<Field> fields_;
  const Field* listed_;  // The field whose segments have lists; null: one list of all.
  std::vector<size_t> first_;
  std::vector<uint32_t> lists_;
  std::vector<uint8_t> bounds_;  // By element: lower bounds, then upper bounds, key_len each.
};

}  // namespace

std::unique_ptr<const SetTable> BuildConcatRanges(const ir::SetInfo& info, uint64_t created_ns) {
  std::vector<Field> fields = Fields(info);
  const Listing listing = BestListing(info, fields);
  const size_t bitmap_words = BitmapRanges::Words(info) * fields.size();
  const bool lists =
      listing.longest * kWordsPerElement <= bitmap_words || BitmapRanges::BitmapBytes(info, fields) > kMostBitmapBytes;
  if (lists) return std::make_unique<ListedRanges>(info, created_ns, std::move(fields), listing);
  return std::make_unique<BitmapRanges>(info, created_ns, std::move(fields));
}

}  // namespace nftjit
