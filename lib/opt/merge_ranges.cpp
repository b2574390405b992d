// Makes one test of the bounds of a value, and the simplest one:
//     test %0 >= 0050; test %0 <= 0059       =>  test %0 in 0050-0059     also < and >, native, and further bounds
//     test %0 in 0400-07ff                   =>  test %0 & fc00 == 0400   a range that is a prefix
//     test %0 in 0050-0050                   =>  test %0 == 0050          also not in, to !=
//     test %0 >= 0050; test %0 < 0050        =>  the rule ends there      an empty range
//     test %0 not in 0059-0050, %0 >= 0000   =>  nothing                  what always holds
// Conditions. Merging: the same value, mask and kind of order, and no row with an effect between the two: the second
// test moves up to the first. A prefix: a range of byte strings without a mask; `not in` becomes `&` and `!=`.
// A range that contradicts itself at the head of a block stays.
// Sound because both bounds are tests of one value of which the rule needs both, and without an effect between them
// nobody can see which one ended it. `< c` is `<= c - 1` in the order of the test; where there is no c - 1 it is false.
#include <array>

#include "lib/opt/bytes_math.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Comparison;
using ir::Op;
using ir::Row;

bool IsBound(Comparison comparison) {
  return comparison != Comparison::kEq && comparison != Comparison::kNeq && comparison != Comparison::kNotIn;
}

// An interval of values as one kind of order sees it, both ends inside.
struct Interval {
  Bytes low, high;
  bool empty = false;
};

Interval IntervalOf(const ir::Program& program, const Row& test) {
  const ByteSpan constant = ConstantOf(program, test.b);
  const bool native = (test.flags & ir::kNative) != 0;
  const size_t length = program.rows[test.a].length;
  Interval interval{.low = Bytes(constant.first(length)), .high = Bytes(constant.last(length))};
  const auto zeros = [&](Bytes& bytes) { std::fill_n(bytes.data(), length, uint8_t{0}); };
  const auto ones = [&](Bytes& bytes) { std::fill_n(bytes.data(), length, uint8_t{0xff}); };
  switch (test.comparison()) {
    case Comparison::kLt:
      interval.empty = !Decrement(interval.high, native);
      zeros(interval.low);
      break;
    case Comparison::kLte:
      zeros(interval.low);
      break;
    case Comparison::kGt:
      interval.empty = !Increment(interval.low, native);
      ones(interval.high);
      break;
    case Comparison::kGte:
      ones(interval.high);
      break;
    default:
      break;
  }
  interval.empty = interval.empty || Compare(interval.low.span(), interval.high.span(), native) > 0;
  return interval;
}

// The mask under which all of the interval, and nothing else, has the bits of its lower end; false if there is none.
bool PrefixMask(const Interval& interval, Bytes& mask) {
  const Bytes differing = Xor(interval.low.span(), interval.high.span());
  mask = differing;
  // Every bit from the first differing one on must differ, from 0 to 1.
  bool inside = false;
  for (size_t i = 0; i < differing.size(); ++i) {
    const uint8_t byte = differing[i];
    if (inside ? byte != 0xff : (byte & (byte + 1)) != 0) return false;
    inside = inside || byte != 0;
    mask.data()[i] = static_cast<uint8_t>(~byte);
  }
  return AllZero(And(interval.low.span(), differing.span()).span());
}

Bytes Join(const Interval& interval) {
  Bytes both = interval.low;
  both.resize(interval.low.size() * 2);
  std::copy_n(interval.high.data(), interval.high.size(), both.data() + interval.low.size());
  return both;
}

// First sweep: bounds of one value come together in the first of them.
class Merger {
 public:
  explicit Merger(ir::Program& program) : p_(program) {}

  bool MergeRow(const ir::Item& item, uint32_t r) {
    if (&item != item_) {
      item_ = &item;
      open_count_ = 0;
    }
    const Row& row = p_.rows[r];
    if (row.op != Op::kTest) {
      if (row.op != Op::kGuard && HasEffect(p_, row)) open_count_ = 0;
      return false;
    }
    if (!IsBound(row.comparison())) return false;
    for (size_t i = 0; i < open_count_; ++i) {
      const Row& first = p_.rows[open_[i]];
      if (first.a == row.a && first.c == row.c && first.flags == row.flags) return Intersect(item, open_[i], r);
    }
    if (open_count_ < open_.size()) open_[open_count_++] = r;
    return false;
  }

 private:
  bool Intersect(const ir::Item& item, uint32_t first, uint32_t r) {
    const bool native = (p_.rows[r].flags & ir::kNative) != 0;
    Interval both = IntervalOf(p_, p_.rows[first]);
    const Interval other = IntervalOf(p_, p_.rows[r]);
    if (Compare(other.low.span(), both.low.span(), native) > 0) both.low = other.low;
    if (Compare(other.high.span(), both.high.span(), native) < 0) both.high = other.high;
    if (both.empty || other.empty || Compare(both.low.span(), both.high.span(), native) > 0) {
      if (item.kind == ir::ItemKind::kBlock) return false;
      EndRuleAt(p_, item, first);
      return true;
    }
    Row& test = p_.rows[first];
    test.key = static_cast<uint8_t>(Comparison::kIn);
    test.b = Intern(p_, Join(both).span());
    MergeOrigin(p_, first, r);
    Kill(p_.rows[r]);
    return true;
  }

  ir::Program& p_;
  const ir::Item* item_ = nullptr;
  // Bounds of the rule that no effect has followed yet. A rule of more distinct ones keeps them apart.
  std::array<uint32_t, 8> open_{};
  size_t open_count_ = 0;
};

void BecomeEquality(ir::Program& program, Row& test, const Bytes& constant) {
  const bool inside = test.comparison() != Comparison::kNotIn;
  test.key = static_cast<uint8_t>(inside ? Comparison::kEq : Comparison::kNeq);
  test.b = Intern(program, constant.span());
  test.flags &= static_cast<uint8_t>(~ir::kNative);
}

// The test always holds, or never.
bool Decide(ir::Program& program, const ir::Item& item, uint32_t r, bool holds) {
  if (holds) {
    Kill(program.rows[r]);
    return true;
  }
  if (item.kind == ir::ItemKind::kBlock) return false;
  EndRuleAt(program, item, r);
  return true;
}

// Second sweep: the simplest test of an interval, or (not in) of what lies outside it.
bool Simplify(ir::Program& program, const ir::Item& item, uint32_t r) {
  Row& test = program.rows[r];
  if (test.op != Op::kTest || IsEquality(test.comparison())) return false;
  const Interval interval = IntervalOf(program, test);
  const bool inside = test.comparison() != Comparison::kNotIn;
  const bool native = (test.flags & ir::kNative) != 0;
  const bool from_zero = AllZero(interval.low.span()), to_end = AllOnes(interval.high.span());
  if (interval.empty) return Decide(program, item, r, !inside);
  if (from_zero && to_end) return Decide(program, item, r, inside);
  if (interval.low == interval.high) {
    BecomeEquality(program, test, interval.low);
    return true;
  }
  Bytes mask;
  if (!native && test.c == UINT32_MAX && PrefixMask(interval, mask)) {
    BecomeEquality(program, test, interval.low);
    test.c = Intern(program, mask.span());
    return true;
  }
  if (test.comparison() != Comparison::kIn || (!from_zero && !to_end)) return false;
  // One of the bounds is no bound.
  test.key = static_cast<uint8_t>(from_zero ? Comparison::kLte : Comparison::kGte);
  test.b = Intern(program, (from_zero ? interval.high : interval.low).span());
  return true;
}

}  // namespace

int MergeRanges(ir::Program& program, int limit) {
  Merger merger(program);
  int rewrites = SweepRows(program, limit, [&](const ir::Item& item, uint32_t r) { return merger.MergeRow(item, r); });
  rewrites += SweepRows(program, limit - rewrites,
                        [&](const ir::Item& item, uint32_t r) { return Simplify(program, item, r); });
  if (rewrites > 0) Compact(program);
  return rewrites;
}

}  // namespace nftjit::opt
