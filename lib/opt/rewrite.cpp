#include "lib/opt/rewrite.h"

#include <algorithm>

#include "lib/opt/row_map.h"

namespace nftjit::opt {

using ir::Op;
using ir::OpKind;
using ir::Row;

namespace {

// The words that ops.def uses for kinds and operands.
namespace kind_word {
constexpr OpKind value = OpKind::kValue, test = OpKind::kTest, action = OpKind::kAction, end = OpKind::kEnd;
}  // namespace kind_word
namespace operand_word {
[[maybe_unused]] constexpr bool none = false, value = true, constant = false, opt_constant = false, number = false,
                                set = false, chain = false, counter = false, limit = false, log = false, text = false;
}  // namespace operand_word

constexpr EffectKind EffectOf(OpKind kind, ir::Effects effects) {
  if (kind == OpKind::kAction || kind == OpKind::kEnd) return EffectKind::kAlways;
  // Lookups have one only in sets whose elements count, meta loads only of random numbers.
  if ((effects & (ir::kSet | ir::kRandom)) != 0) return EffectKind::kAsk;
  return (effects & (ir::kSetsMeta | ir::kState)) != 0 ? EffectKind::kAlways : EffectKind::kNone;
}

}  // namespace

using ir::kAll;
using ir::kBreaks;
using ir::kClock;
using ir::kCt;
using ir::kMeta;
using ir::kPacket;
using ir::kRandom;
using ir::kSet;
using ir::kSetsMeta;
using ir::kState;
const OpShape kOpShapes[] = {
#define OP(name, text, kind, a, b, c, effects) \
  {kind_word::kind, operand_word::a, operand_word::b, effects, EffectOf(kind_word::kind, effects)},
#include "lib/ir/ops.def"
#undef OP
};

namespace {

bool HasElementExpressions(const ir::SetInfo& set) {
  const auto stateful = [](const ir::SetElement& element) {
    return !element.counters.empty() || !element.limits.empty();
  };
  return std::any_of(set.elements.begin(), set.elements.end(), stateful) || (set.catchall && stateful(*set.catchall));
}

bool MayJump(const ir::SetInfo& set) {
  const auto jumps = [](const ir::SetElement& element) { return element.verdict == nft::VerdictCode::kJump; };
  return !set.constant || std::any_of(set.elements.begin(), set.elements.end(), jumps) ||
         (set.catchall && jumps(*set.catchall));
}

// Whether `row` may go if nobody uses it: it neither changes anything nor ends the rule.
bool IsDroppable(const ir::Program& program, const Row& row) {
  return ShapeOf(row).kind == OpKind::kValue && (ShapeOf(row).effects & kBreaks) == 0 && !HasEffect(program, row);
}

// Uses of the rows at the heads of blocks by the items inside; there are few such rows.
class BlockUses {
 public:
  explicit BlockUses(const ir::Program& program) {
    for (const ir::Item& item : program.items) {
      if (item.kind != ir::ItemKind::kBlock) continue;
      for (uint32_t r = item.first_row; r < item.first_row + item.row_count; ++r) rows_.push_back({r, 0});
    }
  }
  uint32_t& operator[](uint32_t row) {
    return std::lower_bound(rows_.begin(), rows_.end(), row, [](const Entry& a, uint32_t b) { return a.row < b; })
        ->uses;
  }

 private:
  struct Entry {
    uint32_t row, uses;
  };
  std::vector<Entry> rows_;
};

// Kills values that nobody uses, and what only those used. Backwards: uses before definitions, items before the blocks
// around them.
void KillUnused(ir::Program& program) {
  BlockUses block_uses(program);
  std::vector<uint32_t> local;
  for (size_t i = program.items.size(); i-- > 0;) {
    const ir::Item& item = program.items[i];
    local.assign(item.row_count, 0);
    for (uint32_t r = item.first_row + item.row_count; r-- > item.first_row;) {
      Row& row = program.rows[r];
      if (IsDead(row)) continue;
      const uint32_t uses =
          local[r - item.first_row] + (item.kind == ir::ItemKind::kBlock ? block_uses[r] : uint32_t{0});
      if (uses == 0 && IsDroppable(program, row)) {
        Kill(row);
        continue;
      }
      ForEachOperand(row, [&](uint32_t operand) {
        const uint32_t source = Source(program, operand).index;
        ++(source >= item.first_row ? local[source - item.first_row] : block_uses[source]);
      });
    }
  }
}

}  // namespace

void EndRuleAt(ir::Program& program, const ir::Item& item, uint32_t row) {
  for (uint32_t r = row; r < item.first_row + item.row_count; ++r) Kill(program.rows[r]);
}

void Linearise(ir::Program& program) {
  uint32_t next = 0;
  bool ordered = true;
  for (const ir::Item& item : program.items) {
    ordered = ordered && item.first_row >= next;
    next = item.first_row + item.row_count;
  }
  if (ordered) return;
  std::vector<Row> rows;
  std::vector<ir::Origin> origins;
  std::vector<uint32_t> moved(program.rows.size(), UINT32_MAX);
  for (ir::Item& item : program.items) {
    const uint32_t first = static_cast<uint32_t>(rows.size());
    for (uint32_t i = 0; i < item.row_count; ++i) {
      moved[item.first_row + i] = static_cast<uint32_t>(rows.size());
      rows.push_back(program.rows[item.first_row + i]);
      origins.push_back(program.origins[item.first_row + i]);
    }
    item.first_row = first;
  }
  for (Row& row : rows) ForEachOperand(row, [&](uint32_t& operand) { operand = moved[operand]; });
  program.rows = std::move(rows);
  program.origins = std::move(origins);
}

void Compact(ir::Program& program) {
  KillUnused(program);
  RowMap moved;
  uint32_t to = 0;
  for (uint32_t i = 0; i < program.items.size(); ++i) {
    ir::Item& item = program.items[i];
    moved.Enter(item, i);
    const uint32_t first = to;
    for (uint32_t r = item.first_row; r < item.first_row + item.row_count; ++r) {
      Row row = program.rows[r];
      if (IsDead(row)) {
        if (row.a != UINT32_MAX) moved.Set(r, moved[row.a]);
        continue;
      }
      ForEachOperand(row, [&](uint32_t& operand) { operand = moved[operand]; });
      moved.Set(r, to);
      program.rows[to] = row;
      program.origins[to] = program.origins[r];
      ++to;
    }
    moved.Leave(item);
    item.first_row = first;
    item.row_count = to - first;
  }
  program.rows.resize(to);
  program.origins.resize(to);
}

bool MayHaveEffect(const ir::Program& program, const Row& row) {
  if (row.op == Op::kMeta) return static_cast<nft::MetaKey>(row.key) == nft::MetaKey::kPrandom;
  const ir::SetInfo& set = program.sets[row.b];
  // The elements of a set that is data may be replaced by such that count; those of a constant one are known, but many
  // are not looked through once for each row that asks.
  constexpr size_t kLookedThrough = 256;
  return !set.constant || set.elements.size() > kLookedThrough || HasElementExpressions(set);
}

MetaKeys KeysSetBy(const ir::Program& program, const Row& row, MetaKeys by_chains) {
  switch (row.op) {
    case Op::kSetMeta:
      return MetaKeys{1} << row.key;
    case Op::kUnsupported:
      return kAllMetaKeys;
    case Op::kVerdict:
      return row.verdict() == nft::VerdictCode::kJump ? by_chains : 0;
    case Op::kVerdictMap:
      return MayJump(program.sets[row.b]) ? by_chains : 0;
    default:
      return 0;
  }
}

MetaKeys KeysSetByChains(const ir::Program& program) {
  MetaKeys keys = 0;
  for (const ir::Chain& chain : program.chains) {
    if (chain.base) continue;
    for (const ir::Item& item : program.ItemsOf(chain)) {
      for (const Row& row : program.RowsOf(item)) keys |= KeysSetBy(program, row, 0);
    }
  }
  return keys;
}

}  // namespace nftjit::opt
