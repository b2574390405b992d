#include "lib/ir/verifier.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "lib/ir/guards.h"
#include "lib/ir/row_check.h"

namespace nftjit::ir {
namespace {

constexpr uint32_t kNoItem = UINT32_MAX;

// Functions that check return what is wrong, or an empty text.
class Verifier {
 public:
  explicit Verifier(const Program& program) : p_(program) {}
  absl::Status Run();

 private:
  // A block that is open, or the chain itself.
  struct Scope {
    uint32_t end;
    GuardSet guards;
  };

  std::string Tables() const;
  std::string Origins(const Origin& origin) const;
  std::string Set(const SetInfo& set) const;
  std::string Element(const SetInfo& set, const SetElement& element, bool catchall) const;
  absl::Status ChainItems(uint32_t chain);
  std::string ItemShape(const Item& item, uint32_t index, uint32_t scope_end) const;
  std::string OneRow(uint32_t index, uint32_t item, const GuardSet& guards) const;
  std::string Place(const Row& row, uint32_t index, const Item& item) const;
  std::string Operands(const Row& row, uint32_t index, uint32_t item) const;
  std::string OneOperand(Operand kind, uint32_t id, uint32_t index, uint32_t item) const;
  std::string Target(nft::VerdictCode verdict, uint32_t chain) const;
  std::string Guards(const Row& row, const GuardSet& guards) const;
  absl::Status Error(uint32_t chain, uint32_t item, uint32_t row, std::string_view what) const;

  const Program& p_;
  std::vector<uint32_t> item_of_row_;
};

absl::Status Verifier::Run() {
  if (p_.rows.size() != p_.origins.size()) {
    return absl::InternalError(absl::StrCat(p_.rows.size(), " rows but ", p_.origins.size(), " origins"));
  }
  for (const SetInfo& set : p_.sets) {
    if (const std::string wrong = Set(set); !wrong.empty()) {
      return absl::InternalError(absl::StrCat("set ", set.table, " ", set.name, ": ", wrong));
    }
  }
  if (const std::string wrong = Tables(); !wrong.empty()) return absl::InternalError(wrong);
  item_of_row_.assign(p_.rows.size(), kNoItem);
  for (uint32_t chain = 0; chain < p_.chains.size(); ++chain) {
    if (absl::Status status = ChainItems(chain); !status.ok()) return status;
  }
  return absl::OkStatus();
}

std::string Verifier::Tables() const {
  const auto bad_rule = [this](RuleId rule) { return rule.valid() && rule.index >= p_.rules.size(); };
  for (const RuleInfo& rule : p_.rules) {
    if (rule.chain.index >= p_.chains.size()) return absl::StrCat("rule ", rule.handle, ": its chain does not exist");
  }
  for (size_t i = 0; i < p_.counters.size(); ++i) {
    if (bad_rule(p_.counters[i].rule)) return absl::StrCat("counter #", i, ": its rule does not exist");
  }
  for (size_t i = 0; i < p_.logs.size(); ++i) {
    if (bad_rule(p_.logs[i].rule)) return absl::StrCat("log #", i, ": its rule does not exist");
  }
  for (const UnsupportedRule& rule : p_.unsupported) {
    if (rule.rule.index >= p_.rules.size()) return "an unsupported rule does not exist";
  }
  for (const std::vector<Origin>& list : p_.origin_lists) {
    for (const Origin& origin : list) {
      if (std::string wrong = Origins(origin); !wrong.empty()) return wrong;
    }
  }
  return {};
}

std::string Verifier::Origins(const Origin& origin) const {
  if (origin.rule != UINT32_MAX && origin.rule >= p_.rules.size()) return "the rule of an origin does not exist";
  if ((origin.more & Origin::kList) != 0) {
    if ((origin.more & ~Origin::kList) >= p_.origin_lists.size()) return "the list of an origin does not exist";
  } else if (origin.more != 0 && origin.more >> std::min<int>(origin.expression, Origin::kBits) != 0) {
    return "an expression of an origin does not exist";
  }
  return {};
}

std::string Verifier::Set(const SetInfo& set) const {
  if (set.key_len < 1 || set.key_len > kMaxValueLength) return "a key is 1 to 64 bytes";
  if (set.data_len > kMaxValueLength || (set.verdict_map && set.data_len != 0)) return "wrong data length";
  size_t fields = 0;
  for (const uint8_t length : set.field_lengths) fields += (length + 3U) / 4 * 4;
  if (set.kind == SetKind::kConcatRanges && fields != set.key_len) return "the fields do not add up to the key";
  const std::string* last = nullptr;
  for (const SetElement& element : set.elements) {
    if (std::string wrong = Element(set, element, false); !wrong.empty()) return wrong;
    if (set.kind != SetKind::kInterval) continue;
    // std::string compares as unsigned bytes.
    if (element.key > element.key_end) return "an interval is empty";
    if (last != nullptr && *last >= element.key) return "intervals overlap or are not sorted";
    last = &element.key_end;
  }
  return set.catchall ? Element(set, *set.catchall, true) : std::string();
}

std::string Verifier::Element(const SetInfo& set, const SetElement& element, bool catchall) const {
  const size_t key = catchall ? 0 : set.key_len;
  const size_t key_end = catchall || set.kind == SetKind::kExact ? 0 : set.key_len;
  if (element.key.size() != key) return absl::StrCat("a key of ", element.key.size(), " bytes, not ", key);
  if (element.key_end.size() != key_end) {
    return absl::StrCat("an end of a key of ", element.key_end.size(), " bytes, not ", key_end);
  }
  if (element.data.size() != set.data_len) {
    return absl::StrCat("data of ", element.data.size(), " bytes, not ", int{set.data_len});
  }
  for (const CounterId id : element.counters) {
    if (id.index >= p_.counters.size()) return absl::StrCat("counter #", id.index, " does not exist");
  }
  for (const LimitId id : element.limits) {
    if (id.index >= p_.limits.size()) return absl::StrCat("limit #", id.index, " does not exist");
  }
  return Target(set.verdict_map ? element.verdict : nft::VerdictCode::kContinue, element.chain.index);
}

// What jumps and gotos go to; the other verdicts go nowhere.
std::string Verifier::Target(nft::VerdictCode verdict, uint32_t chain) const {
  switch (verdict) {
    case nft::VerdictCode::kDrop:
    case nft::VerdictCode::kAccept:
    case nft::VerdictCode::kContinue:
    case nft::VerdictCode::kBreak:
    case nft::VerdictCode::kReturn:
      return chain == UINT32_MAX ? "" : "a verdict that goes nowhere has a chain";
    case nft::VerdictCode::kJump:
    case nft::VerdictCode::kGoto:
      if (chain >= p_.chains.size()) return "the chain to go to does not exist";
      if (p_.chains[chain].base)
        return absl::StrCat("the chain to go to, ", p_.chains[chain].name, ", is a base chain");
      return {};
    case nft::VerdictCode::kStolen:
    case nft::VerdictCode::kQueue:
      break;
  }
  return "a verdict that rules cannot give";
}

absl::Status Verifier::ChainItems(uint32_t chain) {
  const uint64_t end = uint64_t{p_.chains[chain].first_item} + p_.chains[chain].item_count;
  if (end > p_.items.size()) return Error(chain, kNoItem, kNoItem, "its items do not exist");
  std::vector<Scope> scopes = {{static_cast<uint32_t>(end), {}}};
  for (uint32_t index = p_.chains[chain].first_item; index < end; ++index) {
    while (scopes.size() > 1 && scopes.back().end <= index) scopes.pop_back();
    const Item& item = p_.items[index];
    if (const std::string wrong = ItemShape(item, index, scopes.back().end); !wrong.empty()) {
      return Error(chain, index, kNoItem, wrong);
    }
    GuardSet guards = scopes.back().guards;
    for (uint32_t row = item.first_row; row < item.first_row + item.row_count; ++row) {
      if (item_of_row_[row] != kNoItem) return Error(chain, index, row, "the row belongs to two items");
      if (const std::string wrong = OneRow(row, index, guards); !wrong.empty()) return Error(chain, index, row, wrong);
      item_of_row_[row] = index;
      if (p_.rows[row].op == Op::kGuard) guards.Add(p_.rows[row].guard(), p_.rows[row].a);
    }
    if (item.kind == ItemKind::kBlock) scopes.push_back({item.end, guards});
  }
  return absl::OkStatus();
}

std::string Verifier::ItemShape(const Item& item, uint32_t index, uint32_t scope_end) const {
  if (uint64_t{item.first_row} + item.row_count > p_.rows.size()) return "its rows do not exist";
  if (item.end <= index || item.end > scope_end) return "it does not end inside of what is around it";
  if (item.kind == ItemKind::kBlock) return {};
  if (item.end != index + 1) return "a rule has items";
  return item.rule.index < p_.rules.size() ? "" : "its rule does not exist";
}

std::string Verifier::OneRow(uint32_t index, uint32_t item, const GuardSet& guards) const {
  const Row& row = p_.rows[index];
  if (static_cast<size_t>(row.op) >= kOpCount) return "no such operation";
  std::string wrong = Place(row, index, p_.items[item]);
  if (wrong.empty()) wrong = Operands(row, index, item);
  if (wrong.empty()) wrong = CheckRow(p_, row);
  if (wrong.empty() && row.op == Op::kVerdict) wrong = Target(row.verdict(), row.a);
  if (wrong.empty()) wrong = Guards(row, guards);
  if (wrong.empty()) wrong = Origins(p_.origins[index]);
  return wrong;
}

std::string Verifier::Place(const Row& row, uint32_t index, const Item& item) const {
  const OpKind kind = Info(row.op).kind;
  if (item.kind == ItemKind::kBlock && kind != OpKind::kValue && kind != OpKind::kTest) {
    return "a block has only values and tests";
  }
  if (kind == OpKind::kEnd && row.op != Op::kVerdictMap && index + 1 != item.first_row + item.row_count) {
    return "it ends the rule but is not its last row";
  }
  return {};
}

std::string Verifier::Operands(const Row& row, uint32_t index, uint32_t item) const {
  const OpInfo& info = Info(row.op);
  std::string wrong = OneOperand(info.a, row.a, index, item);
  if (wrong.empty()) wrong = OneOperand(info.b, row.b, index, item);
  if (wrong.empty()) wrong = OneOperand(info.c, row.c, index, item);
  return wrong;
}

std::string Verifier::OneOperand(Operand kind, uint32_t id, uint32_t index, uint32_t item) const {
  const auto missing = [id](size_t size, std::string_view what) {
    return id < size ? std::string() : absl::StrCat(std::string(what), " ", id, " does not exist");
  };
  switch (kind) {
    case Operand::kNone:
    case Operand::kNumber:
    case Operand::kChain:  // See Target().
      return {};
    case Operand::kValue: {
      if (id >= index || Info(p_.rows[id].op).kind != OpKind::kValue) return "an operand is no value before it";
      const uint32_t home = item_of_row_[id];
      // Rows of this item are not entered before they are checked, so its own values have it already.
      if (home == item) return {};
      if (home == kNoItem || p_.items[home].kind != ItemKind::kBlock || home > item || p_.items[home].end <= item) {
        return "an operand is defined neither in its item nor in a block around it";
      }
      return {};
    }
    case Operand::kConstant:
      return missing(p_.constants.size(), "constant");
    case Operand::kOptConstant:
      return id == UINT32_MAX ? std::string() : missing(p_.constants.size(), "constant");
    case Operand::kSet:
      return missing(p_.sets.size(), "set");
    case Operand::kCounter:
      return missing(p_.counters.size(), "counter");
    case Operand::kLimit:
      return missing(p_.limits.size(), "limit");
    case Operand::kLog:
      return missing(p_.logs.size(), "log");
    case Operand::kText:
      return missing(p_.texts.size(), "text");
  }
  return "no such kind of operand";
}

std::string Verifier::Guards(const Row& row, const GuardSet& guards) const {
  for (const Requirement& requirement : RequiredGuards(row)) {
    if (guards.Covers(requirement.kind, requirement.number)) continue;
    return absl::StrCat("no guard ", std::string(Name(requirement.kind)), " of ", requirement.number,
                        " on the way to it");
  }
  return {};
}

absl::Status Verifier::Error(uint32_t chain, uint32_t item, uint32_t row, std::string_view what) const {
  const Chain& place = p_.chains[chain];
  std::string message =
      absl::StrCat("chain ", std::string(nft::Name(place.family)), " ", place.table, " ", place.name, ": ");
  if (item != kNoItem) {
    absl::StrAppend(&message, "item ", item);
    if (p_.items[item].rule.index < p_.rules.size()) {
      const RuleInfo& rule = p_.rules[p_.items[item].rule.index];
      absl::StrAppend(&message, ", rule ", rule.handle);
      if (const std::string where = ToString(rule.where); !where.empty()) absl::StrAppend(&message, " (", where, ")");
    }
    absl::StrAppend(&message, ": ");
  }
  if (row != kNoItem) {
    const auto op = static_cast<size_t>(p_.rows[row].op);
    absl::StrAppend(&message, "row ", row);
    if (op < kOpCount) absl::StrAppend(&message, " (", std::string(Info(p_.rows[row].op).text), ")");
    absl::StrAppend(&message, ": ");
  }
  message.append(what);
  return absl::InternalError(message);
}

}  // namespace

absl::Status Verify(const Program& program) { return Verifier(program).Run(); }

}  // namespace nftjit::ir
