// Narrows a load to the bytes that its only test looks at, and drops the mask that this makes superfluous:
//     %0 = load network+12, 4; test %0 & ff000000 == 0a000000   =>  %0 = load network+12, 1; test %0 == 0a
//     %0 = load network+8, 16; test %0 & fffff0.. == 20010d..   =>  %0 = load network+8, 4; test %0 & fffff000 == …
// Conditions. The load stands in a rule and the test is its one use: a value that several rules share stays whole, for
// then one load and one mask serve all, and masked fields pack into columns. The mask is one run of whole bytes, of
// length 1, 2, 4, 8 or 16; a three-byte compare costs more than the mask, which stays. Of a field longer than eight
// bytes any mask is narrowed to the first 4 or 8 bytes that hold it. The constant has no bits outside the new bytes.
// Sound because the narrowed load reads the same bytes under a guard for more, and the bytes it leaves out are zero on
// both sides of the compare, so that neither equality nor order can see them.
#include <optional>

#include "lib/ir/guards.h"
#include "lib/opt/bytes_math.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Op;
using ir::Row;

struct Narrow {
  size_t offset = 0, length = 0;
};

bool IsWordLength(size_t length) { return length == 1 || length == 2 || length == 4 || length == 8 || length == 16; }

// The bytes to load instead of all of `mask`'s; empty if those are best.
std::optional<Narrow> NarrowTo(ByteSpan mask) {
  size_t begin = 0, end = mask.size();
  while (begin < end && mask[begin] == 0) ++begin;
  while (end > begin && mask[end - 1] == 0) --end;
  if (begin == end) return std::nullopt;
  const size_t span = end - begin;
  if (AllOnes(mask.subspan(begin, span)) && IsWordLength(span)) return Narrow{begin, span};
  constexpr size_t kOneWord = 8;
  if (mask.size() <= kOneWord) return std::nullopt;
  if (end <= 4) return Narrow{0, 4};
  if (end <= 8) return Narrow{0, 8};
  return std::nullopt;
}

// Whether `constant`'s bounds are zero outside the bytes of `narrow`.
bool FitsIn(ByteSpan constant, size_t length, const Narrow& narrow) {
  for (size_t i = 0; i < constant.size(); ++i) {
    const size_t at = i % length;
    if (constant[i] != 0 && (at < narrow.offset || at >= narrow.offset + narrow.length)) return false;
  }
  return true;
}

Bytes Cut(ByteSpan constant, size_t length, const Narrow& narrow) {
  Bytes out;
  out.resize(constant.size() / length * narrow.length);
  for (size_t bound = 0; bound * length < constant.size(); ++bound) {
    std::copy_n(constant.data() + bound * length + narrow.offset, narrow.length, out.data() + bound * narrow.length);
  }
  return out;
}

class Eliminator {
 public:
  explicit Eliminator(ir::Program& program) : p_(program) {}

  bool RewriteRow(const ir::Item& item, uint32_t r) {
    const Row& row = p_.rows[r];
    return row.op == Op::kTest && row.c != UINT32_MAX && item.kind == ir::ItemKind::kRule && NarrowTest(item, r);
  }

 private:
  bool NarrowTest(const ir::Item& item, uint32_t r) {
    Row& test = p_.rows[r];
    Row& load = p_.rows[test.a];
    if (load.op != Op::kLoad || test.a < item.first_row) return false;
    uses_.Count(p_, item);
    if (uses_[test.a] != 1) return false;
    const size_t length = load.length;
    const Bytes mask(ConstantOf(p_, test.c));
    const std::optional<Narrow> narrow = NarrowTo(mask.span());
    if (!narrow || narrow->length == length || !FitsIn(ConstantOf(p_, test.b), length, *narrow)) return false;
    if ((test.flags & ir::kNative) != 0 && narrow->length > 8) return false;
    test.b = Intern(p_, Cut(ConstantOf(p_, test.b), length, *narrow).span());
    const ByteSpan rest = mask.span().subspan(narrow->offset, narrow->length);
    test.c = AllOnes(rest) ? UINT32_MAX : Intern(p_, rest);
    load.a += static_cast<uint32_t>(narrow->offset);
    load.length = static_cast<uint8_t>(narrow->length);
    // Fewer bytes may lie under the guard where all did not. Only guards before the load count.
    Row guarded = load;
    guarded.flags &= static_cast<uint8_t>(~ir::kOrZero);
    if (load.flags != guarded.flags && GuardsBefore(item, test.a).Covers(guarded)) load.flags = guarded.flags;
    return true;
  }

  [[nodiscard]] ir::GuardSet GuardsBefore(const ir::Item& item, uint32_t load) const {
    ir::GuardSet guards;
    for (uint32_t r = item.first_row; r < load; ++r) {
      const Row& row = p_.rows[r];
      if (row.op == Op::kGuard) guards.Add(row.guard(), row.a);
    }
    return guards;
  }

  ir::Program& p_;
  ItemUses uses_;
};

}  // namespace

int EliminatePrefixMasks(ir::Program& program, int limit) {
  Eliminator eliminator(program);
  return SweepRows(program, limit, [&](const ir::Item& item, uint32_t r) { return eliminator.RewriteRow(item, r); });
}

}  // namespace nftjit::opt
