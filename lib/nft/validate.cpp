#include "lib/nft/validate.h"

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cerrno>
#include <vector>

#include "lib/nft/hook_rules.h"

namespace nftjit::nft {
namespace {

// One base chain's place, as an index: what has been found valid for it needs no second walk.
constexpr size_t kPlaces = 6 * 3;
size_t PlaceOf(const BaseChain& base) { return base.hook * size_t{3} + static_cast<size_t>(base.type); }

class Walk {
 public:
  explicit Walk(const Table& table) : table_(table), valid_(table.chains.size()) {
    for (size_t i = 0; i < table.chains.size(); ++i) chains_.emplace(table.chains[i].handle, i);
    for (const Set& set : table.sets) sets_.emplace(set.handle, &set);
    for (std::array<int8_t, kPlaces>& levels : valid_) levels.fill(kNever);
  }

  std::optional<Violation> Run() {
    for (size_t i = 0; i < table_.chains.size(); ++i) {
      if (!table_.chains[i].base) continue;
      base_ = &table_.chains[i];
      if (VisitChain(i, 0)) return std::move(violation_);
    }
    return std::nullopt;
  }

 private:
  static constexpr int8_t kNever = -1;

  // Where the walk stands, for a violation.
  struct At {
    const Chain& chain;
    const Rule& rule;
    size_t expression;
    const Set* map = nullptr;
  };

  // True if a violation was found.
  bool VisitChain(size_t index, unsigned level) {
    int8_t& valid = valid_[index][PlaceOf(*base_->base)];
    if (valid >= static_cast<int>(level)) return false;  // Walked from at least as deep.
    const Chain& chain = table_.chains[index];
    for (const Rule& rule : chain.rules) {
      for (size_t i = 0; i < rule.expressions.size(); ++i) {
        if (VisitExpression({chain, rule, i}, level)) return true;
      }
    }
    valid = static_cast<int8_t>(level);
    return false;
  }

  bool VisitExpression(const At& at, unsigned level) {
    const ExpressionBody& body = at.rule.expressions[at.expression].body;
    if (const auto* immediate = std::get_if<Immediate>(&body)) {
      return immediate->dreg.is_verdict() && VisitVerdict(at, immediate->verdict, level);
    }
    if (const auto* lookup = std::get_if<Lookup>(&body)) {
      const Set* set = FindSet(lookup->set);
      return set != nullptr && set->is_verdict_map() && VisitMap({at.chain, at.rule, at.expression, set}, level);
    }
    if (IsAllowed(body)) return false;
    std::string what = std::string(Name(body)) + " is not allowed at hook " +
                       std::string(HookName(table_.family, base_->base->hook)) + " of " +
                       std::string(Name(base_->base->type)) + " chain " + base_->name;
    return Report(EOPNOTSUPP, at, what);
  }

  bool VisitMap(const At& at, unsigned level) {
    for (const Element& element : at.map->elements) {
      const auto* verdict = std::get_if<Verdict>(&element.data);
      if (verdict != nullptr && VisitVerdict(at, *verdict, level)) return true;
    }
    return false;
  }

  bool VisitVerdict(const At& at, const Verdict& verdict, unsigned level) {
    if (verdict.code != VerdictCode::kJump && verdict.code != VerdictCode::kGoto) return false;
    const auto target = chains_.find(verdict.chain);
    if (target == chains_.end()) return false;
    if (level == kMaxJumpDepth) {
      return Report(EMLINK, at,
                    "jumps to chain " + table_.chains[target->second].name + " more than 15 chains below " +
                        "base chain " + base_->name + ", or in a loop");
    }
    return VisitChain(target->second, level + 1);
  }

  // Objects restrict their references: a rule refers to one, or to a map of them.
  [[nodiscard]] bool IsAllowed(const ExpressionBody& body) const {
    const BaseChain& base = *base_->base;
    if (const auto* reference = std::get_if<ObjectRef>(&body)) {
      return IsObjectAllowedAt(reference->type, table_.family, base.hook);
    }
    if (const auto* map = std::get_if<ObjectMapRef>(&body)) {
      const Set* set = FindSet(map->set);
      return set == nullptr || IsObjectAllowedAt(static_cast<ObjectType>(set->object_type), table_.family, base.hook);
    }
    return IsAllowedAt(body, table_.family, base.hook, base.type);
  }

  [[nodiscard]] const Set* FindSet(Handle handle) const {
    const auto found = sets_.find(handle);
    return found == sets_.end() ? nullptr : found->second;
  }

  bool Report(int error, const At& at, const std::string& what) {
    std::string message = "rule " + std::to_string(at.rule.handle) + " of chain " + at.chain.name + ": ";
    if (at.map != nullptr) message += "an element of map " + at.map->name + " ";
    message += what;
    violation_ = Violation{.error = error,
                           .base = base_->handle,
                           .chain = at.chain.handle,
                           .rule = at.rule.handle,
                           .set = at.map == nullptr ? 0 : at.map->handle,
                           .expression = at.expression,
                           .where = at.rule.where,
                           .message = std::move(message)};
    return true;
  }

  const Table& table_;
  absl::flat_hash_map<Handle, size_t> chains_;
  absl::flat_hash_map<Handle, const Set*> sets_;
  const Chain* base_ = nullptr;
  // Per chain and place the greatest level from which it was walked without a violation.
  std::vector<std::array<int8_t, kPlaces>> valid_;
  std::optional<Violation> violation_;
};

}  // namespace

std::optional<Violation> Validate(const Table& table) { return Walk(table).Run(); }

}  // namespace nftjit::nft
