// Whole register files: the kernel exports all 64 bytes with a `dynset` into a set with a 64-byte key; our engines must
// hold the same bytes after the same loads and computations, or break where it broke.
#include <catch2/catch.hpp>
#include <iostream>

#include "lib/engine/compile.h"
#include "tests/support/engine_tester.h"
#include "tests/support/generate.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/live_kernel.h"
#include "tests/support/model_builder.h"
#include "tests/support/requirement.h"
#include "tests/support/stack_view.h"

namespace nftjit::testing {
namespace {

constexpr uint32_t kRules = 24;
constexpr uint64_t kRegisterPackets = 120;

// The same rules, each ended by an export of all registers into a set of its own.
nft::Ruleset WithExports(nft::Ruleset ruleset) {
  nft::Table& table = ruleset.tables[0];
  uint32_t number = 0;
  for (nft::Rule& rule : table.chains[0].rules) {
    nft::Set set;
    set.handle = 100000 + number;
    set.name = "r" + std::to_string(number++);
    set.flags = nft::kSetEval;
    set.key_len = 64;
    set.size = 4;
    table.sets.push_back(set);
    nft::Dynset dynset{};
    dynset.set = set.handle;
    dynset.sreg_key = R1;
    rule.expressions.push_back(Make(dynset));
  }
  return ruleset;
}

// The same rules, each ended by compares of all registers with what the kernel exported, and a counter.
nft::Ruleset WithCompares(nft::Ruleset ruleset, const std::vector<std::optional<std::string>>& exported) {
  std::vector<nft::Rule>& rules = ruleset.tables[0].chains[0].rules;
  for (size_t i = 0; i < rules.size(); ++i) {
    for (uint8_t reg = 0; exported[i] && reg < 4; ++reg) {
      const Bytes part(exported[i]->begin() + reg * 16, exported[i]->begin() + reg * 16 + 16);
      rules[i].expressions.push_back(
          Make(nft::Cmp{nft::Register::Word(static_cast<uint8_t>(reg * 4)), nft::CmpOp::kEq, Constant(part)}));
    }
    rules[i].expressions.push_back(Count());
  }
  return ruleset;
}

struct Tally {
  uint64_t packets = 0, dropped_early = 0, held = 0, broken = 0;
};

void CompareFiles(LiveKernel& kernel, uint64_t seed, Tally& tally) {
  Random random(seed);
  GenerateOptions options;
  options.for_kernel = true;
  const CraftOptions craft = CraftFor(options, false);
  const std::vector<CraftedPacket> targets = {CraftPacket(random, craft)};
  const nft::Family family = targets[0].ethertype == 0x86dd ? nft::Family::kIp6 : nft::Family::kIp;
  const nft::Ruleset ruleset = GenerateValueRules(random, options, targets, family, kRules);
  const Bytes packet = random.OneIn(2) ? targets[0].bytes : NearMiss(random, targets[0], craft);
  INFO("seed " << seed << ", packet " << ToHex(ByteSpan(packet)));
  REQUIRE(kernel.Load(WithExports(ruleset)).ok());
  absl::StatusOr<Observation> seen = kernel.Inject(packet);
  REQUIRE(seen.ok());
  ++tally.packets;
  if (seen->entered[static_cast<size_t>(Station::kPrerouting)] != 1) {
    ++tally.dropped_early;
    return;
  }
  std::vector<std::optional<std::string>> exported(kRules);
  for (uint32_t i = 0; i < kRules; ++i) {
    absl::StatusOr<std::vector<std::string>> keys =
        ReadElementKeys(kernel.socket(), family, "values", "r" + std::to_string(i));
    REQUIRE(keys.ok());
    REQUIRE(keys->size() <= 1);
    if (!keys->empty()) exported[i] = keys->front();
    ++(exported[i] ? tally.held : tally.broken);
  }
  const nft::Ruleset compares = WithCompares(ruleset, exported);
  const std::optional<StackView> view = ViewAt(Station::kPrerouting, kernel.topology(), packet);
  for (const EngineChoice& choice : EngineChoices()) {
    INFO("engine " << choice.name);
    CompileOptions compile;
    compile.engine = choice.engine;
    compile.optimise = choice.optimise;
    absl::StatusOr<std::shared_ptr<const Program>> program = CompileModel(compares, compile);
    INFO(program.status().ToString());
    REQUIRE(program.ok());
    Instance instance(*program);
    Worker worker = instance.NewWorker();
    GuardedBytes guarded(view->bytes);
    Packet ours;
    ours.data = guarded.data();
    ours.length = static_cast<uint32_t>(guarded.size());
    ours.protocol = family == nft::Family::kIp6 ? 0x86dd : 0x0800;
    ours.iif = &kernel.input();
    worker.Run(view->site, ours);
    for (const CounterReading& counter : instance.counters()) {
      INFO("rule " << counter.rule);
      CHECK(counter.packets == (exported[counter.rule] ? 1 : 0));
    }
  }
}

TEST_CASE("Register files are the kernel's") {
  if (!MayRun("kernel", NetworkNamespace::Available())) return;
  LiveKernelOptions live;
  live.input_index = 2;
  live.output_index = 3;
  absl::StatusOr<std::unique_ptr<LiveKernel>> kernel = LiveKernel::Start(live);
  INFO(kernel.status().ToString());
  REQUIRE(kernel.ok());
  const uint64_t seed = NumberFromEnvironment("NFTJIT_SEED", 1);
  const uint64_t packets = std::min(NumberFromEnvironment("NFTJIT_CASES", kRegisterPackets), kRegisterPackets * 100);
  Tally tally;
  for (uint64_t i = 0; i < packets; ++i) CompareFiles(**kernel, seed + i, tally);
  std::cout << "register files: " << tally.packets << " packets, " << tally.dropped_early << " dropped early; "
            << tally.held << " files compared, " << tally.broken << " rules broke\n";
  CHECK(tally.dropped_early * 5 <= tally.packets);
  CHECK(tally.held > 0);
  CHECK(tally.broken > 0);
}

}  // namespace
}  // namespace nftjit::testing
