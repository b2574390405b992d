// Rules and packets that the input chooses, through every engine.
#include <span>

#include "lib/ir/lower.h"
#include "tests/fuzz/check.h"
#include "tests/support/engine_tester.h"
#include "tests/support/generate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nftjit;   // NOLINT(google-build-using-namespace): one function.
  using namespace testing;  // NOLINT(google-build-using-namespace)
  constexpr int kPackets = 8;
  Random random(std::span(data, size), 1);
  GenerateOptions options;
  options.families = static_cast<RuleFamilies>(random.Below(4));
  options.conntrack = options.families == RuleFamilies::kL3 || options.families == RuleFamilies::kL3AndDevices;
  options.output = options.conntrack;
  options.rules = 4;
  const bool ethernet = options.families == RuleFamilies::kBridge || options.families == RuleFamilies::kArp;
  const CraftOptions craft = CraftFor(options, ethernet);
  const std::vector<CraftedPacket> targets = {CraftPacket(random, craft), CraftPacket(random, craft)};
  const nft::Ruleset ruleset = GenerateRuleset(random, options, targets);
  absl::StatusOr<ir::Program> lowered = ir::Lower(ruleset, {});
  fuzz::Check(lowered.ok(), "a generated ruleset does not lower", lowered.status());
  absl::StatusOr<std::unique_ptr<EngineTester>> tester = EngineTester::Make(*lowered);
  fuzz::Check(tester.ok(), "a generated ruleset does not compile", tester.status());
  std::vector<PacketCase> ran;
  for (int i = 0; i < kPackets; ++i) {
    ran.push_back(MakePacketCase(random, options, random.PickFrom(targets), ethernet));
    ran.back().bytes.resize(random.Below(static_cast<uint32_t>(ran.back().bytes.size()) + 1));
    const std::optional<std::string> wrong = (*tester)->Run(ran.back(), ran.back().bytes.size());
    if (wrong) fuzz::Check(false, *wrong, "tests/judge_engines/cases/NAME.txt:\n" + Print(Shrink({*lowered, ran})));
  }
  return 0;
}
