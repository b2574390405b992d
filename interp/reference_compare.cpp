// Tests: values against constants, as byte strings or integers.
#include <algorithm>
#include <array>
#include <cstring>

#include "interp/reference_machine.h"

namespace nftjit::reference {
namespace {

constexpr size_t kMostValueBytes = 64;

// Compares as the test says: as byte strings, or as integers in native order.
int Compare(ByteSpan a, const uint8_t* b, bool native) {
  if (!native) return std::memcmp(a.data(), b, a.size());
  uint64_t left = 0, right = 0;
  const auto load = [&](const uint8_t* bytes) -> uint64_t {
    switch (a.size()) {
      case 1:
        return *bytes;
      case 2:
        return LoadNative<uint16_t>(bytes);
      case 4:
        return LoadNative<uint32_t>(bytes);
      default:
        return LoadNative<uint64_t>(bytes);
    }
  };
  left = load(a.data());
  right = load(b);
  return left < right ? -1 : left > right ? 1 : 0;
}

}  // namespace

void Constant(const Machine& machine, uint32_t index) {
  const ByteSpan bytes = machine.Constant(machine.row(index).a);
  std::memcpy(machine.Result(index), bytes.data(), bytes.size());
}

// Bytes that the kernel leaves over from earlier rules or packets: zeros here (docs/divergences.md).
void Stale(const Machine& machine, uint32_t index) { std::memset(machine.Result(index), 0, machine.row(index).length); }

void Bitwise(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  const ByteSpan left = machine.Value(row.a);
  const bool two_values = ir::Info(row.op).b == ir::Operand::kValue;
  const ByteSpan right = two_values ? machine.Value(row.b) : machine.Constant(row.b);
  uint8_t* result = machine.Result(index);
  for (size_t i = 0; i < row.length; ++i) {
    switch (row.op) {
      case ir::Op::kAnd:
      case ir::Op::kAndValue:
        result[i] = left[i] & right[i];
        break;
      case ir::Op::kOr:
      case ir::Op::kOrValue:
        result[i] = left[i] | right[i];
        break;
      default:
        result[i] = left[i] ^ right[i];
        break;
    }
  }
}

// The value is one big number of native 32-bit words, the first of which is the most significant.
void Shift(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  const uint8_t* words = machine.Value(row.a).data();
  uint8_t* result = machine.Result(index);
  const size_t count = row.length / 4U;
  const uint32_t bits = row.b;  // 1 to 31.
  const auto word = [&](size_t i) { return i < count ? LoadNative<uint32_t>(words + 4 * i) : 0; };
  for (size_t i = 0; i < count; ++i) {
    const uint32_t shifted = row.op == ir::Op::kShl ? word(i) << bits | word(i + 1) >> (32 - bits)
                                                    : word(i) >> bits | (i == 0 ? 0 : word(i - 1) << (32 - bits));
    StoreNative(result + 4 * i, shifted);
  }
}

// Reverses the bytes of each element.
void Swap(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  const ByteSpan value = machine.Value(row.a);
  uint8_t* result = machine.Result(index);
  for (size_t element = 0; element + row.key <= row.length; element += row.key) {
    std::reverse_copy(value.data() + element, value.data() + element + row.key, result + element);
  }
}

void Concat(const Machine& machine, uint32_t index) {
  const ByteSpan first = machine.Value(machine.row(index).a), second = machine.Value(machine.row(index).b);
  uint8_t* result = machine.Result(index);
  std::copy(first.begin(), first.end(), result);
  std::copy(second.begin(), second.end(), result + first.size());
}

void Slice(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  std::memcpy(machine.Result(index), machine.Value(row.a).data() + row.b, row.length);
}

// Longer by zeros at the end, as sub-word stores leave a register.
void Zext(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  const ByteSpan value = machine.Value(row.a);
  uint8_t* result = machine.Result(index);
  std::copy(value.begin(), value.end(), result);
  std::memset(result + value.size(), 0, row.length - value.size());
}

bool Test(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  const ByteSpan value = machine.Value(row.a);
  std::array<uint8_t, kMostValueBytes> masked{};
  std::copy(value.begin(), value.end(), masked.begin());
  if (row.c != ir::ConstId::kNone) {
    const ByteSpan mask = machine.Constant(row.c);
    for (size_t i = 0; i < value.size(); ++i) masked[i] &= mask[i];
  }
  const ByteSpan left(masked.data(), value.size());
  const uint8_t* right = machine.Constant(row.b).data();
  const bool native = (row.flags & ir::kNative) != 0;
  const int order = Compare(left, right, native);
  // For kIn and kNotIn `right` is the lower bound, and the upper one follows it.
  const auto in_range = [&] { return order >= 0 && Compare(left, right + value.size(), native) <= 0; };
  switch (row.comparison()) {
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
      return in_range();
    case ir::Comparison::kNotIn:
      return !in_range();
  }
  return false;
}

}  // namespace nftjit::reference
