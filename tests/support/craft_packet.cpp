#include "tests/support/craft_packet.h"

#include <netinet/in.h>

#include <algorithm>

#include "lib/support/bytes.h"
#include "tests/support/checksums.h"

namespace nftjit::testing {
namespace {

constexpr uint8_t kSctp = 132, kDccp = 33, kUdpLite = 136, kGre = 47, kIpip = 4, kAh = 51, kNoNext = 59;

Bytes Join(std::initializer_list<Bytes> parts) {
  Bytes out;
  for (const Bytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}
void Append(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }
void Append(Bytes& out, std::initializer_list<unsigned> more) {
  for (const unsigned byte : more) out.push_back(static_cast<uint8_t>(byte));
}
void Append16(Bytes& out, uint16_t value) {
  out.push_back(static_cast<uint8_t>(value >> 8));
  out.push_back(static_cast<uint8_t>(value));
}

// Ports that rules meet too: a few favourites, then anything.
uint16_t Port(Random& random) {
  if (random.Percent(70)) return random.Pick<uint16_t>({22, 53, 80, 443, 1111, 2222, 8080, 33000});
  return static_cast<uint16_t>(random.Next());
}

Bytes Payload(Random& random) { return random.Bytes(random.OneIn(8) ? random.Below(120) : random.Below(24)); }

Bytes TcpOptions(Random& random) {
  Bytes options;
  for (uint32_t count = random.Below(5); count > 0 && options.size() < 28; --count) {
    switch (random.Below(9)) {
      case 0:
        Append(options, {2, 4, 5, random.Pick({0xb4U, 0x50U})});
        break;
      case 1:
        Append(options, {3, 3, random.Below(15)});
        break;
      case 2:
        Append(options, {4, 2});
        break;
      case 3:
        Append(options, Join({{8, 10}, random.Bytes(8)}));
        break;
      case 4:
        Append(options, {1});
        break;
      case 5:
        Append(options, {1, 1});
        break;
      case 6:
        Append(options, {random.Byte(), random.Below(6)});
        break;  // Of any kind, perhaps broken.
      case 7:
        Append(options, Join({{5, 10}, random.Bytes(8)}));
        break;
      default:
        Append(options, {0});
        break;
    }
  }
  options.resize((options.size() + 3) & ~size_t{3}, random.Pick<uint8_t>({0, 1}));
  return options;
}

Bytes TcpHeader(Random& random) {
  const Bytes options = random.Percent(50) ? TcpOptions(random) : Bytes();
  Bytes out;
  Append16(out, Port(random));
  Append16(out, Port(random));
  Append(out, random.Bytes(8));
  auto words = static_cast<unsigned>(5 + options.size() / 4);
  if (random.OneIn(12)) words = random.Below(16);
  Append(out, {words << 4U | random.Below(2), random.Pick({2U, 0x12U, 0x10U, 0x18U, 4U, 0x11U, 0U, 0x29U})});
  Append(out, random.Bytes(2));
  Append(out, {0, 0, 0, 0});
  Append(out, options);
  Append(out, Payload(random));
  return out;
}

Bytes UdpHeader(Random& random) {
  const Bytes payload = Payload(random);
  Bytes out;
  Append16(out, Port(random));
  Append16(out, Port(random));
  const auto length = static_cast<uint16_t>(8 + payload.size());
  Append16(out, random.OneIn(12) ? static_cast<uint16_t>(random.Next()) : length);
  Append(out, {0, 0});
  Append(out, payload);
  return out;
}

Bytes SctpHeader(Random& random) {
  Bytes out;
  Append16(out, Port(random));
  Append16(out, Port(random));
  Append(out, random.Bytes(8));
  for (uint32_t chunks = random.Below(4); chunks > 0; --chunks) {
    const uint32_t body = random.Below(14);
    const uint32_t length = random.OneIn(8) ? random.Below(6) : 4 + body;
    Append(out, {random.Pick({0U, 1U, 2U, 3U, 6U, 14U, 192U}), random.Below(4), 0, length});
    Append(out, random.Bytes((body + 3) & ~3U));
  }
  return out;
}

Bytes GreHeader(Random& random) {
  const unsigned flags = random.Pick({0U, 0x80U, 0x20U, 0x10U, 0xb0U, 0xa0U, 0x40U});
  Bytes out;
  Append(out, {flags, random.OneIn(6) ? 1U : 0U, 8, 0});
  for (const unsigned bit : {0x80U, 0x20U, 0x10U}) {
    if ((flags & bit) != 0) Append(out, random.Bytes(4));
  }
  Append(out, Join({{0x45, 0, 0, 28}, random.Bytes(24)}));
  return out;
}

struct Transport {
  uint8_t protocol;
  Bytes bytes;
};

Transport MakeTransport(Random& random, bool ipv6) {
  const uint32_t kind = random.Below(100);
  if (kind < 32) return {IPPROTO_TCP, TcpHeader(random)};
  if (kind < 60) return {IPPROTO_UDP, UdpHeader(random)};
  if (kind < 72) {
    Bytes icmp;
    if (ipv6) {
      Append(icmp, {random.Pick({128U, 129U, 1U, 135U, 3U}), random.Below(4), 0, 0});
    } else {
      Append(icmp, {random.Pick({8U, 0U, 3U, 11U, 13U}), random.Below(4), 0, 0});
    }
    Append(icmp, random.Bytes(4 + random.Below(40)));
    return {static_cast<uint8_t>(ipv6 ? uint8_t{IPPROTO_ICMPV6} : uint8_t{IPPROTO_ICMP}), icmp};
  }
  if (kind < 79) return {kSctp, SctpHeader(random)};
  if (kind < 84) return {kGre, GreHeader(random)};
  if (kind < 87) return {kIpip, Join({{0x45, 0, 0, 28}, random.Bytes(24)})};
  if (kind < 90) return {kUdpLite, UdpHeader(random)};
  if (kind < 93) return {kDccp, random.Bytes(16 + random.Below(16))};
  if (kind < 96) return {kAh, Join({{17, random.Pick<uint8_t>({0, 1, 4})}, random.Bytes(22), UdpHeader(random)})};
  return {random.Byte(), random.Bytes(random.Below(40))};
}

void SetInner(CraftedPacket& packet) {
  const size_t t = packet.transport, size = packet.bytes.size();
  const uint8_t* p = packet.bytes.data();
  switch (packet.protocol) {
    case IPPROTO_UDP:
      packet.inner = t + 8;
      break;
    case IPPROTO_TCP:
      if (t + 20 <= size) packet.inner = t + (p[t + 12] >> 4) * 4U;
      break;
    case kIpip:
      packet.inner = t;
      break;
    case kGre:
      if (t + 4 <= size && (p[t + 1] & 7) == 0 && (p[t] & 0x40) == 0) {
        packet.inner = t + 4 + 4U * ((p[t] >> 7) + ((p[t] >> 5) & 1U) + ((p[t] >> 4) & 1U));
      }
      break;
    default:
      break;
  }
}

std::array<uint8_t, 4> V4(Random& random, bool source, bool tame) {
  if (!source && random.Percent(45)) return {192, 0, 2, 1};
  switch (random.Below(tame ? 6 : 8)) {
    case 0:
      return {10, random.Byte(), random.Byte(), random.Byte()};
    case 1:
      return {192, 168, static_cast<uint8_t>(random.Below(4)), random.Byte()};
    case 2:
      return {203, 0, 113, random.Byte()};
    case 3:
      return {10, 0, 0, static_cast<uint8_t>(random.Below(4))};
    case 4:
      return {172, static_cast<uint8_t>(16 + random.Below(16)), 0, 1};
    case 5:
      return {static_cast<uint8_t>(11 + random.Below(100)), random.Byte(), random.Byte(), random.Byte()};
    case 6:
      return {static_cast<uint8_t>(224 + random.Below(32)), 0, 0, random.Byte()};
    default:
      return {127, 0, 0, 1};
  }
}

std::array<uint8_t, 16> V6(Random& random, bool source, bool tame) {
  if (!source && random.Percent(45)) return Ipv6Address("2001:db8:1::1");
  std::array<uint8_t, 16> address = Ipv6Address("2001:db8:3::");
  switch (random.Below(tame ? 3 : 5)) {
    case 0:
      address[15] = static_cast<uint8_t>(random.Below(4));
      break;
    case 1:
      for (size_t i = 6; i < 16; ++i) address[i] = random.Byte();
      break;
    case 2:
      address = Ipv6Address("fd00::2");
      break;
    case 3:
      address = Ipv6Address("ff02::1");
      break;
    default:
      address = Ipv6Address("fe80::1");
      break;
  }
  return address;
}

Bytes Ipv4Options(Random& random, bool tame) {
  Bytes options;
  for (uint32_t count = random.Below(4); count > 0 && options.size() < 24; --count) {
    switch (random.Below(tame ? 4 : 7)) {
      case 0:
      case 1:
        Append(options, {1});
        break;
      case 2:
        Append(options, {148, 4, 0, 0});
        break;
      case 3:
        Append(options, Join({{136, 4}, random.Bytes(2)}));
        break;
      case 4:
        Append(options, {7, 7, 4, 0, 0, 0, 0});
        break;
      case 5:
        Append(options, {random.Pick({131U, 137U}), 7, 8, 10, 0, 0, 1});
        break;
      default:
        Append(options, {random.Byte(), random.Below(8)});
        break;
    }
  }
  options.resize((options.size() + 3) & ~size_t{3});
  return options;
}

void AppendIpv4(Random& random, const CraftOptions& options, CraftedPacket& out) {
  Ipv4 header;
  header.src = V4(random, true, options.for_kernel);
  header.dst = V4(random, false, options.for_kernel);
  header.tos = random.Percent(60) ? 0 : random.Byte();
  header.ttl = random.Pick<uint8_t>({64, 64, 128, 255, 2});
  header.id = static_cast<uint16_t>(random.Next());
  if (random.Percent(20)) header.options = Ipv4Options(random, options.for_kernel);
  const uint32_t fragment = random.Below(100);
  header.dont_fragment = fragment > 70;
  header.more_fragments = fragment < 6;
  if (fragment < 10) header.fragment_units = static_cast<uint16_t>(random.OneIn(3) ? 0 : 1 + random.Below(100));
  const Transport transport = MakeTransport(random, false);
  const Bytes ip = Stack(header.Protocol(transport.protocol)) / Raw(transport.bytes);
  out.ethertype = 0x0800;
  out.protocol = transport.protocol;
  out.network = out.bytes.size();
  out.transport = out.network + 20 + header.options.size();
  Append(out.bytes, ip);
  FixChecksums(out.bytes, out.network);
  SetInner(out);
}

// Extension headers in front of `next`, which becomes the first one's number. Returns false if the walk ends in them.
bool AppendExtensions(Random& random, uint8_t& next, Bytes& out) {
  bool whole = true;
  for (uint32_t count = random.Percent(60) ? 0 : 1 + random.Below(3); count > 0; --count) {
    const uint8_t after = next;
    Bytes header;
    switch (random.Below(6)) {
      case 0:
        Append(header, {after, 0, 1, 4, 0, 0, 0, 0}), next = 60;
        break;
      case 1:
        Append(header, Join({{after, 1, 1, 12}, Bytes(12)})), next = 60;
        break;
      case 2:
        Append(header, {after, 0, random.Pick({0U, 4U}), 0, 0, 0, 0, 0}), next = 43;
        break;
      case 3:
        Append(header, Join({{after, 0, 0, random.Pick<uint8_t>({0, 1})}, random.Bytes(4)})), next = 44;
        break;
      case 4:
        if (random.OneIn(2)) break;
        Append(header, Join({{after, 0, 0, random.Pick<uint8_t>({8, 9, 16, 0x21})}, random.Bytes(4)}));
        next = 44;
        whole = false;
        break;
      default:
        break;
    }
    out.insert(out.begin(), header.begin(), header.end());
  }
  if (random.OneIn(12)) {
    const Bytes hop = random.OneIn(2) ? Bytes{next, 0, 1, 4, 0, 0, 0, 0} : Bytes{next, 0, 5, 2, 0, 0, 1, 0};
    out.insert(out.begin(), hop.begin(), hop.end());
    next = 0;
  }
  return whole;
}

void AppendIpv6(Random& random, const CraftOptions& options, CraftedPacket& out) {
  Transport transport = MakeTransport(random, true);
  if (random.OneIn(25)) transport.protocol = kNoNext;
  uint8_t next = transport.protocol;
  Bytes extensions;
  const bool whole = AppendExtensions(random, next, extensions);
  Ipv6 header;
  header.src = V6(random, true, options.for_kernel);
  header.dst = V6(random, false, options.for_kernel);
  header.hop_limit = random.Pick<uint8_t>({64, 64, 128, 255, 2});
  header.traffic_class = random.Percent(60) ? 0 : random.Byte();
  header.flow_label = static_cast<uint32_t>(random.Next()) & 0xfffff;
  const Bytes ip = Stack(header.NextHeader(next)) / Raw(Join({extensions, transport.bytes}));
  out.ethertype = 0x86dd;
  out.protocol = transport.protocol;
  out.network = out.bytes.size();
  if (whole) out.transport = out.network + 40 + extensions.size();
  Append(out.bytes, ip);
  FixChecksums(out.bytes, out.network);
  if (whole) SetInner(out);
}

void AppendLink(Random& random, const CraftOptions& options, CraftedPacket& out) {
  out.link = 0;
  if (options.for_bridge) {
    Append(out.bytes, {2, 0, 0, 0, 0, random.Pick({0x0bU, 0x31U, 0x32U})});
    if (random.OneIn(8)) out.bytes = Bytes(6, 0xff);
  } else {
    Append(out.bytes, {2, 0, 0, 0, 0, 1});
    if (random.OneIn(12)) out.bytes[5] = 9;  // Another host's.
    if (random.OneIn(16)) out.bytes = Bytes(6, 0xff);
  }
  if (random.OneIn(20)) out.bytes = {0x33, 0x33, 0, 0, 0, 1};
  Append(out.bytes, {2, 0, 0, 0, 0, 0x20 + random.Below(4)});
}

Bytes Tag(Random& random, uint16_t tpid, bool priority_only) {
  Bytes tag;
  Append16(tag, tpid);
  Append16(tag, static_cast<uint16_t>(random.Below(8) << 13 | (priority_only ? 0 : random.Below(16))));
  return tag;
}

}  // namespace

CraftedPacket CraftPacket(Random& random, const CraftOptions& options) {
  CraftedPacket out;
  if (options.ethernet) {
    AppendLink(random, options, out);
    if (random.OneIn(6)) Append(out.bytes, Tag(random, random.OneIn(5) ? 0x88a8 : 0x8100, random.OneIn(2)));
    if (random.OneIn(30)) Append(out.bytes, Tag(random, 0x8100, false));  // A second tag, or the only one.
  }
  const uint32_t kind = random.Below(100);
  const bool other = options.ethernet && options.arp && kind >= 84;
  if (!other) {
    const bool ipv6 = kind % 5 < 2;
    if (options.ethernet) Append16(out.bytes, ipv6 ? 0x86dd : 0x0800);
    ipv6 ? AppendIpv6(random, options, out) : AppendIpv4(random, options, out);
    if (options.ethernet && random.OneIn(6)) Append(out.bytes, random.Bytes(1 + random.Below(12)));  // Padding.
    return out;
  }
  if (kind < 96) {
    out.ethertype = 0x0806;
    Append16(out.bytes, 0x0806);
    out.network = out.bytes.size();
    Append(out.bytes, {0, 1, 8, 0, 6, 4, 0, 1 + random.Below(2)});
    Append(out.bytes, Join({{2, 0, 0, 0, 0, 0x20}, {10, 0, 0, static_cast<uint8_t>(random.Below(4))}, Bytes(6)}));
    Append(out.bytes, {10, 0, 0, 1});
    if (random.OneIn(2)) Append(out.bytes, Bytes(18));
  } else {
    out.ethertype = random.Pick<uint16_t>({0x0026, 0x88cc, 0x8847});
    Append16(out.bytes, out.ethertype);
    out.network = out.bytes.size();
    Append(out.bytes, random.Bytes(random.Below(60)));
  }
  return out;
}

}  // namespace nftjit::testing
