#include "lib/control/element_index.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/nft/set_backend.h"

namespace nftjit::control {
namespace {

bool IsStart(const nft::Element& element) { return (element.flags & nft::kElementIntervalEnd) == 0; }
bool IsCatchall(const nft::Element& element) { return (element.flags & nft::kElementCatchall) != 0; }

// The end boundary at the lowest key, which nft puts first where the lowest interval begins above it.
bool IsNullEnd(const nft::Element& element) {
  return !IsStart(element) && element.key.find_first_not_of('\0') == std::string::npos;
}

const std::string& UpperEnd(const nft::Element& element) {
  return element.key_end.empty() ? element.key : element.key_end;
}

// Calls `visit(field number, offset, length)` until it returns false; tells whether all returned true.
template <class Visit>
bool ForEachField(const nft::Set& set, Visit&& visit) {
  size_t offset = 0;
  for (size_t i = 0; i < set.field_lengths.size(); ++i) {
    const size_t length = set.field_lengths[i];
    if (!visit(i, offset, length)) return false;
    offset += (length + 3) & ~size_t{3};
  }
  return true;
}

std::string_view Part(std::string_view key, size_t offset, size_t length) {
  return offset >= key.size() ? std::string_view() : key.substr(offset, length);
}

bool Contains(const nft::Set& set, const nft::Element& element, std::string_view key) {
  return ForEachField(set, [&](size_t, size_t offset, size_t length) {
    const std::string_view value = Part(key, offset, length);
    return Part(element.key, offset, length) <= value && value <= Part(UpperEnd(element), offset, length);
  });
}

// Equal but for padding.
bool SameFields(const nft::Set& set, std::string_view a, std::string_view b) {
  return ForEachField(
      set, [&](size_t, size_t offset, size_t length) { return Part(a, offset, length) == Part(b, offset, length); });
}

}  // namespace

InsertionRules InsertionRulesOf(const nft::Set& set) {
  switch (nft::BackendOf(set)) {
    case nft::SetBackend::kRbtree:
      return InsertionRules::kInterval;
    case nft::SetBackend::kPipapo:
      return InsertionRules::kConcatenatedRanges;
    case nft::SetBackend::kBitmap:
    case nft::SetBackend::kHash:
    case nft::SetBackend::kResizableHash:
      break;
  }
  return InsertionRules::kExact;
}

ElementIndex::ElementIndex(nft::Set& set) : rules_(InsertionRulesOf(set)) {
  dead_.resize(set.elements.size());
  for (uint32_t i = 0; i < set.elements.size(); ++i) Enter(set, i);
}

std::optional<size_t> ElementIndex::Capacity(const nft::Set& set) const {
  const size_t size = set.size.value_or(0);
  if (size == 0) return std::nullopt;
  if (rules_ != InsertionRules::kInterval) return size;
  // Two boundaries an interval, and room for the null end. The kernel takes for that any lowest end without a byte of
  // 1, and looks at removed ones until the batch is over.
  const Boundary* lowest = boundaries_.empty() ? nullptr : &boundaries_.begin()->first;
  if (!removed_.empty() && (lowest == nullptr || *removed_.begin() < *lowest)) lowest = &*removed_.begin();
  const bool null_end = lowest != nullptr && !lowest->start && lowest->key.find('\1') == std::string::npos;
  return 2 * size + (null_end ? 1 : 0);
}

std::string ElementIndex::FieldOf(const nft::Set& set, size_t field, std::string_view key) {
  std::string name(1, static_cast<char>(field));
  ForEachField(set, [&](size_t i, size_t offset, size_t length) {
    if (i == field) name += Part(key, offset, length);
    return i != field;
  });
  return name;
}

void ElementIndex::Enter(const nft::Set& set, uint32_t position) {
  const nft::Element& element = set.elements[position];
  if (!IsCatchall(element)) ++counted_;
  if (IsCatchall(element)) {
    catchall_ = position;
    return;
  }
  switch (rules_) {
    case InsertionRules::kExact:
      exact_.emplace(element.key, position);
      return;
    case InsertionRules::kInterval:
      boundaries_.emplace(BoundaryOf(element), position);
      return;
    case InsertionRules::kConcatenatedRanges:
      break;
  }
  std::vector<uint32_t>* shortest = nullptr;
  for (size_t field = 0; field < set.field_lengths.size(); ++field) {
    std::string value = FieldOf(set, field, element.key);
    if (value != FieldOf(set, field, UpperEnd(element))) continue;
    std::vector<uint32_t>& file = filed_[std::move(value)];
    if (file.empty()) {
      shortest = &file;
      break;  // The reference would not survive another insertion, and nothing is shorter.
    }
  }
  if (shortest == nullptr) {
    for (size_t field = 0; field < set.field_lengths.size(); ++field) {
      const std::string value = FieldOf(set, field, element.key);
      if (value != FieldOf(set, field, UpperEnd(element))) continue;
      std::vector<uint32_t>& file = filed_.find(value)->second;
      if (shortest == nullptr || file.size() < shortest->size()) shortest = &file;
    }
  }
  (shortest == nullptr ? unfiled_ : *shortest).push_back(position);
}

ElementIndex::Conflict ElementIndex::Check(const nft::Set& set, const nft::Element& element) {
  if (IsCatchall(element)) {
    return catchall_.has_value() ? Conflict{Conflict::kSame, *catchall_} : Conflict{};
  }
  switch (rules_) {
    case InsertionRules::kExact: {
      const auto found = exact_.find(element.key);
      return found == exact_.end() ? Conflict{} : Conflict{Conflict::kSame, found->second};
    }
    case InsertionRules::kInterval:
      return CheckInterval(set, element);
    case InsertionRules::kConcatenatedRanges:
      return CheckRanges(set, element);
  }
  return {};
}

// The kernel looks down from the nearest key above, be it one that the batch has removed: what stands higher is not
// seen.
bool ElementIndex::IsHidden(const Boundary& wanted, const Boundary& above) const {
  const auto gone = removed_.upper_bound(Boundary{wanted.key, true});
  return gone != removed_.end() && gone->key < above.key;
}

// Looks at the neighbouring boundaries only, never at intervals: some overlaps are accepted, as in the kernel.
ElementIndex::Conflict ElementIndex::CheckInterval(const nft::Set& set, const nft::Element& element) {
  const Boundary wanted = BoundaryOf(element);
  const auto above = boundaries_.lower_bound(wanted);
  const bool exists = above != boundaries_.end() && above->first == wanted;
  const Boundary* below = above == boundaries_.begin() ? nullptr : &std::prev(above)->first;
  const bool end_above = above != boundaries_.end() && !above->first.start && !IsHidden(wanted, above->first);

  if (wanted.start || IsNullEnd(element)) last_start_.reset();
  if (wanted.start) {
    if (exists) {
      last_start_ = wanted;
      return {Conflict::kSame, above->second};
    }
    // Anonymous sets may leave ends out; but a start within an interval that has one overlaps it.
    if (below != nullptr && below->start && (!set.is(nft::kSetAnonymous) || end_above)) return {Conflict::kOverlap};
    return {};
  }
  if (exists) {
    if (IsNullEnd(element)) return {Conflict::kIgnored};
    const std::optional<Boundary> start = std::exchange(last_start_, std::nullopt);
    if (start.has_value() && (below == nullptr || *below != *start)) return {Conflict::kOverlap};
    return {Conflict::kSame, above->second};
  }
  if (below != nullptr && !below->start) return {Conflict::kOverlap};
  if (end_above) return {Conflict::kOverlap};
  return {};
}

std::optional<uint32_t> ElementIndex::FindForRemoval(const nft::Set& set, const nft::Element& wanted) {
  const std::optional<uint32_t> found = Find(set, wanted);
  if (rules_ != InsertionRules::kInterval || IsCatchall(wanted)) return found;
  const Boundary boundary = BoundaryOf(wanted);
  if (boundary.start || IsNullEnd(wanted)) last_start_.reset();
  if (!found.has_value()) return std::nullopt;
  if (boundary.start) {
    last_start_ = boundary;
    return found;
  }
  // After the start that went last, only the end of the same interval may go: nothing lies between them.
  const std::optional<Boundary> start = std::exchange(last_start_, std::nullopt);
  if (!start.has_value()) return found;
  const auto live = boundaries_.lower_bound(boundary);
  const auto gone = removed_.lower_bound(boundary);
  const bool starts_here = gone != removed_.begin() && *std::prev(gone) == *start;
  const bool between = live != boundaries_.begin() && *start < std::prev(live)->first;
  return starts_here && !between ? found : std::nullopt;
}

ElementIndex::Conflict ElementIndex::CheckRanges(const nft::Set& set, const nft::Element& element) const {
  if (const std::optional<uint32_t> found = FindContaining(set, element.key); found.has_value()) {
    const nft::Element& there = set.elements[*found];
    const bool same = SameFields(set, there.key, element.key) && SameFields(set, UpperEnd(there), UpperEnd(element));
    return {same ? Conflict::kSame : Conflict::kOverlap, *found};
  }
  if (FindContaining(set, UpperEnd(element)).has_value()) return {Conflict::kOverlap};
  return {};
}

std::optional<uint32_t> ElementIndex::FindContaining(const nft::Set& set, std::string_view key) const {
  std::optional<uint32_t> first;
  const auto search = [&](const std::vector<uint32_t>& positions) {
    for (const uint32_t position : positions) {
      if (first.has_value() && *first < position) continue;
      if (!dead_[position] && Contains(set, set.elements[position], key)) first = position;
    }
  };
  for (size_t field = 0; field < set.field_lengths.size(); ++field) {
    if (const auto file = filed_.find(FieldOf(set, field, key)); file != filed_.end()) search(file->second);
  }
  search(unfiled_);
  return first;
}

void ElementIndex::Insert(nft::Set& set, nft::Element element) {
  set.elements.push_back(std::move(element));
  dead_.push_back(false);
  Enter(set, static_cast<uint32_t>(set.elements.size() - 1));
}

std::optional<uint32_t> ElementIndex::Find(const nft::Set& set, const nft::Element& wanted) const {
  if (IsCatchall(wanted)) return catchall_;
  switch (rules_) {
    case InsertionRules::kExact: {
      const auto found = exact_.find(wanted.key);
      return found == exact_.end() ? std::nullopt : std::optional(found->second);
    }
    case InsertionRules::kInterval: {
      const auto found = boundaries_.find(BoundaryOf(wanted));
      return found == boundaries_.end() ? std::nullopt : std::optional(found->second);
    }
    case InsertionRules::kConcatenatedRanges:
      return FindContaining(set, wanted.key);
  }
  return std::nullopt;
}

std::optional<uint32_t> ElementIndex::FindCovering(const nft::Set& set, const nft::Element& wanted) const {
  if (rules_ != InsertionRules::kInterval || IsCatchall(wanted)) return Find(set, wanted);
  const Boundary boundary = BoundaryOf(wanted);
  if (!boundary.start) {
    // At the key itself any boundary will do for the kernel; above it, an end.
    const auto above = boundaries_.lower_bound(boundary);
    if (above == boundaries_.end() || (above->first.start && above->first.key != wanted.key)) return std::nullopt;
    return above->second;
  }
  // A start of the key itself decides; so the search is for the greatest boundary at or below {key, start}.
  const auto above = boundaries_.upper_bound(boundary);
  if (above == boundaries_.begin() || !std::prev(above)->first.start) return std::nullopt;
  return std::prev(above)->second;
}

void ElementIndex::Remove(nft::Set& set, uint32_t position) {
  const nft::Element& element = set.elements[position];
  if (!IsCatchall(element)) --counted_;
  dead_[position] = true;
  ++dead_count_;
  if (IsCatchall(element)) {
    catchall_.reset();
  } else if (rules_ == InsertionRules::kExact) {
    exact_.erase(element.key);
  } else if (rules_ == InsertionRules::kInterval) {
    boundaries_.erase(BoundaryOf(element));
    removed_.insert(BoundaryOf(element));
  }  // Files keep dead positions until Compact().
}

void ElementIndex::Clear(nft::Set& set) {
  absl::btree_set<Boundary> removed = std::move(removed_);
  for (const auto& [boundary, position] : boundaries_) removed.insert(boundary);
  std::optional<Boundary> last_start = std::move(last_start_);
  set.elements.clear();
  *this = ElementIndex(set);
  removed_ = std::move(removed);
  last_start_ = std::move(last_start);
}

void ElementIndex::Compact(nft::Set& set) {
  if (dead_count_ == 0) return;
  size_t kept = 0;
  for (size_t i = 0; i < set.elements.size(); ++i) {
    if (dead_[i]) continue;
    if (kept != i) set.elements[kept] = std::move(set.elements[i]);
    ++kept;
  }
  set.elements.resize(kept);
  absl::btree_set<Boundary> removed = std::move(removed_);
  std::optional<Boundary> last_start = std::move(last_start_);
  *this = ElementIndex(set);
  removed_ = std::move(removed);
  last_start_ = std::move(last_start);
}

}  // namespace nftjit::control
