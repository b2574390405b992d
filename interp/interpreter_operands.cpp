#include "interp/interpreter_operands.h"

#include <algorithm>

#include "interp/interpreter_sources.h"

namespace nftjit::interp {
namespace {

Place PlaceOf(ir::Base base) { return static_cast<Place>(base); }

bool IsName(nft::MetaKey key) { return key == nft::MetaKey::kIifname || key == nft::MetaKey::kOifname; }

}  // namespace

void Operands::BeginChain(uint32_t kept) {
  used_.reset();
  for (uint32_t i = 0; i < std::min(kept, kSlots); ++i) used_.set(i);
  kept_ = kept;
}

void Operands::BeginBlock(const ir::Item& /*block*/) { in_rule_ = false; }

void Operands::EndBlock(const ir::Item& block) {
  for (uint32_t i = 0; i < block.row_count; ++i) Free(ir::ValueId(block.first_row + i));
}

void Operands::BeginRule(const ir::Item& rule) {
  in_rule_ = true;
  MarkUses(rule);
}

void Operands::MarkUses(const ir::Item& item) {
  const auto mark = [&](ir::Operand kind, uint32_t operand, uint32_t use) {
    if (kind != ir::Operand::kValue || operand < item.first_row) return;
    last_use_[operand] = std::max(last_use_[operand], use);
  };
  for (uint32_t i = 0; i < item.row_count; ++i) last_use_[item.first_row + i] = item.first_row + i;
  // Backwards: a value that is computed where it is used needs its operands as long as it is needed itself.
  for (uint32_t i = item.row_count; i-- > 0;) {
    const uint32_t index = item.first_row + i;
    const ir::Row& row = program_.rows[index];
    const ir::OpInfo& info = ir::Info(row.op);
    const uint32_t use = info.kind == ir::OpKind::kValue ? std::max(last_use_[index], index) : index;
    mark(info.a, row.a, use);
    mark(info.b, row.b, use);
  }
}

void Operands::AfterRow(uint32_t row) {
  std::erase_if(live_, [&](ir::ValueId value) {
    if (last_use_[value.index] > row) return false;
    Free(value);
    return true;
  });
}

void Operands::EndRule(const ir::Item& rule) {
  AfterRow(rule.first_row + rule.row_count);
  in_rule_ = false;
}

uint32_t Operands::Allocate(ir::ValueId value) {
  const uint32_t wanted = (row(value).length + kSlotBytes - 1) / kSlotBytes;
  uint32_t run = 0;
  for (uint32_t i = 0; i < kSlots; ++i) {
    run = used_.test(i) ? 0 : run + 1;
    if (run < wanted) continue;
    const uint32_t first = i + 1 - wanted;
    for (uint32_t j = first; j <= i; ++j) used_.set(j);
    if (in_rule_) {
      live_.push_back(value);
    } else {
      kept_ = std::max(kept_, i + 1);
    }
    return slots_[value.index] = first * kSlotBytes;
  }
  overflowed_ = true;
  return slots_[value.index] = 0;
}

void Operands::Free(ir::ValueId value) {
  if (slots_[value.index] == kNoSlot) return;
  const uint32_t first = slots_[value.index] / kSlotBytes;
  for (uint32_t i = 0; i < (row(value).length + kSlotBytes - 1) / kSlotBytes; ++i) used_.reset(first + i);
  slots_[value.index] = kNoSlot;
}

uint32_t Operands::Constant(ByteSpan bytes) {
  const auto at = static_cast<uint32_t>(out_.bytes.size());
  out_.bytes.insert(out_.bytes.end(), bytes.begin(), bytes.end());
  return at;
}

std::optional<Source> Operands::Direct(ir::ValueId value) const {
  const ir::Row& r = row(value);
  if (slots_[value.index] != kNoSlot) return Source{Place::kSlot, r.length, 0, slots_[value.index]};
  switch (r.op) {
    case ir::Op::kLoad:
      if ((r.flags & ir::kOrZero) != 0) return std::nullopt;
      return Source{PlaceOf(r.base()), r.length, 0, r.a};
    case ir::Op::kMeta: {
      const auto key = static_cast<nft::MetaKey>(r.key);
      if (IsName(key) && r.length <= kNoName.size()) {
        return Source{key == nft::MetaKey::kIifname ? Place::kIifName : Place::kOifName, r.length, 0, 0};
      }
      if (IsPlainMeta(key) && r.length <= 8) return Source{Place::kMeta, r.length, r.key, 0};
      return std::nullopt;
    }
    case ir::Op::kCt:
      if (IsPlainCt(static_cast<nft::CtKey>(r.key)) && r.length <= 8) return Source{Place::kCt, r.length, r.key, 0};
      return std::nullopt;
    case ir::Op::kSlice: {
      std::optional<Source> source = Direct(r.value_a());
      if (!source || !source->has_address() || source->length < r.b + r.length) return std::nullopt;
      source->offset += r.b;
      source->length = r.length;
      return source;
    }
    case ir::Op::kZext: {
      // The same integer, of fewer bytes; used as such, never by address.
      std::optional<Source> source = Direct(r.value_a());
      if (!source || r.length > 8) return std::nullopt;
      return source;
    }
    default:
      return std::nullopt;
  }
}

Source Operands::Read(ir::ValueId value) {
  if (const std::optional<Source> source = Direct(value)) return *source;
  return {Place::kSlot, row(value).length, 0, Compute(value)};
}

Source Operands::Address(ir::ValueId value) {
  const std::optional<Source> source = Direct(value);
  if (source && source->has_address() && source->length == row(value).length) return *source;
  return {Place::kSlot, row(value).length, 0, Compute(value)};
}

uint32_t Operands::Compute(ir::ValueId value) {
  if (slots_[value.index] != kNoSlot) return slots_[value.index];
  const uint32_t slot = Allocate(value);
  // Into() must not find the slot that it is about to fill.
  slots_[value.index] = kNoSlot;
  Into(value, slot);
  return slots_[value.index] = slot;
}

uint32_t Operands::Reserve(ir::ValueId value) { return Allocate(value); }

void Operands::Into(ir::ValueId value, uint32_t to) {
  const ir::Row& r = row(value);
  if (const std::optional<Source> source = Direct(value);
      source && source->has_address() && source->length == r.length) {
    Emit({.code = Code::kCopy,
          .length = r.length,
          .key = static_cast<uint8_t>(source->place),
          .offset = to,
          .room = source->offset});
    return;
  }
  Inst inst{
      .code = Code::kEvaluate, .length = r.length, .key = static_cast<uint8_t>(r.op), .flags = r.flags, .offset = to};
  switch (r.op) {
    case ir::Op::kConst:
      inst.value = Constant(program_.constants[ir::ConstId(r.a)]);
      break;
    case ir::Op::kStale:
      break;
    case ir::Op::kLoad:  // Only with kOrZero.
      inst.size = r.key;
      inst.value = r.a;
      break;
    case ir::Op::kMeta:
    case ir::Op::kCt:
      inst.size = r.key;
      break;
    case ir::Op::kConcat:
      Into(r.value_a(), to);
      Into(r.value_b(), to + row(r.value_a()).length);
      return;
    case ir::Op::kZext:
      Into(r.value_a(), to);
      inst.key = static_cast<uint8_t>(ir::Op::kStale);
      inst.length = static_cast<uint8_t>(r.length - row(r.value_a()).length);
      inst.offset = to + row(r.value_a()).length;
      if (inst.length == 0) return;
      break;
    default:
      return EmitUnary(r, to);
  }
  Emit(inst);
}

// Ops over slots: value is the offset of `a`, size what the op takes besides it.
void Operands::EmitUnary(const ir::Row& r, uint32_t to) {
  Inst inst{
      .code = Code::kEvaluate, .length = r.length, .key = static_cast<uint8_t>(r.op), .flags = r.flags, .offset = to};
  inst.value = Compute(r.value_a());
  switch (r.op) {
    case ir::Op::kAnd:
    case ir::Op::kOr:
    case ir::Op::kXor:
      inst.size = Constant(program_.constants[ir::ConstId(r.b)]);
      break;
    case ir::Op::kAndValue:
    case ir::Op::kOrValue:
    case ir::Op::kXorValue:
      inst.size = Compute(r.value_b());
      break;
    case ir::Op::kSwap:
      inst.size = r.key;
      break;
    default:  // Shl, Shr: the count; Slice: the offset.
      inst.size = r.b;
      break;
  }
  Emit(inst);
}

}  // namespace nftjit::interp
