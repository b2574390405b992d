// Constants of generated code: bytes behind the code, reached relative to rip.
#ifndef NFTJIT_JIT_X86_LITERALS_H_
#define NFTJIT_JIT_X86_LITERALS_H_

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/support/bytes.h"

namespace nftjit::x86 {

// Equal constants of equal alignment are kept once.
class LiteralPool {
 public:
  static constexpr size_t kAlignment = 64;  // Of the pool as a whole.

  // The offset of `bytes` in the pool, a multiple of `alignment` (a power of two, at most kAlignment).
  uint32_t Add(ByteSpan bytes, size_t alignment);
  [[nodiscard]] ByteSpan bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  absl::flat_hash_map<std::string, uint32_t> offsets_;  // By alignment and bytes.
};

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_LITERALS_H_
