// What every engine sees of a packet while one base chain runs: the kernel's nft_pktinfo with the lookups done.
//
// Filled once per base chain by EnterChain() (lib/runtime/parse.h). Generated code reads the fields by their offsets,
// so the hot ones stay below 128 (asserted). `room[base]` is 0 where the header is not there, which makes one unsigned
// compare of every bounds guard: a room guard passes iff room[base] >= a.
#ifndef NFTJIT_LIB_RUNTIME_FRAME_H_
#define NFTJIT_LIB_RUNTIME_FRAME_H_

#include <cstddef>
#include <cstdint>

#include "lib/ir/ir.h"
#include "nftjit/packet.h"

namespace nftjit {

class SetTable;     // lib/runtime/set.h
struct LimitState;  // lib/runtime/limit.h
struct EffectLog;   // lib/runtime/effects.h

// One counter of one worker.
struct CounterSlot {
  uint64_t packets = 0, bytes = 0;
};

// Slots are written by their worker's thread alone and may be read by others meanwhile, so the stores are relaxed
// atomic ones, which cost nothing.
inline void CountPacket(CounterSlot& slot, uint32_t bytes) noexcept {
  __atomic_store_n(&slot.packets, slot.packets + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&slot.bytes, slot.bytes + bytes, __ATOMIC_RELAXED);
}

inline constexpr uint32_t kNoRule = UINT32_MAX;

// What a base chain run came to. kContinue: it fell off its end or returned; the caller applies the policy.
using Outcome = int32_t;  // nft::VerdictCode
// It depends on bytes that are missing (Frame::cut). Frame::rule is where it became so.
inline constexpr Outcome kUnknownOutcome = INT32_MIN;

struct Frame {
  const uint8_t* base[ir::kBaseCount];  // First byte of each header; undefined where room is 0.
  uint32_t room[ir::kBaseCount];        // Bytes from it to the end of the packet. Inner: valid once inner_known.
  Packet* packet;
  const Interface* iif;  // As this hook sees them (vm-semantics 10.9): null at hooks that have none.
  const Interface* oif;
  const Conntrack* ct;    // Never null.
  CounterSlot* counters;  // This worker's, by CounterId.
  uint32_t length;        // skb len at this hook (vm-semantics 8): `meta len`, counters' bytes.
  uint16_t protocol;      // Host order ethertype: `meta protocol` stores it in network order.
  uint8_t l4proto;        // tprot; 0 unless l4_valid.
  bool l4_valid;
  bool unfragmented;  // fragoff == 0.
  bool inner_known;   // base and room of kInner were computed: FindInner() (lib/runtime/parse.h).
  uint8_t nfproto;    // NFPROTO_* as `meta nfproto` stores it.
  uint32_t rule;      // Out: the rule (ir::RuleId) whose verdict ended the chain, else kNoRule.
  uint32_t reject;    // Out: RejectType << 8 | code, plus kRejected, if a reject ended it.
  // Below: rarely read.
  uint8_t is_ipv6;  // The packet's L3 protocol as `exthdr` asks (skb->protocol).
  uint8_t is_ipv4;
  uint8_t hook;                    // nftjit::Hook.
  const Interface* device;         // skb->dev, whose type `meta iiftype` loads; null: none (L3 output).
  const uint8_t* start;            // D of vm-semantics 7: `length` bytes, or those of link_view.
  uint32_t start_size;             // Bytes at `start`.
  uint32_t network_offset, thoff;  // From packet->data.
  uint32_t fragoff;                // As the kernel keeps it: 8-byte units for IPv4, bytes for IPv6.
  uint32_t data_end;               // From packet->data: one past the last byte that loads may read.
  const SetTable* const* sets;     // By SetId.
  LimitState* limits;              // By LimitId, shared by all workers.
  EffectLog* effects;              // Log records of this worker.
  uint64_t now_ns;                 // Monotonic, of this burst: limits and timeouts.
  uint64_t wall_ns;                // Since the epoch: meta time, day, hour.
  uint64_t* random;                // State of this worker's generator.
  uint32_t cpu;                    // Worker number: `meta cpu`.
  // Of packets with missing bytes (Packet::missing), as EnterShortChain() finds them; all false otherwise.
  bool cut;                // `length` and `room` count bytes that are not there: PresentBytes().
  bool headers_unknown;    // Even of the L3 header: nothing that was parsed from the packet is known, nor its length.
  bool transport_unknown;  // Transport information is not known. Also set with headers_unknown.
  uint32_t view_bytes;     // Bytes of link_view that are there.
  // The frame without its VLAN tag, where the kernel has dropped the tag or keeps it outside the bytes: 12 address
  // bytes, the ethertype, then as much of the packet as fits. Filled only for tagged frames: at L3 hooks and egress,
  // and, tag included, where they have an 802.3 length.
  static constexpr uint32_t kLinkViewBytes = 256;
  uint8_t link_view[kLinkViewBytes];
  // Values that live in memory: engines lay out as they like. 16-byte slots.
  static constexpr size_t kScratchBytes = 4096;
  alignas(16) uint8_t scratch[kScratchBytes];
};

inline constexpr uint32_t kRejected = 0x10000;

// Of the `room` bytes from `first`, a base or start of the frame, how many are there. All of them unless the frame is
// cut.
inline uint32_t PresentBytes(const Frame& frame, const uint8_t* first, uint32_t room) noexcept {
  const uint8_t* view = frame.link_view;
  const bool in_view = first >= view && first < view + Frame::kLinkViewBytes;
  const uint8_t* end = in_view ? view + frame.view_bytes : frame.packet->data + frame.packet->length;
  if (first >= end) return 0;
  const auto present = static_cast<size_t>(end - first);
  return present < room ? static_cast<uint32_t>(present) : room;
}

static_assert(offsetof(Frame, reject) < 128, "hot fields need one-byte displacements");

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_FRAME_H_
