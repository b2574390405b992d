// Finds a set's elements by key and tells which insertions the kernel's backends refuse (validation.md 7).
#ifndef NFTJIT_LIB_CONTROL_ELEMENT_INDEX_H_
#define NFTJIT_LIB_CONTROL_ELEMENT_INDEX_H_

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>
#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>
#include <vector>

#include "lib/nft/ruleset.h"

namespace nftjit::control {

enum class InsertionRules : uint8_t { kExact, kInterval, kConcatenatedRanges };
InsertionRules InsertionRulesOf(const nft::Set& set);

// Refers to one set of a table that is being edited; the set must stay at its handle. All changes to the set's elements
// go through the index. Removed elements stay in the vector until Compact().
class ElementIndex {
 public:
  explicit ElementIndex(nft::Set& set);

  struct Conflict {
    enum Kind : uint8_t { kNone, kSame, kOverlap, kIgnored } kind = kNone;
    uint32_t position = 0;  // kSame: the element that is there.
  };
  // Whether `element` can go in. kSame: an element of this key exists, which the caller compares. kIgnored: the kernel
  // accepts it and does nothing. Remembers an interval's start that is there, as the kernel does.
  Conflict Check(const nft::Set& set, const nft::Element& element);
  void Insert(nft::Set& set, nft::Element element);
  // The element that a plain get of this key (and end flag, and upper end) means.
  [[nodiscard]] std::optional<uint32_t> Find(const nft::Set& set, const nft::Element& wanted) const;
  // The one that a deletion means; none also where the kernel takes an interval's end for that of another.
  [[nodiscard]] std::optional<uint32_t> FindForRemoval(const nft::Set& set, const nft::Element& wanted);
  // For intervals: the start at or below the key, or the end at or above it, whichever is wanted; none where another
  // boundary lies between.
  [[nodiscard]] std::optional<uint32_t> FindCovering(const nft::Set& set, const nft::Element& wanted) const;
  void Remove(nft::Set& set, uint32_t position);
  void Clear(nft::Set& set);
  void Compact(nft::Set& set);

  // Elements that count against the set's size: all but the catch-all.
  [[nodiscard]] size_t counted() const { return counted_; }
  // How many there may be; empty: any number.
  [[nodiscard]] std::optional<size_t> Capacity(const nft::Set& set) const;
  [[nodiscard]] bool alive(uint32_t position) const { return !dead_[position]; }

 private:
  // Boundaries by key; an end stands just below a start of the same key.
  struct Boundary {
    std::string key;
    bool start;
    auto operator<=>(const Boundary&) const = default;
  };
  static Boundary BoundaryOf(const nft::Element& element) {
    return {element.key, (element.flags & nft::kElementIntervalEnd) == 0};
  }
  Conflict CheckInterval(const nft::Set& set, const nft::Element& element);
  [[nodiscard]] bool IsHidden(const Boundary& wanted, const Boundary& above) const;
  Conflict CheckRanges(const nft::Set& set, const nft::Element& element) const;
  // The element of concatenated ranges that a lookup of `key` finds.
  [[nodiscard]] std::optional<uint32_t> FindContaining(const nft::Set& set, std::string_view key) const;
  void Enter(const nft::Set& set, uint32_t position);
  [[nodiscard]] static std::string FieldOf(const nft::Set& set, size_t field, std::string_view key);

  InsertionRules rules_;
  std::vector<bool> dead_;
  size_t dead_count_ = 0;
  size_t counted_ = 0;
  std::optional<uint32_t> catchall_;
  absl::flat_hash_map<std::string, uint32_t> exact_;
  absl::btree_map<Boundary, uint32_t> boundaries_;
  // The start that this transaction added again or removed last, until another start or an end comes: the end must then
  // be of the same interval. (The kernel forgets it with the clock's next tick, not with the transaction.)
  std::optional<Boundary> last_start_;
  absl::btree_set<Boundary> removed_;  // In this transaction.
  // Concatenated ranges: an element is filed under one field in which it is a single value, the field whose file was
  // shortest, or among those that are ranges in every field.
  absl::flat_hash_map<std::string, std::vector<uint32_t>> filed_;
  std::vector<uint32_t> unfiled_;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_ELEMENT_INDEX_H_
