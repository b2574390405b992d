// Counters, limits and logs (vm-semantics 10.17, 10.19, 10.22).
#include "lib/ir/lowering.h"

namespace nftjit::ir {

RuleLowering::Step RuleLowering::Lower(const nft::Counter& counter) {
  Emit({Op::kCount, 0, 0, 0, static_cast<uint32_t>(p_.counters.size())});
  p_.counters.push_back({rule_id_, origin_.expression, counter.packets, counter.bytes});
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::Limit& limit) {
  Emit({Op::kLimit, 0, 0, 0, static_cast<uint32_t>(p_.limits.size())});
  p_.limits.push_back(LimitInfoOf(limit));
  return Step::kNext;
}

RuleLowering::Step RuleLowering::Lower(const nft::Log& log) {
  Emit({Op::kLog, 0, 0, 0, static_cast<uint32_t>(p_.logs.size())});
  p_.logs.push_back({rule_id_, log});
  return Step::kNext;
}

LimitInfo LimitInfoOf(const nft::Limit& limit) {
  return {limit.rate, limit.unit_s, limit.burst, limit.type, (limit.flags & 1) != 0};
}

}  // namespace nftjit::ir
