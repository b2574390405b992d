// Whether rules depend on time, so that packets at hooks without such rules do not pay for reading the clock.
#ifndef NFTJIT_LIB_ENGINE_CLOCK_USE_H_
#define NFTJIT_LIB_ENGINE_CLOCK_USE_H_

#include "lib/ir/ir.h"

namespace nftjit {

// True if a rule of `chain`, or of a chain that it may jump to, limits, reads the time, or looks up a set whose
// elements expire or limit.
bool DependsOnTime(const ir::Program& program, ir::ChainId chain);

}  // namespace nftjit

#endif  // NFTJIT_LIB_ENGINE_CLOCK_USE_H_
