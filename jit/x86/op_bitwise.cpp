// Bits and byte order: and, or, xor, andv, orv, xorv, shl, shr, swap, slice. Values in registers hold their bytes in
// packet order, the first one lowest.
#include "jit/x86/emitter.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Op;
using ir::Row;

namespace {

asmjit::InstId LogicInstruction(Op op) {
  switch (op) {
    case Op::kAnd:
    case Op::kAndValue:
      return Inst::kIdAnd;
    case Op::kOr:
    case Op::kOrValue:
      return Inst::kIdOr;
    default:
      return Inst::kIdXor;
  }
}

}  // namespace

void Emitter::EvaluateLogic(Gp to, const Row& row) {
  const asmjit::InstId instruction = LogicInstruction(row.op);
  Evaluate(to, row.value_a());
  if (ir::Info(row.op).b == ir::Operand::kValue) {
    if (InRegister(row.value_b())) {
      a_.emit(instruction, to.r64(), ValueRegister(row.value_b()));
    } else {
      Evaluate(kOther, row.value_b());
      a_.emit(instruction, to.r64(), kOther);
    }
    return;
  }
  const uint64_t constant = LoadLittle(BytesOf(row.b));
  if (row.length <= 4) {
    a_.emit(instruction, to.r32(), Imm(static_cast<int32_t>(constant)));
  } else {
    a_.emit(instruction, to.r64(), Literal64(constant));
  }
}

// Over native words of which the first is the most significant.
void Emitter::EvaluateShift(Gp to, const Row& row) {
  Evaluate(to, row.value_a());
  const Gp whole = Part(to, row.length);
  if (row.length == 8) a_.rol(whole, 32);
  if (row.op == Op::kShl) {
    a_.shl(whole, row.b);
  } else {
    a_.shr(whole, row.b);
  }
  if (row.length == 8) a_.rol(whole, 32);
}

void Emitter::EvaluateSwap(Gp to, const Row& row) {
  Evaluate(to, row.value_a());
  const Gp whole = Part(to, row.length);
  if (row.length == 2) {
    a_.rol(whole, 8);
    return;
  }
  a_.bswap(whole);
  if (row.key != row.length) a_.rol(whole, row.length * 4);  // Halves back in their order.
}

void Emitter::EvaluateSlice(Gp to, const Row& row) {
  const ir::ValueId whole = row.value_a();
  if (Addressable(program_, plan_, whole)) {
    LoadPacked(to, Sized(PlaceOf(whole, kPointer), row.b, 0), row.length);
    return;
  }
  Evaluate(to, whole);
  if (row.b != 0) a_.shr(to.r64(), row.b * 8);
  if (row.b + row.length == RowOf(whole).length) return;  // Nothing above it.
  switch (row.length) {
    case 1:
      a_.movzx(to.r32(), to.r8());
      return;
    case 2:
      a_.movzx(to.r32(), to.r16());
      return;
    case 4:
      a_.mov(to.r32(), to.r32());
      return;
    default:
      a_.shl(to.r64(), 64 - row.length * 8);
      a_.shr(to.r64(), 64 - row.length * 8);
  }
}

// Longer than 8 bytes. The last piece overlaps the one before it, which only writes the same bytes again.
void Emitter::StoreLogic(const Mem& to, const Row& row) {
  const asmjit::InstId instruction = LogicInstruction(row.op);
  const bool constant = ir::Info(row.op).b == ir::Operand::kConstant;
  const Mem a = PlaceOf(row.value_a(), kPointer);
  if (constant) {
    const Mem b = Literal(BytesOf(row.b));
    for (uint32_t at = 0; at < row.length; at += 8) {
      const uint32_t piece = std::min(at, row.length - 8U);
      a_.mov(kResult, Sized(a, piece, 8));
      a_.emit(instruction, kResult, Sized(b, piece, 8));
      a_.mov(Sized(to, piece, 8), kResult);
    }
    return;
  }
  // Two sources may need two pointers, and finding the second clobbers: first a copy, then the operation in place, in
  // pieces that do not overlap.
  CopyBytes(to, a, row.length);
  const Mem b = PlaceOf(row.value_b(), kPointer);
  uint32_t at = 0;
  for (const uint32_t piece : {8U, 4U, 2U, 1U}) {
    for (; row.length - at >= piece; at += piece) {
      LoadPacked(kResult, Sized(b, at, 0), piece);
      a_.emit(instruction, Sized(to, at, piece), Part(kResult, piece));
    }
  }
}

void Emitter::StoreShift(const Mem& to, const Row& row) {
  const Mem from = PlaceOf(row.value_a(), kPointer);
  const uint32_t words = row.length / 4U;
  for (uint32_t i = 0; i < words; ++i) {
    const bool left = row.op == Op::kShl;
    const bool has_carry = left ? i + 1 < words : i > 0;
    a_.mov(eax, Sized(from, i * 4, 4));
    if (has_carry) {
      a_.mov(edx, Sized(from, left ? i * 4 + 4 : i * 4 - 4, 4));
      if (left) {
        a_.shld(eax, edx, row.b);
      } else {
        a_.shrd(eax, edx, row.b);
      }
    } else if (left) {
      a_.shl(eax, row.b);
    } else {
      a_.shr(eax, row.b);
    }
    a_.mov(Sized(to, i * 4, 4), eax);
  }
}

void Emitter::StoreSwap(const Mem& to, const Row& row) {
  Mem from = to;
  if (Addressable(program_, plan_, row.value_a())) {
    from = PlaceOf(row.value_a(), kPointer);
  } else {
    Store(to, row.value_a());
  }
  for (uint32_t at = 0; at < row.length; at += row.key) {
    LoadPacked(kResult, Sized(from, at, 0), row.key);
    if (row.key == 2) {
      a_.rol(ax, 8);
    } else {
      a_.bswap(Part(kResult, row.key));
    }
    StorePacked(Sized(to, at, 0), kResult, row.key);
  }
}

}  // namespace nftjit::x86
