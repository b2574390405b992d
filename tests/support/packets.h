// Packets by composition, with honest defaults and explicit lies:
//
//   Ether() / Ipv4().Src("10.0.0.2").Dst("10.0.0.1") / Tcp().Dport(80) / Raw("hello")
//   Ipv4().HeaderWords(3) / Udp()                      // claims a header of 12 bytes
//
// Lengths, next-protocol fields and checksums are worked out when the bytes are made, unless they were set by hand.
// The first layer decides where the bytes begin: with Ether they are a frame, else an L3 packet.
#ifndef NFTJIT_TESTS_SUPPORT_PACKETS_H_
#define NFTJIT_TESTS_SUPPORT_PACKETS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "nftjit/packet.h"

namespace nftjit::testing {

using Bytes = std::vector<uint8_t>;

// From hex digits; blanks are skipped. Asserts that nothing else is there.
Bytes FromHex(std::string_view hex);
std::array<uint8_t, 4> Ipv4Address(std::string_view text);   // "10.0.0.1"
std::array<uint8_t, 16> Ipv6Address(std::string_view text);  // "fd00::1"
std::array<uint8_t, 6> MacAddress(std::string_view text);    // "02:00:00:00:00:01"
// The Internet checksum of bytes, with the sum of a pseudo-header in front.
uint16_t InternetChecksum(const uint8_t* bytes, size_t size, uint32_t sum = 0);

// Defines a setter that returns the layer, so that calls chain.
#define NFTJIT_FIELD(Layer, Setter, type, field) \
  Layer& Setter(type value) {                    \
    field = value;                               \
    return *this;                                \
  }

struct Ether {
  std::array<uint8_t, 6> dst = {2, 0, 0, 0, 0, 1}, src = {2, 0, 0, 0, 0, 2};
  std::optional<uint16_t> type;
  Ether& Dst(std::string_view text) { return dst = MacAddress(text), *this; }
  Ether& Src(std::string_view text) { return src = MacAddress(text), *this; }
  NFTJIT_FIELD(Ether, Type, uint16_t, type)
};

// 802.1Q by default; Tpid(0x88a8) makes it an outer tag of 802.1ad.
struct Vlan {
  uint16_t vid = 1, tpid = 0x8100;
  uint8_t pcp = 0;
  std::optional<uint16_t> type;
  NFTJIT_FIELD(Vlan, Vid, uint16_t, vid)
  NFTJIT_FIELD(Vlan, Pcp, uint8_t, pcp)
  NFTJIT_FIELD(Vlan, Tpid, uint16_t, tpid)
  NFTJIT_FIELD(Vlan, Type, uint16_t, type)
};

struct Arp {
  uint16_t operation = 1;
  std::array<uint8_t, 6> sender_mac = {2, 0, 0, 0, 0, 2}, target_mac{};
  std::array<uint8_t, 4> sender = {10, 0, 0, 2}, target = {10, 0, 0, 1};
  NFTJIT_FIELD(Arp, Operation, uint16_t, operation)
  Arp& Sender(std::string_view text) { return sender = Ipv4Address(text), *this; }
  Arp& Target(std::string_view text) { return target = Ipv4Address(text), *this; }
};

struct Ipv4 {
  std::array<uint8_t, 4> src = {10, 0, 0, 2}, dst = {10, 0, 0, 1};
  uint8_t version = 4, tos = 0, ttl = 64;
  uint16_t id = 1, fragment_units = 0;
  bool more_fragments = false, dont_fragment = false;
  Bytes options;  // Padded with end-of-options to four bytes.
  std::optional<uint8_t> protocol, header_words;
  std::optional<uint16_t> total_length, checksum;
  Ipv4& Src(std::string_view text) { return src = Ipv4Address(text), *this; }
  Ipv4& Dst(std::string_view text) { return dst = Ipv4Address(text), *this; }
  NFTJIT_FIELD(Ipv4, Version, uint8_t, version)
  NFTJIT_FIELD(Ipv4, Tos, uint8_t, tos)
  NFTJIT_FIELD(Ipv4, Ttl, uint8_t, ttl)
  NFTJIT_FIELD(Ipv4, Id, uint16_t, id)
  NFTJIT_FIELD(Ipv4, FragmentUnits, uint16_t, fragment_units)  // Offset in units of eight bytes.
  NFTJIT_FIELD(Ipv4, MoreFragments, bool, more_fragments)
  NFTJIT_FIELD(Ipv4, DontFragment, bool, dont_fragment)
  NFTJIT_FIELD(Ipv4, Options, const Bytes&, options)
  NFTJIT_FIELD(Ipv4, Protocol, uint8_t, protocol)
  NFTJIT_FIELD(Ipv4, HeaderWords, uint8_t, header_words)
  NFTJIT_FIELD(Ipv4, TotalLength, uint16_t, total_length)
  NFTJIT_FIELD(Ipv4, Checksum, uint16_t, checksum)
};

struct Ipv6 {
  std::array<uint8_t, 16> src = Ipv6Address("fd00::2"), dst = Ipv6Address("fd00::1");
  uint8_t version = 6, traffic_class = 0, hop_limit = 64;
  uint32_t flow_label = 0;
  std::optional<uint8_t> next_header;
  std::optional<uint16_t> payload_length;
  Ipv6& Src(std::string_view text) { return src = Ipv6Address(text), *this; }
  Ipv6& Dst(std::string_view text) { return dst = Ipv6Address(text), *this; }
  NFTJIT_FIELD(Ipv6, Version, uint8_t, version)
  NFTJIT_FIELD(Ipv6, TrafficClass, uint8_t, traffic_class)
  NFTJIT_FIELD(Ipv6, HopLimit, uint8_t, hop_limit)
  NFTJIT_FIELD(Ipv6, FlowLabel, uint32_t, flow_label)
  NFTJIT_FIELD(Ipv6, NextHeader, uint8_t, next_header)
  NFTJIT_FIELD(Ipv6, PayloadLength, uint16_t, payload_length)
};

// An IPv6 extension header other than fragment: hop-by-hop 0, routing 43, authentication 51, destination options 60.
struct Ipv6Extension {
  uint8_t kind;
  Bytes body = Bytes(6);  // After next header and length; padded with zeros to eight bytes.
  std::optional<uint8_t> next_header, length_field;
  explicit Ipv6Extension(uint8_t k) : kind(k) {}
  NFTJIT_FIELD(Ipv6Extension, Body, const Bytes&, body)
  NFTJIT_FIELD(Ipv6Extension, NextHeader, uint8_t, next_header)
  NFTJIT_FIELD(Ipv6Extension, LengthField, uint8_t, length_field)
};

struct Ipv6Fragment {
  uint16_t offset_bytes = 0;  // A multiple of eight.
  bool more_fragments = false;
  uint32_t id = 1;
  std::optional<uint8_t> next_header;
  NFTJIT_FIELD(Ipv6Fragment, OffsetBytes, uint16_t, offset_bytes)
  NFTJIT_FIELD(Ipv6Fragment, MoreFragments, bool, more_fragments)
  NFTJIT_FIELD(Ipv6Fragment, Id, uint32_t, id)
  NFTJIT_FIELD(Ipv6Fragment, NextHeader, uint8_t, next_header)
};

inline constexpr uint8_t kTcpFin = 1, kTcpSyn = 2, kTcpRst = 4, kTcpPsh = 8, kTcpAck = 16, kTcpUrg = 32;

struct Tcp {
  uint16_t sport = 40000, dport = 80, window = 64240;
  uint32_t seq = 1, ack = 0;
  uint8_t flags = kTcpSyn;
  Bytes options;  // Padded with end-of-options to four bytes.
  std::optional<uint8_t> header_words;
  std::optional<uint16_t> checksum;
  NFTJIT_FIELD(Tcp, Sport, uint16_t, sport)
  NFTJIT_FIELD(Tcp, Dport, uint16_t, dport)
  NFTJIT_FIELD(Tcp, Window, uint16_t, window)
  NFTJIT_FIELD(Tcp, Seq, uint32_t, seq)
  NFTJIT_FIELD(Tcp, Ack, uint32_t, ack)
  NFTJIT_FIELD(Tcp, Flags, uint8_t, flags)
  NFTJIT_FIELD(Tcp, Options, const Bytes&, options)
  NFTJIT_FIELD(Tcp, HeaderWords, uint8_t, header_words)
  NFTJIT_FIELD(Tcp, Checksum, uint16_t, checksum)
};

struct Udp {
  uint16_t sport = 40000, dport = 53;
  uint8_t protocol = 17;  // 136: UDP-Lite, covering all.
  std::optional<uint16_t> length, checksum;
  NFTJIT_FIELD(Udp, Sport, uint16_t, sport)
  NFTJIT_FIELD(Udp, Dport, uint16_t, dport)
  NFTJIT_FIELD(Udp, Protocol, uint8_t, protocol)
  NFTJIT_FIELD(Udp, Length, uint16_t, length)
  NFTJIT_FIELD(Udp, Checksum, uint16_t, checksum)
};

// ICMP under Ipv4, ICMPv6 under Ipv6. An echo request by default (type 8, or 128).
struct Icmp {
  std::optional<uint8_t> type;
  uint8_t code = 0;
  uint32_t rest = 0x00010001;
  std::optional<uint16_t> checksum;
  NFTJIT_FIELD(Icmp, Type, uint8_t, type)
  NFTJIT_FIELD(Icmp, Code, uint8_t, code)
  NFTJIT_FIELD(Icmp, Rest, uint32_t, rest)
  NFTJIT_FIELD(Icmp, Checksum, uint16_t, checksum)
};

// Bytes as they are. Protocol() is what the header in front calls them.
struct Raw {
  Bytes bytes;
  uint8_t protocol = 255;
  explicit Raw(std::string_view text) : bytes(text.begin(), text.end()) {}
  explicit Raw(Bytes b) : bytes(std::move(b)) {}
  NFTJIT_FIELD(Raw, Protocol, uint8_t, protocol)
};
#undef NFTJIT_FIELD

using Layer = std::variant<Ether, Vlan, Arp, Ipv4, Ipv6, Ipv6Extension, Ipv6Fragment, Tcp, Udp, Icmp, Raw>;

class Stack {
 public:
  template <class L>
  requires std::is_constructible_v<Layer, L> Stack(const L& layer)
      : layers_{Layer(layer)} {}  // NOLINT: a layer alone is a packet too.
  Stack& Add(Layer layer) {
    layers_.push_back(std::move(layer));
    return *this;
  }
  [[nodiscard]] Bytes Build() const;
  operator Bytes() const { return Build(); }  // NOLINT: the point of composing.

 private:
  std::vector<Layer> layers_;
};
inline Stack operator/(Stack stack, Layer layer) { return stack.Add(std::move(layer)); }

// A Packet over `bytes` (which must outlive it) that begins at the network header, as at an L3 hook of a device without
// link layer: protocol from the version nibble, length the whole of the bytes.
Packet L3Packet(Bytes& bytes);
// One over an Ethernet frame, by ParseEthernet().
inline Packet EthernetPacket(Bytes& bytes) {
  Packet packet;
  packet.data = bytes.data();
  packet.length = static_cast<uint32_t>(bytes.size());
  ParseEthernet(packet);
  return packet;
}

// An Ethernet device of that name.
Interface MakeInterface(std::string_view name, uint32_t index);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_PACKETS_H_
