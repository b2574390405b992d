#include "benchmarks/linear_case.h"

#include "lib/engine/compile.h"

namespace nftjit::bench {
namespace {

std::vector<Packet> PacketsOver(std::vector<uint8_t>& bytes) {
  std::vector<Packet> packets(bytes.size() / kPacketBytes);
  for (size_t i = 0; i < packets.size(); ++i) {
    packets[i].data = bytes.data() + i * kPacketBytes;
    packets[i].length = kPacketBytes;
    packets[i].protocol = 0x0800;
  }
  return packets;
}

}  // namespace

std::shared_ptr<const Program> MustCompile(const nft::Ruleset& ruleset, const EngineInterface& engine, bool optimise) {
  return Must(CompileModel(ruleset, {.engine = &engine, .optimise = optimise}));
}

LinearCase::LinearCase(size_t rules, PrefixTraffic traffic) {
  constexpr size_t kReferenceRules = 1000;  // More take it too long.
  const std::vector<PrefixRule> all = MakePrefixRules(rules);
  const nft::Ruleset ruleset = MakePrefixRuleset(all);
  bytes_ = MakePrefixTraffic(all, traffic);
  packets_ = PacketsOver(bytes_);
  const auto add = [&](std::string name, const EngineInterface& engine, bool optimise) {
    engines_.push_back(std::make_unique<EngineLane>(std::move(name), MustCompile(ruleset, engine, optimise),
                                                    HookSite{Family::kIp, Hook::kPrerouting}, packets_));
  };
  add("x86", X86Engine(), true);
  add("x86_noopt", X86Engine(), false);
  add("interp", InterpreterEngine(), true);
  if (rules <= kReferenceRules) add("reference", ReferenceEngine(), false);
  yardstick_ = std::make_unique<SwitchInterpreter>(ruleset.tables[0].chains[0]);
  CheckAgreement();
}

void LinearCase::CheckAgreement() {
  constexpr size_t kChecked = 512;
  for (const auto& engine : engines_) {
    engine->Run(0, kChecked);
    for (size_t i = 0; i < kChecked; ++i) {
      const bool accepted = yardstick_->Run(packets_[i].data, kPacketBytes);
      if (accepted == (engine->result(i).verdict == Verdict::kAccept)) continue;
      std::cerr << "benchmark: " << engine->name() << " and the switch interpreter disagree on packet " << i << '\n';
      std::exit(1);
    }
  }
}

std::vector<NamedLane> LinearCase::lanes() {
  std::vector<NamedLane> lanes;
  for (const auto& engine : engines_) lanes.push_back(engine->lane());
  lanes.push_back({"switch", [this](size_t first, size_t count) {
                     for (size_t i = first; i < first + count; ++i) {
                       accepted_ += yardstick_->Run(packets_[i].data, kPacketBytes) ? 1 : 0;
                     }
                   }});
  return lanes;
}

}  // namespace nftjit::bench
