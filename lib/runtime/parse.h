// Header parsing: from the caller's Packet to the Frame of one base chain (vm-semantics 7 and 8).
#ifndef NFTJIT_LIB_RUNTIME_PARSE_H_
#define NFTJIT_LIB_RUNTIME_PARSE_H_

#include "lib/nft/types.h"
#include "lib/runtime/frame.h"

namespace nftjit {

// Where a chain runs. `pf` is the protocol family of the hook (kIp, kIp6, kArp, kBridge, kNetdev; kInet for ingress).
struct HookPoint {
  nft::Family pf;
  Hook hook;
};

enum class EnterResult : uint8_t {
  kRun,      // The frame is filled; run the chain.
  kAccept,   // The chain is not run, the packet goes on (inet ingress: neither IPv4 nor IPv6).
  kDrop,     // The chain is not run, the packet is dropped (inet ingress: broken L3 header).
  kUnknown,  // Bytes are missing that would tell which of the others (inet ingress; EnterShortChain() only).
};

// Fills what depends on the packet: base, room, length, protocol, l4*, fragment state, nfproto, iif, oif, ct, offsets.
// Does not touch the worker's part (counters, sets, limits, effects, clocks, scratch), nor rule and reject. Reads only
// the packet's bytes, whatever they and the offsets say; offsets past the end are the end.
//
// The kernel's stack has dropped broken L3 headers before the ip and ip6 hooks; here the caller may hand in anything,
// so:
//  - an IPv4 packet of less than 20 bytes, an IPv6 packet of less than 40, has no transport information, and no network
//    header to load from either: at the ip, ip6 and inet hooks room[kNetwork] is 0 or at least the fixed header, which
//    the optimiser builds on (lib/opt/canonicalise_fields.cpp);
//  - a total length that is more than the bytes there, or less than ihl * 4, does not trim the packet;
//  - neither version nor ihl are looked at: the transport header is at ihl * 4, and loads end at the packet's end.
// The ethertype of ip, ip6 and arp hooks is the family's own. Elsewhere Packet::protocol counts; 0 there means that the
// version nibble of the first byte decides, as on a TUN device.
EnterResult EnterChain(const HookPoint& point, Packet& packet, Frame& frame) noexcept;

// The same for a packet with missing bytes: offsets, lengths and room are those of the whole packet, pointers may lie
// past the bytes that are there, and cut, headers_unknown and transport_unknown say what that means. Where the headers
// are unknown every room is 0.
EnterResult EnterShortChain(const HookPoint& point, Packet& packet, Frame& frame) noexcept;

// Computes base[kInner] and room[kInner] (0 where there is no inner header) and sets inner_known.
void FindInner(Frame& frame) noexcept;
// True if bytes are missing that FindInner() would read. It must not be called then.
bool InnerIsMissing(const Frame& frame) noexcept;

// The IPv6 extension-header walk, mode T (vm-semantics 7.1), for `exthdr`: the offset of the first header `target`
// from packet->data, or one of the negative values.
inline constexpr int64_t kHeaderNotFound = -1, kHeadersBroken = -2, kHeadersMissing = -3;  // Missing: frame.cut only.
int64_t FindIpv6Header(const Frame& frame, uint8_t target) noexcept;

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_PARSE_H_
