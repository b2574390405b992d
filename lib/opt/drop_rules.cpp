// Takes rules out of the items of their chain that do nothing:
//     rule 7:                          a rule that ends in a test that cannot pass (earlier passes cut it there)
//       test meta.mark == …            with nothing before it but tests and values
// Condition: no row with an effect (lib/opt/rewrite.h), and so no verdict either; and blocks whose items are all gone.
// Sound because a rule without a verdict and without effects cannot be told from no rule. Its RuleInfo stays, and so do
// its counters, which then count nothing, as they would have.
#include <algorithm>

#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

bool DoesNothing(const ir::Program& program, const ir::Item& item) {
  const std::span<const ir::Row> rows = program.RowsOf(item);
  return std::none_of(rows.begin(), rows.end(), [&](const ir::Row& row) { return HasEffect(program, row); });
}

// Marks what goes, backwards so that a block is seen after its items. Returns how many.
int Mark(const ir::Program& program, int limit, std::vector<bool>& gone) {
  int dropped = 0;
  for (uint32_t i = static_cast<uint32_t>(program.items.size()); i-- > 0 && dropped < limit;) {
    const ir::Item& item = program.items[i];
    bool empty = DoesNothing(program, item);
    for (uint32_t inner = i + 1; empty && inner < item.end; ++inner) empty = gone[inner];
    if (!empty) continue;
    gone[i] = true;
    ++dropped;
  }
  return dropped;
}

}  // namespace

int DropRules(ir::Program& program, int limit) {
  std::vector<bool> gone(program.items.size(), false);
  const int dropped = Mark(program, limit, gone);
  if (dropped == 0) return 0;

  // moved[i]: the new index of item i, or of the next one that stays.
  std::vector<uint32_t> moved(program.items.size() + 1);
  uint32_t to = 0;
  for (size_t i = 0; i < program.items.size(); ++i) {
    moved[i] = to;
    if (!gone[i]) ++to;
  }
  moved[program.items.size()] = to;
  for (ir::Chain& chain : program.chains) {
    const uint32_t end = moved[chain.first_item + chain.item_count];
    chain.first_item = moved[chain.first_item];
    chain.item_count = end - chain.first_item;
  }
  for (size_t i = 0; i < program.items.size(); ++i) {
    if (gone[i]) continue;
    ir::Item item = program.items[i];
    item.end = moved[item.end];
    program.items[moved[i]] = item;
  }
  program.items.resize(to);
  Compact(program);
  return dropped;
}

}  // namespace nftjit::opt
