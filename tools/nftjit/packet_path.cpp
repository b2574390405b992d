#include "tools/nftjit/packet_path.h"

#include <algorithm>

namespace nftjit::cli {
namespace {

constexpr uint16_t kEthertypeIp = 0x0800, kEthertypeIp6 = 0x86dd, kEthertypeArp = 0x0806;

bool HasChainAt(const ir::Program& program, uint8_t hook) {
  return std::any_of(program.chains.begin(), program.chains.end(), [&](const ir::Chain& chain) {
    const bool l3 = chain.family == nft::Family::kInet || chain.family == nft::Family::kIp ||
                    chain.family == nft::Family::kIp6 || chain.family == nft::Family::kBridge;
    return l3 && chain.base && chain.base->hook == hook && chain.base->type != nft::ChainType::kNat;
  });
}

bool HasOnlyBridgeChains(const ir::Program& program) {
  bool any = false;
  for (const ir::Chain& chain : program.chains) {
    if (!chain.base) continue;
    if (chain.family != nft::Family::kBridge) return false;
    any = true;
  }
  return any;
}

// The destination address, and its size: 4, 16, or 0 if the packet does not hold one.
struct Destination {
  const uint8_t* bytes = nullptr;
  uint8_t size = 0;
  bool missing = false;  // The packet may have one, but it, or what would tell, was not captured.
};
Destination DestinationOf(const Packet& packet) {
  const uint32_t room = packet.length - std::min(packet.length, packet.network_offset);
  const uint8_t* header = packet.data + packet.network_offset;
  if (packet.protocol == kEthertypeIp && room >= 20) return {header + 16, 4};
  if (packet.protocol == kEthertypeIp6 && room >= 40) return {header + 24, 16};
  const bool ip = packet.protocol == kEthertypeIp || packet.protocol == kEthertypeIp6;
  return {nullptr, 0, packet.missing != 0 && (ip || (packet.protocol == 0 && room == 0))};
}

}  // namespace

absl::StatusOr<PacketPath> PacketPath::From(const PacketOptions& options, const ir::Program& program,
                                            const Host& host) {
  PacketPath path;
  path.host_ = &host;
  path.ingress_ = !options.iif.empty();
  path.bridge_ = options.family == "bridge" || (options.family.empty() && HasOnlyBridgeChains(program));
  if (!options.hook.empty()) {
    const Family family =
        options.family.empty() ? (path.bridge_ ? Family::kBridge : Family::kInet) : *FamilyByName(options.family);
    path.only_ = {{family, *HookByName(options.hook)}};
    return path;
  }
  if (!host.has_addresses() && HasChainAt(program, nft::kInput) && HasChainAt(program, nft::kForward)) {
    return absl::InvalidArgumentError(
        "the ruleset has chains at input and at forward: --hook NAME, or --host FILE with the machine's addresses, is "
        "expected");
  }
  // Without a host file, a ruleset that only forwards is asked about forwarding.
  if (!host.has_addresses() && !HasChainAt(program, nft::kInput) && HasChainAt(program, nft::kForward)) {
    const Family family = path.bridge_ ? Family::kBridge : Family::kInet;
    path.only_ = {{family, Hook::kPrerouting}, {family, Hook::kForward}, {family, Hook::kPostrouting}};
  }
  return path;
}

PacketSites PacketPath::SitesFor(Packet& packet) const {
  if (!only_.empty()) return {only_};
  PacketSites path;
  std::vector<HookSite>& sites = path.sites;
  if (ingress_ && !bridge_) sites.push_back({Family::kNetdev, Hook::kIngress});
  if (!bridge_ && packet.protocol == kEthertypeArp) {
    sites.push_back({Family::kArp, Hook::kInput});
    return path;
  }
  const Destination to = DestinationOf(packet);
  if (!bridge_ && to.size == 0 && !to.missing) return path;
  const Family family = bridge_ ? Family::kBridge : Family::kInet;
  sites.push_back({family, Hook::kPrerouting});
  if (to.missing && (host_->has_addresses() || packet.protocol == 0)) {
    path.ends_unknown = true;
    return path;
  }
  if (!host_->has_addresses() || (to.size != 0 && host_->IsLocal(to.bytes, to.size))) {
    sites.push_back({family, Hook::kInput});
    return path;
  }
  if (packet.oif == nullptr && to.size != 0) packet.oif = host_->RouteTo(to.bytes, to.size);
  sites.push_back({family, Hook::kForward});
  sites.push_back({family, Hook::kPostrouting});
  return path;
}

}  // namespace nftjit::cli
