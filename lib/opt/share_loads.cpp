// One row per value and one guard per condition on the way through a rule:
//     guard room.network 20; %0 = load network+12, 4; …; guard room.network 20; %1 = load network+12, 4
//       =>  guard room.network 20; %0 = load network+12, 4; …        and %0 for %1
//     guard room.transport 2; …; guard room.transport 4; …  =>  guard room.transport 4; …
// Values. Condition: a row of the same op and operands stands earlier in the rule, or at the head of a block around it,
// and no row between them changes what it reads: `set` of the same metadata, a jump into a chain that may set it, an
// unsupported op. Random numbers are never shared. A load that reads zero where there is nothing may take the value of
// one that was guarded, and the other way round, since both have the same value wherever both are reached.
// Guards. One that is implied by what has passed goes. One that asks for more room than an earlier one of the same base
// takes the earlier one's place, if no row with an effect lies between: then nobody can see that the rule ends earlier.
// Sound because a value does not change once it is defined, the packet's bytes and length do not change at all, and on
// the way to a row everything above it has passed.
#include <array>

#include "lib/ir/guards.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::GuardKind;
using ir::Op;
using ir::Row;

// What has passed and is defined on the way to a row. Blocks pass the guards on to their items.
struct LoadScope {
  ir::GuardSet guards;
  uint32_t end = UINT32_MAX;  // Of the block, as an item.
};

class Sharer {
 public:
  Sharer(ir::Program& program, int limit)
      : p_(program), limit_(limit), keys_set_by_chains_(KeysSetByChains(program)), table_(kTableSize) {}

  int Run() {
    for (const ir::Chain& chain : p_.chains) {
      scopes_.assign(1, LoadScope{});
      Forget(0);
      for (uint32_t i = chain.first_item; i < chain.first_item + chain.item_count; ++i) {
        while (scopes_.back().end <= i) scopes_.pop_back();
        item_ = i;
        LoadScope scope = scopes_.back();
        ShareIn(p_.items[i], scope);
        scope.end = p_.items[i].end;
        if (p_.items[i].kind == ir::ItemKind::kBlock) scopes_.push_back(scope);
      }
    }
    if (rewrites_ > 0) Compact(p_);
    return rewrites_;
  }

 private:
  // A value by what defines it. Lossy: of two with the same hash the later one is known.
  struct Entry {
    Row row;
    uint32_t value = UINT32_MAX;
    uint32_t end = 0;  // The item at which it goes out of sight.
  };
  static constexpr size_t kTableSize = 256;
  static constexpr size_t kRoomKinds = 4;

  void ShareIn(const ir::Item& item, LoadScope& scope) {
    room_guard_.fill(UINT32_MAX);
    for (uint32_t r = item.first_row; r < item.first_row + item.row_count; ++r) {
      Row& row = p_.rows[r];
      if (IsDead(row)) continue;
      ForEachOperand(row, [&](uint32_t& operand) { operand = Source(p_, operand).index; });
      if (row.op == Op::kGuard) {
        ShareGuard(r, scope);
      } else if (ShapeOf(row).kind == ir::OpKind::kValue) {
        ShareValue(item, r);
      }
      if (row.op != Op::kTest && row.op != Op::kGuard && !IsDead(row) && HasEffect(p_, row)) PassEffect(row, r);
    }
  }

  void ShareGuard(uint32_t r, LoadScope& scope) {
    Row& guard = p_.rows[r];
    const bool room = guard.key < kRoomKinds;
    if (rewrites_ < limit_) {
      if (scope.guards.Covers(guard.guard(), guard.a)) {
        Kill(guard);
        ++rewrites_;
        return;
      }
      if (room && room_guard_[guard.key] != UINT32_MAX) {
        const uint32_t earlier = room_guard_[guard.key];
        p_.rows[earlier].a = guard.a;
        MergeOrigin(p_, earlier, r);
        scope.guards.Add(guard.guard(), guard.a);
        Kill(guard);
        ++rewrites_;
        return;
      }
    }
    scope.guards.Add(guard.guard(), guard.a);
    if (room) room_guard_[guard.key] = r;
  }

  void ShareValue(const ir::Item& item, uint32_t r) {
    Row& row = p_.rows[r];
    if (!IsRepeatable(p_, row)) return;
    Row key = row;
    if (key.op == Op::kLoad) key.flags &= static_cast<uint8_t>(~ir::kOrZero);
    Entry& entry = table_[Hash(key)];
    if (entry.value != UINT32_MAX && entry.row == key && entry.end > item_ && !IsStale(key, entry.value) &&
        rewrites_ < limit_) {
      MergeOrigin(p_, entry.value, r);
      Forward(row, ir::ValueId(entry.value));
      ++rewrites_;
      return;
    }
    entry = {.row = key, .value = r, .end = item.end};
  }

  void PassEffect(const Row& row, uint32_t r) {
    room_guard_.fill(UINT32_MAX);
    const MetaKeys keys = KeysSetBy(p_, row, keys_set_by_chains_);
    if (keys == kAllMetaKeys) return Forget(r + 1);
    for (size_t key = 0; key < kMetaKeys; ++key) {
      if ((keys >> key & 1) != 0) meta_set_at_[key] = r + 1;
    }
  }
  // Nothing defined before row `from` is valid any more.
  void Forget(uint32_t from) {
    valid_from_ = from;
    meta_set_at_.fill(0);
  }
  [[nodiscard]] bool IsStale(const Row& key, uint32_t value) const {
    return value < valid_from_ || (key.op == Op::kMeta && key.key < kMetaKeys && value < meta_set_at_[key.key]);
  }

  static size_t Hash(const Row& row) {
    uint64_t hash = static_cast<uint64_t>(row.op) | uint64_t{row.length} << 8 | uint64_t{row.key} << 16;
    hash = (hash ^ uint64_t{row.a} << 24) * 0x9e3779b97f4a7c15U;
    hash = (hash ^ (hash >> 32) ^ row.b) * 0x9e3779b97f4a7c15U;
    return hash >> 56;
  }
  static_assert(kTableSize == 256, "Hash() gives eight bits");
  static constexpr size_t kMetaKeys = nft::kMetaKeyCount;

  ir::Program& p_;
  const int limit_;
  const MetaKeys keys_set_by_chains_;
  int rewrites_ = 0;
  uint32_t item_ = 0;
  std::vector<Entry> table_;
  std::vector<LoadScope> scopes_;
  // Of the rule being walked: the guard of each base that no effect has followed yet.
  std::array<uint32_t, kRoomKinds> room_guard_{};
  std::array<uint32_t, kMetaKeys> meta_set_at_{};
  uint32_t valid_from_ = 0;
};

}  // namespace

int ShareLoads(ir::Program& program, int limit) { return Sharer(program, limit).Run(); }

}  // namespace nftjit::opt
