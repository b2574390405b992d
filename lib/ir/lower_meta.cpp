// Metadata and conntrack facts (vm-semantics 10.9 to 10.12). Loads that may
// BREAK get the guards of RequiredGuards().
#include <absl/strings/str_cat.h>

#include "lib/ir/lowering.h"

namespace nftjit::ir {
namespace {

// What only a bridge with its own meta expression knows.
bool IsBridgeKey(nft::MetaKey key) {
  switch (key) {
    case nft::MetaKey::kBriIifname:
    case nft::MetaKey::kBriOifname:
    case nft::MetaKey::kBriIifpvid:
    case nft::MetaKey::kBriIifvproto:
    case nft::MetaKey::kBriIifhwaddr:
      return true;
    default:
      return false;
  }
}

}  // namespace

RuleLowering::Step RuleLowering::Lower(const nft::MetaLoad& load) {
  const uint8_t length = MetaLoadLength(load.key);
  if (length == 0 || IsBridgeKey(load.key)) return Unsupported(absl::StrCat("meta ", std::string(nft::Name(load.key))));
  if (!CheckRange(load.dreg, nft::MetaLength(load.key))) return Step::kError;
  Store(load.dreg, EmitGuarded({Op::kMeta, length, static_cast<uint8_t>(load.key)}), length);
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::MetaStore& store) {
  // What the trace or the bridge's routing does with these is not modelled.
  const uint8_t length = nft::MetaStoreLength(store.key);
  if (length == 0 || store.key == nft::MetaKey::kNftrace || store.key == nft::MetaKey::kBroute) {
    return Unsupported(absl::StrCat("meta set ", std::string(nft::Name(store.key))));
  }
  if (!CheckRange(store.sreg, length)) return Step::kError;
  const ValueId value = Read(store.sreg, length);
  Emit({Op::kSetMeta, 0, static_cast<uint8_t>(store.key), 0, value.index});
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::CtLoad& load) {
  const uint8_t length = nft::CtLength(load.key, scope_->table->family);
  if (length == 0) return Unsupported(absl::StrCat("ct ", std::string(nft::Name(load.key))));
  if (!CheckRange(load.dreg, length)) return Step::kError;
  const uint8_t direction = load.direction ? static_cast<uint8_t>(*load.direction) : kNoDirection;
  Store(load.dreg, EmitGuarded({Op::kCt, length, static_cast<uint8_t>(load.key), direction}), length);
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::CtStore& store) {
  return Unsupported(absl::StrCat("ct set ", std::string(nft::Name(store.key))));
}

}  // namespace nftjit::ir
