#include "lib/runtime/ipv4_options.h"

namespace nftjit {
namespace {

constexpr uint32_t kFixedHeader = 20;
constexpr uint8_t kEnd = 0, kNoOperation = 1, kTimestamp = 68, kCipso = 134;

// The pointer byte of route and timestamp options counts from 1; the first free slot must hold `slot` bytes unless the
// option is full.
bool FreeSlotFits(ByteSpan option, uint32_t slot) {
  return option[2] > option.size() || option[2] + slot - 1 <= option.size();
}

// A source route of a packet that passes by: not travelled yet, and of whole addresses.
bool ValidSourceRoute(ByteSpan option) { return option.size() >= 7 && option[2] == 4 && (option.size() - 3) % 4 == 0; }

bool ValidRecordRoute(ByteSpan option) { return option.size() >= 3 && option[2] >= 4 && FreeSlotFits(option, 4); }

bool ValidTimestamp(ByteSpan option) {
  if (option.size() < 4 || option[2] < 5) return false;
  const uint8_t kind = option[3] & 0xf, overflow = option[3] >> 4;
  constexpr uint8_t kWithAddress = 1, kPrespecified = 3;
  if (option[2] > option.size()) return kind == kPrespecified || overflow != 15;
  return FreeSlotFits(option, kind == kWithAddress || kind == kPrespecified ? 8 : 4);
}

// Each of these may stand in a header once.
struct Seen {
  bool source_route = false, record_route = false, timestamp = false;
};

bool Once(bool& seen) {
  if (seen) return false;
  seen = true;
  return true;
}

bool ValidOption(ByteSpan option, Seen& seen) {
  switch (option[0]) {
    case kIpv4LooseRoute:
    case kIpv4StrictRoute:
      return Once(seen.source_route) && ValidSourceRoute(option);
    case kIpv4RecordRoute:
      return Once(seen.record_route) && ValidRecordRoute(option);
    case kTimestamp:
      return Once(seen.timestamp) && ValidTimestamp(option);
    case kIpv4RouterAlert:
      return option.size() >= 4;
    case kCipso:  // Of a domain of interpretation that nobody has configured.
      return false;
    default:
      return true;
  }
}

}  // namespace

int32_t FindIpv4Option(ByteSpan bytes, uint8_t type) noexcept {
  if (bytes.size() < kFixedHeader) return -1;
  const size_t end = (bytes[0] & 0xfU) * 4;
  if (end <= kFixedHeader || end > bytes.size()) return -1;

  int32_t found = -1;
  Seen seen;
  for (size_t i = kFixedHeader; i < end;) {
    const uint8_t kind = bytes[i];
    if (kind == kEnd) break;  // Whatever follows does not count, unlike with TCP options.
    if (kind == kNoOperation) {
      ++i;
      continue;
    }
    if (end - i < 2 || bytes[i + 1] < 2 || bytes[i + 1] > end - i) return -1;
    const ByteSpan option = bytes.subspan(i, bytes[i + 1]);
    if (!ValidOption(option, seen)) return -1;
    // A router alert with another value than 0 is well formed, but is none. Of several the last counts.
    const bool counts = kind != kIpv4RouterAlert || (option[2] == 0 && option[3] == 0);
    if (kind == type && counts) found = static_cast<int32_t>(i);
    i += option.size();
  }
  return found;
}

}  // namespace nftjit
