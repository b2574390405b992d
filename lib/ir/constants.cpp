#include "lib/ir/constants.h"

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
  if ((entries_.size() + 1) * 2 > slots_.size()) Grow();
  const size_t mask = slots_.size() - 1;
  size_t slot = HashBytes(bytes) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const ConstId id(slots_[slot] - 1);
    const ByteSpan held = (*this)[id];
    if (held.size() == bytes.size() && std::equal(held.begin(), held.end(), bytes.begin())) return id;
  }
  entries_.push_back({static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(bytes.size())});
  // The bytes may lie in the arena itself, which insert() may move.
  const std::vector<uint8_t> copy(bytes.begin(), bytes.end());
  arena_.insert(arena_.end(), copy.begin(), copy.end());
  slots_[slot] = static_cast<uint32_t>(entries_.size());
  return ConstId(static_cast<uint32_t>(entries_.size() - 1));
}

void ConstantPool::Grow() {
  slots_.assign(slots_.empty() ? 64 : slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    size_t slot = HashBytes((*this)[ConstId(i)]) & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = i + 1;
  }
}

}  // namespace nftjit::ir
