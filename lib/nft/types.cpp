#include "lib/nft/types.h"

#include <array>
#include <span>

namespace nftjit::nft {
namespace {

struct FamilyRow {
  Family family;
  std::string_view name;
};
constexpr FamilyRow kFamilies[] = {{Family::kInet, "inet"},     {Family::kIp, "ip"},         {Family::kArp, "arp"},
                                   {Family::kNetdev, "netdev"}, {Family::kBridge, "bridge"}, {Family::kIp6, "ip6"}};

constexpr std::string_view kInetHooks[] = {"prerouting", "input", "forward", "output", "postrouting", "ingress"};
constexpr std::string_view kArpHooks[] = {"input", "output"};
constexpr std::string_view kNetdevHooks[] = {"ingress", "egress"};

// The hooks of `family` in the order of their numbers.
std::span<const std::string_view> Hooks(Family family) {
  switch (family) {
    case Family::kInet:
      return kInetHooks;
    case Family::kIp:
    case Family::kIp6:
    case Family::kBridge:
      return std::span(kInetHooks).first(5);
    case Family::kArp:
      return kArpHooks;
    case Family::kNetdev:
      return kNetdevHooks;
    case Family::kUnspec:
      return {};
  }
  return {};
}

// Name, and the bytes that a load's register check counts (vm-semantics 10.9). Bridge keys need a kernel with bridge
// meta; nftrace and broute can only be set.
struct MetaRow {
  std::string_view name;
  uint8_t length;
};
constexpr std::array<MetaRow, kMetaKeyCount> kMetaKeys = {{
    {"len", 4},          {"protocol", 2},  {"priority", 4}, {"mark", 4},     {"iif", 4},         {"oif", 4},
    {"iifname", 16},     {"oifname", 16},  {"iiftype", 2},  {"oiftype", 2},  {"skuid", 4},       {"skgid", 4},
    {"nftrace", 0},      {"rtclassid", 4}, {"secmark", 4},  {"nfproto", 4},  {"l4proto", 4},     {"bri_iifname", 16},
    {"bri_oifname", 16}, {"pkttype", 4},   {"cpu", 4},      {"iifgroup", 4}, {"oifgroup", 4},    {"cgroup", 4},
    {"prandom", 4},      {"secpath", 1},   {"iifkind", 16}, {"oifkind", 16}, {"bri_iifpvid", 2}, {"bri_iifvproto", 2},
    {"time", 8},         {"day", 1},       {"hour", 4},     {"sdif", 4},     {"sdifname", 16},   {"broute", 0},
    {"ibrhwaddr", 6},
}};

// As above; 0xff stands for the length of an address of the table's family.
constexpr uint8_t kAddressLength = 0xff;
constexpr std::array<MetaRow, kCtKeyCount> kCtKeys = {{
    {"state", 4},
    {"direction", 1},
    {"status", 4},
    {"mark", 4},
    {"secmark", 4},
    {"expiration", 4},
    {"helper", 16},
    {"l3protocol", 1},
    {"src", kAddressLength},
    {"dst", kAddressLength},
    {"protocol", 1},
    {"proto_src", 2},
    {"proto_dst", 2},
    {"label", 16},
    {"packets", 8},
    {"bytes", 8},
    {"avgpkt", 8},
    {"zone", 2},
    {"event", 0},
    {"src_ip", 4},
    {"dst_ip", 4},
    {"src_ip6", 16},
    {"dst_ip6", 16},
    {"id", 4},
}};

}  // namespace

std::string_view Name(Family family) {
  for (const FamilyRow& row : kFamilies) {
    if (row.family == family) return row.name;
  }
  return "unspec";
}

std::optional<Family> FamilyFromName(std::string_view name) {
  for (const FamilyRow& row : kFamilies) {
    if (row.name == name) return row.family;
  }
  return std::nullopt;
}

std::string_view HookName(Family family, uint8_t hook) {
  const std::span<const std::string_view> hooks = Hooks(family);
  return hook < hooks.size() ? hooks[hook] : "unknown";
}

std::optional<uint8_t> HookFromName(Family family, std::string_view name) {
  const std::span<const std::string_view> hooks = Hooks(family);
  for (uint8_t hook = 0; hook < hooks.size(); ++hook) {
    if (hooks[hook] == name) return hook;
  }
  return std::nullopt;
}

std::string_view Name(VerdictCode code) {
  switch (code) {
    case VerdictCode::kDrop:
      return "drop";
    case VerdictCode::kAccept:
      return "accept";
    case VerdictCode::kStolen:
      return "stolen";
    case VerdictCode::kQueue:
      return "queue";
    case VerdictCode::kContinue:
      return "continue";
    case VerdictCode::kBreak:
      return "break";
    case VerdictCode::kJump:
      return "jump";
    case VerdictCode::kGoto:
      return "goto";
    case VerdictCode::kReturn:
      return "return";
  }
  return "unknown";
}

std::string_view Name(MetaKey key) {
  const auto i = static_cast<size_t>(key);
  return i < kMetaKeys.size() ? kMetaKeys[i].name : "unknown";
}

uint8_t MetaLength(MetaKey key) {
  const auto i = static_cast<size_t>(key);
  return i < kMetaKeys.size() ? kMetaKeys[i].length : 0;
}

uint8_t MetaStoreLength(MetaKey key) {
  switch (key) {
    case MetaKey::kPriority:
    case MetaKey::kMark:
    case MetaKey::kSecmark:
      return 4;
    case MetaKey::kNftrace:
    case MetaKey::kPkttype:
    case MetaKey::kBroute:
      return 1;
    default:
      return 0;
  }
}

std::string_view Name(CtKey key) {
  const auto i = static_cast<size_t>(key);
  return i < kCtKeys.size() ? kCtKeys[i].name : "unknown";
}

uint8_t CtLength(CtKey key, Family family) {
  const auto i = static_cast<size_t>(key);
  if (i >= kCtKeys.size()) return 0;
  if (kCtKeys[i].length != kAddressLength) return kCtKeys[i].length;
  if (family == Family::kIp) return 4;
  return family == Family::kIp6 || family == Family::kInet ? 16 : 0;
}

}  // namespace nftjit::nft
