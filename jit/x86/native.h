// Which rows have machine code of their own, and where the facts that they read lie.
#ifndef NFTJIT_JIT_X86_NATIVE_H_
#define NFTJIT_JIT_X86_NATIVE_H_

#include <cstdint>
#include <optional>

#include "lib/ir/ir.h"

namespace nftjit::x86 {

// A fact at a fixed place: `width` bytes at `offset` of the object that `holder` names.
struct Fact {
  enum class Holder : uint8_t { kFrame, kPacket, kInputDevice, kOutputDevice, kConntrack };
  Holder holder;
  uint16_t offset;
  uint8_t width;
  bool swapped = false;     // Kept in host order, loaded in network order.
  bool may_lack = false;    // The holder may be null, then the fact reads as zeros.
  bool changeable = false;  // Some SetMeta row writes it.
};
// Empty: the load calls the runtime.
std::optional<Fact> FactOf(const ir::Row& row);

// Whether the code of `row` is a call into runtime/calls.h. (A load with kOrZero calls only for short packets and is
// native.)
bool CallsRuntime(const ir::Program& program, const ir::Row& row);
// Whether the code of `row` may call anything, chains included: then values must have homes in memory.
bool MayCall(const ir::Program& program, const ir::Row& row);

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_NATIVE_H_
