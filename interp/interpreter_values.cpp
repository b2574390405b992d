// The values that are computed into slots: everything that is not read in place.
#include <algorithm>

#include "interp/interpreter_run.h"
#include "interp/interpreter_sources.h"

namespace nftjit::interp {
namespace {

template <class Combine>
void Combined(uint8_t* to, const uint8_t* a, const uint8_t* b, uint32_t length, Combine combine) noexcept {
  for (uint32_t i = 0; i < length; ++i) to[i] = static_cast<uint8_t>(combine(a[i], b[i]));
}

// Whole native words, the first the most significant (vm-semantics 10.4).
void ShiftLeft(uint8_t* to, const uint8_t* from, uint32_t length, uint32_t count) noexcept {
  uint32_t carry = 0;
  for (uint32_t i = length; i >= 4; i -= 4) {
    const auto word = LoadNative<uint32_t>(from + i - 4);
    StoreNative<uint32_t>(to + i - 4, word << count | carry);
    carry = word >> (32 - count);
  }
}
void ShiftRight(uint8_t* to, const uint8_t* from, uint32_t length, uint32_t count) noexcept {
  uint32_t carry = 0;
  for (uint32_t i = 0; i + 4 <= length; i += 4) {
    const auto word = LoadNative<uint32_t>(from + i);
    StoreNative<uint32_t>(to + i, word >> count | carry);
    carry = word << (32 - count);
  }
}

void Swap(uint8_t* to, const uint8_t* from, uint32_t length, uint32_t element) noexcept {
  for (uint32_t i = 0; i + element <= length; i += element) std::reverse_copy(from + i, from + i + element, to + i);
}

}  // namespace

void Evaluate(const Inst& inst, const Encoding& encoding, Frame& frame) noexcept {
  uint8_t* to = frame.scratch + inst.offset;
  const uint8_t* a = frame.scratch + inst.value;
  switch (static_cast<ir::Op>(inst.key)) {
    case ir::Op::kConst:
      std::memcpy(to, encoding.bytes.data() + inst.value, inst.length);
      return;
    case ir::Op::kStale:
      std::memset(to, 0, inst.length);
      return;
    case ir::Op::kLoad:
      calls::nftjit_load_or_zero(&frame, static_cast<uint32_t>(inst.size), static_cast<uint32_t>(inst.value),
                                 inst.length, to);
      return;
    case ir::Op::kMeta:
      calls::nftjit_meta_load(&frame, static_cast<uint32_t>(inst.size), inst.length, to);
      return;
    case ir::Op::kCt:
      calls::nftjit_ct_load(&frame, static_cast<uint32_t>(inst.size), inst.flags, inst.length, to);
      return;
    case ir::Op::kAnd:
      return Combined(to, a, encoding.bytes.data() + inst.size, inst.length, std::bit_and<>());
    case ir::Op::kOr:
      return Combined(to, a, encoding.bytes.data() + inst.size, inst.length, std::bit_or<>());
    case ir::Op::kXor:
      return Combined(to, a, encoding.bytes.data() + inst.size, inst.length, std::bit_xor<>());
    case ir::Op::kAndValue:
      return Combined(to, a, frame.scratch + inst.size, inst.length, std::bit_and<>());
    case ir::Op::kOrValue:
      return Combined(to, a, frame.scratch + inst.size, inst.length, std::bit_or<>());
    case ir::Op::kXorValue:
      return Combined(to, a, frame.scratch + inst.size, inst.length, std::bit_xor<>());
    case ir::Op::kShl:
      return ShiftLeft(to, a, inst.length, static_cast<uint32_t>(inst.size));
    case ir::Op::kShr:
      return ShiftRight(to, a, inst.length, static_cast<uint32_t>(inst.size));
    case ir::Op::kSwap:
      return Swap(to, a, inst.length, static_cast<uint32_t>(inst.size));
    case ir::Op::kSlice:
      std::memcpy(to, a + inst.size, inst.length);
      return;
    default:  // The encoder makes no others.
      return;
  }
}

bool TestBytes(const Inst& inst, const Encoding& encoding, const Frame& frame) noexcept {
  const uint8_t* bytes = AddressOf(frame, static_cast<Place>(inst.key), inst.offset);
  const uint8_t* constant = encoding.bytes.data() + inst.value;
  const uint32_t length = inst.length;
  uint8_t masked[64];
  if (inst.mask != 0) {
    Combined(masked, bytes, constant, length, std::bit_and<>());
    bytes = masked;
    constant += length;
  }
  const int order = std::memcmp(bytes, constant, length);
  switch (static_cast<ir::Comparison>(inst.size)) {
    case ir::Comparison::kEq:
      return order == 0;
    case ir::Comparison::kNeq:
      return order != 0;
    case ir::Comparison::kLt:
      return order < 0;
    case ir::Comparison::kLte:
      return order <= 0;
    case ir::Comparison::kGt:
      return order > 0;
    case ir::Comparison::kGte:
      return order >= 0;
    case ir::Comparison::kIn:
      return order >= 0 && std::memcmp(bytes, constant + length, length) <= 0;
    case ir::Comparison::kNotIn:
      return order < 0 || std::memcmp(bytes, constant + length, length) > 0;
  }
  return false;
}

}  // namespace nftjit::interp
