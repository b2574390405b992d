// Print and ParsePacketCase of packet_case.h.
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "lib/support/bytes.h"
#include "tests/support/packet_case.h"

namespace nftjit::testing {
namespace {

constexpr std::array<std::pair<std::string_view, Family>, 5> kFamilies = {{{"ip", Family::kIp},
                                                                           {"ip6", Family::kIp6},
                                                                           {"arp", Family::kArp},
                                                                           {"netdev", Family::kNetdev},
                                                                           {"bridge", Family::kBridge}}};
constexpr std::array<std::string_view, 7> kHooks = {"prerouting",  "input",   "forward", "output",
                                                    "postrouting", "ingress", "egress"};

// Calls `field(name, reference)` for every number of a packet's facts, in the order in which they are printed.
template <class P, class Visit>
void ForEachFact(P& packet, Visit&& field) {
  field("mark", packet.mark);
  field("priority", packet.priority);
  field("pkttype", packet.pkttype);
  field("secmark", packet.secmark);
  field("has_socket", packet.has_socket);
  field("skuid", packet.skuid);
  field("skgid", packet.skgid);
  field("cgroup", packet.cgroup);
  field("has_rtclassid", packet.has_rtclassid);
  field("rtclassid", packet.rtclassid);
  field("secpath", packet.secpath);
  field("sdif", packet.sdif);
  field("time_ns", packet.time_ns);
}
template <class C, class Visit>
void ForEachConntrackFact(C& ct, Visit&& field) {
  field("ct.state", ct.state);
  field("ct.has_entry", ct.has_entry);
  field("ct.direction", ct.direction);
  field("ct.l3protocol", ct.l3protocol);
  field("ct.protocol", ct.protocol);
  field("ct.status", ct.status);
  field("ct.mark", ct.mark);
  field("ct.secmark", ct.secmark);
  field("ct.expiration_ms", ct.expiration_ms);
  field("ct.id", ct.id);
  field("ct.zone", ct.zone);
  field("ct.original.packets", ct.original.packets);
  field("ct.original.bytes", ct.original.bytes);
  field("ct.reply.packets", ct.reply.packets);
  field("ct.reply.bytes", ct.reply.bytes);
}
// The same for byte arrays, printed as hex.
template <class C, class Visit>
void ForEachConntrackArray(C& ct, Visit&& field) {
  field("ct.original.src", ct.original.src);
  field("ct.original.dst", ct.original.dst);
  field("ct.original.proto_src", ct.original.proto_src);
  field("ct.original.proto_dst", ct.original.proto_dst);
  field("ct.reply.src", ct.reply.src);
  field("ct.reply.dst", ct.reply.dst);
  field("ct.reply.proto_src", ct.reply.proto_src);
  field("ct.reply.proto_dst", ct.reply.proto_dst);
  field("ct.helper", ct.helper);
  field("ct.label", ct.label);
}

template <class Array>
std::string Hex(const Array& array) {
  return ToHex(ByteSpan(reinterpret_cast<const uint8_t*>(array.data()), array.size()));
}
template <size_t N>
std::string Text(const std::array<char, N>& name) {
  return std::string(name.begin(), std::find(name.begin(), name.end(), '\0'));
}
template <size_t N>
void Fill(std::array<char, N>& name, absl::string_view text) {
  name = {};
  std::copy_n(text.begin(), std::min(text.size(), N - 1), name.begin());
}

void PrintInterface(std::string& out, std::string_view key, const std::optional<Interface>& interface) {
  if (!interface) return;
  absl::StrAppend(&out, " ", std::string(key), "=", interface->index, ":", Text(interface->name), ":",
                  Text(interface->kind), ":", interface->type, ":", interface->group);
}

bool ParseInterface(absl::string_view value, std::optional<Interface>& out) {
  const std::vector<absl::string_view> parts = absl::StrSplit(value, ':');
  out.emplace();
  uint32_t type = 0;
  if (parts.size() != 5 || !absl::SimpleAtoi(parts[0], &out->index) || !absl::SimpleAtoi(parts[3], &type) ||
      !absl::SimpleAtoi(parts[4], &out->group)) {
    return false;
  }
  out->type = static_cast<uint16_t>(type);
  Fill(out->name, parts[1]);
  Fill(out->kind, parts[2]);
  return true;
}

bool ParsePath(absl::string_view value, std::vector<HookSite>& path) {
  for (const absl::string_view item : absl::StrSplit(value, ',')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(item, '/');
    if (parts.size() != 2) return false;
    const auto family = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const auto& candidate) {
      return absl::string_view(candidate.first.data(), candidate.first.size()) == parts[0];
    });
    const auto hook = std::find(kHooks.begin(), kHooks.end(), std::string_view(parts[1].data(), parts[1].size()));
    if (family == kFamilies.end() || hook == kHooks.end()) return false;
    path.push_back({family->second, static_cast<Hook>(hook - kHooks.begin())});
  }
  return true;
}

// True if `key` is one of the facts and `value` was stored in it.
bool StoreFact(PacketCase& out, absl::string_view key, absl::string_view value) {
  bool stored = false;
  const auto number = [&](std::string_view name, auto& field) {
    uint64_t parsed = 0;
    if (absl::string_view(name.data(), name.size()) != key || !absl::SimpleAtoi(value, &parsed)) return;
    field = static_cast<std::decay_t<decltype(field)>>(parsed);
    stored = true;
  };
  ForEachFact(out.facts, number);
  number("gap_ns", out.gap_ns);
  if (absl::StartsWith(key, "ct.") && !out.ct) out.ct.emplace();
  if (out.ct) ForEachConntrackFact(*out.ct, number);
  if (out.ct) {
    ForEachConntrackArray(*out.ct, [&](std::string_view name, auto& array) {
      if (absl::string_view(name.data(), name.size()) != key || value.size() != array.size() * 2) return;
      const Bytes bytes = FromHex(std::string_view(value.data(), value.size()));
      std::copy(bytes.begin(), bytes.end(), reinterpret_cast<uint8_t*>(array.data()));
      stored = true;
    });
  }
  return stored;
}

}  // namespace

std::string Print(const PacketCase& packet) {
  std::string out = packet.ethernet ? "ethernet" : "l3";
  absl::StrAppend(&out, " path=");
  for (size_t i = 0; i < packet.path.size(); ++i) {
    const auto family = std::find_if(kFamilies.begin(), kFamilies.end(),
                                     [&](const auto& candidate) { return candidate.second == packet.path[i].family; });
    absl::StrAppend(&out, i > 0 ? "," : "", std::string(family->first), "/",
                    std::string(kHooks[static_cast<size_t>(packet.path[i].hook)]));
  }
  PrintInterface(out, "iif", packet.iif);
  PrintInterface(out, "oif", packet.oif);
  const auto number = [&](std::string_view name, const auto& value) {
    if (value != 0) absl::StrAppend(&out, " ", std::string(name), "=", static_cast<uint64_t>(value));
  };
  ForEachFact(packet.facts, number);
  number("gap_ns", packet.gap_ns);
  if (packet.facts.sdifname[0] != '\0') absl::StrAppend(&out, " sdifname=", Text(packet.facts.sdifname));
  if (packet.ct) {
    absl::StrAppend(&out, " ct.state=", packet.ct->state);
    ForEachConntrackFact(*packet.ct, [&](std::string_view name, const auto& value) {
      if (name != "ct.state") absl::StrAppend(&out, " ", std::string(name), "=", static_cast<uint64_t>(value));
    });
    ForEachConntrackArray(*packet.ct, [&](std::string_view name, const auto& array) {
      if (std::any_of(array.begin(), array.end(), [](auto c) { return c != 0; })) {
        absl::StrAppend(&out, " ", std::string(name), "=", Hex(array));
      }
    });
  }
  return absl::StrCat(out, "\n", Hex(packet.bytes), "\n");
}

absl::StatusOr<PacketCase> ParsePacketCase(std::string_view facts, std::string_view hex) {
  PacketCase out;
  out.bytes = FromHex(hex);
  for (const absl::string_view word :
       absl::StrSplit(absl::string_view(facts.data(), facts.size()), ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(word, absl::MaxSplits('=', 1));
    bool good = true;
    if (word == "ethernet" || word == "l3") {
      out.ethernet = word == "ethernet";
    } else if (parts.first == "path") {
      good = ParsePath(parts.second, out.path);
    } else if (parts.first == "iif" || parts.first == "oif") {
      good = ParseInterface(parts.second, parts.first == "iif" ? out.iif : out.oif);
    } else if (parts.first == "sdifname") {
      Fill(out.facts.sdifname, parts.second);
    } else {
      good = StoreFact(out, parts.first, parts.second);
    }
    if (!good) return absl::InvalidArgumentError(absl::StrCat("packet: what is ", word, "?"));
  }
  return out;
}

}  // namespace nftjit::testing
