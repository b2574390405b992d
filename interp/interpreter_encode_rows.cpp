// Single rows of the IR as instructions.
#include <absl/status/status.h>

#include <algorithm>

#include "interp/interpreter_encoder.h"
#include "interp/interpreter_sources.h"

namespace nftjit::interp {
namespace {

Code PacketTest(uint32_t length) {
  switch (length) {
    case 1:
      return Code::kTestPacket1;
    case 2:
      return Code::kTestPacket2;
    case 4:
      return Code::kTestPacket4;
    case 8:
      return Code::kTestPacket8;
    default:
      return Code::kTestPacketN;
  }
}

Code TestOf(const Source& source) {
  switch (source.place) {
    case Place::kSlot:
      return Code::kTestSlot;
    case Place::kIifName:
    case Place::kOifName:
      return Code::kTestName;
    case Place::kMeta:
      return Code::kTestMeta;
    case Place::kCt:
      return Code::kTestCt;
    default:
      return PacketTest(source.length);
  }
}

// A mask that an `and` puts before the test of its result: `value` becomes what it masks.
uint64_t FoldMasks(const ir::Program& program, const Operands& operands, ir::ValueId& value) {
  uint64_t mask = ~uint64_t{0};
  for (;;) {
    const ir::Row& row = operands.row(value);
    if (row.op != ir::Op::kAnd || row.length > 8 || operands.Direct(value) || !operands.Direct(row.value_a()))
      return mask;
    const ByteSpan constant = program.constants[ir::ConstId(row.b)];
    mask &= ReadUpTo8(constant.data(), static_cast<uint32_t>(constant.size()));
    value = row.value_a();
  }
}

}  // namespace

bool Encoder::IsComputedInPlace(uint32_t index, const ir::Item& item) const {
  const ir::Row& row = program_.rows[index];
  const bool meta = row.op == ir::Op::kMeta;
  if (meta && static_cast<nft::MetaKey>(row.key) == nft::MetaKey::kPrandom) return true;
  const bool settable = meta && IsSettable(static_cast<nft::MetaKey>(row.key));
  // The items of a block, and the chains that they jump to, may change what they can.
  if (item.kind == ir::ItemKind::kBlock) return settable || !operands_.Direct(ir::ValueId(index));
  if (!settable) return false;
  const std::span<const ir::Row> later = std::span(program_.rows).first(item.first_row + item.row_count).subspan(index);
  return std::any_of(later.begin(), later.end(), [](const ir::Row& r) { return r.op == ir::Op::kSetMeta; });
}

void Encoder::EncodeValue(uint32_t index, const ir::Item& item, Misses& misses) {
  const ir::Row& row = program_.rows[index];
  const ir::ValueId value(index);
  switch (row.op) {
    case ir::Op::kExthdr:
      FlushGuards(misses);
      EmitTest({.code = Code::kExthdr,
                .length = row.length,
                .key = row.key,
                .offset = operands_.Reserve(value),
                .room = row.a,
                .value = row.b,
                .size = row.flags},
               misses);
      return;
    case ir::Op::kMap: {
      FlushGuards(misses);
      const Source key = operands_.Address(row.value_a());
      EmitTest({.code = Code::kMap,
                .key = static_cast<uint8_t>(key.place),
                .offset = operands_.Reserve(value),
                .room = key.offset,
                .value = row.b},
               misses);
      return;
    }
    default:
      break;
  }
  if (!IsComputedInPlace(index, item)) return;
  FlushGuards(misses);
  operands_.Compute(value);
}

void Encoder::AddNeeds(const Needs& needs) {
  for (size_t base = 0; base < needs.room.size(); ++base) {
    waiting_.room[base] = std::max(waiting_.room[base], needs.room[base]);
  }
  waiting_.conditions |= needs.conditions;
}

void Encoder::AddGuard(const ir::Row& row, Misses& misses) {
  Needs needs;
  switch (row.guard()) {
    case ir::GuardKind::kRoomLink:
    case ir::GuardKind::kRoomNetwork:
    case ir::GuardKind::kRoomTransport:
      needs.room[static_cast<size_t>(row.guard())] = row.a;
      break;
    case ir::GuardKind::kUnfragmented:
      needs.conditions = kNeedUnfragmented;
      break;
    case ir::GuardKind::kL4:
      needs.conditions = kNeedL4;
      break;
    case ir::GuardKind::kIif:
      needs.conditions = kNeedIif;
      break;
    case ir::GuardKind::kOif:
      needs.conditions = kNeedOif;
      break;
    case ir::GuardKind::kCtEntry:
      needs.conditions = kNeedCt;
      break;
    case ir::GuardKind::kRoomInner:
      FlushGuards(misses);
      EmitTest({.code = Code::kGuardInner, .room = row.a}, misses);
      return;
    case ir::GuardKind::kMetaKnown:
      FlushGuards(misses);
      EmitTest({.code = Code::kGuardMeta, .key = static_cast<uint8_t>(row.a)}, misses);
      return;
    case ir::GuardKind::kCtKnown:
      FlushGuards(misses);
      EmitTest({.code = Code::kGuardCt, .key = static_cast<uint8_t>(row.a), .room = row.a >> 8}, misses);
      return;
  }
  AddNeeds(needs);
}

void Encoder::FlushGuards(Misses& misses, Inst* folded_into) {
  int own = -1;
  if (folded_into != nullptr) {
    folded_into->flags |= static_cast<uint8_t>(waiting_.conditions << kGuardShift);
    waiting_.conditions = 0;
    if (folded_into->code <= Code::kTestPacketN && folded_into->key < waiting_.room.size()) own = folded_into->key;
  }
  for (uint8_t base = 0; base < waiting_.room.size(); ++base) {
    if (waiting_.room[base] == 0) continue;
    if (base == own) {
      folded_into->room = waiting_.room[base];
      continue;
    }
    EmitTest({.code = Code::kGuard,
              .key = base,
              .flags = static_cast<uint8_t>(waiting_.conditions << kGuardShift),
              .room = waiting_.room[base]},
             misses);
    waiting_.conditions = 0;
  }
  if (waiting_.conditions != 0) {
    EmitTest({.code = Code::kGuard, .flags = static_cast<uint8_t>(waiting_.conditions << kGuardShift)}, misses);
  }
  waiting_ = {};
}

void Encoder::EncodeTest(const ir::Row& row, Misses& misses) {
  if (operands_.row(row.value_a()).length > 8) {
    EncodeBytesTest(row, misses);
  } else {
    EncodeIntegerTest(row, misses);
  }
}

void Encoder::EncodeIntegerTest(const ir::Row& row, Misses& misses) {
  const uint32_t length = operands_.row(row.value_a()).length;
  ir::ValueId value = row.value_a();
  const uint64_t extra_mask = FoldMasks(program_, operands_, value);
  const IntegerTest test = MakeIntegerTest(program_, row, length, extra_mask);
  if (test.always == Always::kPasses) return;
  if (test.always == Always::kFails) {
    EmitTest({.code = Code::kSkip}, misses);
    return;
  }
  std::optional<Source> source = operands_.Direct(value);
  if (source && test.reversed && source->length != length) source = std::nullopt;
  if (!source) {
    FlushGuards(misses);
    source = Source{Place::kSlot, static_cast<uint8_t>(length), 0, operands_.Compute(value)};
  }
  Inst inst{.code = TestOf(*source),
            .length = source->length,
            .key = source->has_address() ? static_cast<uint8_t>(source->place) : source->key,
            .flags = static_cast<uint8_t>((test.reversed ? kReversed : 0) | (test.negated ? kNegated : 0)),
            .offset = source->offset,
            .mask = test.mask,
            .value = test.value,
            .size = test.size};
  FlushGuards(misses, &inst);
  EmitTest(inst, misses);
}

void Encoder::EncodeBytesTest(const ir::Row& row, Misses& misses) {
  FlushGuards(misses);
  const Source source = operands_.Address(row.value_a());
  Inst inst{.code = Code::kTestBytes,
            .length = source.length,
            .key = static_cast<uint8_t>(source.place),
            .offset = source.offset,
            .size = row.key};
  inst.mask = row.c != ir::ConstId::kNone ? 1 : 0;
  inst.value = out_.bytes.size();
  if (inst.mask != 0) operands_.Constant(program_.constants[ir::ConstId(row.c)]);
  operands_.Constant(program_.constants[ir::ConstId(row.b)]);
  EmitTest(inst, misses);
}

void Encoder::EncodeLookup(const ir::Row& row, Misses& misses) {
  const Source key = operands_.Address(row.value_a());
  EmitTest({.code = Code::kLookup,
            .key = static_cast<uint8_t>(key.place),
            .flags = (row.flags & ir::kNegated) != 0 ? kNegated : uint8_t{0},
            .offset = key.offset,
            .value = row.b},
           misses);
}

void Encoder::EncodeAction(const ir::Row& row) {
  switch (row.op) {
    case ir::Op::kCount:
      count_at_ = here();
      Emit({.code = Code::kCount, .offset = row.a});
      return;
    case ir::Op::kLog:
      Emit({.code = Code::kLog, .offset = row.a});
      return;
    case ir::Op::kSetMeta: {
      const Source source = operands_.Address(row.value_a());
      Emit({.code = Code::kSetMeta,
            .key = row.key,
            .offset = source.offset,
            .room = static_cast<uint32_t>(source.place)});
      return;
    }
    default:
      status_ = absl::InternalError("interp: no engine runs " + std::string(ir::Info(row.op).text));
  }
}

void Encoder::EncodeEnd(const ir::Row& row, ir::RuleId rule, Misses& misses) {
  if (row.op == ir::Op::kVerdict) return EncodeVerdict(row, rule);
  if (row.op == ir::Op::kReject) {
    Emit({.code = Code::kReject, .room = rule.index, .value = kRejected | uint32_t{row.key} << 8 | (row.a & 0xff)});
    return;
  }
  const Source key = operands_.Address(row.value_a());
  EmitTest({.code = Code::kVerdictMap,
            .key = static_cast<uint8_t>(key.place),
            .offset = key.offset,
            .room = rule.index,
            .value = row.b},
           misses);
}

void Encoder::EncodeVerdict(const ir::Row& row, ir::RuleId rule) {
  switch (row.verdict()) {
    case nft::VerdictCode::kContinue:
    case nft::VerdictCode::kBreak:
      return;
    case nft::VerdictCode::kReturn:
      Emit({.code = Code::kReturn});
      return;
    case nft::VerdictCode::kGoto:
    case nft::VerdictCode::kJump:
      // The target's first instruction is known when all chains are encoded. A goto leaves no place to return to.
      Emit({.code = Code::kJump,
            .offset = row.a,
            .room = row.verdict() == nft::VerdictCode::kJump ? here() + 1 : UINT32_MAX});
      return;
    default:
      break;
  }
  const auto outcome = static_cast<uint32_t>(row.verdict());
  if (count_at_ != UINT32_MAX && count_at_ + 1 == here()) {
    Inst& count = out_.insts.back();
    count.code = Code::kCountEnd;
    count.value = outcome;
    count.room = rule.index;
    return;
  }
  Emit({.code = Code::kEnd, .room = rule.index, .value = outcome});
}

}  // namespace nftjit::interp
