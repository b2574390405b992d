// Moves byte swaps out of the packet's way into constants:
//     %1 = swap %0, 4; test %1 & m == c     =>  test %0 & swap(m) == swap(c)          also !=
//     %1 = swap %0, 4; test %1 & m < c      =>  test native %0 & swap(m) < swap(c)     every order and range
//     %1 = swap %0, 4; %2 = and %1, m       =>  %1 = and %0, swap(m); %2 = swap %1, 4  also or, xor; then as above
//     %1 = swap %0, 4; %2 = swap %1, 4      =>  %0
// Conditions. Equality: the swap may be of several elements. Order: the value is one element, since several compare
// first element first in both forms but as one integer in the native one. Commuting: nothing else uses the swap, whose
// row now holds another value. A range with a mask is a range like any other, since the mask comes first.
// Sound because a swap permutes bytes: it is its own inverse, it permutes masks and constants with the value, and on a
// little-endian machine the byte string of a swapped integer is ordered as the integer is (big-endian machines, on
// which native order is that of byte strings, keep their swaps).
#include <bit>

#include "lib/opt/bytes_math.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Op;
using ir::Row;

// Swaps the element order of both bounds of a range, or of a single constant.
uint32_t SwapConstant(ir::Program& program, const Row& test, uint8_t size) {
  return Intern(program, Swap(ConstantOf(program, test.b), size).span());
}

bool HasSwaps(const ir::Program& program) {
  for (const Row& row : program.rows) {
    if (row.op == Op::kSwap) return true;
  }
  return false;
}

bool FoldTest(ir::Program& program, uint32_t r) {
  const uint32_t from = program.rows[r].a;
  const Row swap = program.rows[from];
  if (swap.op != Op::kSwap) return false;
  Row test = program.rows[r];
  if (!IsEquality(test.comparison())) {
    if (swap.key != swap.length || std::endian::native != std::endian::little) return false;
    test.flags ^= ir::kNative;
  }
  test.a = Source(program, swap.a).index;
  test.b = SwapConstant(program, test, swap.key);
  if (test.c != UINT32_MAX) test.c = Intern(program, Swap(ConstantOf(program, test.c), swap.key).span());
  program.rows[r] = test;
  MergeOrigin(program, r, from);
  return true;
}

bool Commute(ir::Program& program, const ir::Item& item, uint32_t r, ItemUses& uses) {
  Row& row = program.rows[r];
  Row& swap = program.rows[row.a];
  // The head of a block has users elsewhere.
  if (swap.op != Op::kSwap || row.a < item.first_row || item.kind == ir::ItemKind::kBlock) return false;
  uses.Count(program, item);
  if (uses[row.a] != 1) return false;
  const Row bits = {.op = row.op,
                    .length = row.length,
                    .a = swap.a,
                    .b = Intern(program, Swap(ConstantOf(program, row.b), swap.key).span())};
  row = {.op = Op::kSwap, .length = row.length, .key = swap.key, .a = row.a};
  swap = bits;
  std::swap(program.origins[r], program.origins[row.a]);
  return true;
}

bool FoldDouble(ir::Program& program, uint32_t r) {
  Row& row = program.rows[r];
  const Row& inner = program.rows[row.a];
  if (inner.op != Op::kSwap || inner.key != row.key) return false;
  Forward(row, Source(program, inner.a));
  return true;
}

}  // namespace

int FoldByteorder(ir::Program& program, int limit) {
  int rewrites = 0;
  ItemUses uses;
  // Again as long as something changes: a folded test may have been what kept a swap from commuting.
  for (int before = -1; before != rewrites && HasSwaps(program);) {
    before = rewrites;
    rewrites += SweepRows(program, limit - rewrites, [&](const ir::Item& item, uint32_t r) {
      switch (program.rows[r].op) {
        case Op::kTest:
          return FoldTest(program, r);
        case Op::kAnd:
        case Op::kOr:
        case Op::kXor:
          return Commute(program, item, r, uses);
        case Op::kSwap:
          return FoldDouble(program, r);
        default:
          return false;
      }
    });
    if (rewrites != before) Compact(program);
  }
  return rewrites;
}

}  // namespace nftjit::opt
