// Sets as lookups see them: normalised, with verdicts and stateful expressions
// resolved (vm-semantics 11).
#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <vector>

#include "lib/ir/lowering.h"

namespace nftjit::ir {
namespace {

// The key of the last element before `key`. `key` is not all zeros.
std::string Before(std::string key) {
  for (size_t i = key.size(); i-- > 0;) {
    if (key[i]-- != 0) break;  // Borrow from the byte before a zero.
  }
  return key;
}

class SetLowering {
 public:
  SetLowering(Program& program, TableScope& scope) : p_(program), scope_(scope) {}

  absl::Status Lower(const nft::Set& set, bool changed_by_dynset);

 private:
  std::string Unsupported(const nft::Set& set, bool changed_by_dynset) const;
  absl::Status CheckKeys(const nft::Set& set) const;
  absl::Status AddExact(const nft::Set& set, SetInfo& info);
  absl::Status AddIntervals(const nft::Set& set, SetInfo& info);
  absl::Status AddElement(const nft::Set& set, const nft::Element& element, std::string key, std::string key_end,
                          SetInfo& info);
  absl::Status AddData(const nft::Set& set, const nft::Element& element, SetElement& out);
  void AddStateful(const nft::Element& element, SetElement& out);
  absl::Status Error(const nft::Set& set, std::string_view what) const;

  Program& p_;
  TableScope& scope_;
};

// Time to live in ms. Empty: forever. What has expired already never matches:
// 0.
std::optional<uint64_t> TimeToLive(const nft::Set& set, const nft::Element& element) {
  const std::optional<uint64_t> timeout = element.timeout_ms ? element.timeout_ms : set.timeout_ms;
  if (!timeout || *timeout == 0) return std::nullopt;
  return element.expiration_ms ? element.expiration_ms : timeout;
}

std::string SetLowering::Unsupported(const nft::Set& set, bool changed_by_dynset) const {
  if (set.is(nft::kSetObject)) return absl::StrCat("lookup in object map @", set.name);
  if (changed_by_dynset) return absl::StrCat("lookup in @", set.name, ", which dynset changes");
  for (const nft::Element& element : set.elements) {
    for (const nft::Expression& expression : element.expressions) {
      const bool known = expression.unknown_attributes == nullptr;
      if (known && (std::holds_alternative<nft::Counter>(expression.body) ||
                    std::holds_alternative<nft::Limit>(expression.body))) {
        continue;
      }
      return absl::StrCat("lookup in @", set.name, ", whose elements have ", std::string(nft::Name(expression.body)),
                          known ? "" : " with attributes that are not known");
    }
  }
  return {};
}

absl::Status SetLowering::Lower(const nft::Set& set, bool changed_by_dynset) {
  LoweredSet& lowered = scope_.sets[set.handle];
  lowered.unsupported = Unsupported(set, changed_by_dynset);
  if (!lowered.unsupported.empty()) return absl::OkStatus();
  SetInfo info;
  info.family = scope_.table->family;
  info.table = scope_.table->name;
  info.name = set.name;
  info.handle = set.handle;
  const bool interval = set.is(nft::kSetInterval);
  info.kind = !interval ? SetKind::kExact : set.field_lengths.size() >= 2 ? SetKind::kConcatRanges : SetKind::kInterval;
  info.constant = set.is(nft::kSetAnonymous) || set.is(nft::kSetConstant);
  info.verdict_map = set.is_verdict_map();
  if (set.key_len < 1 || set.key_len > 64) return Error(set, "a key is 1 to 64 bytes");
  info.key_len = static_cast<uint8_t>(set.key_len);
  if (set.is(nft::kSetMap) && !info.verdict_map) {
    if (set.data_len < 1 || set.data_len > 64) return Error(set, "data is 1 to 64 bytes");
    info.data_len = static_cast<uint8_t>(set.data_len);
  }
  if (info.kind == SetKind::kConcatRanges) info.field_lengths = set.field_lengths;
  if (absl::Status status = CheckKeys(set); !status.ok()) return status;
  absl::Status status = info.kind == SetKind::kInterval ? AddIntervals(set, info) : AddExact(set, info);
  if (!status.ok()) return status;
  lowered.id = SetId(static_cast<uint32_t>(p_.sets.size()));
  p_.sets.push_back(std::move(info));
  return absl::OkStatus();
}

absl::Status SetLowering::CheckKeys(const nft::Set& set) const {
  for (const nft::Element& element : set.elements) {
    const bool catchall = (element.flags & nft::kElementCatchall) != 0;
    if (element.key.size() != (catchall ? 0 : set.key_len))
      return Error(set, "an element's key is not as long as the set's");
    if (!element.key_end.empty() && element.key_end.size() != set.key_len) {
      return Error(set, "the end of an element's key is not as long as the set's");
    }
  }
  return absl::OkStatus();
}

absl::Status SetLowering::AddExact(const nft::Set& set, SetInfo& info) {
  info.elements.reserve(set.elements.size());
  for (const nft::Element& element : set.elements) {
    std::string key_end;
    if (info.kind == SetKind::kConcatRanges) key_end = element.key_end.empty() ? element.key : element.key_end;
    if (absl::Status status = AddElement(set, element, element.key, std::move(key_end), info); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

// The boundaries of an rbtree set become the intervals in which "the greatest
// boundary <= key is a start" holds. A start wins over an end of the same key;
// what no boundary follows is open to the top. So an end before the first
// start, like the null end that nft adds, means nothing, and a start also ends
// the interval before it.
absl::Status SetLowering::AddIntervals(const nft::Set& set, SetInfo& info) {
  std::vector<const nft::Element*> boundaries;
  boundaries.reserve(set.elements.size());
  for (const nft::Element& element : set.elements) {
    if ((element.flags & nft::kElementCatchall) == 0) {
      boundaries.push_back(&element);
    } else if (absl::Status status = AddElement(set, element, {}, {}, info); !status.ok()) {
      return status;
    }
  }
  const auto is_end = [](const nft::Element* element) { return (element->flags & nft::kElementIntervalEnd) != 0; };
  std::stable_sort(boundaries.begin(), boundaries.end(), [&](const nft::Element* a, const nft::Element* b) {
    const int order = a->key.compare(b->key);
    return order != 0 ? order < 0 : is_end(a) < is_end(b);
  });
  info.elements.reserve(boundaries.size());
  for (size_t i = 0; i < boundaries.size();) {
    size_t next = i + 1;
    while (next < boundaries.size() && boundaries[next]->key == boundaries[i]->key) ++next;
    if (!is_end(boundaries[i])) {
      std::string last = next < boundaries.size() ? Before(boundaries[next]->key) : std::string(set.key_len, '\xff');
      absl::Status status = AddElement(set, *boundaries[i], boundaries[i]->key, std::move(last), info);
      if (!status.ok()) return status;
    }
    i = next;
  }
  return absl::OkStatus();
}

absl::Status SetLowering::AddElement(const nft::Set& set, const nft::Element& element, std::string key,
                                     std::string key_end, SetInfo& info) {
  SetElement out;
  out.timeout_ms = TimeToLive(set, element);
  if (out.timeout_ms == 0) return absl::OkStatus();
  if (absl::Status status = AddData(set, element, out); !status.ok()) return status;
  AddStateful(element, out);
  if ((element.flags & nft::kElementCatchall) != 0) {
    info.catchall = std::move(out);
    return absl::OkStatus();
  }
  out.key = std::move(key);
  out.key_end = std::move(key_end);
  info.elements.push_back(std::move(out));
  return absl::OkStatus();
}

absl::Status SetLowering::AddData(const nft::Set& set, const nft::Element& element, SetElement& out) {
  if (!set.is(nft::kSetMap)) return absl::OkStatus();
  if (!set.is_verdict_map()) {
    const auto* data = std::get_if<std::string>(&element.data);
    if (data == nullptr || data->size() != set.data_len)
      return Error(set, "an element's data is not as long as the map's");
    out.data = *data;
    return absl::OkStatus();
  }
  const auto* verdict = std::get_if<nft::Verdict>(&element.data);
  if (verdict == nullptr) return Error(set, "an element of a verdict map has no verdict");
  out.verdict = verdict->code;
  if (verdict->code != nft::VerdictCode::kJump && verdict->code != nft::VerdictCode::kGoto) return absl::OkStatus();
  const auto it = scope_.chains.find(verdict->chain);
  if (it == scope_.chains.end()) return Error(set, absl::StrCat("no chain with handle ", verdict->chain));
  out.chain = it->second;
  return absl::OkStatus();
}

void SetLowering::AddStateful(const nft::Element& element, SetElement& out) {
  for (const nft::Expression& expression : element.expressions) {
    if (const auto* counter = std::get_if<nft::Counter>(&expression.body)) {
      if (out.counters.empty()) out.counters_first = out.limits.empty();
      out.counters.emplace_back(static_cast<uint32_t>(p_.counters.size()));
      p_.counters.push_back({{}, Origin::kNoExpression, counter->packets, counter->bytes});
    } else if (const auto* limit = std::get_if<nft::Limit>(&expression.body)) {
      out.limits.emplace_back(static_cast<uint32_t>(p_.limits.size()));
      p_.limits.push_back(LimitInfoOf(*limit));
    }
  }
}

absl::Status SetLowering::Error(const nft::Set& set, std::string_view what) const {
  return absl::InternalError(absl::StrCat("set ", std::string(nft::Name(scope_.table->family)), " ", scope_.table->name,
                                          " ", set.name, ": ", std::string(what)));
}

// The sets whose content rules change.
absl::flat_hash_set<nft::Handle> DynsetTargets(const nft::Table& table) {
  absl::flat_hash_set<nft::Handle> targets;
  for (const nft::Chain& chain : table.chains) {
    for (const nft::Rule& rule : chain.rules) {
      for (const nft::Expression& expression : rule.expressions) {
        if (const auto* dynset = std::get_if<nft::Dynset>(&expression.body)) targets.insert(dynset->set);
      }
    }
  }
  return targets;
}

}  // namespace

absl::Status LowerSets(Program& program, TableScope& scope) {
  if (scope.table->sets.empty()) return absl::OkStatus();
  const absl::flat_hash_set<nft::Handle> targets = DynsetTargets(*scope.table);
  SetLowering lowering(program, scope);
  program.sets.reserve(program.sets.size() + scope.table->sets.size());
  for (const nft::Set& set : scope.table->sets) {
    if (absl::Status status = lowering.Lower(set, targets.contains(set.handle)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace nftjit::ir
