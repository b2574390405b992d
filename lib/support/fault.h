// Faults that are put into the engines on purpose, to see that the tests find them. A build with NFTJIT_FAULTS obeys
// the environment variable NFTJIT_FAULT, one name of the list below; any other build has none of this.
#ifndef NFTJIT_LIB_SUPPORT_FAULT_H_
#define NFTJIT_LIB_SUPPORT_FAULT_H_

#include <cstdint>

#include "build_options.h"

namespace nftjit {

enum class Fault : uint8_t {
  kNone,
  kComparison,  // "comparison": machine code takes < for <=.
  kBounds,      // "bounds": machine code lets loads read one byte behind the packet.
  kPriority,    // "priority": base chains run in the reverse order.
  kCounter,     // "counter": machine code counts no bytes.
};

#ifdef NFTJIT_FAULTS
// The fault that the environment asks for. Ends the process, saying so, if it asks for one that is not known.
Fault ChosenFault();
inline bool Has(Fault fault) { return ChosenFault() == fault; }
#else
constexpr bool Has(Fault) { return false; }
#endif

}  // namespace nftjit

#endif  // NFTJIT_LIB_SUPPORT_FAULT_H_
