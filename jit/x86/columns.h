// Runs of rules that are tested eight at a time: which they are.
//
// A rule may join a column if one of its first tests compares a field of at most four bytes, or asks for a longer one
// to be equal to something (then four bytes of it are looked at), and nothing before that test has an effect. The
// column's comparison is then a necessary condition of the rule; where it passes, the rule runs as ever from its first
// row, or from the row behind the test if all before it is known to hold. So a column never decides anything but that a
// rule does not match, and the order of rules stays.
#ifndef NFTJIT_JIT_X86_COLUMNS_H_
#define NFTJIT_JIT_X86_COLUMNS_H_

#include <cstdint>
#include <vector>

#include "jit/x86/plan.h"
#include "lib/ir/ir.h"

namespace nftjit::x86 {

inline constexpr uint32_t kColumnLanes = 8;    // Rules in a vector.
inline constexpr uint32_t kColumnVectors = 4;  // Vectors for one branch.
inline constexpr uint32_t kColumnGroup = kColumnLanes * kColumnVectors;
inline constexpr uint32_t kShortestColumn = 8;  // Rules that make a run.

// What a column compares: `length` bytes of the packet or of a value of an enclosing block.
struct ColumnField {
  enum class Source : uint8_t { kPacket, kValue };
  // As packed bytes in packet order, under a mask; or as an integer, against bounds.
  enum class Order : uint8_t { kMasked, kBytesAscending, kNative };
  Source source = Source::kPacket;
  Order order = Order::kMasked;
  uint8_t length = 4;
  ir::Base base = ir::Base::kNetwork;  // kPacket
  uint32_t offset = 0;                 // In the packet from `base`, or in the value.
  uint32_t value = 0;                  // kValue: its row.
  bool operator==(const ColumnField&) const = default;
};

// One lane: passes if (field & a) == b for kMasked, else if field - a <= b (unsigned); the other way round if inverted.
struct ColumnTest {
  ColumnField field;
  uint32_t a = 0, b = 0;
  bool inverted = false;
};

struct ColumnRule {
  uint32_t item;
  uint32_t a, b;
  bool inverted;
  uint32_t resume_row;  // Where the rule goes on if its lane passes.
  uint32_t room;        // If it resumes behind its guards: the room they ask for, beyond what is proven.
};

struct ColumnRun {
  uint32_t first_item = 0, end_item = 0;
  ColumnField field;
  bool room_proven = false;  // The field lies inside the packet.
  uint32_t room = 0;         // Else: room that is enough for the field and for every rule.
  // Guards that every rule begins with where it resumes, as rows of the first rule; they are checked once for a group.
  uint32_t shared_row = 0, shared_guards = 0;
  std::vector<ColumnRule> rules;
};

// By chain. Sets ChainPlan::frame_bytes to hold kColumnMaskSlot where there are runs.
std::vector<std::vector<ColumnRun>> PlanColumns(const ir::Program& program, Plan& plan);

}  // namespace nftjit::x86

#endif  // NFTJIT_JIT_X86_COLUMNS_H_
