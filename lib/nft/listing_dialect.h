// The two dialects of the listing (reference/bytecode-text.md): how values are written down.
#ifndef NFTJIT_LIB_NFT_LISTING_DIALECT_H_
#define NFTJIT_LIB_NFT_LISTING_DIALECT_H_

#include <cstdint>

namespace nftjit::nft {

enum class ListingDialect : uint8_t {
  kLegacy,   // libnftnl up to 1.3.1: native words of 8 digits, element flags and `[end]`, user data as text.
  kCurrent,  // After it: digits of the value's own length and byte order, user data as length and sum.
};

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_LISTING_DIALECT_H_
