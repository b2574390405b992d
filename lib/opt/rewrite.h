// What passes have in common: removing rows, forwarding a value to an equal one, and what may not be crossed.
//
// A pass sweeps the rows in place. It removes a row by Kill() or Forward() and calls Compact() at its end, which closes
// the gaps and renumbers. Between the two, operands may point at forwarded rows: read them through Source().
//
// Ten thousand rules are a hundred thousand rows: passes take memory per item, not per row of the program. First
// touches of fresh memory cost more than all passes together.
#ifndef NFTJIT_LIB_OPT_REWRITE_H_
#define NFTJIT_LIB_OPT_REWRITE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "lib/ir/ir.h"
#include "lib/ir/origin.h"

namespace nftjit::opt {

// Killed rows are value rows without a length, which no program has otherwise. `a` is the row that stands for them.
inline void Kill(ir::Row& row) { row = {.op = ir::Op::kConst}; }
inline void Forward(ir::Row& row, ir::ValueId target) { row = {.op = ir::Op::kConst, .a = target.index}; }
inline bool IsDead(const ir::Row& row) { return row.op == ir::Op::kConst && row.length == 0; }

// The row that defines what `value` stands for now.
inline ir::ValueId Source(const ir::Program& program, uint32_t value) {
  while (IsDead(program.rows[value])) value = program.rows[value].a;
  return ir::ValueId(value);
}

// Kills the rows of `item` from `row` on: the rule cannot get past it.
void EndRuleAt(ir::Program& program, const ir::Item& item, uint32_t row);

// Puts rows into the order of the items that own them, as passes expect them. Programs that were lowered or parsed, and
// what passes leave, are so already.
void Linearise(ir::Program& program);

// Removes killed rows, and values without uses whose absence nobody can see, and renumbers. O(rows).
void Compact(ir::Program& program);

// What sweeps over all rows ask of ops.def, without a call.
enum class EffectKind : uint8_t { kNone, kAlways, kAsk };
struct OpShape {
  ir::OpKind kind;
  bool value_a, value_b;
  ir::Effects effects;
  EffectKind effect;  // See HasEffect().
};
extern const OpShape kOpShapes[];
inline const OpShape& ShapeOf(const ir::Row& row) { return kOpShapes[static_cast<size_t>(row.op)]; }

// Calls `visit(uint32_t& operand)` for each operand of `row` that is a value.
template <class RowType, class Visit>
void ForEachOperand(RowType& row, Visit&& visit) {
  const OpShape& shape = ShapeOf(row);
  if (shape.value_a) visit(row.a);
  if (shape.value_b) visit(row.b);
}

// Uses of an item's rows inside the item; keeps its memory from item to item. Killed rows use nothing.
class ItemUses {
 public:
  void Count(const ir::Program& program, const ir::Item& item) {
    first_ = item.first_row;
    counts_.assign(item.row_count, 0);
    for (const ir::Row& row : program.RowsOf(item)) {
      if (IsDead(row)) continue;
      ForEachOperand(row, [&](uint32_t operand) {
        const uint32_t source = Source(program, operand).index;
        if (source >= first_) ++counts_[source - first_];
      });
    }
  }
  uint32_t& operator[](uint32_t row) { return counts_[row - first_]; }

 private:
  uint32_t first_ = 0;
  std::vector<uint32_t> counts_;
};

// Calls `rewrite(item, row)` for every live row of `program` in order, with operands that are no dead rows, until
// `limit` calls have returned true; returns how many have.
template <class Rewrite>
int SweepRows(ir::Program& program, int limit, Rewrite&& rewrite) {
  int rewrites = 0;
  for (const ir::Item& item : program.items) {
    for (uint32_t r = item.first_row; r < item.first_row + item.row_count; ++r) {
      if (rewrites >= limit) return rewrites;
      ir::Row& row = program.rows[r];
      if (IsDead(row)) continue;
      ForEachOperand(row, [&](uint32_t& operand) {
        if (IsDead(program.rows[operand])) operand = Source(program, operand).index;
      });
      if (rewrite(item, r)) ++rewrites;
    }
  }
  return rewrites;
}

// The origins of `from` become origins of `to` as well.
inline void MergeOrigin(ir::Program& program, uint32_t to, uint32_t from) {
  ir::AddOrigin(program, program.origins[to], program.origins[from]);
}

// A row that others may not be moved across, because it does something that a packet which fails a test would not do.
// Everything else of a rule is a conjunction of tests, and the values that they need. Drawing a random number counts:
// the same packets shall draw the same numbers, optimised or not.
bool MayHaveEffect(const ir::Program& program, const ir::Row& row);
inline bool HasEffect(const ir::Program& program, const ir::Row& row) {
  const EffectKind effect = ShapeOf(row).effect;
  return effect == EffectKind::kAsk ? MayHaveEffect(program, row) : effect == EffectKind::kAlways;
}

// A value that two rows agree about if their operands do. It may still BREAK (exthdr).
inline bool IsRepeatable(const ir::Program& program, const ir::Row& row) {
  return ShapeOf(row).kind == ir::OpKind::kValue && !HasEffect(program, row);
}

// Which metadata a row changes for the rows after it: a bit per nft::MetaKey. All bits for a row of unknown effect.
using MetaKeys = uint64_t;
inline constexpr MetaKeys kAllMetaKeys = ~MetaKeys{0};
// `by_chains`: what the chains that a jump may enter change, see KeysSetByChains().
MetaKeys KeysSetBy(const ir::Program& program, const ir::Row& row, MetaKeys by_chains);
// What any chain that can be jumped to may change.
MetaKeys KeysSetByChains(const ir::Program& program);

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_REWRITE_H_
