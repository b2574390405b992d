#include "benchmarks/handwritten_server.h"

#include <algorithm>
#include <cstring>

#include "lib/support/bytes.h"

namespace nftjit::bench {

// What the rules ask, from one pass over the headers.
struct HandwrittenServer::Headers {
  const uint8_t* network = nullptr;
  const uint8_t* transport = nullptr;
  uint32_t room = 0;    // From `transport` to the end.
  uint32_t length = 0;  // Of the IP packet.
  bool v4 = false, v6 = false, later_fragment = false;
  uint8_t protocol = 0;
  uint32_t source4 = 0, destination4 = 0;
  uint16_t port = 0;  // Destination; 0 unless TCP or UDP.
};

namespace {

bool InBlocked(uint32_t address) {
  if (address - 0xc0000200U <= 0xffU) return true;  // 192.0.2.0/24
  if (address - 0xc6336440U <= 0x3fU) return true;  // 198.51.100.64/26
  if (address == 0xcb007107U) return true;          // 203.0.113.7
  return address - 0xcb007180U <= 200U - 128U;      // 203.0.113.128-203.0.113.200
}

bool IsWebPort(uint16_t port) { return port == 80 || port == 443 || port == 8080 || port == 8443; }

bool IsOffice6(const uint8_t* source) {
  constexpr uint8_t kPrefix[] = {0x20, 0x01, 0x0d, 0xb8, 0x00, 0x20};
  return std::memcmp(source, kPrefix, sizeof kPrefix) == 0;
}

}  // namespace

bool HandwrittenServer::CountAnd(size_t rule, const Headers& headers, bool verdict) {
  ++counts_[rule].packets;
  counts_[rule].bytes += headers.length;
  return verdict;
}

// The chain `control`; a packet that it does not accept goes on in the caller.
bool HandwrittenServer::Control(const Headers& h) {
  if (h.room < 1) return false;
  const uint8_t type = h.transport[0];
  if (h.v4 && h.protocol == 1 && (type == 8 || type == 3 || type == 11)) return CountAnd(24, h, true);
  if (!h.v6 || h.protocol != 58) return false;
  if (type == 128 || type == 1 || type == 2 || type == 135 || type == 136 || type == 134) return CountAnd(25, h, true);
  return false;
}

bool HandwrittenServer::Decide(const Packet& packet, const Headers& h) {
  constexpr std::array<char, 16> kLoopback{'l', 'o'};
  const bool loopback = packet.iif != nullptr && packet.iif->name == kLoopback;
  if (loopback) return CountAnd(0, h, true);
  const uint32_t state = packet.ct != nullptr ? packet.ct->state : kCtInvalid;
  if (state == kCtEstablished || state == kCtRelated) return true;
  if (state == kCtInvalid) return false;
  if (h.v4 && InBlocked(h.source4)) return CountAnd(2, h, false);
  if (h.v4 && h.source4 >> 24 == 127) return CountAnd(3, h, false);
  if (h.v6 && LoadBig64(h.network + 8) == 0 && LoadBig64(h.network + 16) == 1) return CountAnd(4, h, false);
  if ((h.protocol == 1 || h.protocol == 58) && Control(h)) return true;
  const bool tcp = h.protocol == 6, udp = h.protocol == 17;
  if (tcp && h.room >= 14 && (h.transport[13] & 0x17) != 2 && state == kCtNew) return CountAnd(6, h, false);
  if (tcp && IsWebPort(h.port)) return CountAnd(7, h, true);
  if (udp && h.port == 443) return CountAnd(8, h, true);
  if (tcp && (h.port == 25 || h.port == 465 || h.port == 587)) return CountAnd(9, h, true);
  if (tcp && h.port == 993) return CountAnd(10, h, true);
  if ((tcp || udp) && h.port == 53) return CountAnd(11, h, true);
  if (udp && h.port == 123) return CountAnd(12, h, true);
  if (tcp && h.port == 22) {
    if (h.v4 && h.source4 >> 16 == 0x0a14) return CountAnd(13, h, true);
    if (h.v6 && IsOffice6(h.network + 8)) return CountAnd(14, h, true);
  }
  if (udp && h.port == 161 && h.v4 && h.source4 - 0x0a140400U <= 0x3ffU) return CountAnd(15, h, true);
  if (udp && static_cast<uint16_t>(h.port - 33434) <= 33523 - 33434) return CountAnd(16, h, false);
  if (tcp && h.port == 22) {
    if (ssh_tokens_ > 0) --ssh_tokens_;
    return CountAnd(18, h, false);
  }
  if (h.v4 && h.destination4 >> 28 == 0xe) return CountAnd(19, h, false);
  if (h.v6 && h.network[24] == 0xff) return CountAnd(20, h, false);
  if (packet.pkttype == 1) return CountAnd(21, h, false);
  return CountAnd(22, h, false);
}

bool HandwrittenServer::Run(const Packet& packet) {
  Headers h;
  h.network = packet.data + packet.network_offset;
  const uint32_t room = packet.length - packet.network_offset;
  uint32_t header = 0;
  if (room >= 20 && h.network[0] >> 4 == 4) {
    h.v4 = true;
    header = (h.network[0] & 15U) * 4;
    h.length = std::min<uint32_t>(room, LoadBig16(h.network + 2));
    h.later_fragment = (LoadBig16(h.network + 6) & 0x1fff) != 0;
    h.protocol = h.network[9];
    h.source4 = LoadBig32(h.network + 12);
    h.destination4 = LoadBig32(h.network + 16);
  } else if (room >= 40 && h.network[0] >> 4 == 6) {
    h.v6 = true;
    header = 40;
    h.length = std::min<uint32_t>(room, 40U + LoadBig16(h.network + 4));
    h.protocol = h.network[6];
    while ((h.protocol == 0 || h.protocol == 43 || h.protocol == 60) && header + 2 <= h.length) {
      h.protocol = h.network[header];
      header += (h.network[header + 1] + 1U) * 8;
    }
  } else {
    return true;
  }
  h.transport = h.network + header;
  h.room = h.length > header && !h.later_fragment ? h.length - header : 0;
  if ((h.protocol == 6 || h.protocol == 17) && h.room >= 4) h.port = LoadBig16(h.transport + 2);
  return Decide(packet, h);
}

}  // namespace nftjit::bench
