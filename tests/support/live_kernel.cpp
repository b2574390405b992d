#include "tests/support/live_kernel.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <climits>

#include "tests/support/model_builder.h"

namespace nftjit::testing {
namespace {

constexpr std::string_view kProbeTable = "nftjit_probe";
constexpr std::string_view kFirst = "first_", kLast = "last_", kFact = "fact_";

// One rule each in a station's fact chain: a key, and the bits that make its counter count.
struct ConntrackFact {
  nft::CtKey key;
  uint8_t len;
  uint32_t bits;
};
constexpr std::array<ConntrackFact, 12> kFacts = {{{nft::CtKey::kState, 4, kCtInvalid},
                                                   {nft::CtKey::kState, 4, kCtEstablished},
                                                   {nft::CtKey::kState, 4, kCtRelated},
                                                   {nft::CtKey::kState, 4, kCtNew},
                                                   {nft::CtKey::kState, 4, kCtUntracked},
                                                   {nft::CtKey::kDirection, 1, 1},
                                                   {nft::CtKey::kStatus, 4, 1},
                                                   {nft::CtKey::kStatus, 4, 2},
                                                   {nft::CtKey::kStatus, 4, 4},
                                                   {nft::CtKey::kStatus, 4, 8},
                                                   {nft::CtKey::kStatus, 4, 0x10},
                                                   {nft::CtKey::kStatus, 4, 0x20}}};

void AddFacts(RulesetBuilder& rules, Station station, uint8_t hook) {
  // After conntrack itself (-200) in prerouting; elsewhere before everything but the first probe.
  const nft::Handle chain = rules.BaseChain(std::string(kFact) + std::string(Name(station)), hook,
                                            hook == nft::kPrerouting ? -199 : INT_MIN + 1);
  for (const ConntrackFact& fact : kFacts) {
    Bytes bits(fact.len);
    for (uint8_t i = 0; i < fact.len; ++i) bits[i] = static_cast<uint8_t>(fact.bits >> 8 * i);
    const std::string hex = ToHex(bits);
    rules.Rule(chain, {Ct(fact.key, R1), MaskXor(R1, R1, hex, std::string(hex.size(), '0')), Eq(R1, hex), Count()});
  }
}

Interface Describe(std::string_view name, uint32_t index, bool ethernet) {
  Interface interface;
  interface.index = index;
  std::copy(name.begin(), name.end(), interface.name.begin());
  constexpr std::string_view kKind = "tun";
  std::copy(kKind.begin(), kKind.end(), interface.kind.begin());
  interface.type = ethernet ? 1 : 0xfffe;
  return interface;
}

// Adds the two probe chains of a hook. What passed the last one goes on or ends there.
void AddProbes(RulesetBuilder& rules, Station station, uint8_t hook, bool ends, const std::string& device = {}) {
  const std::string name(Name(station));
  const nft::Handle first =
      rules.BaseChain(std::string(kFirst) + name, hook, INT_MIN, nft::VerdictCode::kAccept, device);
  rules.Rule(first, {Count()});
  const nft::Handle last = rules.BaseChain(std::string(kLast) + name, hook, INT_MAX,
                                           ends ? nft::VerdictCode::kDrop : nft::VerdictCode::kAccept, device);
  rules.Rule(last, {Count()});
}

std::string Setup(const LiveKernelOptions& options) {
  const std::string& in = options.input_name;
  const std::string& out = options.output_name;
  std::string commands;
  for (const auto& [name, index] : options.further) {
    absl::StrAppend(&commands, "link add ", name, index != 0 ? absl::StrCat(" index ", index) : "", " type dummy\n");
  }
  if (options.topology == Topology::kBridged) {
    absl::StrAppend(&commands, "link add br0 address 02:00:00:00:00:0b type bridge mcast_snooping 0 forward_delay 0 ",
                    "stp_state 0\n", "link set ", in, " master br0\nlink set ", out, " master br0\n");
    absl::StrAppend(&commands, "link set ", in, " up\nlink set ", out, " up\nlink set br0 up\n");
    return commands;
  }
  if (options.topology == Topology::kRoutedEthernet) {
    absl::StrAppend(&commands, "link set ", in, " address 02:00:00:00:00:01\nlink set ", out,
                    " address 02:00:00:00:00:02\n");
  }
  absl::StrAppend(&commands, "link set ", in, " up\nlink set ", out, " up\n");
  absl::StrAppend(&commands, "addr add 192.0.2.1/32 dev ", in, "\naddr add 2001:db8:1::1/128 dev ", in, " nodad\n");
  absl::StrAppend(&commands, "addr add 198.51.100.1/32 dev ", out, "\naddr add 2001:db8:2::1/128 dev ", out,
                  " nodad\n");
  if (options.topology == Topology::kRouted) {
    absl::StrAppend(&commands, "route add default dev ", out, "\nroute add ::/0 dev ", out, "\n");
    return commands;
  }
  absl::StrAppend(&commands, "neigh add 198.51.100.2 lladdr 02:00:00:00:00:99 nud permanent dev ", out, "\n",
                  "neigh add 2001:db8:2::2 lladdr 02:00:00:00:00:99 nud permanent dev ", out, "\n",
                  "route add default via 198.51.100.2 dev ", out, " onlink\n", "route add ::/0 via 2001:db8:2::2 dev ",
                  out, " onlink\n");
  return commands;
}

}  // namespace

std::string_view Name(Station station) {
  constexpr std::array<std::string_view, kStationCount> kNames = {"ingress", "arp_input",   "prerouting", "input",
                                                                  "forward", "postrouting", "egress"};
  return kNames[static_cast<size_t>(station)];
}

absl::StatusOr<std::unique_ptr<LiveKernel>> LiveKernel::Start(const LiveKernelOptions& options) {
  if (absl::Status status = NetworkNamespace::Available(); !status.ok()) return status;
  std::unique_ptr<LiveKernel> kernel(new LiveKernel(options));
  if (absl::Status status = kernel->SetUp(); !status.ok()) return status;
  return kernel;
}

absl::Status LiveKernel::SetUp() {
  absl::StatusOr<std::unique_ptr<NetworkNamespace>> ns = NetworkNamespace::Create();
  if (!ns.ok()) return ns.status();
  namespace_ = *std::move(ns);
  const bool ethernet = options_.topology != Topology::kRouted;
  if (absl::Status status = namespace_->Inside([&] { return OpenDevices(ethernet); }); !status.ok()) return status;
  input_ = Describe(options_.input_name, input_device_.index(), ethernet);
  output_ = Describe(options_.output_name, output_device_.index(), ethernet);
  // The forwarding path would set the priority from the TOS byte; and the bridge would show its packets to inet chains.
  for (const char* path : {"ipv4/ip_forward_update_priority", "bridge/bridge-nf-call-iptables",
                           "bridge/bridge-nf-call-ip6tables", "bridge/bridge-nf-call-arptables"}) {
    if (absl::Status status = namespace_->Sysctl(path, "0"); !status.ok()) return status;
  }
  if (absl::Status status = LoadProbes(); !status.ok()) return status;
  if (absl::Status status = namespace_->Ip(Setup(options_)); !status.ok()) return status;
  return Baseline();
}

absl::Status LiveKernel::OpenDevices(bool ethernet) {
  absl::StatusOr<NetlinkSocket> socket = NetlinkSocket::Open();
  if (!socket.ok()) return socket.status();
  socket_ = std::make_unique<NetlinkSocket>(*std::move(socket));
  const LinkType type = ethernet ? LinkType::kTap : LinkType::kTun;
  absl::StatusOr<TunDevice> in = TunDevice::Open(options_.input_name, type, options_.input_index);
  if (!in.ok()) return in.status();
  absl::StatusOr<TunDevice> out = TunDevice::Open(options_.output_name, type, options_.output_index);
  if (!out.ok()) return out.status();
  input_device_ = *std::move(in);
  output_device_ = *std::move(out);
  return absl::OkStatus();
}

absl::Status LiveKernel::LoadProbes() {
  RulesetBuilder rules;
  const std::string name(kProbeTable);
  rules.Table(nft::Family::kNetdev, name);
  AddProbes(rules, Station::kIngress, nft::kNetdevIngress, false, options_.input_name);
  AddProbes(rules, Station::kEgress, nft::kNetdevEgress, true, options_.output_name);
  rules.Table(nft::Family::kInet, name);
  rules.BaseChain("silence", nft::kOutput, INT_MIN, nft::VerdictCode::kDrop);
  if (options_.topology == Topology::kBridged) {
    rules.Table(nft::Family::kBridge, name);
  } else if (options_.topology == Topology::kRoutedEthernet) {
    rules.Table(nft::Family::kArp, name);
    AddProbes(rules, Station::kArpInput, nft::kArpInput, true);
    rules.Table(nft::Family::kInet, name + "2");
  }
  AddProbes(rules, Station::kPrerouting, nft::kPrerouting, false);
  AddProbes(rules, Station::kInput, nft::kInput, true);
  AddProbes(rules, Station::kForward, nft::kForward, false);
  AddProbes(rules, Station::kPostrouting, nft::kPostrouting, false);
  if (options_.conntrack) {
    AddFacts(rules, Station::kPrerouting, nft::kPrerouting);
    AddFacts(rules, Station::kInput, nft::kInput);
    AddFacts(rules, Station::kForward, nft::kForward);
    AddFacts(rules, Station::kPostrouting, nft::kPostrouting);
  }
  Batch batch;
  AppendRuleset(rules.ruleset(), batch);
  return socket_->Apply(batch);
}

absl::Status LiveKernel::Load(const nft::Ruleset& ruleset) {
  Batch batch;
  AppendDeletion(loaded_, batch);
  AppendRuleset(ruleset, batch);
  if (absl::Status status = socket_->Apply(batch); !status.ok()) return status;
  loaded_ = ruleset;
  return Baseline();
}

absl::Status LiveKernel::Unload() { return Load({}); }

absl::Status LiveKernel::Baseline() {
  std::vector<CounterPlace> all;
  if (absl::Status status = ReadCounters(*socket_, nft::Family::kUnspec, &before_, &all); !status.ok()) return status;
  places_.clear();
  slots_.clear();
  for (CounterPlace& place : all) {
    if (!place.table.starts_with(kProbeTable)) {
      slots_.push_back(static_cast<int>(places_.size()));
      places_.push_back(std::move(place));
      continue;
    }
    for (size_t station = 0; station < kStationCount; ++station) {
      const std::string name(Name(static_cast<Station>(station)));
      const auto number = static_cast<int>(station), stations = static_cast<int>(kStationCount);
      if (place.chain == std::string(kFirst) + name) slots_.push_back(-1 - number);
      if (place.chain == std::string(kLast) + name) slots_.push_back(-1 - stations - number);
      if (place.chain == std::string(kFact) + name) {
        slots_.push_back(-1 - 2 * stations - number * static_cast<int>(kFacts.size()) - static_cast<int>(place.rule));
      }
    }
  }
  if (slots_.size() != before_.size()) return absl::InternalError("a counter of the dump is nobody's");
  return absl::OkStatus();
}

void LiveKernel::ReadFact(size_t number, Observation& seen) const {
  std::optional<Conntrack>& ct = seen.conntrack[number / kFacts.size()];
  const ConntrackFact& fact = kFacts[number % kFacts.size()];
  if (!ct) ct.emplace().state = 0;
  switch (fact.key) {
    case nft::CtKey::kState:
      ct->state |= fact.bits;
      ct->has_entry = ct->has_entry || (fact.bits & (kCtEstablished | kCtRelated | kCtNew)) != 0;
      break;
    case nft::CtKey::kDirection:
      ct->direction = 1;
      break;
    default:
      ct->status |= fact.bits;
      break;
  }
}

absl::StatusOr<Observation> LiveKernel::Inject(ByteSpan packet) {
  Observation seen;
  seen.accepted_by_device = input_device_.Inject(packet);
  if (absl::Status status = ReadCounters(*socket_, nft::Family::kUnspec, &now_); !status.ok()) return status;
  if (now_.size() != slots_.size()) return absl::InternalError("the kernel's rules changed under the test");
  seen.counters.resize(places_.size());
  for (size_t i = 0; i < now_.size(); ++i) {
    const CounterValue moved = now_[i] - before_[i];
    if (slots_[i] >= 0) {
      seen.counters[slots_[i]] = moved;
      continue;
    }
    const auto number = static_cast<size_t>(-1 - slots_[i]);
    if (number < kStationCount) {
      seen.entered[number] = static_cast<uint32_t>(moved.packets);
    } else if (number < 2 * kStationCount) {
      seen.left[number - kStationCount] = static_cast<uint32_t>(moved.packets);
    } else if (moved.packets > 0) {
      ReadFact(number - 2 * kStationCount, seen);
    }
  }
  std::swap(before_, now_);
  return seen;
}

}  // namespace nftjit::testing
