// Limits and logs, for engines.
#include "lib/runtime/calls.h"
#include "lib/runtime/effects.h"
#include "lib/runtime/limit.h"

namespace nftjit::calls {

extern "C" {

uint32_t nftjit_limit(Frame* frame, uint32_t limit) noexcept {
  return frame->limits[limit].Pass(frame->now_ns, frame->length);
}

void nftjit_log(Frame* frame, uint32_t log) noexcept { frame->effects->Add(log); }

}  // extern "C"

}  // namespace nftjit::calls
