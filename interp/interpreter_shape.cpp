// What a table can do of a rule.
#include <algorithm>

#include "interp/interpreter_sources.h"
#include "interp/interpreter_table_builder.h"

namespace nftjit::interp {
namespace {

// Adds the guard to `needs`; false if tables cannot check guards of its kind.
bool AddGuard(const ir::Row& row, Needs& needs) {
  switch (row.guard()) {
    case ir::GuardKind::kRoomLink:
    case ir::GuardKind::kRoomNetwork:
    case ir::GuardKind::kRoomTransport: {
      uint32_t& room = needs.room[static_cast<size_t>(row.guard())];
      room = std::max(room, row.a);
      return true;
    }
    case ir::GuardKind::kUnfragmented:
      needs.conditions |= kNeedUnfragmented;
      return true;
    case ir::GuardKind::kL4:
      needs.conditions |= kNeedL4;
      return true;
    case ir::GuardKind::kIif:
      needs.conditions |= kNeedIif;
      return true;
    case ir::GuardKind::kOif:
      needs.conditions |= kNeedOif;
      return true;
    case ir::GuardKind::kCtEntry:
      needs.conditions |= kNeedCt;
      return true;
    case ir::GuardKind::kRoomInner:
    case ir::GuardKind::kMetaKnown:
    case ir::GuardKind::kCtKnown:
      return false;
  }
  return false;
}
static_assert(static_cast<size_t>(ir::GuardKind::kRoomLink) == static_cast<size_t>(ir::Base::kLink) &&
              static_cast<size_t>(ir::GuardKind::kRoomTransport) == static_cast<size_t>(ir::Base::kTransport));

// A column may read it for packets that the rule's guards refuse.
bool ColumnCanRead(const Source& source) { return source.place != Place::kInner && source.length <= 4; }

// Four bytes of an equality of more than four, such as are likely to tell rules apart: those that the mask leaves whole
// and that are not zero, of these the last.
std::optional<PackedTest> PartOf(const ir::Program& program, const ir::Row& row, const Source& source) {
  if (row.comparison() != ir::Comparison::kEq || !source.has_address() || source.place == Place::kInner) return {};
  const ByteSpan constant = program.constants[ir::ConstId(row.b)];
  if (constant.size() != source.length) return {};
  PackedTest part{.source = source, .whole = false};
  part.source.length = 4;
  int best = -1;
  for (size_t end = constant.size(); end >= 4; end -= 4) {
    const size_t at = end - 4;
    MaskedForm form{~uint32_t{0}, LoadNative<uint32_t>(&constant[at])};
    if (row.c != ir::ConstId::kNone) form.mask = LoadNative<uint32_t>(&program.constants[ir::ConstId(row.c)][at]);
    if ((form.value & ~form.mask) != 0) return {};
    const int score = 2 * std::popcount(form.mask) + (form.value != 0 ? 1 : 0);
    if (score <= best) continue;
    best = score;
    part.source.offset = source.offset + static_cast<uint32_t>(at);
    part.masked = form;
  }
  return part;
}

std::optional<PackedTest> Pack(const ir::Program& program, const Operands& operands, uint32_t index) {
  const ir::Row& row = program.rows[index];
  const std::optional<Source> source = operands.Direct(row.value_a());
  if (!source) return {};
  const uint32_t length = operands.row(row.value_a()).length;
  std::optional<PackedTest> packed;
  if (length > 4) {
    packed = PartOf(program, row, *source);
  } else if (ColumnCanRead(*source) && source->length == length) {
    const IntegerTest test = MakeIntegerTest(program, row, length, ~uint64_t{0});
    packed = PackedTest{.source = *source, .masked = ToMasked(test, length), .range = ToRange(test, length)};
    if (!packed->masked && !packed->range) return {};
  }
  if (packed) packed->row = index;
  return packed;
}

// Without effect, so that later tests may be done before it.
bool IsPure(const ir::Row& row) {
  if (row.op == ir::Op::kMeta) return static_cast<nft::MetaKey>(row.key) != nft::MetaKey::kPrandom;
  return (ir::Info(row.op).effects & (ir::kSetsMeta | ir::kState | ir::kRandom)) == 0;
}

}  // namespace

RuleShape ShapeOf(const ir::Program& program, const Operands& operands, const ir::Item& rule) {
  RuleShape shape;
  for (uint32_t index = rule.first_row; index < rule.first_row + rule.row_count; ++index) {
    const ir::Row& row = program.rows[index];
    if (!IsPure(row) || ir::Info(row.op).kind == ir::OpKind::kEnd) break;
    if (row.op == ir::Op::kGuard) {
      if (AddGuard(row, shape.needs)) shape.guards.push_back(index);
    } else if (row.op == ir::Op::kTest) {
      if (std::optional<PackedTest> packed = Pack(program, operands, index)) shape.tests.push_back(*packed);
    }
  }
  return shape;
}

}  // namespace nftjit::interp
