// Lookups in sets, maps and verdict maps (vm-semantics 10.14).
#include <absl/strings/str_cat.h>

#include "lib/ir/lowering.h"

namespace nftjit::ir {

RuleLowering::Step RuleLowering::Lower(const nft::Lookup& lookup) {
  const auto it = scope_->sets.find(lookup.set);
  if (it == scope_->sets.end()) return Error(absl::StrCat("lookup: no set with handle ", lookup.set));
  if (!it->second.unsupported.empty()) return Unsupported(it->second.unsupported);
  const SetId id = it->second.id;
  const SetInfo& set = p_.sets[id.index];
  if (!CheckRange(lookup.sreg, set.key_len)) return Step::kError;
  const ValueId key = Read(lookup.sreg, set.key_len);
  if (!lookup.dreg) {
    Emit({Op::kLookup, 0, 0, static_cast<uint8_t>((lookup.flags & 1) != 0 ? kNegated : 0), key.index, id.index});
    return Step::kNext;
  }
  if (lookup.dreg->is_verdict()) {
    if (!set.verdict_map) return Error("lookup: a verdict from a set that is no verdict map");
    // Where the verdict is `continue`, what follows runs.
    Emit({Op::kVerdictMap, 0, 0, 0, key.index, id.index});
    return Step::kNext;
  }
  if (set.data_len == 0) return Error("lookup: data from a set that is no data map");
  if (!CheckRange(*lookup.dreg, set.data_len)) return Step::kError;
  Store(*lookup.dreg, Emit({Op::kMap, set.data_len, 0, 0, key.index, id.index}), set.data_len);
  return Step::kNext;
}

}  // namespace nftjit::ir
