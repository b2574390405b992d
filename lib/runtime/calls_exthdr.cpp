// Extension headers and options: vm-semantics 10.31.
#include <cstring>

#include "lib/nft/types.h"
#include "lib/runtime/calls.h"
#include "lib/runtime/destination.h"
#include "lib/runtime/ipv4_options.h"
#include "lib/runtime/parse.h"
#include "lib/support/bytes.h"

namespace nftjit::calls {
namespace {

constexpr uint8_t kTcp = 6, kSctp = 132;
constexpr size_t kTransport = size_t(ir::Base::kTransport);

// What became of a load: BREAK, bytes stored, or not known because bytes are missing.
enum class Loaded : uint32_t { kBreak = 0, kStored = 1, kUnknown = 2 };

// One exthdr load.
struct Wanted {
  uint32_t type, offset, length;
  bool present;  // Store whether there is such a header, instead of its bytes.
  uint8_t* out;
};

// Bytes of the packet: `size` of them, of which the first `present` are there (all, unless the frame is cut).
struct Window {
  Window(const Frame& frame, const uint8_t* first, uint32_t bytes)
      : data(first), size(bytes), present(frame.cut ? PresentBytes(frame, first, bytes) : bytes) {}
  const uint8_t* data;
  uint32_t size, present;
};

Loaded StorePresence(const Wanted& wanted, bool found) {
  Destination(wanted.out, wanted.length).Native<uint8_t>(found ? 1 : 0);
  return Loaded::kStored;
}

Loaded Absent(const Wanted& wanted) { return wanted.present ? StorePresence(wanted, false) : Loaded::kBreak; }

// Copies from `offset` of the window; no load if it does not reach.
Loaded Copy(const Wanted& wanted, const Window& window, uint64_t offset) {
  if (offset + wanted.length > window.size) return Loaded::kBreak;
  if (offset + wanted.length > window.present) return Loaded::kUnknown;
  std::memcpy(wanted.out, window.data + offset, wanted.length);
  return Loaded::kStored;
}

Loaded LoadIpv6(const Frame& frame, const Wanted& wanted) {
  if (!frame.is_ipv6) return Loaded::kBreak;  // Even when only asked for presence.
  const int64_t header = FindIpv6Header(frame, static_cast<uint8_t>(wanted.type));
  if (header == kHeadersMissing) return Loaded::kUnknown;
  if (wanted.present) return StorePresence(wanted, header >= 0);
  if (header < 0) return Loaded::kBreak;
  // The load may run past the extension header, into what follows.
  return Copy(wanted, Window(frame, frame.packet->data, frame.data_end), static_cast<uint64_t>(header) + wanted.offset);
}

// False if some of the bytes are missing that FindIpv4Option() reads.
bool HasIpv4Options(const Window& header) {
  constexpr uint32_t kFixedHeader = 20;
  if (header.present == header.size || header.size < kFixedHeader) return true;
  if (header.present == 0) return false;
  const uint32_t end = (header.data[0] & 0xfU) * 4;
  return end <= kFixedHeader || end > header.size || end <= header.present;
}

Loaded LoadIpv4(const Frame& frame, const Wanted& wanted) {
  if (!frame.is_ipv4) return Loaded::kBreak;
  // Where the packet data starts, which is the MAC header at egress.
  const Window window(frame, frame.start, frame.start_size);
  if (!HasIpv4Options(window)) return Loaded::kUnknown;
  const ByteSpan bytes(window.data, window.size);
  const int32_t option = FindIpv4Option(bytes, static_cast<uint8_t>(wanted.type));
  if (wanted.present) return StorePresence(wanted, option >= 0);
  return option >= 0 ? Copy(wanted, window, static_cast<uint64_t>(option) + wanted.offset) : Loaded::kBreak;
}

Loaded LoadTcpOption(const Frame& frame, const Wanted& wanted) {
  constexpr uint32_t kFixedHeader = 20, kDataOffset = 12;
  if (!frame.l4_valid || frame.l4proto != kTcp || !frame.unfragmented) return Absent(wanted);
  const Window packet(frame, frame.base[kTransport], frame.room[kTransport]);
  if (packet.size < kFixedHeader) return Absent(wanted);
  if (packet.present <= kDataOffset) return Loaded::kUnknown;
  const uint32_t end = (packet.data[kDataOffset] >> 4) * 4U;
  if (end < kFixedHeader || end > packet.size) return Absent(wanted);
  // End-of-options does not stop the scan, and a kind in the last byte of the header is not seen.
  for (uint32_t i = kFixedHeader; i + 1 < end;) {
    if (i + 1 >= packet.present) return Loaded::kUnknown;
    const uint8_t kind = packet.data[i];
    const uint32_t option_bytes = kind <= 1 || packet.data[i + 1] == 0 ? 1 : packet.data[i + 1];
    if (kind == wanted.type) {
      if (i + option_bytes > end || wanted.offset + wanted.length > option_bytes) return Absent(wanted);
      if (wanted.present) return StorePresence(wanted, true);
      return Copy(wanted, packet, i + wanted.offset);
    }
    i += option_bytes;
  }
  return Absent(wanted);
}

Loaded LoadSctpChunk(const Frame& frame, const Wanted& wanted) {
  constexpr uint32_t kFixedHeader = 12, kChunkHeader = 4;
  if (!frame.l4_valid || frame.l4proto != kSctp) return Absent(wanted);
  // Later fragments are walked like any packet.
  const Window packet(frame, frame.base[kTransport], frame.room[kTransport]);
  for (uint64_t i = kFixedHeader; i + kChunkHeader <= packet.size;) {
    if (i + kChunkHeader > packet.present) return Loaded::kUnknown;
    const uint32_t chunk_bytes = LoadBig16(packet.data + i + 2);
    if (chunk_bytes == 0) break;
    if (packet.data[i] == wanted.type) {
      if (wanted.present) return StorePresence(wanted, true);
      if (wanted.offset + wanted.length > chunk_bytes || i + chunk_bytes > packet.size) return Loaded::kBreak;
      return Copy(wanted, packet, i + wanted.offset);
    }
    i += (chunk_bytes + 3U) & ~3U;
  }
  return Absent(wanted);
}

Loaded Load(const Frame& frame, nft::ExthdrOp op, const Wanted& wanted) {
  switch (op) {
    case nft::ExthdrOp::kIpv6:
      return LoadIpv6(frame, wanted);
    case nft::ExthdrOp::kTcpOption:
      return LoadTcpOption(frame, wanted);
    case nft::ExthdrOp::kIpv4:
      return LoadIpv4(frame, wanted);
    case nft::ExthdrOp::kSctp:
      return LoadSctpChunk(frame, wanted);
    case nft::ExthdrOp::kDccp:
      return Loaded::kBreak;
  }
  return Loaded::kBreak;
}

}  // namespace

extern "C" {

uint32_t nftjit_exthdr_load(Frame* frame, uint32_t op, uint32_t type, uint32_t offset, uint32_t flags, uint32_t length,
                            uint8_t* out) noexcept {
  const Wanted wanted{type, offset, length, (flags & ir::kPresent) != 0, out};
  return static_cast<uint32_t>(Load(*frame, static_cast<nft::ExthdrOp>(op), wanted));
}

}  // extern "C"

}  // namespace nftjit::calls
