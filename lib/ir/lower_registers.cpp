// Reads of registers: a value itself, or the rows that piece its bytes together.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "lib/ir/lowering.h"

namespace nftjit::ir {

bool RuleLowering::CheckRange(nft::Register reg, size_t length) {
  if (!reg.is_verdict() && length != 0 && reg.word() * 4U + length <= RegisterFile::kBytes) return true;
  Error(absl::StrCat("register ", reg.ToNetlink(), " with ", length, " bytes is outside of the register file"));
  return false;
}

ValueId RuleLowering::ReadBytes(size_t begin, size_t length) {
  const size_t end = begin + length;
  RegisterFile::Piece piece = registers_.PieceAt(begin, end);
  ValueId value = ReadPiece(piece);
  size_t done = piece.length;
  while (done < length) {
    piece = registers_.PieceAt(begin + done, end);
    done += piece.length;
    const auto result_length = static_cast<uint8_t>(done);
    const bool zeros = piece.kind == RegisterFile::Piece::Kind::kLiteral &&
                       std::ranges::all_of(registers_.Literals(piece), [](uint8_t byte) { return byte == 0; });
    if (zeros) {
      value = Emit({Op::kZext, result_length, 0, 0, value.index});
    } else {
      const ValueId next = ReadPiece(piece);
      value = Emit({Op::kConcat, result_length, 0, 0, value.index, next.index});
    }
  }
  return value;
}

ValueId RuleLowering::ReadPiece(const RegisterFile::Piece& piece) {
  const auto length = static_cast<uint8_t>(piece.length);
  switch (piece.kind) {
    case RegisterFile::Piece::Kind::kLiteral:
      return Emit({Op::kConst, length, 0, 0, Intern(registers_.Literals(piece))});
    case RegisterFile::Piece::Kind::kStale:
      return Emit({Op::kStale, length});
    case RegisterFile::Piece::Kind::kValue:
      break;
  }
  if (piece.offset == 0 && p_.rows[piece.value.index].length == length) return piece.value;
  return Emit({Op::kSlice, length, 0, 0, piece.value.index, piece.offset});
}

}  // namespace nftjit::ir
