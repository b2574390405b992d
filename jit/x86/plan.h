// Where each value lives: decided for a whole Program before any code is emitted, so that code may be emitted in any
// order (the hot line first, what it branches to afterwards).
#ifndef NFTJIT_JIT_X86_PLAN_H_
#define NFTJIT_JIT_X86_PLAN_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <vector>

#include "lib/ir/ir.h"

namespace nftjit::x86 {

using RegisterMask = uint16_t;

enum class Place : uint8_t {
  kNone,      // Not a value, or a value that nobody uses and that may be left out.
  kFused,     // Has no place: each use reads the packet or computes it again.
  kRegister,  // RegisterMap::values[index], zero extended, as long as its scope lasts.
  kSlot,      // Memory of the chain at rsp + slot; readable up to a multiple of 16 bytes.
};

struct Home {
  Place place = Place::kNone;
  uint8_t index = 0;
  uint16_t slot = 0;
};

// The memory of a chain's activation: homes of the value registers (8 bytes each, if it calls), then slots.
inline constexpr uint32_t kColumnMaskSlot = 72, kFirstSlot = 80, kMaxFrameBytes = 32768;
constexpr uint32_t RegisterHome(uint32_t index) { return index * 8; }

struct ChainPlan {
  uint32_t frame_bytes = 0;  // A multiple of 16; 0: no memory at all.
  bool calls = false;        // May call C functions or chains.
  bool jumps = false;        // May call chains.
  uint16_t test_slot = 0;    // 64 bytes for one test's masked operand, if some test needs them.
  RegisterMask registers = 0;
};

struct Plan {
  std::vector<Home> homes;  // By row.
  std::vector<ChainPlan> chains;
  bool network = false, transport = false;  // Some row reads packet bytes through these bases.
};

// Values of enclosing blocks get registers while there are some, those with most uses first; fused are values that are
// read from their source or computed by a short line of code at their only use.
// Errors: Unimplemented for a chain whose values need more than kMaxFrameBytes.
absl::StatusOr<Plan> MakePlan(const ir::Program& program);

// Whether a value's bytes lie in memory as they are, given its home.
bool Addressable(const ir::Program& program, const Plan& plan, ir::ValueId value);

// Whether an ordered test on a masked value longer than 8 bytes, which goes through ChainPlan::test_slot.
bool NeedsTestSlot(const ir::Program& program, const ir::Row& test);

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_PLAN_H_
