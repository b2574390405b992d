// Which guards a row needs in front of it, and what a run of passed guards covers.
#ifndef NFTJIT_LIB_IR_GUARDS_H_
#define NFTJIT_LIB_IR_GUARDS_H_

#include <array>
#include <cstdint>

#include "lib/ir/ir.h"

namespace nftjit::ir {

// A guard as GuardKind and its number (Row::key and Row::a of a guard row).
struct Requirement {
  GuardKind kind = GuardKind::kL4;
  uint32_t number = 0;
  bool operator==(const Requirement&) const = default;
};
struct RequirementList {
  std::array<Requirement, 2> items;
  uint8_t count = 0;
  void Add(GuardKind kind, uint32_t number = 0) { items[count++] = {kind, number}; }
  [[nodiscard]] const Requirement* begin() const { return items.data(); }
  [[nodiscard]] const Requirement* end() const { return items.data() + count; }
};

// The guards without which `row` could BREAK in the kernel, in the kernel's order. For a load this is the room alone:
// whether a later fragment may be read depends on the kernel's path and is a guard of its own (kUnfragmented), which
// lowering puts in front. Exthdr, map and other ops that break by themselves need none.
RequirementList RequiredGuards(const Row& row);

// The number of a kCtKnown guard.
constexpr uint32_t CtKnownNumber(nft::CtKey key, uint8_t direction) {
  return static_cast<uint32_t>(key) | uint32_t{direction} << 8;
}

// The guards that have passed on the way to a row. Knows what follows from what: more room from less, kL4 from room at
// the transport or inner header, kUnfragmented from room at the inner header, kCtEntry from kCtKnown, a device from
// what is known of it. Small and copyable: a block's items start with a copy of the block's.
class GuardSet {
 public:
  void Add(GuardKind kind, uint32_t number);
  [[nodiscard]] bool Covers(GuardKind kind, uint32_t number) const;
  [[nodiscard]] bool Covers(const Row& row) const {
    for (const Requirement& requirement : RequiredGuards(row)) {
      if (!Covers(requirement.kind, requirement.number)) return false;
    }
    return true;
  }

 private:
  std::array<uint32_t, kBaseCount> room_{};
  uint32_t kinds_ = 0;                  // Bit per GuardKind without a number.
  uint64_t meta_ = 0;                   // Bit per nft::MetaKey.
  std::array<uint32_t, 3> ct_known_{};  // By direction: bit per nft::CtKey.
};

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_GUARDS_H_
