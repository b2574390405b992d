#include "lib/ir/lower.h"

#include <absl/strings/str_cat.h>

#include <utility>
#include <vector>

#include "lib/ir/guards.h"
#include "lib/ir/lowering.h"

namespace nftjit::ir {
namespace {

constexpr uint32_t kTableDormant = 1;

Chain ChainOf(const nft::Table& table, const nft::Chain& chain) {
  Chain out;
  out.family = table.family;
  out.table = table.name;
  out.name = chain.name;
  out.dormant = (table.flags & kTableDormant) != 0;
  if (chain.base) {
    out.base = BaseChainInfo{chain.base->type,         chain.base->hook,    chain.base->priority, chain.base->policy,
                             chain.base->registration, chain.base->devices, chain.base->counters};
  }
  return out;
}

// One allocation for each table instead of many: rules and expressions are
// counted first.
void Reserve(Program& program, const nft::Ruleset& ruleset) {
  size_t rules = 0, expressions = 0, chains = 0;
  for (const nft::Table& table : ruleset.tables) {
    chains += table.chains.size();
    for (const nft::Chain& chain : table.chains) {
      rules += chain.rules.size();
      for (const nft::Rule& rule : chain.rules) expressions += rule.expressions.size();
    }
  }
  program.chains.reserve(chains);
  program.rules.reserve(rules);
  program.items.reserve(rules);
  // A load brings its guard: about three rows for two expressions.
  program.rows.reserve(expressions + expressions / 2);
  program.origins.reserve(expressions + expressions / 2);
  program.counters.reserve(rules);
  program.constants.Reserve(expressions / 4);
}

}  // namespace

absl::StatusOr<Program> Lower(const nft::Ruleset& ruleset, const LowerOptions& options) {
  Program program;
  Reserve(program, ruleset);
  std::vector<TableScope> scopes(ruleset.tables.size());
  for (size_t i = 0; i < scopes.size(); ++i) {
    const nft::Table& table = ruleset.tables[i];
    scopes[i].table = &table;
    scopes[i].chains.reserve(table.chains.size());
    for (const nft::Chain& chain : table.chains) {
      scopes[i].chains[chain.handle] = ChainId(static_cast<uint32_t>(program.chains.size()));
      program.chains.push_back(ChainOf(table, chain));
    }
  }
  RuleLowering lowering(program, options);
  for (TableScope& scope : scopes) {
    if (absl::Status status = LowerSets(program, scope); !status.ok()) return status;
    for (const nft::Chain& chain : scope.table->chains) {
      if (absl::Status status = lowering.LowerChain(scope, chain, scope.chains[chain.handle]); !status.ok()) {
        return status;
      }
    }
  }
  return program;
}

absl::Status RuleLowering::LowerChain(const TableScope& scope, const nft::Chain& chain, ChainId id) {
  scope_ = &scope;
  p_.chains[id.index].first_item = static_cast<uint32_t>(p_.items.size());
  const bool nat = chain.base && chain.base->type == nft::ChainType::kNat && !p_.chains[id.index].dormant;
  for (const nft::Rule& rule : chain.rules) {
    rule_ = &rule;
    rule_id_ = RuleId(static_cast<uint32_t>(p_.rules.size()));
    p_.rules.push_back({id, rule.handle, nft::Comment(rule.userdata).value_or(std::string()), rule.where});
    origin_ = {rule_id_.index, Origin::kNoExpression};
    const auto first_row = static_cast<uint32_t>(p_.rows.size());
    const size_t first_counter = p_.counters.size();
    const Step step = nat ? Unsupported("nat chain") : LowerRule(rule);
    if (step == Step::kError) return error_;
    if (step != Step::kNext) AddCounters(rule, first_counter);
    FinishRule(first_row, step);
  }
  // Its policy would be applied to the first packet of a flow alone, which no
  // hook here does.
  if (nat && chain.rules.empty() && chain.base->policy == nft::VerdictCode::kDrop) {
    rule_id_ = RuleId(static_cast<uint32_t>(p_.rules.size()));
    p_.rules.push_back({id, 0, {}, {}});
    origin_ = {rule_id_.index, Origin::kNoExpression};
    FinishRule(static_cast<uint32_t>(p_.rows.size()), Unsupported("policy drop of a nat chain"));
  }
  p_.chains[id.index].item_count = static_cast<uint32_t>(p_.items.size()) - p_.chains[id.index].first_item;
  return absl::OkStatus();
}

RuleLowering::Step RuleLowering::LowerRule(const nft::Rule& rule) {
  registers_.Reset();
  for (size_t i = 0; i < rule.expressions.size(); ++i) {
    expression_ = &rule.expressions[i];
    origin_.expression = static_cast<uint16_t>(i);
    if (expression_->unknown_attributes != nullptr) {
      return Unsupported(
          absl::StrCat(std::string(nft::Name(expression_->body)), " with attributes that are not known"));
    }
    const Step step = std::visit([this](const auto& body) { return Lower(body); }, expression_->body);
    if (step != Step::kNext) return step;
  }
  return Step::kNext;
}

// The counters behind the end of a rule never count, but they are there to be
// read.
void RuleLowering::AddCounters(const nft::Rule& rule, size_t first_counter) {
  const bool any = p_.counters.size() > first_counter;
  const size_t begin = any ? p_.counters.back().expression + 1U : 0;
  for (size_t i = begin; i < rule.expressions.size(); ++i) {
    if (const auto* counter = std::get_if<nft::Counter>(&rule.expressions[i].body)) {
      p_.counters.push_back({rule_id_, static_cast<uint16_t>(i), counter->packets, counter->bytes});
    }
  }
}

void RuleLowering::FinishRule(uint32_t first_row, Step step) {
  if (step == Step::kUnsupported) {
    // In a dormant table it does not matter: the rule never runs.
    const bool dormant = p_.chains[p_.rules[rule_id_.index].chain.index].dormant;
    if (!dormant) p_.unsupported.push_back({rule_id_, origin_.expression, unsupported_});
    if (dormant || options_.partial) {
      p_.rows.resize(first_row);
      p_.origins.resize(first_row);
      return;
    }
    Emit({Op::kUnsupported, 0, 0, 0, InternText(unsupported_)});
  }
  const auto index = static_cast<uint32_t>(p_.items.size());
  const auto count = static_cast<uint32_t>(p_.rows.size()) - first_row;
  p_.items.push_back({ItemKind::kRule, first_row, count, index + 1, rule_id_});
}

RuleLowering::Step RuleLowering::Lower(const nft::CompatMatch& match) {
  if (match.name == "comment") return Step::kNext;  // Always matches (vm-semantics 10.43).
  return Unsupported(absl::StrCat("match ", match.name));
}

RuleLowering::Step RuleLowering::Lower(const nft::CompatTarget& target) {
  return Unsupported(absl::StrCat("target ", target.name));
}

RuleLowering::Step RuleLowering::Unsupported(std::string_view what) {
  unsupported_ = what;
  return Step::kUnsupported;
}

RuleLowering::Step RuleLowering::Error(std::string_view what) {
  std::string message = absl::StrCat("rule ", rule_->handle, " of ", std::string(nft::Name(scope_->table->family)), " ",
                                     scope_->table->name, ", expression ", origin_.expression, ": ");
  message.append(what);
  error_ = ErrorAt(rule_->where, absl::StatusCode::kInternal, message);
  return Step::kError;
}

ValueId RuleLowering::EmitGuarded(const Row& row) {
  for (const Requirement& requirement : RequiredGuards(row)) EmitGuard(requirement.kind, requirement.number);
  return Emit(row);
}

uint32_t RuleLowering::InternText(const std::string& text) {
  const auto [it, is_new] = texts_.emplace(text, static_cast<uint32_t>(p_.texts.size()));
  if (is_new) p_.texts.push_back(text);
  return it->second;
}

}  // namespace nftjit::ir
