#include "lib/control/reset.h"

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <utility>

namespace nftjit::control {
namespace {

void ResetExpressions(std::vector<nft::Expression>& expressions) {
  for (nft::Expression& expression : expressions) {
    if (auto* counter = std::get_if<nft::Counter>(&expression.body)) *counter = {};
    if (auto* quota = std::get_if<nft::Quota>(&expression.body)) quota->consumed = 0;
    if (auto* dynset = std::get_if<nft::Dynset>(&expression.body)) ResetExpressions(dynset->expressions);
  }
}

// One table being reset: its rules, objects and sets by handle, which are unique within it.
class TableReset {
 public:
  explicit TableReset(const nft::Table& table) : table_(std::make_shared<nft::Table>(table)) {
    for (nft::Chain& chain : table_->chains) {
      for (nft::Rule& rule : chain.rules) rules_.emplace(rule.handle, &rule);
    }
    for (nft::Object& object : table_->objects) objects_.emplace(object.handle, &object);
    for (nft::Set& set : table_->sets) sets_.emplace(set.handle, &set);
  }

  void Apply(const Dumped& dumped) {
    if (dumped.element.has_value()) {
      ResetExpressions(sets_.at(dumped.thing)->elements.at(*dumped.element).expressions);
    } else if (const auto rule = rules_.find(dumped.thing); rule != rules_.end()) {
      ResetExpressions(rule->second->expressions);
    } else {
      nft::Object& object = *objects_.at(dumped.thing);
      if (auto* counter = std::get_if<nft::Counter>(&object.body)) *counter = {};
      if (auto* quota = std::get_if<nft::Quota>(&object.body)) quota->consumed = 0;
    }
  }
  std::shared_ptr<const nft::Table> Finish() { return std::move(table_); }

 private:
  std::shared_ptr<nft::Table> table_;
  absl::flat_hash_map<nft::Handle, nft::Rule*> rules_;
  absl::flat_hash_map<nft::Handle, nft::Object*> objects_;
  absl::flat_hash_map<nft::Handle, nft::Set*> sets_;
};

}  // namespace

State Reset(const State& state, const std::vector<Dumped>& dumped) {
  State next = state;
  for (std::shared_ptr<const nft::Table>& table : next.tables) {
    std::optional<TableReset> reset;
    for (const Dumped& thing : dumped) {
      if (thing.table != table->handle) continue;
      if (!reset.has_value()) reset.emplace(*table);
      reset->Apply(thing);
    }
    if (reset.has_value()) table = reset->Finish();
  }
  return next;
}

}  // namespace nftjit::control
