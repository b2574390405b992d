// The inner header of a packet, for loads with base `inner` (vm-semantics 7.2).
#include "lib/runtime/parse.h"
#include "lib/support/bytes.h"

namespace nftjit {
namespace {

constexpr uint8_t kIpip = 4, kTcp = 6, kUdp = 17, kGre = 47;
constexpr uint32_t kNone = UINT32_MAX;

// Bytes from the transport header to the inner one.
uint32_t InnerDistance(const Frame& frame) {
  if (!frame.l4_valid || !frame.unfragmented) return kNone;
  const uint8_t* transport = frame.base[size_t(ir::Base::kTransport)];
  const uint32_t room = frame.room[size_t(ir::Base::kTransport)];
  switch (frame.l4proto) {
    case kUdp:
      return 8;
    case kTcp:
      // The kernel wants the fixed header, but takes any data offset.
      return room < 20 ? kNone : (transport[12] >> 4) * 4U;
    case kGre: {
      if (room < 4) return kNone;
      constexpr uint8_t kChecksum = 0x80, kRouting = 0x40, kKey = 0x20, kSequence = 0x10, kVersion = 0x07;
      const uint8_t flags = transport[0];
      if ((flags & kRouting) != 0 || (transport[1] & kVersion) != 0) return kNone;
      return 4U + ((flags & kChecksum) != 0 ? 4 : 0) + ((flags & kKey) != 0 ? 4 : 0) +
             ((flags & kSequence) != 0 ? 4 : 0);
    }
    case kIpip:
      return 0;
    default:
      return kNone;
  }
}

}  // namespace

bool InnerIsMissing(const Frame& frame) noexcept {
  if (!frame.cut || !frame.l4_valid || !frame.unfragmented) return false;
  const uint8_t* transport = frame.base[size_t(ir::Base::kTransport)];
  const uint32_t room = frame.room[size_t(ir::Base::kTransport)];
  const uint32_t present = PresentBytes(frame, transport, room);
  return (frame.l4proto == kTcp && room >= 20 && present < 13) || (frame.l4proto == kGre && room >= 4 && present < 2);
}

void FindInner(Frame& frame) noexcept {
  constexpr size_t kInner = size_t(ir::Base::kInner), kTransport = size_t(ir::Base::kTransport);
  const uint32_t distance = InnerDistance(frame);
  const bool inside = distance < frame.room[kTransport];
  frame.base[kInner] = inside ? frame.base[kTransport] + distance : frame.packet->data;
  frame.room[kInner] = inside ? frame.room[kTransport] - distance : 0;
  frame.inner_known = true;
}

}  // namespace nftjit
