// What the server holds between batches: one immutable value per table, shared with whoever reads it.
#ifndef NFTJIT_LIB_CONTROL_STATE_H_
#define NFTJIT_LIB_CONTROL_STATE_H_

#include <memory>
#include <vector>

#include "lib/nft/ruleset.h"

namespace nftjit::control {

struct TableState {
  nft::Table table;
  nft::Handle last_handle = 0;  // Given to something in this table; never given again, not even after a failed batch.
};

struct State {
  std::vector<std::shared_ptr<const TableState>> tables;  // Order of creation.
  uint32_t generation = 1;                                // Counts commits; 0 is skipped.
  nft::Handle last_table_handle = 0;
  uint64_t last_registration = 0;  // See BaseChain::registration.
  uint64_t last_binding_chain = 0;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_STATE_H_
