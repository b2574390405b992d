// Metadata: vm-semantics 10.9 and 10.10.
#include "lib/nft/types.h"
#include "lib/runtime/calls.h"
#include "lib/runtime/destination.h"
#include "lib/support/bytes.h"

namespace nftjit::calls {
namespace {

using nft::MetaKey;

constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000, kSecondsPerDay = 86'400;
constexpr uint64_t kThursday = 4;  // 1970-01-01; Sunday is 0.
constexpr uint8_t kLastPkttype = 3;

// SplitMix64: one addition of state, so that any seed will do.
uint32_t NextRandom(uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return static_cast<uint32_t>((z ^ (z >> 31)) >> 32);
}

uint64_t WallClock(const Frame& frame) { return frame.packet->time_ns != 0 ? frame.packet->time_ns : frame.wall_ns; }

// Facts of a device; its absence stores zeros where the kernel does not BREAK.
void LoadDevice(const Interface* device, MetaKey key, Destination out) {
  if (device == nullptr) return;
  switch (key) {
    case MetaKey::kIif:
    case MetaKey::kOif:
      return out.Native<uint32_t>(device->index);
    case MetaKey::kIifname:
    case MetaKey::kOifname:
      return out.Bytes(device->name.data(), device->name.size());
    case MetaKey::kIiftype:
    case MetaKey::kOiftype:
      return out.Native<uint16_t>(device->type);
    case MetaKey::kIifgroup:
    case MetaKey::kOifgroup:
      return out.Native<uint32_t>(device->group);
    case MetaKey::kIifkind:
    case MetaKey::kOifkind:
      return out.Bytes(device->kind.data(), device->kind.size());
    default:
      return;
  }
}

bool HasKind(const Interface* device) { return device != nullptr && device->kind[0] != '\0'; }

}  // namespace

extern "C" {

void nftjit_meta_load(Frame* frame, uint32_t key, uint32_t length, uint8_t* bytes) noexcept {
  const Packet& packet = *frame->packet;
  Destination out(bytes, length);
  switch (const auto meta = static_cast<MetaKey>(key); meta) {
    case MetaKey::kLen:
      return out.Native<uint32_t>(frame->length);
    case MetaKey::kProtocol: {
      uint8_t network_order[2];
      StoreBig16(network_order, frame->protocol);
      return out.Bytes(network_order, sizeof network_order);
    }
    case MetaKey::kPriority:
      return out.Native<uint32_t>(packet.priority);
    case MetaKey::kMark:
      return out.Native<uint32_t>(packet.mark);
    case MetaKey::kIif:
    case MetaKey::kIifname:
    case MetaKey::kIifgroup:
    case MetaKey::kIifkind:
      return LoadDevice(frame->iif, meta, out);
    case MetaKey::kOif:
    case MetaKey::kOifname:
    case MetaKey::kOiftype:
    case MetaKey::kOifgroup:
    case MetaKey::kOifkind:
      return LoadDevice(frame->oif, meta, out);
    case MetaKey::kIiftype:
      return LoadDevice(frame->device, meta, out);
    case MetaKey::kSkuid:
      return out.Native<uint32_t>(packet.skuid);
    case MetaKey::kSkgid:
      return out.Native<uint32_t>(packet.skgid);
    case MetaKey::kCgroup:
      return out.Native<uint32_t>(packet.cgroup);
    case MetaKey::kRtclassid:
      return out.Native<uint32_t>(packet.rtclassid);
    case MetaKey::kSecmark:
      return out.Native<uint32_t>(packet.secmark);
    case MetaKey::kNfproto:
      return out.Native<uint8_t>(frame->nfproto);
    case MetaKey::kL4proto:
      return out.Native<uint8_t>(frame->l4proto);
    case MetaKey::kPkttype:
      return out.Native<uint8_t>(packet.pkttype);
    case MetaKey::kCpu:
      return out.Native<uint32_t>(frame->cpu);
    case MetaKey::kPrandom:
      return out.Native<uint32_t>(NextRandom(*frame->random));
    case MetaKey::kSecpath:
      return out.Native<uint8_t>(packet.secpath ? 1 : 0);
    case MetaKey::kTime:
      return out.Native<uint64_t>(WallClock(*frame));
    case MetaKey::kDay:
      return out.Native<uint8_t>((WallClock(*frame) / kNanosecondsPerSecond / kSecondsPerDay + kThursday) % 7);
    case MetaKey::kHour:
      return out.Native<uint32_t>(WallClock(*frame) / kNanosecondsPerSecond % kSecondsPerDay);
    case MetaKey::kSdif:
      return out.Native<uint32_t>(packet.sdif);
    case MetaKey::kSdifname:
      return out.Bytes(packet.sdifname.data(), packet.sdifname.size());
    case MetaKey::kBriIifname:
    case MetaKey::kBriOifname:
    case MetaKey::kBriIifpvid:
    case MetaKey::kBriIifvproto:
    case MetaKey::kBriIifhwaddr:  // Never known: the packet does not tell its bridge.
    case MetaKey::kNftrace:
    case MetaKey::kBroute:  // These two are only ever set.
      return;
  }
}

uint32_t nftjit_meta_known(const Frame* frame, uint32_t key) noexcept {
  switch (static_cast<MetaKey>(key)) {
    case MetaKey::kIiftype:
      return frame->device != nullptr;
    case MetaKey::kIifgroup:
      return frame->iif != nullptr;
    case MetaKey::kOiftype:
    case MetaKey::kOifgroup:
      return frame->oif != nullptr;
    case MetaKey::kIifkind:
      return HasKind(frame->iif);
    case MetaKey::kOifkind:
      return HasKind(frame->oif);
    case MetaKey::kSkuid:
    case MetaKey::kSkgid:
    case MetaKey::kCgroup:
      return frame->packet->has_socket;
    case MetaKey::kRtclassid:
      return frame->packet->has_rtclassid;
    case MetaKey::kL4proto:
      return frame->l4_valid;
    case MetaKey::kNftrace:
    case MetaKey::kBroute:
    case MetaKey::kBriIifname:
    case MetaKey::kBriOifname:
    case MetaKey::kBriIifpvid:
    case MetaKey::kBriIifvproto:
    case MetaKey::kBriIifhwaddr:
      return 0;
    default:
      return 1;
  }
}

void nftjit_meta_store(Frame* frame, uint32_t key, const uint8_t* value) noexcept {
  Packet& packet = *frame->packet;
  switch (static_cast<MetaKey>(key)) {
    case MetaKey::kMark:
      packet.mark = LoadNative<uint32_t>(value);
      return;
    case MetaKey::kPriority:
      packet.priority = LoadNative<uint32_t>(value);
      return;
    case MetaKey::kSecmark:
      packet.secmark = LoadNative<uint32_t>(value);
      return;
    case MetaKey::kPkttype:
      if (packet.pkttype <= kLastPkttype && value[0] <= kLastPkttype) packet.pkttype = value[0];
      return;
    default:
      return;
  }
}

}  // extern "C"

}  // namespace nftjit::calls
