#include "tests/support/packet_case.h"

#include <algorithm>

#include "lib/support/bytes.h"

namespace nftjit::testing {
namespace {

Interface RandomInterface(Random& random, const std::string& name, uint32_t index) {
  Interface interface = MakeInterface(name, index);
  if (random.OneIn(3)) interface.kind = {'t', 'u', 'n'};
  if (random.OneIn(4)) interface.type = 0xfffe;
  if (random.OneIn(4)) interface.group = random.Below(3);
  if (random.OneIn(6)) interface.index += 1 + random.Below(3);
  return interface;
}

Conntrack RandomConntrack(Random& random, bool ipv6) {
  Conntrack ct;
  ct.state = random.Pick({kCtNew, kCtEstablished, kCtEstablished, kCtRelated, kCtInvalid, kCtUntracked});
  ct.has_entry = ct.state != kCtInvalid && ct.state != kCtUntracked;
  ct.direction = static_cast<uint8_t>(random.Below(2));
  ct.l3protocol = ipv6 ? 10 : 2;
  ct.protocol = random.Pick<uint8_t>({6, 17, 1});
  ct.status = random.Below(16);
  ct.mark = random.Below(3);
  ct.zone = static_cast<uint16_t>(random.Below(3));
  ct.id = static_cast<uint32_t>(random.Next());
  ct.expiration_ms = random.Below(1000);
  if (random.OneIn(4)) ct.helper = {'f', 't', 'p'};
  for (ConntrackTuple* tuple : {&ct.original, &ct.reply}) {
    const size_t size = ipv6 ? 16 : 4;
    for (size_t i = 0; i < size; ++i) tuple->src[i] = random.Byte(), tuple->dst[i] = random.Byte();
    tuple->proto_src = {random.Byte(), random.Byte()};
    tuple->proto_dst = {0, random.Pick<uint8_t>({22, 53, 80})};
    tuple->packets = random.Below(5);
    tuple->bytes = random.Below(5000);
  }
  return ct;
}

std::vector<HookSite> RandomPath(Random& random, const GenerateOptions& options, uint16_t ethertype, bool ethernet) {
  std::vector<HookSite> path;
  if (options.families != RuleFamilies::kL3 && random.Percent(70)) path.push_back({Family::kNetdev, Hook::kIngress});
  Family family = ethertype == 0x86dd ? Family::kIp6 : Family::kIp;
  if (options.families == RuleFamilies::kBridge) family = Family::kBridge;
  if (ethertype == 0x0806 && family != Family::kBridge) {
    path.push_back({Family::kArp, random.OneIn(4) ? Hook::kOutput : Hook::kInput});
    return path;
  }
  if (ethertype != 0x0800 && ethertype != 0x86dd && family != Family::kBridge) return path;
  if (options.output && random.OneIn(4)) {
    path.insert(path.end(), {{family, Hook::kOutput}, {family, Hook::kPostrouting}});
  } else {
    path.push_back({family, Hook::kPrerouting});
    if (random.OneIn(2)) {
      path.push_back({family, Hook::kInput});
      return path;
    }
    path.insert(path.end(), {{family, Hook::kForward}, {family, Hook::kPostrouting}});
  }
  if (ethernet && options.families == RuleFamilies::kL3AndDevices && random.OneIn(2)) {
    path.push_back({Family::kNetdev, Hook::kEgress});
  }
  return path;
}

}  // namespace

Packet PacketCase::View(uint8_t* data, size_t length) const {
  Packet packet = facts;
  packet.data = data;
  packet.length = static_cast<uint32_t>(length);
  if (ethernet) {
    const uint8_t pkttype = packet.pkttype;
    ParseEthernet(packet);
    packet.pkttype = pkttype;
  } else {
    packet.network_offset = 0;
    packet.link_offset = Packet::kNoOffset;
    packet.protocol = length > 0 && data[0] >> 4 == 6 ? 0x86dd : 0x0800;
  }
  packet.iif = iif ? &*iif : nullptr;
  packet.oif = oif ? &*oif : nullptr;
  packet.ct = ct ? &*ct : nullptr;
  return packet;
}

PacketCase MakePacketCase(Random& random, const GenerateOptions& options, const CraftedPacket& packet, bool ethernet) {
  PacketCase out;
  out.bytes = NearMiss(random, packet, CraftFor(options, ethernet));
  out.ethernet = ethernet;
  Packet& facts = out.facts;
  facts.mark = random.OneIn(2) ? 0 : random.Below(4);
  facts.priority = random.OneIn(2) ? 0 : random.Below(4);
  facts.pkttype = static_cast<uint8_t>(random.OneIn(2) ? 0 : random.Below(5));
  facts.secmark = random.OneIn(4) ? random.Below(3) : 0;
  facts.has_socket = random.OneIn(3);
  facts.has_rtclassid = random.OneIn(3);
  facts.skuid = random.Below(2) * 1000;
  facts.skgid = random.Below(2) * 100;
  facts.cgroup = random.Below(3);
  facts.rtclassid = random.Below(3);
  facts.secpath = random.OneIn(4);
  facts.time_ns = random.OneIn(2) ? 0 : (1700000000ULL + random.Below(1000000)) * 1000000000ULL;
  if (random.OneIn(5)) facts.sdif = 7, facts.sdifname = {'v', 'r', 'f'};
  if (!random.OneIn(10)) out.iif = RandomInterface(random, options.input_name, options.input_index);
  if (!random.OneIn(3)) out.oif = RandomInterface(random, options.output_name, options.output_index);
  if (random.OneIn(2)) out.ct = RandomConntrack(random, packet.ethertype == 0x86dd);
  if (random.OneIn(4)) out.gap_ns = random.Below(1000) * 1000000ULL;
  out.path = RandomPath(random, options, packet.ethertype, ethernet);
  return out;
}

}  // namespace nftjit::testing
