#include "tools/nftjit/packet_options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

namespace nftjit::cli {
namespace {

constexpr std::pair<std::string_view, Hook> kHooks[] = {{"prerouting", Hook::kPrerouting},
                                                        {"input", Hook::kInput},
                                                        {"forward", Hook::kForward},
                                                        {"output", Hook::kOutput},
                                                        {"postrouting", Hook::kPostrouting},
                                                        {"ingress", Hook::kIngress},
                                                        {"egress", Hook::kEgress}};
constexpr std::pair<std::string_view, Family> kFamilies[] = {{"inet", Family::kInet},     {"ip", Family::kIp},
                                                             {"arp", Family::kArp},       {"netdev", Family::kNetdev},
                                                             {"bridge", Family::kBridge}, {"ip6", Family::kIp6}};
constexpr std::pair<std::string_view, uint32_t> kCtStates[] = {{"invalid", kCtInvalid},
                                                               {"established", kCtEstablished},
                                                               {"related", kCtRelated},
                                                               {"new", kCtNew},
                                                               {"untracked", kCtUntracked}};

template <class Pairs>
auto Lookup(const Pairs& pairs, std::string_view name) {
  using Value = std::remove_cvref_t<decltype(pairs[0].second)>;
  for (const auto& [text, value] : pairs) {
    if (text == name) return std::optional<Value>(value);
  }
  return std::optional<Value>();
}

template <class Pairs, class Value>
std::string_view Text(const Pairs& pairs, Value wanted) {
  for (const auto& [text, value] : pairs) {
    if (value == wanted) return text;
  }
  return "unknown";
}

template <class Pairs>
std::vector<std::string> Names(const Pairs& pairs) {
  std::vector<std::string> names;
  for (const auto& pair : pairs) names.emplace_back(pair.first);
  return names;
}

}  // namespace

std::optional<Hook> HookByName(std::string_view name) { return Lookup(kHooks, name); }
std::string_view HookText(Hook hook) { return Text(kHooks, hook); }
std::optional<Family> FamilyByName(std::string_view name) { return Lookup(kFamilies, name); }
std::string_view FamilyText(Family family) { return Text(kFamilies, family); }

void PacketOptions::AddTo(CLI::App& parser) {
  parser.add_option("-r,--read", capture_file, "Capture to read (pcap, pcapng; '-': standard input)");
  parser.add_option("--hex", hex, "A raw IP packet in hex; repeatable");
  parser.add_option("-c,--count", count, "Stop after so many packets");
  parser.add_option("--hook", hook, "Run at this hook only")->check(CLI::IsMember(Names(kHooks)));
  parser.add_option("--family", family, "Family of the hook (default inet)")->check(CLI::IsMember(Names(kFamilies)));
  parser.add_option("--iif", iif, "Input interface");
  parser.add_option("--oif", oif, "Output interface");
  parser.add_option("--mark", mark, "Packet mark");
  parser.add_option("--ct-state", ct_state, "Conntrack state of every packet")->check(CLI::IsMember(Names(kCtStates)));
}

absl::StatusOr<Capture> PacketOptions::LoadPackets() const {
  Capture capture;
  if (!capture_file.empty()) {
    absl::StatusOr<Capture> read = Capture::FromFile(capture_file);
    if (!read.ok()) return read.status();
    capture = *std::move(read);
  }
  for (const std::string& packet : hex) {
    if (absl::Status status = capture.AppendHex(packet); !status.ok()) return status;
  }
  if (count != 0) capture.Truncate(count);
  return capture;
}

absl::StatusOr<Facts> Facts::From(const PacketOptions& options, Host& host) {
  Facts facts;
  facts.mark = options.mark;
  for (const auto& [name, slot] : {std::pair(&options.iif, &facts.iif), std::pair(&options.oif, &facts.oif)}) {
    if (name->empty()) continue;
    const absl::StatusOr<const Interface*> interface = host.AddInterface(*name, 0);
    if (!interface.ok()) return interface.status();
    *slot = *interface;
  }
  if (options.ct_state.empty()) return facts;
  Conntrack ct;
  ct.state = *Lookup(kCtStates, options.ct_state);
  ct.has_entry = ct.state != kCtInvalid && ct.state != kCtUntracked;
  // An established or related packet is one of a flow whose answer was seen.
  if (ct.state == kCtEstablished) ct.status = 0xe;
  facts.ct = ct;
  return facts;
}

void Facts::ApplyTo(Packet& packet) const {
  packet.iif = iif;
  packet.oif = oif;
  packet.mark = mark;
  packet.ct = ct ? &*ct : nullptr;
}

std::vector<const EngineInterface*> AllEngines() { return {&ReferenceEngine(), &InterpreterEngine(), &X86Engine()}; }

void EngineFlags::AddTo(CLI::App& parser) {
  parser.add_option("--engine", engine, "reference, interp or x86")->capture_default_str();
  parser.add_flag("--no-opt", no_optimise, "Run the rules as they were lowered");
  parser.add_flag("--partial", partial, "Leave out rules that no engine runs");
}

absl::StatusOr<const EngineInterface*> EngineFlags::Find() const {
  std::string names;
  for (const EngineInterface* candidate : AllEngines()) {
    if (EngineName(*candidate) == engine) return candidate;
    names += (names.empty() ? "" : ", ") + std::string(EngineName(*candidate));
  }
  return absl::InvalidArgumentError("--engine " + engine + ": one of " + names + " is expected");
}

}  // namespace nftjit::cli
