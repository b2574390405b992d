#include "benchmarks/server_case.h"

#include <random>

#include "benchmarks/prefix_rules.h"
#include "lib/engine/program_data.h"
#include "nftjit/compile.h"
#include "nftjit/ruleset.h"

namespace nftjit::bench {

ServerCase::ServerCase(int percent_established) {
  const Ruleset ruleset = Must(Ruleset::FromFile(NFTJIT_SOURCE_DIR "/examples/rulesets/server.nft"));
  const std::shared_ptr<const Program> reference = Must(Compile(ruleset, {.engine = &ReferenceEngine()}));
  traffic_ = Must(TrafficMaker(reference->data().lowered, 5).Make(TrafficKind::kMixed, kPacketCount, {}));
  eth0_.index = 2;
  eth0_.name = {'e', 't', 'h', '0'};
  fresh_.state = kCtNew;
  established_.state = kCtEstablished;
  fresh_.has_entry = established_.has_entry = true;
  std::mt19937 random(6);
  for (size_t i = 0; i < kPacketCount; ++i) {
    packets_.push_back(traffic_.At(i));
    packets_.back().iif = &eth0_;
    packets_.back().ct = static_cast<int>(random() % 100) < percent_established ? &established_ : &fresh_;
  }

  const auto lane = [&](std::string name, const EngineInterface& engine) {
    return std::make_unique<EngineLane>(std::move(name), Must(Compile(ruleset, {.engine = &engine})),
                                        HookSite{Family::kInet, Hook::kInput}, packets_);
  };
  x86_ = lane("x86", X86Engine());
  interp_ = lane("interp", InterpreterEngine());
  x86_->Run(0, kPacketCount);
  interp_->Run(0, kPacketCount);
  for (size_t i = 0; i < kPacketCount; ++i) {
    const bool accepted = handwritten_.Run(packets_[i]);
    if (accepted == (x86_->result(i).verdict == Verdict::kAccept) && x86_->result(i) == interp_->result(i)) continue;
    std::cerr << "benchmark: engines and handwritten function disagree on packet " << i << '\n';
    std::exit(1);
  }
}

std::vector<NamedLane> ServerCase::lanes() {
  return {x86_->lane(), interp_->lane(), {"handwritten", [this](size_t first, size_t count) {
                                            for (size_t i = first; i < first + count; ++i) {
                                              accepted_ += handwritten_.Run(packets_[i]) ? 1 : 0;
                                            }
                                          }}};
}

}  // namespace nftjit::bench
