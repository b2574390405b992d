#include "jit/x86/literals.h"

namespace nftjit::x86 {

uint32_t LiteralPool::Add(ByteSpan bytes, size_t alignment) {
  std::string key(1, static_cast<char>(alignment));
  key.append(bytes.begin(), bytes.end());
  const auto [place, fresh] = offsets_.try_emplace(std::move(key), 0);
  if (fresh) {
    bytes_.resize((bytes_.size() + alignment - 1) & ~(alignment - 1));
    place->second = static_cast<uint32_t>(bytes_.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  return place->second;
}

}  // namespace nftjit::x86
