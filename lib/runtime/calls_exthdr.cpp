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

// One exthdr load.
struct Wanted {
  uint32_t type, offset, length;
  bool present;  // Store whether there is such a header, instead of its bytes.
  uint8_t* out;
};

bool StorePresence(const Wanted& wanted, bool found) {
  Destination(wanted.out, wanted.length).Native<uint8_t>(found ? 1 : 0);
  return true;
}

bool Absent(const Wanted& wanted) { return wanted.present && StorePresence(wanted, false); }

// Copies from `offset` of `bytes`; false if they do not reach.
bool Copy(const Wanted& wanted, ByteSpan bytes, uint64_t offset) {
  if (offset + wanted.length > bytes.size()) return false;
  std::memcpy(wanted.out, bytes.data() + offset, wanted.length);
  return true;
}

bool LoadIpv6(const Frame& frame, const Wanted& wanted) {
  if (!frame.is_ipv6) return false;  // Even when only asked for presence.
  const int64_t header = FindIpv6Header(frame, static_cast<uint8_t>(wanted.type));
  if (wanted.present) return StorePresence(wanted, header >= 0);
  if (header < 0) return false;
  // The load may run past the extension header, into what follows.
  return Copy(wanted, {frame.packet->data, frame.data_end}, static_cast<uint64_t>(header) + wanted.offset);
}

bool LoadIpv4(const Frame& frame, const Wanted& wanted) {
  if (!frame.is_ipv4) return false;
  // Where the packet data starts, which is the MAC header at egress.
  const ByteSpan bytes(frame.start, frame.start_size);
  const int32_t option = FindIpv4Option(bytes, static_cast<uint8_t>(wanted.type));
  if (wanted.present) return StorePresence(wanted, option >= 0);
  return option >= 0 && Copy(wanted, bytes, static_cast<uint64_t>(option) + wanted.offset);
}

// The whole TCP header, or nothing if the packet has none that is complete.
ByteSpan TcpHeader(const Frame& frame) {
  constexpr uint32_t kFixedHeader = 20;
  if (!frame.l4_valid || frame.l4proto != kTcp || !frame.unfragmented) return {};
  const uint8_t* header = frame.base[kTransport];
  const uint32_t room = frame.room[kTransport];
  if (room < kFixedHeader) return {};
  const uint32_t bytes = (header[12] >> 4) * 4U;
  if (bytes < kFixedHeader || bytes > room) return {};
  return {header, bytes};
}

bool LoadTcpOption(const Frame& frame, const Wanted& wanted) {
  const ByteSpan header = TcpHeader(frame);
  // End-of-options does not stop the scan, and a kind in the last byte of the header is not seen.
  for (size_t i = 20; i + 1 < header.size();) {
    const uint8_t kind = header[i];
    const size_t option_bytes = kind <= 1 || header[i + 1] == 0 ? 1 : header[i + 1];
    if (kind == wanted.type) {
      if (i + option_bytes > header.size() || wanted.offset + wanted.length > option_bytes) return Absent(wanted);
      if (wanted.present) return StorePresence(wanted, true);
      return Copy(wanted, header, i + wanted.offset);
    }
    i += option_bytes;
  }
  return Absent(wanted);
}

bool LoadSctpChunk(const Frame& frame, const Wanted& wanted) {
  constexpr uint32_t kFixedHeader = 12, kChunkHeader = 4;
  if (!frame.l4_valid || frame.l4proto != kSctp) return Absent(wanted);
  // Later fragments are walked like any packet.
  const ByteSpan packet(frame.base[kTransport], frame.room[kTransport]);
  for (size_t i = kFixedHeader; i + kChunkHeader <= packet.size();) {
    const uint32_t chunk_bytes = LoadBig16(&packet[i + 2]);
    if (chunk_bytes == 0) break;
    if (packet[i] == wanted.type) {
      if (wanted.present) return StorePresence(wanted, true);
      if (wanted.offset + wanted.length > chunk_bytes || i + chunk_bytes > packet.size()) return false;
      return Copy(wanted, packet, i + wanted.offset);
    }
    i += (chunk_bytes + 3U) & ~3U;
  }
  return Absent(wanted);
}

}  // namespace

extern "C" {

uint32_t nftjit_exthdr_load(Frame* frame, uint32_t op, uint32_t type, uint32_t offset, uint32_t flags, uint32_t length,
                            uint8_t* out) noexcept {
  const Wanted wanted{type, offset, length, (flags & ir::kPresent) != 0, out};
  switch (static_cast<nft::ExthdrOp>(op)) {
    case nft::ExthdrOp::kIpv6:
      return LoadIpv6(*frame, wanted);
    case nft::ExthdrOp::kTcpOption:
      return LoadTcpOption(*frame, wanted);
    case nft::ExthdrOp::kIpv4:
      return LoadIpv4(*frame, wanted);
    case nft::ExthdrOp::kSctp:
      return LoadSctpChunk(*frame, wanted);
    case nft::ExthdrOp::kDccp:
      return 0;
  }
  return 0;
}

}  // extern "C"

}  // namespace nftjit::calls
