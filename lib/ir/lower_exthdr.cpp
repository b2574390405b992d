// Extension headers and options (vm-semantics 10.31). The op finds the header
// and BREAKs by itself.
#include "lib/ir/lowering.h"

namespace nftjit::ir {

RuleLowering::Step RuleLowering::Lower(const nft::ExthdrLoad& load) {
  if (load.op == nft::ExthdrOp::kDccp) return Unsupported("exthdr dccp");
  if (!CheckRange(load.dreg, load.len)) return Step::kError;
  const Row row{Op::kExthdr, load.len,   static_cast<uint8_t>(load.op), static_cast<uint8_t>(load.flags & kPresent),
                load.type,   load.offset};
  Store(load.dreg, Emit(row), load.len);
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::ExthdrStore&) { return Unsupported("exthdr set"); }

RuleLowering::Step RuleLowering::Lower(const nft::ExthdrStrip&) { return Unsupported("exthdr reset"); }

}  // namespace nftjit::ir
