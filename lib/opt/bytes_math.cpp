#include "lib/opt/bytes_math.h"

#include <bit>

namespace nftjit::opt {
namespace {

template <class Combine>
Bytes Zip(ByteSpan a, ByteSpan b, Combine&& combine) {
  Bytes out(a);
  for (size_t i = 0; i < a.size(); ++i) out.data()[i] = static_cast<uint8_t>(combine(a[i], b[i]));
  return out;
}

// The index of the byte that is `rank`th in significance, 0 the most significant.
size_t Significant(size_t rank, size_t size, bool native) {
  return native && std::endian::native == std::endian::little ? size - 1 - rank : rank;
}

}  // namespace

Bytes And(ByteSpan a, ByteSpan b) {
  return Zip(a, b, [](unsigned x, unsigned y) { return x & y; });
}
Bytes Or(ByteSpan a, ByteSpan b) {
  return Zip(a, b, [](unsigned x, unsigned y) { return x | y; });
}
Bytes Xor(ByteSpan a, ByteSpan b) {
  return Zip(a, b, [](unsigned x, unsigned y) { return x ^ y; });
}
Bytes AndNot(ByteSpan a, ByteSpan b) {
  return Zip(a, b, [](unsigned x, unsigned y) { return x & ~y; });
}

bool AllZero(ByteSpan a) {
  return std::all_of(a.begin(), a.end(), [](uint8_t byte) { return byte == 0; });
}
bool AllOnes(ByteSpan a) {
  return std::all_of(a.begin(), a.end(), [](uint8_t byte) { return byte == 0xff; });
}
uint32_t CountBits(ByteSpan a) {
  uint32_t bits = 0;
  for (const uint8_t byte : a) bits += static_cast<uint32_t>(std::popcount(byte));
  return bits;
}

Bytes Swap(ByteSpan a, size_t size) {
  Bytes out(a);
  for (size_t at = 0; at + size <= a.size(); at += size) std::reverse(out.data() + at, out.data() + at + size);
  return out;
}

Bytes ShiftLeft(ByteSpan a, uint32_t count) {
  Bytes out(a);
  uint32_t carry = 0;
  for (size_t at = a.size(); at >= 4;) {
    at -= 4;
    const auto word = LoadNative<uint32_t>(&a[at]);
    StoreNative<uint32_t>(out.data() + at, word << count | carry);
    carry = word >> (32 - count);
  }
  return out;
}
Bytes ShiftRight(ByteSpan a, uint32_t count) {
  Bytes out(a);
  uint32_t carry = 0;
  for (size_t at = 0; at + 4 <= a.size(); at += 4) {
    const auto word = LoadNative<uint32_t>(&a[at]);
    StoreNative<uint32_t>(out.data() + at, word >> count | carry);
    carry = word << (32 - count);
  }
  return out;
}

int Compare(ByteSpan a, ByteSpan b, bool native) {
  for (size_t rank = 0; rank < a.size(); ++rank) {
    const size_t i = Significant(rank, a.size(), native);
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

bool Increment(Bytes& a, bool native) {
  if (AllOnes(a.span())) return false;
  for (size_t rank = a.size(); rank-- > 0;) {
    if (++a.data()[Significant(rank, a.size(), native)] != 0) break;
  }
  return true;
}
bool Decrement(Bytes& a, bool native) {
  if (AllZero(a.span())) return false;
  for (size_t rank = a.size(); rank-- > 0;) {
    if (a.data()[Significant(rank, a.size(), native)]-- != 0) break;
  }
  return true;
}

bool IsRange(ir::Comparison comparison) {
  return comparison == ir::Comparison::kIn || comparison == ir::Comparison::kNotIn;
}
bool IsEquality(ir::Comparison comparison) {
  return comparison == ir::Comparison::kEq || comparison == ir::Comparison::kNeq;
}

bool Passes(const ir::Program& program, const ir::Row& test, ByteSpan value) {
  const Bytes masked = test.c == UINT32_MAX ? Bytes(value) : And(value, ConstantOf(program, test.c));
  const ByteSpan constant = ConstantOf(program, test.b);
  const bool native = (test.flags & ir::kNative) != 0;
  const int to_first = Compare(masked.span(), constant.first(masked.size()), native);
  switch (test.comparison()) {
    case ir::Comparison::kEq:
      return to_first == 0;
    case ir::Comparison::kNeq:
      return to_first != 0;
    case ir::Comparison::kLt:
      return to_first < 0;
    case ir::Comparison::kLte:
      return to_first <= 0;
    case ir::Comparison::kGt:
      return to_first > 0;
    case ir::Comparison::kGte:
      return to_first >= 0;
    case ir::Comparison::kIn:
    case ir::Comparison::kNotIn: {
      const bool in = to_first >= 0 && Compare(masked.span(), constant.subspan(masked.size()), native) <= 0;
      return in == (test.comparison() == ir::Comparison::kIn);
    }
  }
  return false;
}

}  // namespace nftjit::opt
