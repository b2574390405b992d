// Puts the tests of a rule that say no most cheaply first:
//     guard room.network 20                          test %0 == 0a010203
//     test %1 == 06                                  test %2 == 0016
//     guard room.transport 4                    =>   test %1 == 06
//     test %0 == 0a010203; test %2 == 0016           guard room.network 20; guard room.transport 4
//     count #3; verdict drop                         count #3; verdict drop
// so that a rule which does not match costs one compare. In front come the tests of values that need no guard: those
// defined outside the rule, loads that read zero beyond the packet, metadata. They are ordered by a coarse rank, the
// same for all rules, so that neighbouring rules begin with the same field: equal addresses, equal ports, ranges and
// interfaces, other equalities, inequalities. The rest follows as it was, lookups last.
// Condition: rows move only between two rows with effects, and a load never before a guard that it needs.
// Sound because between effects a rule is a conjunction, which may be evaluated in any order as long as each part is
// defined; nobody can see which one failed. Every rule is then tests first, effects behind: the engines place what
// comes after the last test, and everything after the first if they like, out of line.
#include <algorithm>

#include "lib/ir/guards.h"
#include "lib/opt/bytes_math.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Comparison;
using ir::Op;
using ir::Row;

// How early a test should come; 0 is first.
constexpr uint32_t kAddress = 0, kPort = 1, kNarrow = 2, kOtherEquality = 3, kInequality = 4;

uint32_t RankOf(const ir::Program& program, const Row& test) {
  const Row& value = program.rows[test.a];
  switch (test.comparison()) {
    case Comparison::kIn:
      return kNarrow;
    case Comparison::kEq:
      break;
    default:
      return kInequality;
  }
  if (value.op == Op::kMeta) {
    switch (static_cast<nft::MetaKey>(value.key)) {
      case nft::MetaKey::kIif:
      case nft::MetaKey::kOif:
      case nft::MetaKey::kIifname:
      case nft::MetaKey::kOifname:
      case nft::MetaKey::kMark:
        return kNarrow;
      default:
        return kOtherEquality;
    }
  }
  if (value.op != Op::kLoad) return kOtherEquality;
  const uint32_t bits = test.c == UINT32_MAX ? value.length * 8U : CountBits(ConstantOf(program, test.c));
  if (value.length >= 4 && bits >= 8) return kAddress;
  if (bits >= 12) return kPort;
  return bits >= 8 && value.base() != ir::Base::kNetwork ? kNarrow : kOtherEquality;
}

// Orders one run of rows without effects; keeps its memory from rule to rule.
class Orderer {
 public:
  explicit Orderer(ir::Program& program) : p_(program) {}

  bool OrderRule(const ir::Item& item) {
    bool changed = false;
    const uint32_t end = item.first_row + item.row_count;
    for (uint32_t first = item.first_row; first < end; ++first) {
      uint32_t last = first;
      while (last < end && !HasEffect(p_, p_.rows[last])) ++last;
      if (last - first > 1 && Order(first, last)) {
        Apply(first, last, end);
        changed = true;
      }
      first = last;
    }
    return changed;
  }

 private:
  // Fills order_ with the rows [first, last) in their new order. False if it is the old one.
  bool Order(uint32_t first, uint32_t last) {
    first_ = first;
    order_.clear();
    front_.clear();
    back_.clear();
    placed_.assign(last - first, 0);
    free_.assign(last - first, 0);
    for (uint32_t r = first; r < last; ++r) {
      const Row& row = p_.rows[r];
      free_[r - first] = IsFree(row) ? 1 : 0;
      if (row.op == Op::kTest && free_[r - first] != 0) front_.push_back({RankOf(p_, row), r});
      if (row.op == Op::kLookup) back_.push_back(r);
    }
    std::stable_sort(front_.begin(), front_.end(), [](const Ranked& a, const Ranked& b) { return a.rank < b.rank; });
    for (const Ranked& test : front_) Place(test.row);
    for (uint32_t r = first; r < last; ++r) {
      if (p_.rows[r].op != Op::kLookup) Place(r);
    }
    for (const uint32_t lookup : back_) Place(lookup);
    for (uint32_t i = 0; i < order_.size(); ++i) {
      if (order_[i] != first + i) return true;
    }
    return false;
  }

  // Whether a value or test needs no guard and cannot break before it is asked.
  [[nodiscard]] bool IsFree(const Row& row) const {
    switch (row.op) {
      case Op::kGuard:
      case Op::kExthdr:
      case Op::kMap:
      case Op::kLookup:
        return false;
      case Op::kLoad:
      case Op::kMeta:
      case Op::kCt:
        return ir::RequiredGuards(row).count == 0;
      default: {
        bool free = true;
        ForEachOperand(row,
                       [&](uint32_t operand) { free = free && (operand < first_ || free_[operand - first_] != 0); });
        return free;
      }
    }
  }

  // A row, after the values of this run that it needs.
  void Place(uint32_t r) {
    if (placed_[r - first_] != 0) return;
    placed_[r - first_] = 1;
    ForEachOperand(p_.rows[r], [&](uint32_t operand) {
      if (operand >= first_) Place(operand);
    });
    order_.push_back(r);
  }

  // Permutes [first, last) and renumbers up to the rule's end.
  void Apply(uint32_t first, uint32_t last, uint32_t end) {
    old_rows_.assign(p_.rows.begin() + first, p_.rows.begin() + last);
    old_origins_.assign(p_.origins.begin() + first, p_.origins.begin() + last);
    moved_.resize(last - first);
    for (uint32_t i = 0; i < order_.size(); ++i) {
      moved_[order_[i] - first] = first + i;
      p_.rows[first + i] = old_rows_[order_[i] - first];
      p_.origins[first + i] = old_origins_[order_[i] - first];
    }
    for (uint32_t r = first; r < end; ++r) {
      ForEachOperand(p_.rows[r], [&](uint32_t& operand) {
        if (operand >= first && operand < last) operand = moved_[operand - first];
      });
    }
  }

  struct Ranked {
    uint32_t rank, row;
  };
  ir::Program& p_;
  uint32_t first_ = 0;
  std::vector<Ranked> front_;
  std::vector<uint32_t> back_, order_, moved_;
  std::vector<uint8_t> placed_, free_;
  std::vector<Row> old_rows_;
  std::vector<ir::Origin> old_origins_;
};

}  // namespace

int OrderTests(ir::Program& program, int limit) {
  Orderer orderer(program);
  int rewrites = 0;
  for (const ir::Item& item : program.items) {
    if (rewrites == limit) break;
    if (item.kind == ir::ItemKind::kRule && orderer.OrderRule(item)) ++rewrites;
  }
  return rewrites;
}

}  // namespace nftjit::opt
