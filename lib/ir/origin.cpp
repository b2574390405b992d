#include "lib/ir/origin.h"

namespace nftjit::ir {
namespace {

// Within the bits of `more`; false if they do not reach.
bool AddBit(Origin& origin, uint16_t expression) {
  if (expression == Origin::kNoExpression || origin.expression == Origin::kNoExpression) {
    return expression == origin.expression;
  }
  const int back = origin.expression - expression;
  if (back == 0) return true;
  if (back > 0) {
    if (back > Origin::kBits) return false;
    origin.more |= static_cast<uint16_t>(1U << (back - 1));
    return true;
  }
  // A later expression: the bits count from it now.
  if (back < -Origin::kBits) return false;
  const uint32_t moved = uint32_t{origin.more} << -back | 1U << (-back - 1);
  if (moved >> Origin::kBits != 0) return false;
  origin.more = static_cast<uint16_t>(moved);
  origin.expression = expression;
  return true;
}

void AddOne(Program& program, Origin& origin, uint32_t rule, uint16_t expression) {
  if (origin.rule == UINT32_MAX) {
    origin = {.rule = rule, .expression = expression};
    return;
  }
  if ((origin.more & Origin::kList) == 0) {
    if (origin.rule == rule && AddBit(origin, expression)) return;
    std::vector<Origin> list;
    bool first = true;
    ForEachOrigin(program, origin, [&](uint32_t other_rule, uint16_t other_expression) {
      if (!first) list.push_back({.rule = other_rule, .expression = other_expression});
      first = false;
    });
    if (program.origin_lists.size() >= Origin::kList) return;  // Out of numbers: the first origin has to do.
    origin.more = static_cast<uint16_t>(Origin::kList | program.origin_lists.size());
    program.origin_lists.push_back(std::move(list));
  }
  program.origin_lists[origin.more & ~Origin::kList].push_back({.rule = rule, .expression = expression});
}

}  // namespace

void AddOrigin(Program& program, Origin& origin, const Origin& added) {
  if ((added.more & Origin::kList) == 0 && added.more == 0) {
    if (added.rule != UINT32_MAX) AddOne(program, origin, added.rule, added.expression);
    return;
  }
  std::vector<Origin> all;  // The lists may move while they grow.
  ForEachOrigin(program, added, [&](uint32_t rule, uint16_t expression) { all.push_back({rule, expression, 0}); });
  for (const Origin& one : all) AddOne(program, origin, one.rule, one.expression);
}

}  // namespace nftjit::ir
