// Payload loads (vm-semantics 10.6): the guards say what the kernel checks on
// the path it takes.
#include "lib/ir/lowering.h"

namespace nftjit::ir {
namespace {

// The kernel's fast load looks at the room alone; its slow load also refuses
// later fragments.
bool IsFastLoad(const nft::PayloadLoad& load) {
  return (load.len == 1 || load.len == 2 || load.len == 4) && load.offset % load.len == 0;
}

}  // namespace

RuleLowering::Step RuleLowering::Lower(const nft::PayloadLoad& load) {
  if (!CheckRange(load.dreg, load.len)) return Step::kError;
  auto base = Base::kLink;
  switch (load.base) {
    case nft::PayloadBase::kLink:
      break;
    case nft::PayloadBase::kNetwork:
      base = Base::kNetwork;
      break;
    case nft::PayloadBase::kTransport:
      base = Base::kTransport;
      if (!IsFastLoad(load)) EmitGuard(GuardKind::kUnfragmented);
      break;
    case nft::PayloadBase::kInner:
      base = Base::kInner;
      break;
    case nft::PayloadBase::kTunnel:
      return Unsupported("payload of a tunnel header");
  }
  Store(load.dreg, EmitGuarded({Op::kLoad, load.len, static_cast<uint8_t>(base), 0, load.offset}), load.len);
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::PayloadStore&) { return Unsupported("payload set"); }

}  // namespace nftjit::ir
