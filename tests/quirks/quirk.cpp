#include "tests/quirks/quirk.h"

#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "lib/engine/compile.h"
#include "lib/ir/lower.h"
#include "lib/netlink/codec.h"
#include "lib/netlink/table_index.h"
#include "tests/support/engine_tester.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

HookSite SiteOf(const QuirkSite& site, const Bytes& packet) {
  using PublicFamily = nftjit::Family;
  switch (site.family) {
    case nft::Family::kNetdev:
      return {PublicFamily::kNetdev, site.hook == nft::kNetdevIngress ? Hook::kIngress : Hook::kEgress};
    case nft::Family::kArp:
      return {PublicFamily::kArp, site.hook == nft::kArpInput ? Hook::kInput : Hook::kOutput};
    case nft::Family::kBridge:
      return {PublicFamily::kBridge, static_cast<Hook>(site.hook)};
    case nft::Family::kInet:
      if (site.hook == nft::kInetIngress) return {PublicFamily::kNetdev, Hook::kIngress};
      break;
    default:
      break;
  }
  size_t network = 0;
  if (site.topology != Topology::kRouted) network = packet.size() > 14 && packet[12] == 0x81 ? 18 : 14;
  const bool ipv6 = packet.size() > network && packet[network] >> 4 == 6;
  return {ipv6 ? PublicFamily::kIp6 : PublicFamily::kIp, static_cast<Hook>(site.hook)};
}

Interface Device(std::string_view name, uint32_t index, bool ethernet) {
  Interface interface = MakeInterface(name, index);
  interface.kind = {'t', 'u', 'n'};
  interface.type = ethernet ? 1 : 0xfffe;
  return interface;
}

// One kernel a topology, kept for the whole run of the program. Null where there is none.
LiveKernel* KernelOf(Topology topology) {
  static std::map<Topology, std::unique_ptr<LiveKernel>> kernels;
  const auto found = kernels.find(topology);
  if (found != kernels.end()) return found->second.get();
  LiveKernelOptions options;
  options.topology = topology;
  options.input_index = 2;
  options.output_index = 3;
  absl::StatusOr<std::unique_ptr<LiveKernel>> kernel = LiveKernel::Start(options);
  INFO("live kernel: " << kernel.status().ToString());
  REQUIRE(kernel.ok());
  return (kernels[topology] = *std::move(kernel)).get();
}

}  // namespace

Quirk::Quirk(const QuirkSite& site) : site_(site) {
  rules_.Table(site.family, "quirk");
  std::string device;
  if (site.family == nft::Family::kNetdev) device = site.hook == nft::kNetdevIngress ? "in0" : "out0";
  if (site.family == nft::Family::kInet && site.hook == nft::kInetIngress) device = "in0";
  chain_ = rules_.BaseChain("c", site.hook, site.priority, nft::VerdictCode::kAccept, device);
}

void Quirk::Holds(const Expressions& expressions, nft::Register reg, std::string_view hex) {
  Matches(Fill() + expressions + Expressions{Eq(reg, hex)});
}

void Quirk::In(nft::Handle chain, Expressions expressions, uint64_t times) {
  expressions.push_back(Count());
  expectations_.push_back({rules_.Rule(chain, std::move(expressions)), times});
}

void Quirk::Run(const std::vector<Bytes>& packets) {
  RunEngines(packets);
  if (!not_on_kernel_.empty()) {
    std::cerr << "not on the kernel: " << Catch::getResultCapture().getCurrentTestName() << ": " << not_on_kernel_
              << '\n';
  } else if (MayRun("kernel", NetworkNamespace::Available())) {
    RunKernel(packets);
  }
}

void Quirk::RunEngines(const std::vector<Bytes>& packets) {
  absl::StatusOr<ir::Program> lowered = ir::Lower(rules_.ruleset(), {});
  INFO(lowered.status().ToString());
  REQUIRE(lowered.ok());
  const bool ethernet = site_.topology != Topology::kRouted;
  const Interface in = Device("in0", 2, ethernet), out = Device("out0", 3, ethernet);
  for (const EngineChoice& choice : EngineChoices()) {
    INFO("engine " << choice.name);
    CompileIrOptions options;
    options.engine = choice.engine;
    options.optimise = choice.optimise;
    absl::StatusOr<std::shared_ptr<const Program>> program = CompileIr(*lowered, options);
    INFO(program.status().ToString());
    REQUIRE(program.ok());
    Instance instance(*program);
    Worker worker = instance.NewWorker();
    for (const Bytes& bytes : packets) {
      GuardedBytes guarded(bytes);
      Packet packet = facts;
      packet.data = guarded.data();
      packet.length = static_cast<uint32_t>(guarded.size());
      if (ethernet) ParseEthernet(packet);
      const HookSite site = SiteOf(site_, bytes);
      if (!ethernet) packet.protocol = site.family == nftjit::Family::kIp6 || bytes[0] >> 4 == 6 ? 0x86dd : 0x0800;
      packet.iif = &in;
      const bool has_output =
          site.hook == Hook::kForward || site.hook == Hook::kPostrouting || site.hook == Hook::kEgress;
      packet.oif = has_output ? &out : nullptr;
      const Result result = worker.Run(site, packet);
      if (verdict_) CHECK(result.verdict == *verdict_);
    }
    const std::vector<CounterReading> counters = instance.counters();
    for (size_t i = 0; i < expectations_.size(); ++i) {
      uint64_t last = 0;
      for (const CounterReading& counter : counters) {
        if (counter.rule_handle == expectations_[i].rule && counter.set.empty()) last = counter.packets;
      }
      INFO("rule " << i + 1 << " of " << expectations_.size());
      CHECK(last == (expectations_[i].times == kEveryPacket ? packets.size() : expectations_[i].times));
    }
  }
}

void Quirk::RunKernel(const std::vector<Bytes>& packets) {
  LiveKernel* kernel = KernelOf(site_.topology);
  const absl::Status loaded = kernel->Load(rules_.ruleset());
  INFO("live kernel: " << loaded.ToString());
  REQUIRE(loaded.ok());
  std::vector<CounterValue> sums(kernel->places().size());
  for (const Bytes& bytes : packets) {
    absl::StatusOr<Observation> seen = kernel->Inject(bytes);
    REQUIRE(seen.ok());
    CHECK(seen->accepted_by_device);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i].packets += seen->counters[i].packets;
      sums[i].bytes += seen->counters[i].bytes;
    }
  }
  for (size_t i = 0; i < expectations_.size(); ++i) {
    // Where the rule stands: the kernel's handles are its own.
    uint64_t last = 0;
    for (const nft::Table& table : rules_.ruleset().tables) {
      for (const nft::Chain& chain : table.chains) {
        for (size_t number = 0; number < chain.rules.size(); ++number) {
          if (chain.rules[number].handle != expectations_[i].rule) continue;
          for (size_t k = 0; k < sums.size(); ++k) {
            const CounterPlace& place = kernel->places()[k];
            if (place.family == table.family && place.table == table.name && place.chain == chain.name &&
                place.rule == number) {
              last = sums[k].packets;
            }
          }
        }
      }
    }
    INFO("live kernel: rule " << i + 1 << " of " << expectations_.size());
    CHECK(last == (expectations_[i].times == kEveryPacket ? packets.size() : expectations_[i].times));
  }
  CHECK(kernel->Unload().ok());
}

RawRule& RawRule::Expression(std::string_view name) {
  parts_.push_back({std::string(name), {}});
  return *this;
}
RawRule& RawRule::U32(uint16_t type, uint32_t value) {
  netlink::AttributeWriter(&parts_.back().attributes).U32(type, value);
  return *this;
}
RawRule& RawRule::U64(uint16_t type, uint64_t value) {
  netlink::AttributeWriter(&parts_.back().attributes).U64(type, value);
  return *this;
}
RawRule& RawRule::U8(uint16_t type, uint8_t value) {
  netlink::AttributeWriter(&parts_.back().attributes).U8(type, value);
  return *this;
}
RawRule& RawRule::Value(uint16_t type, std::string_view hex) {
  netlink::AttributeWriter out(&parts_.back().attributes);
  const size_t nest = out.BeginNest(type);
  const Bytes bytes = FromHex(hex);
  out.Bytes(netlink::kDataValue, ByteSpan(bytes));
  out.EndNest(nest);
  return *this;
}
RawRule& RawRule::Verdict(int32_t code, std::string_view chain) {
  Expression("immediate").U32(1, 0);
  netlink::AttributeWriter out(&parts_.back().attributes);
  const size_t data = out.BeginNest(2);
  const size_t verdict = out.BeginNest(netlink::kDataVerdict);
  out.U32(netlink::kVerdictCode, static_cast<uint32_t>(code));
  if (!chain.empty()) out.String(netlink::kVerdictChain, chain);
  out.EndNest(verdict);
  out.EndNest(data);
  return *this;
}

std::string RawRule::Attributes() const {
  std::string bytes;
  netlink::AttributeWriter out(&bytes);
  out.String(netlink::kRuleTable, "raw");
  out.String(netlink::kRuleChain, "base");
  const size_t list = out.BeginNest(netlink::kRuleExpressions);
  for (const Part& part : parts_) {
    const size_t element = out.BeginNest(netlink::kListElem);
    out.String(netlink::kExprName, part.name);
    const size_t data = out.BeginNest(netlink::kExprData);
    out.Append(part.attributes);
    out.EndNest(data);
    out.EndNest(element);
  }
  out.EndNest(list);
  return bytes;
}

void RawRule::Gives(int expected) const {
  RulesetBuilder rules;
  rules.Table(family_, "raw");
  rules.BaseChain("base", nft::kPrerouting, 0);
  rules.Chain("other");
  const std::string attributes = Attributes();

  std::string message(netlink::kMessageHeaderSize + netlink::kFamilyHeaderSize, '\0');
  message += attributes;
  const ByteSpan bytes(reinterpret_cast<const uint8_t*>(message.data()), message.size());
  const netlink::TableIndex index(rules.ruleset().tables[0]);
  netlink::Result<netlink::RuleAttributes> parsed = netlink::ParseRuleMessage(bytes);
  int ours = 0;
  if (!parsed.ok()) {
    ours = parsed.error().error;
  } else if (netlink::Result<nft::Rule> rule = netlink::DecodeRule(*parsed, index); !rule.ok()) {
    ours = rule.error().error;
  }
  CHECK(ours == expected);

  if (!MayRun("kernel", NetworkNamespace::Available())) return;
  LiveKernel* kernel = KernelOf(Topology::kRouted);
  REQUIRE(kernel->Unload().ok());
  Batch batch;
  AppendRuleset(rules.ruleset(), batch);
  batch.BeginMessage(netlink::kNewRule, kCreate | kAppend, family_).Append(attributes);
  batch.EndMessage();
  // Deleted again in the same transaction, so that nothing stays.
  AppendDeletion(rules.ruleset(), batch);
  absl::StatusOr<std::vector<int>> errors = kernel->socket().Send(batch);
  REQUIRE(errors.ok());
  const int theirs = (*errors)[batch.size() - 2];
  INFO("live kernel");
  CHECK(theirs == expected);
}

Expressions Fill() {
  return {Set(R1, "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"), Set(R2, "b0b1b2b3b4b5b6b7b8b9babbbcbdbebf"),
          Set(R3, "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf"), Set(R4, "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf")};
}

Bytes PacketPU() { return FromHex("4500002100010000401166c90a0000020a000001045708ae000d9afa68656c6c6f"); }
Bytes PacketPF() {
  return FromHex(
      "4500004400012001401146a50a0000020a000001045708ae003060f5000102030405060708090a0b0c0d0e0f101112131415161718191a1b"
      "1c1d1e1f2021222324252627");
}
Bytes PacketP6F() {
  return FromHex(
      "6000000000382c40fd000000000000000000000000000002fd0000000000000000000000000000011100000900000001045708ae003060f5"
      "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627");
}
Bytes PacketP6D() {
  return FromHex("6000000000083c40fd000000000000000000000000000002fd0000000000000000000000000000011102010400000000");
}
Bytes PacketFW() { return FromHex("4500002200010000401166c30a0000020a010005045708ae000e9ad268656c6c6f21"); }

Bytes Frame(const Bytes& packet, std::string_view tags, uint16_t type) {
  if (type == 0) type = !packet.empty() && packet[0] >> 4 == 6 ? 0x86dd : 0x0800;
  Bytes frame = FromHex("020000000001020000000002");
  const Bytes tag_bytes = FromHex(tags);
  frame.insert(frame.end(), tag_bytes.begin(), tag_bytes.end());
  frame.push_back(static_cast<uint8_t>(type >> 8));
  frame.push_back(static_cast<uint8_t>(type));
  frame.insert(frame.end(), packet.begin(), packet.end());
  return frame;
}

}  // namespace nftjit::testing
