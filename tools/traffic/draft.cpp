#include "tools/traffic/draft.h"

#include <algorithm>
#include <cstring>

#include "lib/support/bytes.h"

namespace nftjit {
namespace {

constexpr size_t kMaxValue = 128;  // Twice the longest value: constants of ranges.
using Value = std::array<uint8_t, kMaxValue>;

constexpr size_t kIp4Header = 20, kIp6Header = 40, kTransportHeader = 20;

// Adds `delta` (1 or -1) to the big-endian number.
void Step(uint8_t* bytes, size_t size, int delta) {
  for (size_t i = size; i-- > 0;) {
    bytes[i] = static_cast<uint8_t>(bytes[i] + delta);
    if (bytes[i] != (delta > 0 ? 0x00 : 0xff)) return;
  }
}

// Some bytes between `low` and `high`, both included: `low` with a random tail where that stays below `high`.
Value Between(const uint8_t* low, const uint8_t* high, size_t size, const RandomSource& random) {
  Value value{};
  std::memcpy(value.data(), random() % 2 == 0 ? low : high, size);
  Value guess{};
  size_t same = 0;
  while (same < size && low[same] == high[same]) ++same;
  std::memcpy(guess.data(), low, same);
  for (size_t i = same; i < size; ++i) guess[i] = static_cast<uint8_t>(random());
  if (same < size) {
    guess[same] = static_cast<uint8_t>(low[same] + random() % (unsigned{high[same]} - low[same] + 1));
  }
  const bool inside = std::memcmp(guess.data(), low, size) >= 0 && std::memcmp(guess.data(), high, size) <= 0;
  return inside ? guess : value;
}

}  // namespace

Draft::Draft(nft::Family family, const RandomSource& random) : random_(random) {
  v6_ = family == nft::Family::kIp6 || (family != nft::Family::kIp && random_() % 8 == 0);
  l4proto_ = random_() % 2 == 0 ? 6 : 17;
  for (uint8_t& byte : network_) byte = static_cast<uint8_t>(random_());
  for (uint8_t& byte : transport_) byte = static_cast<uint8_t>(random_());
}

void Draft::SetLoad(const ir::Row& load, const uint8_t* bytes) {
  const size_t offset = load.a;
  const auto put = [&](auto& header) {
    for (size_t i = 0; i < load.length && offset + i < header.size(); ++i) header[offset + i] = bytes[i];
  };
  if (load.base() == ir::Base::kNetwork) {
    put(network_);
    const size_t protocol = v6_ ? 6 : 9;
    if (offset <= protocol && protocol < offset + load.length) l4proto_ = network_[protocol];
  } else if (load.base() == ir::Base::kTransport) {
    put(transport_);
  }
}

void Draft::SetValue(const ir::Program& program, ir::ValueId id, const uint8_t* bytes) {
  const ir::Row& row = program.rows[id.index];
  Value inner{};
  switch (row.op) {
    case ir::Op::kLoad:
      SetLoad(row, bytes);
      return;
    case ir::Op::kMeta:
      if (row.key == static_cast<uint8_t>(nft::MetaKey::kL4proto)) l4proto_ = bytes[0];
      if (row.key == static_cast<uint8_t>(nft::MetaKey::kNfproto)) v6_ = bytes[0] == 10;
      if (row.key == static_cast<uint8_t>(nft::MetaKey::kProtocol)) v6_ = LoadBig16(bytes) == 0x86dd;
      return;
    case ir::Op::kAnd: {
      const ByteSpan mask = program.constants[ir::ConstId(row.b)];
      for (size_t i = 0; i < row.length; ++i) {
        inner[i] = static_cast<uint8_t>(bytes[i] | (random_() & ~mask[i]));
      }
      SetValue(program, row.value_a(), inner.data());
      return;
    }
    case ir::Op::kXor: {
      const ByteSpan bits = program.constants[ir::ConstId(row.b)];
      for (size_t i = 0; i < row.length; ++i) inner[i] = bytes[i] ^ bits[i];
      SetValue(program, row.value_a(), inner.data());
      return;
    }
    case ir::Op::kSwap:
      for (size_t i = 0; i < row.length; ++i) inner[i] = bytes[i / row.key * row.key + row.key - 1 - i % row.key];
      SetValue(program, row.value_a(), inner.data());
      return;
    case ir::Op::kConcat:
      SetValue(program, row.value_a(), bytes);
      SetValue(program, row.value_b(), bytes + program.rows[row.a].length);
      return;
    case ir::Op::kZext:
      SetValue(program, row.value_a(), bytes);
      return;
    case ir::Op::kSlice:
      for (uint8_t& byte : inner) byte = static_cast<uint8_t>(random_());
      std::memcpy(inner.data() + row.b, bytes, row.length);
      SetValue(program, row.value_a(), inner.data());
      return;
    default:
      return;  // Not of the headers.
  }
}

void Draft::SatisfyTest(const ir::Program& program, const ir::Row& test) {
  const size_t size = program.rows[test.a].length;
  const ByteSpan constant = program.constants[ir::ConstId(test.b)];
  Value wanted{};
  std::memcpy(wanted.data(), constant.data(), size);
  switch (test.comparison()) {
    case ir::Comparison::kNeq:
    case ir::Comparison::kNotIn:
      wanted[size - 1] = static_cast<uint8_t>(wanted[size - 1] ^ 1U << random_() % 8);
      break;
    case ir::Comparison::kLt:
      Step(wanted.data(), size, -1);
      break;
    case ir::Comparison::kGt:
      Step(wanted.data(), size, 1);
      break;
    case ir::Comparison::kIn:
      wanted = Between(constant.data(), constant.data() + size, size, random_);
      break;
    default:
      break;
  }
  SetValue(program, test.value_a(), wanted.data());
}

void Draft::SatisfyLookup(const ir::Program& program, const ir::Row& lookup) {
  const ir::SetInfo& set = program.sets[lookup.b];
  if (set.elements.empty() || (lookup.flags & ir::kNegated) != 0) return;
  const ir::SetElement& element = set.elements[random_() % set.elements.size()];
  Value key{};
  std::memcpy(key.data(), element.key.data(), element.key.size());
  if (!element.key_end.empty()) {
    const auto* low = reinterpret_cast<const uint8_t*>(element.key.data());
    const auto* high = reinterpret_cast<const uint8_t*>(element.key_end.data());
    if (set.kind == ir::SetKind::kInterval) {
      key = Between(low, high, element.key.size(), random_);
    } else {
      size_t at = 0;
      for (const uint8_t length : set.field_lengths) {
        const Value field = Between(low + at, high + at, length, random_);
        std::memcpy(key.data() + at, field.data(), length);
        at += (length + 3U) / 4 * 4;
      }
    }
  }
  SetValue(program, lookup.value_a(), key.data());
}

void Draft::Satisfy(const ir::Program& program, const ir::Item& rule) {
  for (const ir::Row& row : program.RowsOf(rule)) {
    if (row.op == ir::Op::kTest) SatisfyTest(program, row);
    if (row.op == ir::Op::kLookup || row.op == ir::Op::kMap || row.op == ir::Op::kVerdictMap) {
      SatisfyLookup(program, row);
    }
  }
}

std::vector<uint8_t> Draft::Build() const {
  const size_t header = v6_ ? kIp6Header : kIp4Header;
  std::vector<uint8_t> bytes(header + kTransportHeader);
  std::memcpy(bytes.data(), network_.data(), header);
  std::memcpy(bytes.data() + header, transport_.data(), kTransportHeader);
  if (v6_) {
    bytes[0] = static_cast<uint8_t>(0x60 | (bytes[0] & 0x0f));
    StoreBig16(bytes.data() + 4, kTransportHeader);
    bytes[6] = l4proto_;
  } else {
    bytes[0] = 0x45;
    StoreBig16(bytes.data() + 2, static_cast<uint16_t>(bytes.size()));
    bytes[6] &= 0x40;  // Not a fragment.
    bytes[7] = 0;
    bytes[9] = l4proto_;
  }
  if (l4proto_ == 6) bytes[header + 12] = 0x50;
  return bytes;
}

}  // namespace nftjit
