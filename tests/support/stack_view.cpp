#include "tests/support/stack_view.h"

#include "tests/support/checksums.h"

namespace nftjit::testing {
namespace {

constexpr size_t kAddresses = 12, kLinkHeader = 14, kTag = 4;

bool IsTag(uint16_t type) { return type == 0x8100 || type == 0x88a8; }

// Whether a tag stands behind the addresses, or `after` bytes further.
bool HasTag(const Bytes& frame, size_t after = 0) {
  return frame.size() >= kLinkHeader + kTag + after && IsTag(LoadBig16(frame.data() + kAddresses + after));
}
void RemoveTag(Bytes& frame) { frame.erase(frame.begin() + kAddresses, frame.begin() + kAddresses + kTag); }

// What becomes of an IPv4 header's options behind prerouting (ip_options_compile): zeros behind their end.
struct Options {
  bool rewritten = false;  // Some in a way that is not modelled: routes and timestamps.
  size_t padding = 0;      // Behind the end-of-options byte, up to `end`.
  size_t end = 0;
};

Options ReadOptions(ByteSpan ip) {
  Options options;
  options.padding = options.end = std::min<size_t>((ip[0] & 15U) * 4U, ip.size());
  for (size_t i = 20; i < options.end;) {
    const uint8_t kind = ip[i];
    if (kind == 0) {
      options.padding = i + 1;
      break;
    }
    if (kind == 1) {
      ++i;
      continue;
    }
    options.rewritten = kind == 7 || kind == 68 || kind == 131 || kind == 137 || i + 1 >= options.end || ip[i + 1] < 2;
    if (options.rewritten) break;
    i += ip[i + 1];
  }
  return options;
}

// The header checksum is made anew only when the packet has passed the forward hook (ip_forward_options).
void ClearPadding(Bytes& bytes, size_t network, const Options& options, bool forwarded) {
  const auto ip = bytes.begin() + static_cast<ptrdiff_t>(network);
  std::fill(ip + static_cast<ptrdiff_t>(options.padding), ip + static_cast<ptrdiff_t>(options.end), 0);
  if (forwarded) FixIpv4Checksum(bytes, network);
}

// What ip_rcv and ipv6_rcv cut off behind the packet. Engines see to that themselves, except where they cannot know.
void Trim(Bytes& bytes, size_t network) {
  const uint8_t* ip = bytes.data() + network;
  const size_t total = ip[0] >> 4 == 4 ? LoadBig16(ip + 2) : 40U + LoadBig16(ip + 4);
  if (network + total < bytes.size()) bytes.resize(network + total);
}

// What forwarding does to the header before the forward hook.
void Decrement(Bytes& bytes, size_t network) {
  if (bytes[network] >> 4 == 4) {
    --bytes[network + 8];
    FixIpv4Checksum(bytes, network);
  } else {
    --bytes[network + 7];
  }
}

uint8_t PkttypeOf(ByteSpan frame, Topology topology, bool bridge_hooks) {
  const Bytes dst(frame.begin(), frame.begin() + 6);
  if (dst == Bytes(6, 0xff)) return 1;
  if ((dst[0] & 1) != 0) return 2;
  const Bytes own = {2, 0, 0, 0, 0, static_cast<uint8_t>(topology == Topology::kBridged ? 0x0b : 1)};
  // A port of a bridge has an address of its own; the bridge makes frames to the bridge its own.
  if (topology == Topology::kBridged && !bridge_hooks) return 3;
  return dst == own ? 0 : 3;
}

nftjit::Family FamilyOf(const Bytes& bytes, size_t network) {
  return bytes.size() > network && bytes[network] >> 4 == 6 ? Family::kIp6 : Family::kIp;
}

}  // namespace

std::optional<StackView> ViewAt(Station station, Topology topology, ByteSpan packet) {
  StackView view;
  view.bytes.assign(packet.begin(), packet.end());
  view.link = topology != Topology::kRouted;
  if (view.link) {
    view.network = kLinkHeader;
    view.pkttype = PkttypeOf(packet, topology, station >= Station::kPrerouting);
    const bool tagged = HasTag(view.bytes);
    // At the L3 hooks the engines hide a priority tag themselves; a second one the stack has taken off, too.
    const bool gone = station == Station::kArpInput || (station == Station::kEgress && topology != Topology::kBridged);
    const bool layer3 = topology != Topology::kBridged && station >= Station::kPrerouting && !gone;
    if (tagged && gone) {
      while (HasTag(view.bytes)) RemoveTag(view.bytes);
    } else if (tagged) {
      view.network += kTag;
      if (layer3 && HasTag(view.bytes, kTag)) {
        while (HasTag(view.bytes)) RemoveTag(view.bytes);
        view.network = kLinkHeader;
      }
    }
  }
  const bool routed = topology != Topology::kBridged;
  const bool ip = view.bytes.size() >= view.network + 20;
  const bool ipv4 = ip && view.bytes[view.network] >> 4 == 4;
  const bool fragment = ipv4 && (LoadBig16(view.bytes.data() + view.network + 6) & 0x3fff) != 0;
  if (routed && fragment && station == Station::kInput) return std::nullopt;
  if (routed && ip && station >= Station::kForward) Decrement(view.bytes, view.network);
  if (routed && ipv4 && station > Station::kPrerouting) {
    const Options options = ReadOptions(ByteSpan(view.bytes).subspan(view.network));
    if (options.rewritten) return std::nullopt;
    if (options.padding < options.end) ClearPadding(view.bytes, view.network, options, station > Station::kForward);
  }
  switch (station) {
    case Station::kIngress:
      view.site = {Family::kNetdev, Hook::kIngress};
      break;
    case Station::kArpInput:
      view.site = {Family::kArp, Hook::kInput};
      break;
    case Station::kEgress:
      view.site = {Family::kNetdev, Hook::kEgress};
      if (routed && ip) Trim(view.bytes, view.network);
      if (topology == Topology::kRoutedEthernet) {
        const Bytes addresses = FromHex("020000000099020000000002");
        std::copy(addresses.begin(), addresses.end(), view.bytes.begin());
      }
      break;
    default: {
      constexpr std::array<Hook, 4> kHooks = {Hook::kPrerouting, Hook::kInput, Hook::kForward, Hook::kPostrouting};
      const Hook hook = kHooks[static_cast<size_t>(station) - static_cast<size_t>(Station::kPrerouting)];
      view.site = {routed ? FamilyOf(view.bytes, view.network) : Family::kBridge, hook};
    }
  }
  return view;
}

}  // namespace nftjit::testing
