#include "lib/opt/raise.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "lib/nft/listing_printer.h"

namespace nftjit::opt {
namespace {

const nft::Table* FindTable(const nft::Ruleset& ruleset, const ir::Chain& chain) {
  for (const nft::Table& table : ruleset.tables) {
    if (table.family == chain.family && table.name == chain.table) return &table;
  }
  return nullptr;
}

const nft::Rule* FindRule(const nft::Chain& chain, nft::Handle handle) {
  const auto rule = std::find_if(chain.rules.begin(), chain.rules.end(),
                                 [handle](const nft::Rule& candidate) { return candidate.handle == handle; });
  return rule == chain.rules.end() ? nullptr : &*rule;
}

void AppendItem(const ir::Program& program, const ir::Chain& chain, const ir::Item& item, const nft::Table& table,
                std::string& out) {
  const ir::RuleInfo& info = program.rules[item.rule.index];
  const nft::Chain* const model_chain = table.FindChain(std::string_view(program.chains[info.chain.index].name));
  const nft::Rule* const loaded = model_chain == nullptr ? nullptr : FindRule(*model_chain, info.handle);
  if (loaded == nullptr) {
    absl::StrAppend(&out, "# rule ", info.handle, " of chain ", chain.name, ": not in the ruleset\n");
    return;
  }
  nft::Rule rule = *loaded;
  absl::StatusOr<std::vector<nft::Expression>> expressions = RaiseRule(program, chain, item, table);
  if (expressions.ok()) {
    rule.expressions = *std::move(expressions);
  } else {
    absl::StrAppend(&out, "# as loaded: ", expressions.status().message(), "\n");
  }
  out += nft::PrintAnonymousSets(table, rule);
  out += nft::PrintRule(table, *model_chain, rule);
}

}  // namespace

std::string RaiseToListing(const ir::Program& program, const nft::Ruleset& ruleset) {
  std::string out;
  for (const nft::Table& table : ruleset.tables) {
    for (const nft::Set& set : table.sets) {
      if (!set.is(nft::kSetAnonymous)) out += nft::PrintSet(table, set);
    }
    for (const ir::Chain& chain : program.chains) {
      if (FindTable(ruleset, chain) != &table) continue;
      for (const ir::Item& item : program.ItemsOf(chain)) {
        if (item.kind == ir::ItemKind::kRule) AppendItem(program, chain, item, table, out);
      }
    }
  }
  return out;
}

}  // namespace nftjit::opt
