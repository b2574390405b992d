// The register file of the VM while a rule is lowered: where each of its 64
// bytes comes from.
#ifndef NFTJIT_LIB_IR_REGISTER_FILE_H_
#define NFTJIT_LIB_IR_REGISTER_FILE_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/ir/ir.h"

namespace nftjit::ir {

// Byte by byte, so that no store is a special case: sub-word stores, whole-word
// bitwise results and byteorder's leftovers just say which bytes they write. A
// store changes what later reads see, never a value that was read before.
class RegisterFile {
 public:
  static constexpr size_t kBytes = 64;

  // A run of bytes of one kind: bytes [offset, offset + length) of a value,
  // constants, or stale bytes.
  struct Piece {
    enum class Kind : uint8_t { kValue, kLiteral, kStale };
    Kind kind;
    size_t begin, length;  // In the file.
    ValueId value;
    uint8_t offset;
  };

  RegisterFile() { Reset(); }
  // Nothing has been written in this rule: all bytes are stale.
  void Reset() { source_.fill(kStale); }

  void Write(size_t begin, ValueId value, size_t length) {
    for (size_t i = 0; i < length; ++i) {
      source_[begin + i] = value.index;
      offset_[begin + i] = static_cast<uint8_t>(i);
    }
  }
  void WriteLiteral(size_t begin, ByteSpan bytes) {
    for (size_t i = 0; i < bytes.size(); ++i) {
      source_[begin + i] = kLiteral;
      offset_[begin + i] = bytes[i];
    }
  }
  // Zeroes from `end`, the end of a store, to the end of its word.
  void ZeroRestOfWord(size_t end) {
    for (; end % 4 != 0; ++end) {
      source_[end] = kLiteral;
      offset_[end] = 0;
    }
  }
  // The ranges are equal or disjoint.
  void Copy(size_t from, size_t to, size_t length) {
    for (size_t i = 0; i < length; ++i) {
      source_[to + i] = source_[from + i];
      offset_[to + i] = offset_[from + i];
    }
  }

  // The longest piece that begins at `begin` and ends at or before `end`.
  [[nodiscard]] Piece PieceAt(size_t begin, size_t end) const {
    const uint32_t source = source_[begin];
    const auto kind = source == kStale     ? Piece::Kind::kStale
                      : source == kLiteral ? Piece::Kind::kLiteral
                                           : Piece::Kind::kValue;
    Piece piece{kind, begin, 1, ValueId(source), offset_[begin]};
    while (begin + piece.length < end && source_[begin + piece.length] == source &&
           (kind != Piece::Kind::kValue || offset_[begin + piece.length] == piece.offset + piece.length)) {
      ++piece.length;
    }
    return piece;
  }
  // Of a piece of literals.
  [[nodiscard]] ByteSpan Literals(const Piece& piece) const { return {offset_.data() + piece.begin, piece.length}; }

 private:
  static constexpr uint32_t kStale = UINT32_MAX, kLiteral = UINT32_MAX - 1;
  // The row of a value, or one of the two above; the byte's place in the value,
  // or the literal byte.
  std::array<uint32_t, kBytes> source_;
  std::array<uint8_t, kBytes> offset_;
};

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_REGISTER_FILE_H_
