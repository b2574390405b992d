// Sets and maps: vm-semantics 10.14.
#include <cstring>

#include "lib/runtime/calls.h"
#include "lib/runtime/limit.h"
#include "lib/runtime/set.h"

namespace nftjit::calls {
namespace {

void CountAll(Frame& frame, const ir::SetElement& element) {
  for (const ir::CounterId id : element.counters) CountPacket(frame.counters[id.index], frame.length);
}

bool PassAll(Frame& frame, const ir::SetElement& element) {
  for (const ir::LimitId id : element.limits) {
    if (!frame.limits[id.index].Pass(frame.now_ns, frame.length)) return false;
  }
  return true;
}

// Runs the element's expressions in their order. False: one of them breaks, and later ones have not run.
bool RunExpressions(Frame& frame, const ir::SetElement& element) {
  if (element.counters_first) CountAll(frame, element);
  if (!PassAll(frame, element)) return false;
  if (!element.counters_first) CountAll(frame, element);
  return true;
}

}  // namespace

extern "C" {

uint32_t nftjit_lookup(Frame* frame, uint32_t set, const uint8_t* key, uint32_t negated) noexcept {
  const SetTable& table = *frame->sets[set];
  const uint32_t element = table.Find(key, frame->now_ns);
  if (negated != 0) return element == SetTable::kMiss;
  if (element == SetTable::kMiss) return 0;
  return RunExpressions(*frame, table.element(element));
}

uint32_t nftjit_map(Frame* frame, uint32_t set, const uint8_t* key, uint8_t* out) noexcept {
  const SetTable& table = *frame->sets[set];
  const uint32_t element = table.Find(key, frame->now_ns);
  if (element == SetTable::kMiss) return 0;
  std::memcpy(out, table.data(element), table.info().data_len);
  return RunExpressions(*frame, table.element(element));
}

uint64_t nftjit_verdict_map(Frame* frame, uint32_t set, const uint8_t* key) noexcept {
  const auto pack = [](nft::VerdictCode code, ir::ChainId chain) {
    return uint64_t{chain.index} << 32 | static_cast<uint32_t>(code);
  };
  const SetTable& table = *frame->sets[set];
  const uint32_t number = table.Find(key, frame->now_ns);
  if (number == SetTable::kMiss) return pack(nft::VerdictCode::kBreak, {});
  const ir::SetElement& element = table.element(number);
  if (!RunExpressions(*frame, element)) return pack(nft::VerdictCode::kBreak, {});
  return pack(element.verdict, element.chain);
}

}  // extern "C"

}  // namespace nftjit::calls
