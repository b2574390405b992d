// Which of the kernel's data structures holds a set. It decides what may be inserted and what run-time updates exist.
#ifndef NFTJIT_LIB_NFT_SET_BACKEND_H_
#define NFTJIT_LIB_NFT_SET_BACKEND_H_

#include "lib/nft/ruleset.h"

namespace nftjit::nft {

enum class SetBackend : uint8_t {
  kBitmap,         // Keys of one or two bytes.
  kHash,           // Exact keys, declared size.
  kResizableHash,  // Exact keys; the only one that takes elements at run time.
  kRbtree,         // Intervals of one field, as single boundaries.
  kPipapo,         // Intervals of concatenations.
};

// As the kernel chooses it (vm-semantics 11.2), from the declaration alone: it stays when a size comes
// later.
inline SetBackend BackendOf(const Set& set) {
  if (set.is(kSetInterval)) return set.is(kSetConcat) ? SetBackend::kPipapo : SetBackend::kRbtree;
  if (set.is(kSetEval | kSetTimeout)) return SetBackend::kResizableHash;
  if (set.key_len <= 2 && !set.is(kSetMap | kSetObject)) return SetBackend::kBitmap;
  return set.made_with_size ? SetBackend::kHash : SetBackend::kResizableHash;
}

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_SET_BACKEND_H_
