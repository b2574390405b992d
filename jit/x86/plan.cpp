#include "jit/x86/plan.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <bit>
#include <span>

#include "jit/x86/native.h"
#include "jit/x86/registers.h"

namespace nftjit::x86 {
namespace {

using ir::Op;
using ir::Row;

constexpr uint32_t kRegisterBytes = 8;

bool IsValue(const Row& row) { return ir::Info(row.op).kind == ir::OpKind::kValue; }

bool IsComparison(const Row& row, bool ordered) {
  const bool equality = row.comparison() == ir::Comparison::kEq || row.comparison() == ir::Comparison::kNeq;
  return row.op == Op::kTest && equality != ordered;
}

// Ops that hand a pointer to their first operand to the runtime.
bool TakesAddress(const ir::Program& program, const Row& row) {
  const bool passes_key = row.op == Op::kLookup || row.op == Op::kMap || row.op == Op::kVerdictMap;
  return (passes_key || row.op == Op::kSetMeta) && CallsRuntime(program, row);
}

// Swaps that a few instructions in one register do.
bool SwapsInRegister(const Row& row) {
  return row.key == row.length || (row.length == 4 && row.key == 2) || (row.length == 8 && row.key == 4);
}

struct Uses {
  uint32_t count = 0;          // All of them.
  uint32_t plain = 0;          // Those that do not take the address.
  uint32_t user = UINT32_MAX;  // The row of one of them.
};

class Planner {
 public:
  explicit Planner(const ir::Program& program) : program_(program) {
    plan_.homes.resize(program.rows.size());
    plan_.chains.resize(program.chains.size());
    uses_.resize(program.rows.size());
  }

  absl::StatusOr<Plan> Run() {
    for (const Row& row : program_.rows) {
      if (row.op == Op::kLoad) {
        plan_.network |= row.base() == ir::Base::kNetwork;
        plan_.transport |= row.base() == ir::Base::kTransport;
      }
      program_sets_meta_ |= row.op == Op::kSetMeta;
    }
    CountUses();
    for (size_t i = 0; i < program_.chains.size(); ++i) {
      if (absl::Status status = PlanChain(program_.chains[i], plan_.chains[i]); !status.ok()) return status;
    }
    return std::move(plan_);
  }

 private:
  struct Scope {
    uint32_t end = 0;  // Item.
    RegisterMask free = (1U << kValueRegisters) - 1;
    uint32_t top = kFirstSlot;
  };

  // Items are in preorder, so that walking backwards meets all users of a value before the value: what has no use by
  // then is dead, and does not count as a user.
  void CountUses() {
    for (auto item = program_.items.rbegin(); item != program_.items.rend(); ++item) {
      for (uint32_t i = item->first_row + item->row_count; i-- > item->first_row;) {
        if (!IsDead(i)) CountOperands(i);
      }
    }
  }

  void CountOperands(uint32_t index) {
    const Row& row = program_.rows[index];
    const ir::OpInfo& info = ir::Info(row.op);
    const auto add = [&](uint32_t value, bool address) {
      Uses& uses = uses_[value];
      ++uses.count;
      if (!address) ++uses.plain;
      uses.user = index;
    };
    if (info.a == ir::Operand::kValue) add(row.a, TakesAddress(program_, row));
    if (info.b == ir::Operand::kValue) add(row.b, false);
  }

  [[nodiscard]] bool IsDead(uint32_t row) const {
    constexpr ir::Effects kHasEffect = ir::kBreaks | ir::kState | ir::kSetsMeta;
    const ir::OpInfo& info = ir::Info(program_.rows[row].op);
    return info.kind == ir::OpKind::kValue && uses_[row].count == 0 && (info.effects & kHasEffect) == 0;
  }

  absl::Status PlanChain(const ir::Chain& chain, ChainPlan& plan) {
    chain_ = &plan;
    frame_top_ = 0;
    bool test_slot = false;
    for (const ir::Item& item : program_.ItemsOf(chain)) {
      for (const Row& row : program_.RowsOf(item)) {
        plan.calls |= MayCall(program_, row);
        plan.jumps |= MayCall(program_, row) && (row.op == Op::kVerdict || row.op == Op::kVerdictMap);
        test_slot |= NeedsTestSlot(program_, row);
      }
    }
    if (plan.calls) frame_top_ = kFirstSlot;
    PlanItems(chain);
    if (test_slot) {
      frame_top_ = std::max(frame_top_, kFirstSlot);
      plan.test_slot = static_cast<uint16_t>(frame_top_);
      frame_top_ += 64;
    }
    plan.frame_bytes = (frame_top_ + 15) & ~15U;
    if (plan.frame_bytes <= kMaxFrameBytes) return absl::OkStatus();
    return absl::UnimplementedError(absl::StrCat("x86: chain ", chain.table, " ", chain.name, ": its values need ",
                                                 plan.frame_bytes, " bytes of memory, at most ", kMaxFrameBytes,
                                                 " are supported"));
  }

  void PlanItems(const ir::Chain& chain) {
    std::vector<Scope> scopes(1);
    scopes.back().end = UINT32_MAX;
    for (uint32_t i = chain.first_item; i < chain.first_item + chain.item_count; ++i) {
      while (i >= scopes.back().end) scopes.pop_back();
      const ir::Item& item = program_.items[i];
      Scope scope = scopes.back();
      scope.end = item.end;
      PlanRows(item, scope);
      if (item.kind == ir::ItemKind::kBlock) scopes.push_back(scope);
    }
  }

  void PlanRows(const ir::Item& item, Scope& scope) {
    const bool block = item.kind == ir::ItemKind::kBlock;
    const uint32_t last = item.first_row + item.row_count;
    sets_meta_ = program_sets_meta_;
    if (!block) {
      const auto rows = program_.RowsOf(item);
      sets_meta_ = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.op == Op::kSetMeta; });
    }
    wanted_.clear();
    for (uint32_t i = item.first_row; i < last; ++i) {
      if (!IsValue(program_.rows[i]) || IsDead(i)) continue;
      Home& home = plan_.homes[i];
      // Set at once: whether later rows can be fused depends on it.
      home.place = CanFuse(i) ? Place::kFused : Place::kSlot;
      if (WantsRegister(i, block, home.place == Place::kFused)) wanted_.push_back(i);
    }
    AssignRegisters(scope);
    for (uint32_t i = item.first_row; i < last; ++i) {
      Home& home = plan_.homes[i];
      if (home.place != Place::kSlot) continue;
      home.slot = static_cast<uint16_t>(std::min<uint32_t>(scope.top, UINT16_MAX));
      scope.top += (program_.rows[i].length + 15U) & ~15U;
      frame_top_ = std::max(frame_top_, scope.top);
    }
  }

  void AssignRegisters(Scope& scope) {
    std::stable_sort(wanted_.begin(), wanted_.end(),
                     [&](uint32_t a, uint32_t b) { return uses_[a].plain > uses_[b].plain; });
    for (const uint32_t row : wanted_) {
      // Registers that survive calls first where there are calls; the others save the entry a push and a pop.
      RegisterMask preferred = scope.free & (chain_->calls ? kCalleeSavedValues : ~kCalleeSavedValues);
      if (preferred == 0) preferred = scope.free;
      if (preferred == 0) return;
      const auto index = static_cast<uint8_t>(std::countr_zero(preferred));
      plan_.homes[row] = {Place::kRegister, index, 0};
      scope.free &= static_cast<RegisterMask>(~(1U << index));
      chain_->registers |= static_cast<RegisterMask>(1U << index);
    }
  }

  [[nodiscard]] bool WantsRegister(uint32_t index, bool block, bool fused) const {
    const Row& row = program_.rows[index];
    const Uses& uses = uses_[index];
    if (row.length > kRegisterBytes || uses.plain == 0 || CallsRuntime(program_, row)) return false;
    switch (row.op) {
      case Op::kConst:
      case Op::kStale:
      case Op::kConcat:  // Put together in memory.
      case Op::kExthdr:
      case Op::kMap:
        return false;
      case Op::kSwap:
        if (!SwapsInRegister(row)) return false;
        break;
      default:
        break;
    }
    return fused ? block && uses.plain >= 2 : uses.plain >= uses.count;
  }

  [[nodiscard]] bool CanFuse(uint32_t index) const {
    const Row& row = program_.rows[index];
    const Uses& uses = uses_[index];
    const bool address = uses.plain != uses.count;
    const bool once_in_register = row.length <= kRegisterBytes && uses.count <= 1 && !address;
    switch (row.op) {
      case Op::kConst:
      case Op::kStale:
        return true;
      case Op::kLoad:
        return (row.flags & ir::kOrZero) == 0;
      case Op::kMeta:
      case Op::kCt: {
        const std::optional<Fact> fact = FactOf(row);
        return fact && !(fact->changeable && sets_meta_) && !(address && fact->swapped);
      }
      case Op::kSlice:
        return Addressable(program_, plan_, row.value_a()) ||
               (program_.rows[row.a].length <= kRegisterBytes && !address);
      case Op::kAnd:
      case Op::kOr:
      case Op::kXor:
      case Op::kShl:
      case Op::kShr:
        return once_in_register;
      case Op::kSwap:
        return once_in_register && SwapsInRegister(row);
      case Op::kZext:
        return once_in_register || (uses.count == 1 && program_.rows[uses.user].op == Op::kConcat);
      case Op::kConcat:
        return uses.count == 1 && program_.rows[uses.user].op == Op::kConcat;
      default:
        return false;
    }
  }

  const ir::Program& program_;
  Plan plan_;
  std::vector<Uses> uses_;
  bool program_sets_meta_ = false, sets_meta_ = false;
  ChainPlan* chain_ = nullptr;
  uint32_t frame_top_ = 0;
  std::vector<uint32_t> wanted_;
};

}  // namespace

absl::StatusOr<Plan> MakePlan(const ir::Program& program) { return Planner(program).Run(); }

bool Addressable(const ir::Program& program, const Plan& plan, ir::ValueId value) {
  const Home& home = plan.homes[value.index];
  if (home.place != Place::kFused) return home.place == Place::kSlot;
  const Row& row = program.rows[value.index];
  switch (row.op) {
    case Op::kConst:
    case Op::kStale:
    case Op::kLoad:
      return true;
    case Op::kMeta:
    case Op::kCt:
      return !FactOf(row)->swapped;
    case Op::kSlice:
      return Addressable(program, plan, row.value_a());
    default:
      return false;
  }
}

bool NeedsTestSlot(const ir::Program& program, const Row& test) {
  return IsComparison(test, /*ordered=*/true) && test.c != ir::ConstId::kNone &&
         program.rows[test.a].length > kRegisterBytes;
}

}  // namespace nftjit::x86
