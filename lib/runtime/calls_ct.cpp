// Conntrack facts: vm-semantics 10.11.
#include "lib/nft/types.h"
#include "lib/runtime/calls.h"
#include "lib/runtime/destination.h"

namespace nftjit::calls {
namespace {

using nft::CtKey;

constexpr uint8_t kNfprotoIpv4 = 2, kNfprotoIpv6 = 10;

// Without a direction, packets and bytes are sums over both.
uint64_t Packets(const Conntrack& ct, uint32_t direction) {
  if (direction == ir::kDirectionOriginal) return ct.original.packets;
  if (direction == ir::kDirectionReply) return ct.reply.packets;
  return ct.original.packets + ct.reply.packets;
}

uint64_t Bytes(const Conntrack& ct, uint32_t direction) {
  if (direction == ir::kDirectionOriginal) return ct.original.bytes;
  if (direction == ir::kDirectionReply) return ct.reply.bytes;
  return ct.original.bytes + ct.reply.bytes;
}

uint64_t AverageBytes(const Conntrack& ct, uint32_t direction) {
  const uint64_t packets = Packets(ct, direction);
  return packets == 0 ? 0 : Bytes(ct, direction) / packets;
}

}  // namespace

extern "C" {

void nftjit_ct_load(const Frame* frame, uint32_t key, uint32_t direction, uint32_t length, uint8_t* bytes) noexcept {
  const Conntrack& ct = *frame->ct;
  const ConntrackTuple& tuple = direction == ir::kDirectionReply ? ct.reply : ct.original;
  Destination out(bytes, length);
  switch (static_cast<CtKey>(key)) {
    case CtKey::kState:
      return out.Native<uint32_t>(ct.state);
    case CtKey::kDirection:
      return out.Native<uint8_t>(ct.direction);
    case CtKey::kStatus:
      return out.Native<uint32_t>(ct.status);
    case CtKey::kMark:
      return out.Native<uint32_t>(ct.mark);
    case CtKey::kSecmark:
      return out.Native<uint32_t>(ct.secmark);
    case CtKey::kExpiration:
      return out.Native<uint32_t>(ct.expiration_ms);
    case CtKey::kHelper:
      return out.Bytes(ct.helper.data(), ct.helper.size());
    case CtKey::kL3protocol:
      return out.Native<uint8_t>(ct.l3protocol);
    case CtKey::kSrc:
    case CtKey::kSrcIp:
    case CtKey::kSrcIp6:
      return out.Bytes(tuple.src.data(), tuple.src.size());
    case CtKey::kDst:
    case CtKey::kDstIp:
    case CtKey::kDstIp6:
      return out.Bytes(tuple.dst.data(), tuple.dst.size());
    case CtKey::kProtocol:
      return out.Native<uint8_t>(ct.protocol);
    case CtKey::kProtoSrc:
      return out.Bytes(tuple.proto_src.data(), tuple.proto_src.size());
    case CtKey::kProtoDst:
      return out.Bytes(tuple.proto_dst.data(), tuple.proto_dst.size());
    case CtKey::kLabel:
      return out.Bytes(ct.label.data(), ct.label.size());
    case CtKey::kPackets:
      return out.Native<uint64_t>(Packets(ct, direction));
    case CtKey::kBytes:
      return out.Native<uint64_t>(Bytes(ct, direction));
    case CtKey::kAvgpkt:
      return out.Native<uint64_t>(AverageBytes(ct, direction));
    case CtKey::kZone:
      return out.Native<uint16_t>(ct.zone);
    case CtKey::kId:
      return out.Native<uint32_t>(ct.id);
    case CtKey::kEvent:  // Only ever set.
      return;
  }
}

uint32_t nftjit_ct_known(const Frame* frame, uint32_t key, uint32_t /*direction*/) noexcept {
  const Conntrack& ct = *frame->ct;
  const auto fact = static_cast<CtKey>(key);
  if (fact == CtKey::kState) return 1;
  if (!ct.has_entry) return 0;
  switch (fact) {
    case CtKey::kHelper:
      return ct.helper[0] != '\0';
    case CtKey::kSrcIp:
    case CtKey::kDstIp:
      return ct.l3protocol == kNfprotoIpv4;
    case CtKey::kSrcIp6:
    case CtKey::kDstIp6:
      return ct.l3protocol == kNfprotoIpv6;
    case CtKey::kEvent:
      return 0;
    default:
      return 1;
  }
}

}  // extern "C"

}  // namespace nftjit::calls
