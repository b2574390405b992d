// Verdicts and reject (vm-semantics 4, 10.1, 10.23).
#include <absl/strings/str_cat.h>

#include "lib/ir/lowering.h"

namespace nftjit::ir {

RuleLowering::Step RuleLowering::LowerVerdict(const nft::Verdict& verdict) {
  uint32_t target = UINT32_MAX;
  switch (verdict.code) {
    case nft::VerdictCode::kContinue:
      return Step::kNext;
    case nft::VerdictCode::kJump:
    case nft::VerdictCode::kGoto: {
      const auto it = scope_->chains.find(verdict.chain);
      if (it == scope_->chains.end()) return Error(absl::StrCat("verdict: no chain with handle ", verdict.chain));
      target = it->second.index;
      break;
    }
    case nft::VerdictCode::kDrop:
    case nft::VerdictCode::kAccept:
    case nft::VerdictCode::kBreak:
    case nft::VerdictCode::kReturn:
      break;
    case nft::VerdictCode::kStolen:
    case nft::VerdictCode::kQueue:
      return Error("verdict: not one that a rule can give");
  }
  Emit({Op::kVerdict, 0, static_cast<uint8_t>(static_cast<int8_t>(verdict.code)), 0, target});
  return Step::kEnd;
}

RuleLowering::Step RuleLowering::Lower(const nft::Reject& reject) {
  const uint32_t code = reject.type == nft::RejectType::kTcpReset ? 0 : reject.icmp_code;
  Emit({Op::kReject, 0, static_cast<uint8_t>(reject.type), 0, code});
  return Step::kEnd;
}

}  // namespace nftjit::ir
