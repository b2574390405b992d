// Which hooks a packet passes, in order.
#ifndef NFTJIT_TOOLS_NFTJIT_PACKET_PATH_H_
#define NFTJIT_TOOLS_NFTJIT_PACKET_PATH_H_

#include <absl/status/statusor.h>

#include <vector>

#include "lib/environment/host.h"
#include "lib/ir/ir.h"
#include "nftjit/packet.h"
#include "nftjit/worker.h"
#include "tools/nftjit/packet_options.h"

namespace nftjit::cli {

struct PacketSites {
  std::vector<HookSite> sites;
  bool ends_unknown = false;  // Where the packet goes from there depends on bytes that were not captured.
};

// One path for all packets of a call, chosen by the flags, the host and the hooks that the ruleset has chains at:
//   --hook NAME        that hook alone
//   else, L3 packets   ingress (if --iif is given), prerouting, then input if the destination is local, else forward
//                      and postrouting. Without addresses in a host file every destination is local.
//   ARP packets        ingress, arp input
//   bridges            (--family bridge, or a ruleset with bridge chains only) prerouting, then the same choice
class PacketPath {
 public:
  // Errors: InvalidArgument when the flags do not say enough (a ruleset with input and forward chains, and no host
  // file).
  static absl::StatusOr<PacketPath> From(const PacketOptions& options, const ir::Program& program, const Host& host);

  // Sets the output device of a packet that is forwarded, if the host knows the route.
  [[nodiscard]] PacketSites SitesFor(Packet& packet) const;

 private:
  const Host* host_ = nullptr;
  std::vector<HookSite> only_;
  bool bridge_ = false;
  bool ingress_ = false;
};

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_PACKET_PATH_H_
