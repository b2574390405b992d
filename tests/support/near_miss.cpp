// NearMiss() of craft_packet.h.
#include <algorithm>

#include "lib/support/bytes.h"
#include "tests/support/checksums.h"
#include "tests/support/craft_packet.h"

namespace nftjit::testing {
namespace {

// Makes an IPv4 header one that the stack takes, changing as little as that needs.
void RepairIpv4(Bytes& bytes, size_t network) {
  uint8_t* ip = bytes.data() + network;
  const size_t present = bytes.size() - network;
  ip[0] = static_cast<uint8_t>(0x40 | (ip[0] & 15));
  if ((ip[0] & 15) < 5 || (ip[0] & 15U) * 4U > present) ip[0] = 0x45;
  const size_t header = (ip[0] & 15U) * 4U, total = LoadBig16(ip + 2);
  if (total < header || total > present) StoreBig16(ip + 2, static_cast<uint16_t>(present));
  if (ip[12] == 0 || ip[12] == 127 || ip[12] >= 224) ip[12] = 10;
  FixIpv4Checksum(bytes, network);
}

void RepairIpv6(Bytes& bytes, size_t network) {
  uint8_t* ip = bytes.data() + network;
  const size_t present = bytes.size() - network - 40;
  ip[0] = static_cast<uint8_t>(0x60 | (ip[0] & 15));
  const size_t payload = LoadBig16(ip + 4);
  if (payload > present || (payload == 0 && ip[6] == 0)) StoreBig16(ip + 4, static_cast<uint16_t>(present));
  if (ip[8] == 0xff || (ip[8] == 0 && ip[9] == 0)) ip[8] = 0x20;
}

void Repair(Bytes& bytes, size_t network, uint16_t ethertype) {
  if (ethertype == 0x0800) {
    if (bytes.size() < network + 20) bytes.resize(network + 20);
    RepairIpv4(bytes, network);
  } else if (ethertype == 0x86dd) {
    if (bytes.size() < network + 40) bytes.resize(network + 40);
    RepairIpv6(bytes, network);
  }
}

// Keeps the first `size` bytes; honest IP lengths follow if `honest`.
void Cut(Bytes& bytes, size_t network, uint16_t ethertype, size_t size, bool honest) {
  bytes.resize(size);
  if (!honest) return;
  if (ethertype == 0x0800 && size >= network + 4) {
    StoreBig16(bytes.data() + network + 2, static_cast<uint16_t>(size - network));
  } else if (ethertype == 0x86dd && size >= network + 40) {
    StoreBig16(bytes.data() + network + 4, static_cast<uint16_t>(size - network - 40));
  }
}

}  // namespace

Bytes NearMiss(Random& random, const CraftedPacket& original, const CraftOptions& options) {
  Bytes bytes = original.bytes;
  const size_t network = original.network;
  const auto size = static_cast<uint32_t>(bytes.size());
  // The kernel's device and stack look at the first bytes: an L3 packet keeps its version.
  const auto first = static_cast<uint32_t>(options.for_kernel && original.link != CraftedPacket::kNone ? 6 : 0);
  switch (random.Below(12)) {
    case 0:
    case 1:
    case 2:
      break;
    case 3:
    case 4:
      bytes[random.Between(first, size - 1)] ^= static_cast<uint8_t>(1U << random.Below(8));
      break;
    case 5:
      bytes[random.Between(first, size - 1)] = random.Byte();
      break;
    case 6:
      if (original.transport < size) {  // In the transport header, where rules look most.
        const uint32_t end = std::min(size, static_cast<uint32_t>(original.transport) + 24);
        bytes[random.Between(static_cast<uint32_t>(original.transport), end - 1)] ^=
            static_cast<uint8_t>(1U << random.Below(8));
      }
      break;
    case 7:
    case 8: {
      // Every length, the shorter ones of the headers most often.
      const size_t least = options.for_kernel ? std::min<size_t>(size, network + 1) : 0;
      const size_t most = random.OneIn(2) ? size : std::min<size_t>(size, network + 64);
      const size_t keep = least + random.Below(static_cast<uint32_t>(std::max(most, least) - least + 1));
      Cut(bytes, network, original.ethertype, keep, options.for_kernel || random.OneIn(2));
      break;
    }
    case 9: {
      const Bytes more = random.Bytes(1 + random.Below(40));
      bytes.insert(bytes.end(), more.begin(), more.end());
      break;
    }
    case 10:
      if (original.ethertype == 0x0800 && size >= network + 8) {
        StoreBig16(bytes.data() + network + 6, random.Pick<uint16_t>({0x2000, 0x2001, 1, 0x1fff, 0x4000, 0x00ff}));
      }
      break;
    default:
      if (original.ethertype == 0x0800 && size >= network + 4) {  // A total length that lies.
        StoreBig16(bytes.data() + network + 2, static_cast<uint16_t>(random.Below(size + 20)));
      } else if (original.ethertype == 0x86dd && size >= network + 6) {
        StoreBig16(bytes.data() + network + 4, static_cast<uint16_t>(random.Below(size + 20)));
      }
      break;
  }
  if (options.for_kernel) Repair(bytes, network, original.ethertype);
  return bytes;
}

}  // namespace nftjit::testing
