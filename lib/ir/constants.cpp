#include "lib/ir/constants.h"

#include <algorithm>
#include <functional>

namespace nftjit::ir {
namespace {

uint32_t HashBytes(ByteSpan bytes) {
  uint64_t hash = 0x9e3779b97f4a7c15ULL ^ bytes.size();
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) hash = (hash ^ LoadNative<uint64_t>(&bytes[i])) * 0xff51afd7ed558ccdULL;
  for (; i < bytes.size(); ++i) hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
  return static_cast<uint32_t>((hash * 0xc4ceb9fe1a85ec53ULL) >> 32);
}

}  // namespace

ConstId ConstantPool::Intern(ByteSpan bytes) {
  if ((entries_.size() + 1) * 2 > slots_.size()) Rehash(slots_.empty() ? 64 : slots_.size() * 2);
  const size_t mask = slots_.size() - 1;
  size_t slot = HashBytes(bytes) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const ConstId id(slots_[slot] - 1);
    const ByteSpan held = (*this)[id];
    if (held.size() == bytes.size() && std::equal(held.begin(), held.end(), bytes.begin())) return id;
  }
  entries_.push_back({static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(bytes.size())});
  // The bytes may lie in the arena itself, which resize() may move.
  const size_t offset = arena_.size();
  const bool inside = !bytes.empty() && std::greater_equal<>()(bytes.data(), arena_.data()) &&
                      std::less<>()(bytes.data(), arena_.data() + offset);
  const size_t from = inside ? static_cast<size_t>(bytes.data() - arena_.data()) : 0;
  arena_.resize(offset + bytes.size());
  const uint8_t* const source = inside ? arena_.data() + from : bytes.data();
  std::copy_n(source, bytes.size(), arena_.data() + offset);
  slots_[slot] = static_cast<uint32_t>(entries_.size());
  return ConstId(static_cast<uint32_t>(entries_.size() - 1));
}

void ConstantPool::Reserve(size_t count) {
  size_t slots = 64;
  while (slots < count * 2) slots *= 2;
  entries_.reserve(count);
  arena_.reserve(count * 4);
  if (slots > slots_.size()) Rehash(slots);
}

void ConstantPool::Rehash(size_t slots) {
  slots_.assign(slots, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    size_t slot = HashBytes((*this)[ConstId(i)]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = i + 1;
  }
}

}  // namespace nftjit::ir
