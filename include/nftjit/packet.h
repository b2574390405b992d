// A packet as the caller hands it to a Worker: bytes that stay the caller's, and what the kernel keeps beside them.
//
// Nothing here is copied or owned: the bytes, the interfaces and the conntrack facts must live until the call returns.
// Fields are in host order unless the comment says network order. A fact that is left at its default has the value
// that the kernel would see on a packet without it (docs/facts.md).
#ifndef NFTJIT_PACKET_H_
#define NFTJIT_PACKET_H_

#include <array>
#include <cstdint>

namespace nftjit {

// The protocol family of a hook, numbered as NFPROTO_*. A packet at an L3 hook is kIp or kIp6, and chains of inet
// tables run for both; kInet is not the family of any hook but ingress.
enum class Family : uint8_t { kInet = 1, kIp = 2, kArp = 3, kNetdev = 5, kBridge = 7, kIp6 = 10 };

// Hooks by meaning. netdev has ingress and egress, arp input and output, inet ingress too.
enum class Hook : uint8_t { kPrerouting, kInput, kForward, kOutput, kPostrouting, kIngress, kEgress };

// A network device. Names and kinds are zero padded, never more than 15 bytes long.
struct Interface {
  uint32_t index = 0;
  std::array<char, 16> name{};
  std::array<char, 16> kind{};  // rtnl link kind ("veth"); empty: none, and `meta iifkind` does not match.
  uint16_t type = 1;            // ARPHRD: 1 Ethernet, 0xfffe none (TUN), 772 loopback.
  uint32_t group = 0;
};

// Bits of Conntrack::state, as `ct state` loads them.
inline constexpr uint32_t kCtInvalid = 1, kCtEstablished = 2, kCtRelated = 4, kCtNew = 8, kCtUntracked = 0x40;

// One direction of a conntrack entry.
struct ConntrackTuple {
  std::array<uint8_t, 16> src{}, dst{};             // Network order; IPv4 in the first four bytes, the rest zero.
  std::array<uint8_t, 2> proto_src{}, proto_dst{};  // Network order.
  uint64_t packets = 0, bytes = 0;
};

// What conntrack says of the packet. Without an entry only `state` counts (kCtInvalid or kCtUntracked).
struct Conntrack {
  uint32_t state = kCtInvalid;
  bool has_entry = false;
  uint8_t direction = 0;   // 0 original, 1 reply.
  uint8_t l3protocol = 2;  // 2 IPv4, 10 IPv6.
  uint8_t protocol = 0;    // IPPROTO_*.
  uint32_t status = 0;
  uint32_t mark = 0;
  uint32_t secmark = 0;
  uint32_t expiration_ms = 0;
  uint32_t id = 0;
  uint16_t zone = 0;
  std::array<char, 16> helper{};  // Empty: none, and `ct helper` does not match.
  std::array<uint8_t, 16> label{};
  ConntrackTuple original, reply;
};

// One packet and what the kernel would know of it. The caller owns all that it points to, which must live until Run()
// returns; engines write nothing but what is said to change in place. Offsets and lengths are in bytes from `data`,
// which needs no alignment. Any bytes and any offsets are safe: offsets behind the end count as the end.
struct Packet {
  static constexpr uint32_t kNoOffset = UINT32_MAX;

  uint8_t* data = nullptr;           // First byte. Null is an empty packet.
  uint32_t length = 0;               // Bytes at `data`; no engine reads past them.
  uint32_t link_offset = kNoOffset;  // Of the link header; kNoOffset, or not before the network header: there is none.
  uint32_t network_offset = 0;       // Of the network header.
  uint32_t mark = 0;                 // Changed in place by `meta mark set`.
  uint32_t priority = 0;             // Changed in place by `meta priority set`.
  uint16_t protocol = 0;             // Ethertype in host order, after an outer VLAN tag; 0: the hook family's own.
  uint8_t pkttype = 0;               // 0 host, 1 broadcast, 2 multicast, 3 other host, 4 outgoing.
  bool vlan_tagged = false;          // An outer tag lies in the bytes between link and network header.
  const Interface* iif = nullptr;    // Input device; null: none.
  const Interface* oif = nullptr;    // Output device; null: none.
  const Conntrack* ct = nullptr;     // Null: as a Conntrack with its defaults (state invalid).

  // Facts of rarer use; `has_…` false: the kernel would BREAK.
  bool has_socket = false;  // Of skuid, skgid, cgroup.
  bool has_rtclassid = false;
  bool secpath = false;
  uint32_t skuid = 0, skgid = 0, cgroup = 0;
  uint32_t rtclassid = 0;
  uint32_t secmark = 0;
  uint32_t sdif = 0;
  std::array<char, 16> sdifname{};
  uint64_t time_ns = 0;  // Wall clock of the packet since the epoch; 0: the Worker's clock.

  // Bytes of the packet that are not at hand: on the wire they follow the `length` bytes at `data`, as in a capture
  // with a snap length. The reference engine alone follows it: lengths and bounds count the missing bytes, and a packet
  // whose fate depends on what they hold gets Verdict::kUnknown. The other engines run it as a packet of `length`
  // bytes.
  uint32_t missing = 0;
};

// Finds the headers of an Ethernet frame: sets link_offset, network_offset, protocol, vlan_tagged and pkttype (from the
// destination address; unicast is host). A frame too short for its headers, or of which too much is missing to find
// them, gets network_offset == length.
// At most one VLAN tag is skipped, as the kernel does. Source: vm-semantics 7 (measured on 6.18).
void ParseEthernet(Packet& packet);

}  // namespace nftjit

#endif  // NFTJIT_PACKET_H_
