#include "tools/capture/interfaces.h"

#include <pcap/dlt.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nftjit {
namespace {

constexpr uint32_t kSection = 0x0a0d0d0a, kInterface = 1, kSimplePacket = 3;
constexpr uint32_t kNativeOrder = 0x1a2b3c4d;
constexpr size_t kSmallestBlock = 12, kSmallestInterface = 20;
// Offsets in their blocks.
constexpr size_t kLength = 4, kOrderMagic = 8, kLinkType = 8, kSnapLength = 12;
constexpr uint16_t kRawIp = 101;

// Where the descriptions of interfaces stand.
struct Description {
  size_t at;
  bool swapped;  // Not in the byte order of this machine.
};

template <class T>
T Load(const std::string& file, size_t at, bool swapped) {
  T value = 0;
  std::memcpy(&value, file.data() + at, sizeof value);
  if (!swapped) return value;
  return sizeof value == 2 ? __builtin_bswap16(static_cast<uint16_t>(value)) : __builtin_bswap32(value);
}

// None if the file is not pcapng, is damaged or has simple packet blocks.
std::vector<Description> FindInterfaces(const std::string& file) {
  std::vector<Description> interfaces;
  bool swapped = false;
  for (size_t at = 0; file.size() - at >= kSmallestBlock;) {
    const auto type = Load<uint32_t>(file, at, swapped);  // A section's reads alike in both orders.
    if (type == kSection) {
      swapped = Load<uint32_t>(file, at + kOrderMagic, false) != kNativeOrder;
    } else if (at == 0) {
      return {};
    }
    const auto bytes = Load<uint32_t>(file, at + kLength, swapped);
    if (type == kSimplePacket || bytes < kSmallestBlock || bytes > file.size() - at) return {};
    if (type == kInterface && bytes >= kSmallestInterface) interfaces.push_back({at, swapped});
    at += bytes;
  }
  return interfaces;
}

}  // namespace

void UniteInterfaces(std::string& file) {
  const std::vector<Description> interfaces = FindInterfaces(file);
  if (interfaces.size() < 2) return;
  const auto snap_length = [&](const Description& it) { return Load<uint32_t>(file, it.at + kSnapLength, it.swapped); };
  const auto differs = [&](const Description& it) { return snap_length(it) != snap_length(interfaces.front()); };
  if (std::any_of(interfaces.begin(), interfaces.end(), differs)) {
    for (const Description& it : interfaces) std::memset(file.data() + it.at + kSnapLength, 0, sizeof(uint32_t));
  }
  for (const Description& it : interfaces) {
    if (Load<uint16_t>(file, it.at + kLinkType, it.swapped) != kRawIp) continue;
    file[it.at + kLinkType + (it.swapped ? 1 : 0)] = DLT_RAW;  // The high byte is 0 and stays.
  }
}

}  // namespace nftjit
