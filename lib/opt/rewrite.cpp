#include "lib/opt/rewrite.h"

#include <algorithm>

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
constexpr bool none = false, value = true, constant = false, opt_constant = false, number = false, set = false,
               chain = false, counter = false, limit = false, log = false, text = false;
}  // namespace operand_word

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
constexpr OpShape kOpShapes[] = {
#define OP(name, text, kind, a, b, c, effects) {kind_word::kind, operand_word::a, operand_word::b, effects},
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

// A lookup changes something only where elements carry counters or limits.
bool ChangesSetState(const ir::Program& program, const Row& row) {
  const ir::SetInfo& set = program.sets[row.b];
  // The elements of a set that is data may be replaced; their number is looked at for constant sets alone.
  return !set.constant || HasElementExpressions(set);
}

bool MayJump(const ir::SetInfo& set) {
  const auto jumps = [](const ir::SetElement& element) { return element.verdict == nft::VerdictCode::kJump; };
  return !set.constant || std::any_of(set.elements.begin(), set.elements.end(), jumps) ||
         (set.catchall && jumps(*set.catchall));
}

bool IsPure(const ir::Program& program, const Row& row) {
  const ir::Effects effects = ShapeOf(row).effects;
  if (row.op == Op::kLookup || row.op == Op::kMap) return !ChangesSetState(program, row);
  if (row.op == Op::kMeta) return static_cast<nft::MetaKey>(row.key) != nft::MetaKey::kPrandom;
  return (effects & (ir::kSetsMeta | ir::kState | ir::kRandom)) == 0;
}

// Whether `row` may go if nobody uses it: it neither changes anything nor ends the rule. A random number counts as
// nothing changed, since the sequence is nobody's promise.
bool IsDroppable(const Row& row) {
  return ShapeOf(row).kind == OpKind::kValue && (ShapeOf(row).effects & (kBreaks | kState)) == 0;
}

void KillUnused(ir::Program& program) {
  std::vector<uint32_t> uses = CountUses(program);
  // Backwards, so that what only a removed value used goes too.
  for (size_t i = program.items.size(); i-- > 0;) {
    const ir::Item& item = program.items[i];
    for (uint32_t r = item.first_row + item.row_count; r-- > item.first_row;) {
      Row& row = program.rows[r];
      if (IsDead(row) || uses[r] != 0 || !IsDroppable(row)) continue;
      ForEachOperand(row, [&](uint32_t& operand) { --uses[Source(program, operand).index]; });
      Kill(row);
    }
  }
}

}  // namespace

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
  for (Row& row : rows) {
    if (IsDead(row)) {
      if (row.a != UINT32_MAX) row.a = moved[row.a];
    } else {
      ForEachOperand(row, [&](uint32_t& operand) { operand = moved[operand]; });
    }
  }
  program.rows = std::move(rows);
  program.origins = std::move(origins);
}

void EndRuleAt(ir::Program& program, const ir::Item& item, uint32_t row) {
  for (uint32_t r = row; r < item.first_row + item.row_count; ++r) Kill(program.rows[r]);
}

std::vector<uint32_t> CountUses(const ir::Program& program) {
  std::vector<uint32_t> uses(program.rows.size(), 0);
  for (const Row& row : program.rows) {
    if (!IsDead(row)) ForEachOperand(row, [&](uint32_t operand) { ++uses[Source(program, operand).index]; });
  }
  return uses;
}

void Compact(ir::Program& program) {
  Linearise(program);
  KillUnused(program);
  std::vector<uint32_t> moved(program.rows.size());
  uint32_t to = 0;
  for (ir::Item& item : program.items) {
    const uint32_t first = to;
    for (uint32_t r = item.first_row; r < item.first_row + item.row_count; ++r) {
      Row row = program.rows[r];
      if (IsDead(row)) {
        moved[r] = row.a == UINT32_MAX ? UINT32_MAX : moved[row.a];
        continue;
      }
      ForEachOperand(row, [&](uint32_t& operand) { operand = moved[operand]; });
      moved[r] = to;
      program.rows[to] = row;
      program.origins[to] = program.origins[r];
      ++to;
    }
    item.first_row = first;
    item.row_count = to - first;
  }
  program.rows.resize(to);
  program.origins.resize(to);
}

bool HasEffect(const ir::Program& program, const Row& row) {
  switch (ShapeOf(row).kind) {
    case OpKind::kAction:
    case OpKind::kEnd:
      return true;
    case OpKind::kValue:
    case OpKind::kTest:
      return row.op != Op::kMeta && !IsPure(program, row);
  }
  return true;
}

bool IsRepeatable(const ir::Program& program, const Row& row) {
  return ShapeOf(row).kind == OpKind::kValue && IsPure(program, row);
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
