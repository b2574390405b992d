// Loads that generated code leaves to the runtime: short packets, inner headers.
#include <algorithm>
#include <cstring>

#include "lib/runtime/calls.h"
#include "lib/runtime/parse.h"

namespace nftjit::calls {

extern "C" {

uint32_t nftjit_room_inner(Frame* frame, uint32_t bytes) noexcept {
  if (!frame->inner_known) FindInner(*frame);
  return frame->room[size_t(ir::Base::kInner)] >= bytes ? 1 : 0;
}

void nftjit_load_or_zero(Frame* frame, uint32_t base, uint32_t offset, uint32_t length, uint8_t* out) noexcept {
  if (base == uint32_t(ir::Base::kInner) && !frame->inner_known) FindInner(*frame);
  const uint32_t room = frame->room[base];
  const uint32_t there = offset < room ? std::min(length, room - offset) : 0;
  if (there != 0) std::memcpy(out, frame->base[base] + offset, there);
  std::memset(out + there, 0, length - there);
}

}  // extern "C"

}  // namespace nftjit::calls
