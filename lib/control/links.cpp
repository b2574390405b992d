#include "lib/control/links.h"

#include <absl/strings/str_format.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>

#include "lib/control/reply.h"

namespace nftjit::control {
namespace {

constexpr std::string_view kLoopback = "lo";

void AppendLink(const nft::Interface& interface, uint16_t flags, Datagram& datagram) {
  const bool loopback = interface.name == kLoopback;
  ifinfomsg header{};
  header.ifi_type = loopback ? ARPHRD_LOOPBACK : ARPHRD_ETHER;
  header.ifi_index = static_cast<int>(interface.index);
  header.ifi_flags = IFF_UP | IFF_RUNNING | (loopback ? IFF_LOOPBACK : IFF_BROADCAST | IFF_MULTICAST);
  datagram.BeginRaw(RTM_NEWLINK, flags, {reinterpret_cast<const char*>(&header), sizeof header});
  datagram.attributes().String(IFLA_IFNAME, interface.name);
}

const nft::Interface* FindWanted(const Links& links, const Message& request) {
  const auto header = LoadNative<ifinfomsg>(request.bytes.data() + netlink::kMessageHeaderSize);
  const size_t attributes = netlink::kMessageHeaderSize + sizeof header;
  std::string_view name;
  for (netlink::AttributeCursor at(request.bytes.subspan(attributes), attributes); at.Next();) {
    if (at.attribute().type() == IFLA_IFNAME) name = at.attribute().String();
  }
  for (const nft::Interface& interface : links.interfaces()) {
    if (header.ifi_index != 0 ? interface.index == static_cast<uint32_t>(header.ifi_index) : interface.name == name) {
      return &interface;
    }
  }
  return nullptr;
}

}  // namespace

bool IsInterfaceName(std::string_view name) {
  if (name.empty() || name.size() >= IFNAMSIZ || name == "." || name == "..") return false;
  return name.find_first_of("/: \t\n\v\f\r") == std::string_view::npos;
}

bool Links::Has(std::string_view name) const {
  return std::any_of(interfaces_.begin(), interfaces_.end(),
                     [&](const nft::Interface& interface) { return interface.name == name; });
}

absl::Status Links::Add(std::string_view name, uint32_t index) {
  if (!IsInterfaceName(name)) {
    return absl::InvalidArgumentError(absl::StrFormat("\"%s\": not the name of an interface (1 to 15 bytes)", name));
  }
  const auto taken = [&](uint32_t wanted) {
    return std::find_if(interfaces_.begin(), interfaces_.end(),
                        [&](const nft::Interface& interface) { return interface.index == wanted; });
  };
  for (const nft::Interface& interface : interfaces_) {
    if (interface.name != name) continue;
    if (index == 0 || index == interface.index) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrFormat("interface %s: index %d given, but it has index %d", name, index, interface.index));
  }
  if (index == 0) {
    index = name == kLoopback ? 1 : 2;  // 1 is kept for lo.
    while (taken(index) != interfaces_.end()) ++index;
  } else if (const auto other = taken(index); other != interfaces_.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("interface %s: index %d belongs to %s", name, index, other->name));
  }
  interfaces_.push_back({std::string(name), index});
  return absl::OkStatus();
}

std::vector<std::string> AnswerLinks(const Links& links, const Message& request) {
  if (request.type != RTM_GETLINK) {
    return {Acknowledge(request, {.error = EOPNOTSUPP, .message = "only links are known"})};
  }
  if (request.is_dump()) {
    std::vector<std::string> datagrams;
    Datagram datagram(request);
    for (const nft::Interface& interface : links.interfaces()) {
      AppendLink(interface, kFlagMulti, datagram);
      if (datagram.size() < 3000) continue;  // Clients read these with a page.
      datagrams.push_back(datagram.Finish());
      datagram = Datagram(request);
    }
    if (!datagram.empty()) datagrams.push_back(datagram.Finish());
    datagrams.push_back(Done(request));
    return datagrams;
  }
  if (request.bytes.size() < netlink::kMessageHeaderSize + sizeof(ifinfomsg)) {
    return {Acknowledge(request, {.error = EINVAL})};
  }
  const nft::Interface* interface = FindWanted(links, request);
  if (interface == nullptr) return {Acknowledge(request, {.error = ENODEV})};
  Datagram datagram(request);
  AppendLink(*interface, 0, datagram);
  return {datagram.Finish()};
}

}  // namespace nftjit::control
