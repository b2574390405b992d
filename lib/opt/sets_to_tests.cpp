// Turns a lookup in a small constant set into the one test that says the same:
//     lookup %0 @__set0, { 0016 }              =>  test %0 == 0016              (not: !=)
//     lookup %0 @__set0, { 0a000000-0affffff } =>  test %0 in 0a000000-0affffff (not: not in)
//     lookup %0 @__set0, { 0050, 0051, 0052 }  =>  test %0 in 0050-0052         neighbours
//     lookup %0 @__set0, { 0016, 0017 }        =>  test %0 & fffe == 0016       all values of some bits
//     lookup %0 @__set0, { c0a80000 . 0016 }   =>  test %0 & … == …             one element of prefixes, padding masked
//     lookup %0 @__set0, { }                   =>  the rule ends there          (not: nothing)
// and the equality of a concatenation into one test per field, where the concatenation stood:
//     %2 = concat %0, %1; test %2 == c         =>  test %0 == c[0]; test %1 == c[1]
// Conditions. The set is constant (a named set is data, whatever it holds now), has at most four elements, none of them
// the catch-all, with a timeout, a counter or a limit, and is no map. Of several ranges with concatenation: one
// element, each field of it a prefix. A concatenation: equality alone, nothing else uses it, and no effect between it
// and the test, since its first fields are tested earlier now. Sound because a constant set never changes, so that a
// lookup is the disjunction of its elements' tests.
#include <algorithm>

#include "lib/opt/bytes_math.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Comparison;
using ir::Op;
using ir::Row;

constexpr size_t kMaxElements = 4;

ByteSpan SpanOf(const std::string& bytes) { return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}; }

bool IsCandidate(const ir::SetInfo& set) {
  if (!set.constant || set.verdict_map || set.data_len != 0 || set.catchall || set.elements.size() > kMaxElements) {
    return false;
  }
  return std::all_of(set.elements.begin(), set.elements.end(), [](const ir::SetElement& element) {
    return element.counters.empty() && element.limits.empty() && !element.timeout_ms;
  });
}

// The test of one set, as what to compare a key with.
struct KeyTest {
  Comparison comparison = Comparison::kEq;
  Bytes constant, mask;
};

void Append(Bytes& bytes, ByteSpan more) {
  const size_t size = bytes.size();
  bytes.resize(size + more.size());
  std::copy(more.begin(), more.end(), bytes.data() + size);
}

KeyTest InRange(ByteSpan low, ByteSpan high) {
  KeyTest test{.comparison = Comparison::kIn, .constant = Bytes(low), .mask = {}};
  Append(test.constant, high);
  return test;
}

// All values of some bits: the mask of the others, if the elements are exactly those.
std::optional<KeyTest> AsBits(const std::vector<ir::SetElement>& elements) {
  const ByteSpan first = SpanOf(elements[0].key);
  Bytes differing;
  differing.resize(first.size());
  for (const ir::SetElement& element : elements) {
    differing = Or(differing.span(), Xor(first, SpanOf(element.key)).span());
  }
  if (uint64_t{1} << std::min(CountBits(differing.span()), 63U) != elements.size()) return std::nullopt;
  KeyTest test{.constant = AndNot(first, differing.span()), .mask = differing};
  for (size_t i = 0; i < test.mask.size(); ++i) test.mask.data()[i] ^= 0xff;
  return test;
}

// Neighbours in the order of byte strings.
std::optional<KeyTest> AsRange(const std::vector<ir::SetElement>& elements) {
  const auto by_key = [](const ir::SetElement& a, const ir::SetElement& b) {
    return Compare(SpanOf(a.key), SpanOf(b.key), false) < 0;
  };
  const auto [low, high] = std::minmax_element(elements.begin(), elements.end(), by_key);
  Bytes end(SpanOf(low->key));
  for (size_t i = 1; i < elements.size(); ++i) {
    if (!Increment(end, false)) return std::nullopt;
  }
  // As many different values as lie between the ends are all of them.
  if (end != Bytes(SpanOf(high->key))) return std::nullopt;
  return InRange(SpanOf(low->key), SpanOf(high->key));
}

// One element of field ranges, each a prefix; bytes that pad a field to four are not looked at.
std::optional<KeyTest> AsPrefixes(const ir::SetInfo& set) {
  const ByteSpan low = SpanOf(set.elements[0].key), high = SpanOf(set.elements[0].key_end);
  KeyTest test{.constant = Bytes(low), .mask = {}};
  test.mask.resize(low.size());
  size_t at = 0;
  for (const uint8_t length : set.field_lengths) {
    bool inside = false;
    for (size_t i = at; i < at + length; ++i) {
      const auto differing = static_cast<uint8_t>(low[i] ^ high[i]);
      const bool prefix = inside ? differing == 0xff : (differing & (differing + 1)) == 0;
      if (!prefix || (low[i] & differing) != 0) return std::nullopt;
      inside = inside || differing != 0;
      test.mask.data()[i] = static_cast<uint8_t>(~differing);
    }
    at += (length + 3U) / 4 * 4;
  }
  test.constant = And(test.constant.span(), test.mask.span());
  return test;
}

std::optional<KeyTest> TestOf(const ir::SetInfo& set) {
  switch (set.kind) {
    case ir::SetKind::kExact:
      if (set.elements.size() == 1) return KeyTest{.constant = Bytes(SpanOf(set.elements[0].key)), .mask = {}};
      if (std::optional<KeyTest> bits = AsBits(set.elements)) return bits;
      return AsRange(set.elements);
    case ir::SetKind::kInterval:
      if (set.elements.size() != 1) return std::nullopt;
      return InRange(SpanOf(set.elements[0].key), SpanOf(set.elements[0].key_end));
    case ir::SetKind::kConcatRanges:
      if (set.elements.size() != 1) return std::nullopt;
      return AsPrefixes(set);
  }
  return std::nullopt;
}

Comparison Negate(Comparison comparison) {
  return comparison == Comparison::kEq ? Comparison::kNeq : Comparison::kNotIn;
}

bool FoldLookup(ir::Program& program, const ir::Item& item, uint32_t r) {
  Row& row = program.rows[r];
  const ir::SetInfo& set = program.sets[row.b];
  const bool negated = (row.flags & ir::kNegated) != 0;
  if (!IsCandidate(set)) return false;
  if (set.elements.empty()) {
    if (negated) {
      Kill(row);
      return true;
    }
    if (item.kind == ir::ItemKind::kBlock) return false;
    EndRuleAt(program, item, r);
    return true;
  }
  const std::optional<KeyTest> test = TestOf(set);
  if (!test) return false;
  row = {.op = Op::kTest,
         .key = static_cast<uint8_t>(negated ? Negate(test->comparison) : test->comparison),
         .a = row.a,
         .b = Intern(program, test->constant.span()),
         .c = test->mask.empty() ? UINT32_MAX : Intern(program, test->mask.span())};
  return true;
}

bool HasConcats(const ir::Program& program) {
  return std::any_of(program.rows.begin(), program.rows.end(), [](const Row& row) { return row.op == Op::kConcat; });
}

// `test %2 == c`, %2 = concat %0, %1: the concat's row becomes the test of %0.
bool SplitConcat(ir::Program& program, const ir::Item& item, uint32_t r, ItemUses& uses) {
  Row& test = program.rows[r];
  const uint32_t from = test.a;
  Row& concat = program.rows[from];
  if (concat.op != Op::kConcat || test.comparison() != Comparison::kEq) return false;
  if (from < item.first_row || item.kind == ir::ItemKind::kBlock) return false;  // It has users elsewhere.
  uses.Count(program, item);
  if (uses[from] != 1) return false;
  for (uint32_t between = from; between < r; ++between) {
    if (!IsDead(program.rows[between]) && HasEffect(program, program.rows[between])) return false;
  }
  const size_t first = program.rows[concat.a].length;
  const Bytes constant(ConstantOf(program, test.b));
  const auto part = [&](ByteSpan bytes, bool second) { return second ? bytes.subspan(first) : bytes.first(first); };
  Row tests[2] = {{.op = Op::kTest, .key = test.key, .a = concat.a}, {.op = Op::kTest, .key = test.key, .a = concat.b}};
  for (int i = 0; i < 2; ++i) {
    tests[i].b = Intern(program, part(constant.span(), i == 1));
    if (test.c == UINT32_MAX) continue;
    const Bytes mask(part(ConstantOf(program, test.c), i == 1));
    if (!AllOnes(mask.span())) tests[i].c = Intern(program, mask.span());
  }
  concat = tests[0];
  test = tests[1];
  MergeOrigin(program, from, r);
  return true;
}

}  // namespace

int SetsToTests(ir::Program& program, int limit) {
  int rewrites = SweepRows(program, limit, [&](const ir::Item& item, uint32_t r) {
    return program.rows[r].op == Op::kLookup && FoldLookup(program, item, r);
  });
  ItemUses uses;
  // The first part of a concatenation may be one itself, and its test lies behind the sweep then.
  for (int before = -1; before != rewrites && HasConcats(program);) {
    before = rewrites;
    rewrites += SweepRows(program, limit - rewrites, [&](const ir::Item& item, uint32_t r) {
      return program.rows[r].op == Op::kTest && SplitConcat(program, item, r, uses);
    });
  }
  if (rewrites > 0) Compact(program);
  return rewrites;
}

}  // namespace nftjit::opt
