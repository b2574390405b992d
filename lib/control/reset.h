// What GET…_RESET does after its dump: counters and quotas begin again.
#ifndef NFTJIT_LIB_CONTROL_RESET_H_
#define NFTJIT_LIB_CONTROL_RESET_H_

#include <optional>
#include <vector>

#include "lib/control/state.h"

namespace nftjit::control {

// A rule, object or element that was dumped.
struct Dumped {
  nft::Handle table;
  nft::Handle thing;                // For an element: its set.
  std::optional<size_t> element{};  // Its position in the set.
};

// The state with the packets and bytes of counters, and what quotas have consumed, at 0 in all that was dumped. The
// generation stays, as in the kernel.
State Reset(const State& state, const std::vector<Dumped>& dumped);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_RESET_H_
