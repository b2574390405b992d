#include "tests/support/checksums.h"

#include <netinet/in.h>

#include <algorithm>

#include "lib/support/bytes.h"

namespace nftjit::testing {
namespace {

uint32_t Sum(const uint8_t* bytes, size_t size) {
  uint32_t sum = 0;
  for (size_t i = 0; i < size; ++i) sum += i % 2 == 0 ? uint32_t{bytes[i]} << 8 : bytes[i];
  return sum;
}

// Where the checksum field of a transport header stands, and whether it covers the pseudo-header.
struct ChecksumField {
  size_t offset;
  bool pseudo;
};
std::optional<ChecksumField> FieldOf(uint8_t protocol) {
  switch (protocol) {
    case IPPROTO_TCP:
      return ChecksumField{16, true};
    case IPPROTO_UDP:
    case IPPROTO_UDPLITE:
      return ChecksumField{6, true};
    case IPPROTO_ICMP:
      return ChecksumField{2, false};
    case IPPROTO_ICMPV6:
      return ChecksumField{2, true};
    default:
      return std::nullopt;
  }
}

void FixTransport(Bytes& packet, size_t transport, size_t end, uint8_t protocol, size_t addresses, size_t size) {
  const std::optional<ChecksumField> field = FieldOf(protocol);
  if (!field || transport + field->offset + 2 > end) return;
  uint8_t* at = packet.data() + transport + field->offset;
  StoreBig16(at, 0);
  uint32_t pseudo = 0;
  if (field->pseudo) pseudo = Sum(packet.data() + addresses, size) + static_cast<uint32_t>(end - transport) + protocol;
  const uint16_t sum = InternetChecksum(packet.data() + transport, end - transport, pseudo);
  StoreBig16(at, sum == 0 && protocol != IPPROTO_ICMP ? 0xffff : sum);
}

}  // namespace

void FixIpv4Checksum(Bytes& packet, size_t network) {
  if (packet.size() < network + 20) return;
  const size_t header = std::min<size_t>((packet[network] & 15U) * 4U, packet.size() - network);
  if (header < 20) return;
  StoreBig16(packet.data() + network + 10, 0);
  StoreBig16(packet.data() + network + 10, InternetChecksum(packet.data() + network, header));
}

void FixChecksums(Bytes& packet, size_t network) {
  if (packet.size() < network + 20) return;
  const uint8_t* ip = packet.data() + network;
  if (ip[0] >> 4 == 4) {
    FixIpv4Checksum(packet, network);
    const size_t header = (ip[0] & 15U) * 4U, total = LoadBig16(ip + 2);
    if (header < 20 || total < header || network + total > packet.size()) return;
    if ((LoadBig16(ip + 6) & 0x3fff) != 0) return;
    FixTransport(packet, network + header, network + total, ip[9], network + 12, 8);
  } else if (ip[0] >> 4 == 6 && packet.size() >= network + 40) {
    const size_t end = network + 40 + LoadBig16(ip + 4);
    if (end <= packet.size()) FixTransport(packet, network + 40, end, ip[6], network + 8, 32);
  }
}

}  // namespace nftjit::testing
