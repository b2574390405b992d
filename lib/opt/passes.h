// The passes, one free function each. Every one returns how many rewrites it made, at most `limit`, and leaves a
// verified program. What each rewrites, when, and why that is sound stands at the head of its file.
#ifndef NFTJIT_LIB_OPT_PASSES_H_
#define NFTJIT_LIB_OPT_PASSES_H_

#include "lib/ir/ir.h"

namespace nftjit::opt {

int FoldConstants(ir::Program& program, int limit);         // fold_constants.cpp
int SetsToTests(ir::Program& program, int limit);           // sets_to_tests.cpp
int FoldByteorder(ir::Program& program, int limit);         // fold_byteorder.cpp
int FoldInverted(ir::Program& program, int limit);          // fold_inverted.cpp
int CanonicaliseFields(ir::Program& program, int limit);    // canonicalise_fields.cpp
int ShareLoads(ir::Program& program, int limit);            // share_loads.cpp
int MergeRanges(ir::Program& program, int limit);           // merge_ranges.cpp
int DropRules(ir::Program& program, int limit);             // drop_rules.cpp
int HoistLoads(ir::Program& program, int limit);            // hoist_loads.cpp
int EliminatePrefixMasks(ir::Program& program, int limit);  // eliminate_prefix_masks.cpp
int OrderTests(ir::Program& program, int limit);            // order_tests.cpp
int DropGuards(ir::Program& program, int limit);            // drop_guards.cpp

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_PASSES_H_
