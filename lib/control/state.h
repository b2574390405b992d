// What the server holds between batches: one immutable value per table, shared with whoever reads it.
#ifndef NFTJIT_LIB_CONTROL_STATE_H_
#define NFTJIT_LIB_CONTROL_STATE_H_

#include <memory>
#include <string_view>
#include <vector>

#include "lib/nft/ruleset.h"

namespace nftjit::control {

// Names of binding chains: this and a number.
inline constexpr std::string_view kBindingChainPrefix = "__chain";

struct State {
  std::vector<std::shared_ptr<const nft::Table>> tables;  // Order of creation.
  nft::Issued issued;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_STATE_H_
