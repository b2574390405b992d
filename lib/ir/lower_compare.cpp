// Immediates, compares, ranges, bitwise and byteorder (vm-semantics 10.1
// to 10.5).
#include <algorithm>
#include <array>

#include "lib/ir/lowering.h"

namespace nftjit::ir {
namespace {

size_t WholeWords(size_t length) { return (length + 3) / 4 * 4; }

bool AllBytesAre(const Bytes16& bytes, uint8_t byte) {
  return std::ranges::all_of(bytes.span(), [byte](uint8_t b) { return b == byte; });
}

}  // namespace

RuleLowering::Step RuleLowering::Lower(const nft::Immediate& immediate) {
  if (immediate.dreg.is_verdict()) return LowerVerdict(immediate.verdict);
  if (!CheckRange(immediate.dreg, immediate.data.size())) return Step::kError;
  const size_t begin = immediate.dreg.word() * 4U;
  registers_.WriteLiteral(begin, immediate.data.span());
  registers_.ZeroRestOfWord(begin + immediate.data.size());
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::Cmp& cmp) {
  if (!CheckRange(cmp.sreg, cmp.data.size())) return Step::kError;
  // The numbers of the kernel's operators are those of Comparison.
  static_assert(static_cast<int>(nft::CmpOp::kGte) == static_cast<int>(Comparison::kGte));
  const ValueId value = Read(cmp.sreg, cmp.data.size());
  Emit({Op::kTest, 0, static_cast<uint8_t>(cmp.op), 0, value.index, Intern(cmp.data.span())});
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::Range& range) {
  const size_t length = range.from.size();
  if (!CheckRange(range.sreg, length)) return Step::kError;
  if (range.to.size() != length) return Error("range: the bounds differ in length");
  std::array<uint8_t, 32> bounds;
  std::copy_n(range.from.data(), length, bounds.data());
  std::copy_n(range.to.data(), length, bounds.data() + length);
  const auto comparison = range.op == nft::RangeOp::kEq ? Comparison::kIn : Comparison::kNotIn;
  const ValueId value = Read(range.sreg, length);
  Emit({Op::kTest, 0, static_cast<uint8_t>(comparison), 0, value.index, Intern({bounds.data(), 2 * length})});
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::Bitwise& bitwise) {
  if (!CheckRange(bitwise.sreg, bitwise.len) || !CheckRange(bitwise.dreg, bitwise.len)) return Step::kError;
  switch (bitwise.op) {
    case nft::BitwiseOp::kMaskXor:
      return LowerMaskXor(bitwise);
    case nft::BitwiseOp::kLshift:
    case nft::BitwiseOp::kRshift:
      return LowerShift(bitwise);
    case nft::BitwiseOp::kAnd:
    case nft::BitwiseOp::kOr:
    case nft::BitwiseOp::kXor:
      return bitwise.sreg2 ? LowerBitwiseValue(bitwise) : LowerBitwiseConstant(bitwise);
  }
  return Error("bitwise: no such operation");
}

// (src & mask) ^ xor over whole words, with mask and xor zero-extended: what
// stands behind `len` becomes zero.
RuleLowering::Step RuleLowering::LowerMaskXor(const nft::Bitwise& bitwise) {
  const uint8_t length = bitwise.len;
  if (bitwise.mask.size() != length || bitwise.xor_bits.size() != length) {
    return Error("bitwise: mask or xor is not as long as the value");
  }
  const bool masks = !AllBytesAre(bitwise.mask, 0xff), flips = !AllBytesAre(bitwise.xor_bits, 0);
  if (!masks && !flips) {
    registers_.Copy(bitwise.sreg.word() * 4U, bitwise.dreg.word() * 4U, length);
    registers_.ZeroRestOfWord(bitwise.dreg.word() * 4U + length);
    return Step::kNext;
  }
  ValueId value = Read(bitwise.sreg, length);
  if (masks) value = Emit({Op::kAnd, length, 0, 0, value.index, Intern(bitwise.mask.span())});
  if (flips) value = Emit({Op::kXor, length, 0, 0, value.index, Intern(bitwise.xor_bits.span())});
  Store(bitwise.dreg, value, length);
  return Step::kNext;
}

// The constant is zero-extended to whole words: `and` clears what stands behind
// it, `or` and `xor` keep it.
RuleLowering::Step RuleLowering::LowerBitwiseConstant(const nft::Bitwise& bitwise) {
  const uint8_t length = bitwise.len;
  if (bitwise.data.size() != length) return Error("bitwise: the constant is not as long as the value");
  const ValueId source = Read(bitwise.sreg, length);
  const auto op = bitwise.op == nft::BitwiseOp::kAnd  ? Op::kAnd
                  : bitwise.op == nft::BitwiseOp::kOr ? Op::kOr
                                                      : Op::kXor;
  const ValueId value = Emit({op, length, 0, 0, source.index, Intern(bitwise.data.span())});
  if (op == Op::kAnd) {
    Store(bitwise.dreg, value, length);
    return Step::kNext;
  }
  const size_t from = bitwise.sreg.word() * 4U, to = bitwise.dreg.word() * 4U;
  registers_.Copy(from + length, to + length, WholeWords(length) - length);
  registers_.Write(to, value, length);
  return Step::kNext;
}

// Two registers, as whole words.
RuleLowering::Step RuleLowering::LowerBitwiseValue(const nft::Bitwise& bitwise) {
  if (!CheckRange(*bitwise.sreg2, bitwise.len)) return Step::kError;
  const auto length = static_cast<uint8_t>(WholeWords(bitwise.len));
  const ValueId first = Read(bitwise.sreg, length), second = Read(*bitwise.sreg2, length);
  const auto op = bitwise.op == nft::BitwiseOp::kAnd  ? Op::kAndValue
                  : bitwise.op == nft::BitwiseOp::kOr ? Op::kOrValue
                                                      : Op::kXorValue;
  Store(bitwise.dreg, Emit({op, length, 0, 0, first.index, second.index}), length);
  return Step::kNext;
}

// Shifts move bits between all bytes of the words, also those behind `len`.
RuleLowering::Step RuleLowering::LowerShift(const nft::Bitwise& bitwise) {
  if (bitwise.data.size() != 4) return Error("bitwise: a shift count has four bytes");
  const auto count = LoadNative<uint32_t>(bitwise.data.data());
  if (count < 1 || count > 31) return Error("bitwise: a shift is by 1 to 31");
  const auto length = static_cast<uint8_t>(WholeWords(bitwise.len));
  const auto op = bitwise.op == nft::BitwiseOp::kLshift ? Op::kShl : Op::kShr;
  const ValueId value = Read(bitwise.sreg, length);
  Store(bitwise.dreg, Emit({op, length, 0, 0, value.index, count}), length);
  return Step::kNext;
}

// Writes the whole elements and nothing else: what stands behind them keeps
// what it had. Elements of eight bytes are read every four bytes and written
// every eight, one after the other: the kernel's bug, seen in place.
RuleLowering::Step RuleLowering::Lower(const nft::Byteorder& byteorder) {
  if (!CheckRange(byteorder.sreg, byteorder.len) || !CheckRange(byteorder.dreg, byteorder.len)) return Step::kError;
  const uint8_t size = byteorder.size;
  if (size != 2 && size != 4 && size != 8) return Error("byteorder: an element has 2, 4 or 8 bytes");
  const size_t count = byteorder.len / size;
  const size_t from = byteorder.sreg.word() * 4U, to = byteorder.dreg.word() * 4U;
  if (size == 8) {
    for (size_t i = 0; i < count; ++i) {
      const ValueId value = ReadBytes(from + 4 * i, 8);
      registers_.Write(to + 8 * i, Emit({Op::kSwap, 8, 8, 0, value.index}), 8);
    }
  } else if (count != 0) {
    const auto length = static_cast<uint8_t>(count * size);
    const ValueId value = ReadBytes(from, length);
    registers_.Write(to, Emit({Op::kSwap, length, size, 0, value.index}), length);
  }
  return Step::kNext;
}

}  // namespace nftjit::ir
