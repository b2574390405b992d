// At which hooks, families and chain types an expression may run (validation.md 4). Looked at for reached rules only.
#ifndef NFTJIT_LIB_NFT_HOOK_RULES_H_
#define NFTJIT_LIB_NFT_HOOK_RULES_H_

#include "lib/nft/ruleset.h"

namespace nftjit::nft {

// Everything but references to objects, which IsObjectAllowedAt() decides by the type that they refer to.
bool IsAllowedAt(const ExpressionBody& body, Family family, uint8_t hook, ChainType type);
bool IsObjectAllowedAt(ObjectType object, Family family, uint8_t hook);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_HOOK_RULES_H_
