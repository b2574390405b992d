// Concatenated ranges (the kernel's pipapo): every field has a range, and of the elements whose ranges all hold the
// first in the list matches. Padding between fields is never looked at.
//
// The bounds of one field cut its values into segments; all values of a segment are in the same elements' ranges. With
// a bitmap of elements per segment, a lookup finds one segment per field, and the lowest bit of the AND of their
// bitmaps is the answer. Bitmaps grow with the square of the elements: above kMostBitmapBytes only the field whose
// segments have the fewest elements keeps them, as lists, and the other fields are compared. Should even those lists be
// longer than kMostListed (tens of thousands of wide ranges in every field), all elements are compared in order.
#include <algorithm>
#include <bit>

#include "lib/runtime/set_tables.h"

namespace nftjit {
namespace {

constexpr size_t kMostBitmapBytes = size_t{32} << 20;
constexpr size_t kMostListed = size_t{16} << 20;
constexpr uint32_t kBitsPerWord = 64;

// One field of the key: where it lies, and the first value of every segment but the lowest, sorted.
struct Field {
  uint32_t offset = 0, length = 0;
  std::vector<uint64_t> narrow;  // Fields of up to 8 bytes.
  std::vector<Uint128> wide;     // Longer ones; the kernel has none above 16 bytes.

  [[nodiscard]] bool is_narrow() const { return length <= 8; }
  [[nodiscard]] uint32_t segments() const {
    return static_cast<uint32_t>(is_narrow() ? narrow.size() : wide.size()) + 1;
  }
  [[nodiscard]] uint32_t SegmentOf(const uint8_t* key) const {
    if (is_narrow()) {
      return CountNotAbove(narrow.data(), static_cast<uint32_t>(narrow.size()),
                           LoadBigKey<uint64_t>(key + offset, length));
    }
    return CountNotAbove(wide.data(), static_cast<uint32_t>(wide.size()), LoadBigKey<Uint128>(key + offset, length));
  }
};

const std::string& Upper(const ir::SetElement& element) {
  return element.key_end.empty() ? element.key : element.key_end;
}

template <class Key>
std::vector<Key> Bounds(const ir::SetInfo& info, const Field& field) {
  std::vector<Key> bounds;
  bounds.reserve(info.elements.size() * 2);
  const Key highest = field.length == sizeof(Key) ? ~Key{0} : (Key{1} << (field.length * 8)) - 1;
  for (const ir::SetElement& element : info.elements) {
    bounds.push_back(LoadBigKey<Key>(Bytes(element.key) + field.offset, field.length));
    const Key last = LoadBigKey<Key>(Bytes(Upper(element)) + field.offset, field.length);
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
  return {field.SegmentOf(Bytes(element.key)), field.SegmentOf(Bytes(Upper(element)))};
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
    for (uint32_t word = 0; word < words_; ++word) {
      uint64_t bits = ~uint64_t{0};
      for (size_t f = 0; f < count; ++f) bits &= rows[f][word];
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t element = word * kBitsPerWord + static_cast<uint32_t>(std::countr_zero(bits));
        if (Alive(element, now_ns)) return element;
      }
    }
    return CatchAll(now_ns);
  }

 private:
  static constexpr size_t kMostFields = 16;  // 64 bytes of key, four at least per field.
  std::vector<Field> fields_;
  uint32_t words_;
  std::vector<size_t> first_bitmap_;  // By field.
  std::vector<uint64_t> bitmaps_;
};

class ListedRanges final : public ElementTable {
 public:
  ListedRanges(const ir::SetInfo& info, uint64_t created_ns, std::vector<Field> fields)
      : ElementTable(info, created_ns), fields_(std::move(fields)) {
    size_t best_size = SIZE_MAX;
    for (size_t f = 0; f < fields_.size(); ++f) {
      size_t size = 0;
      for (const ir::SetElement& element : info.elements) {
        const auto [first, last] = Covered(fields_[f], element);
        size += last - first + 1;
      }
      if (size < best_size) {
        best_size = size;
        listed_ = f;
      }
    }
    if (best_size <= kMostListed) {
      FillLists(info, best_size);
    } else {
      one_list_ = true;
      first_ = {0, info.elements.size()};
      for (uint32_t i = 0; i < info.elements.size(); ++i) lists_.push_back(i);
    }
  }

  [[nodiscard]] uint32_t Find(const uint8_t* key, uint64_t now_ns) const noexcept override {
    const uint32_t segment = one_list_ ? 0 : fields_[listed_].SegmentOf(key);
    for (size_t i = first_[segment]; i < first_[segment + 1]; ++i) {
      const uint32_t element = lists_[i];
      if (InRange(info().elements[element], key) && Alive(element, now_ns)) return element;
    }
    return CatchAll(now_ns);
  }

 private:
  // Lists per segment, elements in ascending order: counted first, then filled.
  void FillLists(const ir::SetInfo& info, size_t size) {
    const Field& field = fields_[listed_];
    first_.assign(size_t{field.segments()} + 1, 0);
    for (const ir::SetElement& element : info.elements) {
      const auto [first, last] = Covered(field, element);
      for (uint32_t segment = first; segment <= last; ++segment) ++first_[segment + 1];
    }
    for (size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    std::vector<size_t> next = first_;
    lists_.resize(size);
    for (uint32_t i = 0; i < info.elements.size(); ++i) {
      const auto [first, last] = Covered(field, info.elements[i]);
      for (uint32_t segment = first; segment <= last; ++segment) lists_[next[segment]++] = i;
    }
  }

  [[nodiscard]] bool InRange(const ir::SetElement& element, const uint8_t* key) const {
    const char* lower = element.key.data();
    const char* upper = Upper(element).data();
    for (const Field& field : fields_) {
      const uint32_t at = field.offset;
      if (std::memcmp(key + at, lower + at, field.length) < 0 || std::memcmp(key + at, upper + at, field.length) > 0) {
        return false;
      }
    }
    return true;
  }

  std::vector<Field> fields_;
  size_t listed_ = 0;      // The field whose segments have lists.
  bool one_list_ = false;  // A single list of all elements instead.
  std::vector<size_t> first_;
  std::vector<uint32_t> lists_;
};

}  // namespace

std::unique_ptr<const SetTable> BuildConcatRanges(const ir::SetInfo& info, uint64_t created_ns) {
  std::vector<Field> fields = Fields(info);
  if (BitmapRanges::BitmapBytes(info, fields) <= kMostBitmapBytes) {
    return std::make_unique<BitmapRanges>(info, created_ns, std::move(fields));
  }
  return std::make_unique<ListedRanges>(info, created_ns, std::move(fields));
}

}  // namespace nftjit
