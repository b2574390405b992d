// The expressions that a row came from, of which passes may have merged several.
#ifndef NFTJIT_LIB_IR_ORIGIN_H_
#define NFTJIT_LIB_IR_ORIGIN_H_

#include "lib/ir/ir.h"

namespace nftjit::ir {

// Adds what `added` names to `origin`, which is one of the program's or on its way there. Takes memory only where the
// rules differ, or the expressions lie more than fifteen apart. O(1), but for what `added` names.
void AddOrigin(Program& program, Origin& origin, const Origin& added);

// Calls `visit(uint32_t rule, uint16_t expression)` for each expression that `origin` names: the latest first within a
// rule, rules in the order of merging. Origins without a rule name none.
template <class Visit>
void ForEachOrigin(const Program& program, const Origin& origin, Visit&& visit) {
  if (origin.rule == UINT32_MAX) return;
  visit(origin.rule, origin.expression);
  if ((origin.more & Origin::kList) != 0) {
    for (const Origin& other : program.origin_lists[origin.more & ~Origin::kList]) visit(other.rule, other.expression);
    return;
  }
  for (uint16_t back = 1; origin.more >> (back - 1) != 0; ++back) {
    if ((origin.more >> (back - 1) & 1) != 0) visit(origin.rule, static_cast<uint16_t>(origin.expression - back));
  }
}

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_ORIGIN_H_
