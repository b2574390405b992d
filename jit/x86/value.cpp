// Operands: from a value to a register, to memory, or to the place where its bytes lie already.
#include <cassert>
#include <cstring>
#include <vector>

#include "jit/x86/emitter.h"
#include "jit/x86/native.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Op;
using ir::Row;

Mem Emitter::Literal(ByteSpan bytes, size_t alignment) {
  return ptr(literals_label_, static_cast<int32_t>(literals_.Add(bytes, alignment)),
             static_cast<uint32_t>(bytes.size()));
}

Mem Emitter::Literal64(uint64_t value) {
  uint8_t bytes[8];
  StoreNative(bytes, value);
  return Literal(bytes);
}

Mem Emitter::SlotOf(ir::ValueId value) const { return ptr(rsp, HomeOf(value).slot); }

void Emitter::MoveConstant(Gp to, uint64_t value) {
  if (value == 0) {
    a_.xor_(to.r32(), to.r32());
  } else if (value <= UINT32_MAX) {
    a_.mov(to.r32(), static_cast<uint32_t>(value));
  } else {
    a_.mov(to.r64(), value);
  }
}

void Emitter::LoadPacked(Gp to, const Mem& from, uint32_t length) {
  switch (length) {
    case 1:
      a_.movzx(to.r32(), Sized(from, 0, 1));
      return;
    case 2:
      a_.movzx(to.r32(), Sized(from, 0, 2));
      return;
    case 4:
      a_.mov(to.r32(), Sized(from, 0, 4));
      return;
    case 8:
      a_.mov(to.r64(), Sized(from, 0, 8));
      return;
    default:
      break;
  }
  // 3, 5, 6, 7: from the last piece down, so that nothing behind the value is read.
  uint32_t at = length % 2 == 1 ? length - 1 : length - 2;
  a_.movzx(to.r32(), Sized(from, at, length - at));
  while (at != 0) {
    at -= 2;
    a_.shl(to.r64(), 16);
    a_.mov(to.r16(), Sized(from, at, 2));
  }
}

void Emitter::StorePacked(const Mem& to, Gp from, uint32_t length) {
  uint32_t at = 0;
  for (const uint32_t piece : {8U, 4U, 2U, 1U}) {
    if (length - at < piece) continue;
    a_.mov(Sized(to, at, piece), Part(from, piece));
    at += piece;
    if (at == length) return;
    a_.shr(from.r64(), piece * 8);
  }
}

void Emitter::CopyBytes(const Mem& to, const Mem& from, uint32_t length) {
  if (length < 8) {
    LoadPacked(kResult, from, length);
    StorePacked(to, kResult, length);
    return;
  }
  for (uint32_t at = 0; at < length; at += 8) {
    const uint32_t piece = std::min(at, length - 8);  // The last piece overlaps the one before it.
    a_.mov(kResult, Sized(from, piece, 8));
    a_.mov(Sized(to, piece, 8), kResult);
  }
}

void Emitter::FillZero(const Mem& to, uint32_t length) {
  if (length == 0) return;
  a_.xor_(kResult.r32(), kResult.r32());
  uint32_t at = 0;
  for (const uint32_t piece : {8U, 4U, 2U, 1U}) {
    for (; length - at >= piece; at += piece) {
      a_.mov(Sized(to, at, piece), Part(kResult, piece));
    }
  }
}

Condition Emitter::EmitValue(uint32_t row_index) {
  const Row& row = program_.rows[row_index];
  const ir::ValueId value(row_index);
  const Home& home = HomeOf(value);
  if (home.place == Place::kNone || home.place == Place::kFused) return Condition::Constant(true);
  switch (row.op) {
    case Op::kExthdr:
      return EmitExthdr(row_index);
    case Op::kMap:
      return EmitMap(row_index);
    case Op::kLoad:
      if ((row.flags & ir::kOrZero) == 0) break;
      EmitLoadOrZero(row_index);
      return Condition::Constant(true);
    case Op::kMeta:
      if (!CallsRuntime(program_, row)) break;
      EmitMetaCall(row_index);
      return Condition::Constant(true);
    case Op::kCt:
      if (!CallsRuntime(program_, row)) break;
      EmitCtCall(row_index);
      return Condition::Constant(true);
    default:
      break;
  }
  if (home.place == Place::kSlot) {
    StoreRow(SlotOf(value), row);
  } else {
    EvaluateRow(ValueRegister(value), row);
    if (chain_plan_->calls)
      a_.mov(qword_ptr(rsp, static_cast<int32_t>(RegisterHome(home.index))), ValueRegister(value));
  }
  return Condition::Constant(true);
}

Mem Emitter::PlaceOf(ir::ValueId value, Gp pointer) {
  const Home& home = HomeOf(value);
  if (home.place == Place::kSlot) return SlotOf(value);
  if (home.place == Place::kRegister) {
    assert(chain_plan_->calls);
    return ptr(rsp, static_cast<int32_t>(RegisterHome(home.index)));
  }
  const Row& row = RowOf(value);
  switch (row.op) {
    case Op::kConst:
      return Literal(BytesOf(row.a));
    case Op::kStale:
      return Literal(std::vector<uint8_t>(row.length));
    case Op::kLoad:
      return LoadPlace(row, pointer);
    case Op::kMeta:
    case Op::kCt:
      return FactPlace(row, pointer);
    case Op::kSlice:
      return Sized(PlaceOf(row.value_a(), pointer), row.b, 0);
    default:
      assert(false && "value has no address");
      return ptr(rsp);
  }
}

void Emitter::Evaluate(Gp to, ir::ValueId value) {
  const Home& home = HomeOf(value);
  switch (home.place) {
    case Place::kRegister:
      a_.mov(to.r64(), ValueRegister(value));
      return;
    case Place::kSlot:
      LoadPacked(to, SlotOf(value), RowOf(value).length);
      return;
    case Place::kNone:
    case Place::kFused:
      EvaluateRow(to, RowOf(value));
      return;
  }
}

void Emitter::EvaluateRow(Gp to, const Row& row) {
  switch (row.op) {
    case Op::kConst: {
      uint8_t bytes[8] = {};
      std::memcpy(bytes, BytesOf(row.a).data(), row.length);
      return MoveConstant(to, LoadNative<uint64_t>(bytes));
    }
    case Op::kStale:
      return MoveConstant(to, 0);
    case Op::kLoad:
      return LoadPacked(to, LoadPlace(row, kPointer), row.length);
    case Op::kMeta:
    case Op::kCt:
      return EvaluateFact(to, row);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
      return EvaluateLogic(to, row);
    case Op::kShl:
    case Op::kShr:
      return EvaluateShift(to, row);
    case Op::kSwap:
      return EvaluateSwap(to, row);
    case Op::kSlice:
      return EvaluateSlice(to, row);
    case Op::kZext:
      return Evaluate(to, row.value_a());
    // Always in memory.
    case Op::kConcat:
    case Op::kExthdr:
    case Op::kMap:
    // Not values.
    case Op::kGuard:
    case Op::kTest:
    case Op::kLookup:
    case Op::kLimit:
    case Op::kCount:
    case Op::kLog:
    case Op::kSetMeta:
    case Op::kVerdict:
    case Op::kVerdictMap:
    case Op::kReject:
    case Op::kUnsupported:
      break;
  }
  assert(false && "not computed in a register");
}

void Emitter::Store(const Mem& to, ir::ValueId value) {
  const Row& row = RowOf(value);
  const Place place = HomeOf(value).place;
  if (place == Place::kFused || place == Place::kNone) return StoreRow(to, row);
  if (place == Place::kSlot) return CopyBytes(to, SlotOf(value), row.length);
  a_.mov(kResult, ValueRegister(value));
  StorePacked(to, kResult, row.length);
}

void Emitter::StoreRow(const Mem& to, const Row& row) {
  const ir::ValueId a = row.value_a();
  switch (row.op) {
    case Op::kConcat:
      Store(to, a);
      Store(Sized(to, RowOf(a).length, 0), row.value_b());
      return;
    case Op::kZext:
      Store(to, a);
      FillZero(Sized(to, RowOf(a).length, 0), row.length - RowOf(a).length);
      return;
    case Op::kSwap:
      return StoreSwap(to, row);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
      if (row.length <= 8) break;
      return StoreLogic(to, row);
    case Op::kShl:
    case Op::kShr:
      if (row.length <= 8) break;
      return StoreShift(to, row);
    case Op::kSlice:
      if (row.length <= 8) break;
      return CopyBytes(to, Sized(PlaceOf(a, kPointer), row.b, 0), row.length);
    case Op::kConst:
      if (row.length <= 8) break;
      return CopyBytes(to, Literal(BytesOf(row.a)), row.length);
    case Op::kStale:
      return FillZero(to, row.length);
    case Op::kLoad:
      if (row.length <= 8) break;
      return CopyBytes(to, LoadPlace(row, kPointer), row.length);
    case Op::kMeta:
    case Op::kCt:
      if (row.length <= 8) break;
      return CopyBytes(to, FactPlace(row, kPointer), row.length);
    default:
      break;
  }
  EvaluateRow(kResult, row);
  StorePacked(to, kResult, row.length);
}

}  // namespace nftjit::x86
