#include "tests/support/generate.h"

#include "tests/support/model_builder.h"
#include "tests/support/rule_generator.h"

namespace nftjit::testing {
namespace {

struct HookChoice {
  nft::Family family;
  uint8_t hook;
  const std::string* device;  // Null: none.
};

class RulesetGenerator {
 public:
  RulesetGenerator(Random& random, const GenerateOptions& options, const std::vector<CraftedPacket>& packets)
      : random_(random), options_(options), packets_(packets) {}

  nft::Ruleset Generate() {
    const uint32_t tables = random_.Percent(40) ? 1 : random_.Between(2, 3);
    for (uint32_t i = 0; i < tables; ++i) AddTable("t" + std::to_string(i));
    return std::move(ruleset_);
  }

 private:
  nft::Family PickFamily() {
    using nft::Family;
    switch (options_.families) {
      case RuleFamilies::kL3:
        return random_.Pick({Family::kInet, Family::kInet, Family::kIp, Family::kIp6});
      case RuleFamilies::kL3AndDevices:
        return random_.Pick({Family::kInet, Family::kIp, Family::kIp6, Family::kNetdev, Family::kNetdev});
      case RuleFamilies::kBridge:
        return random_.Pick({Family::kBridge, Family::kBridge, Family::kBridge, Family::kNetdev});
      case RuleFamilies::kArp:
        return random_.Pick({Family::kArp, Family::kArp, Family::kNetdev});
    }
    return Family::kInet;
  }

  HookChoice PickHook(nft::Family family) {
    switch (family) {
      case nft::Family::kNetdev: {
        const bool ingress = options_.families != RuleFamilies::kL3AndDevices || random_.Percent(75);
        return {family, ingress ? nft::kNetdevIngress : nft::kNetdevEgress,
                ingress ? &options_.input_name : &options_.output_name};
      }
      case nft::Family::kArp:
        return {family, nft::kArpInput, nullptr};
      case nft::Family::kInet:
        if (options_.families == RuleFamilies::kL3AndDevices && random_.OneIn(5)) {
          return {family, nft::kInetIngress, &options_.input_name};
        }
        break;
      default:
        break;
    }
    if (options_.output && random_.OneIn(6)) return {family, nft::kOutput, nullptr};
    return {family,
            random_.Pick<uint8_t>({nft::kPrerouting, nft::kPrerouting, nft::kInput, nft::kForward, nft::kPostrouting}),
            nullptr};
  }

  void AddBaseChain(nft::Table& table, uint32_t& hooks) {
    const HookChoice choice = PickHook(table.family);
    hooks |= 1U << choice.hook;
    nft::Chain chain;
    chain.handle = next_handle_++;
    chain.name = "b" + std::to_string(chain.handle);
    chain.flags = 1;
    nft::BaseChain base;
    base.hook = choice.hook;
    base.priority = random_.Pick({-400, -300, -150, 0, 0, 0, 10, 50, 225});
    // What the live kernel is asked of conntrack holds after it.
    if (options_.for_kernel && options_.conntrack && base.priority < -150) base.priority = -150;
    base.policy = random_.OneIn(5) ? nft::VerdictCode::kDrop : nft::VerdictCode::kAccept;
    base.registration = ++registrations_;
    if (choice.device != nullptr) base.devices.push_back({*choice.device, false});
    chain.base = std::move(base);
    table.chains.push_back(std::move(chain));
  }

  void AddTable(std::string name) {
    nft::Table& table = ruleset_.tables.emplace_back();
    table.name = std::move(name);
    table.family = PickFamily();
    table.handle = next_handle_++;
    table.flags = random_.OneIn(30) ? 1 : 0;
    uint32_t hooks = 0;
    const uint32_t bases = random_.Between(2, 4), regulars = random_.Below(4);
    for (uint32_t i = 0; i < bases; ++i) AddBaseChain(table, hooks);
    for (uint32_t i = 0; i < regulars; ++i) {
      nft::Chain chain;
      chain.handle = next_handle_++;
      chain.name = "c" + std::to_string(chain.handle);
      table.chains.push_back(std::move(chain));
    }
    const TableContext context{&table, &options_, &packets_, hooks, &next_handle_};
    for (size_t i = 0; i < table.chains.size(); ++i) {
      // Jumps go to later chains only: no loops, and never to a base chain.
      std::vector<nft::Handle> targets;
      for (size_t j = std::max<size_t>(i + 1, bases); j < table.chains.size(); ++j) {
        targets.push_back(table.chains[j].handle);
      }
      const uint32_t rules = random_.Between(1, std::max(2U, options_.rules * 2 / (bases + regulars)));
      for (uint32_t r = 0; r < rules; ++r) {
        table.chains[i].rules.push_back(RuleGenerator(random_, context, targets).Generate());
      }
    }
  }

  Random& random_;
  const GenerateOptions& options_;
  const std::vector<CraftedPacket>& packets_;
  nft::Ruleset ruleset_;
  uint64_t next_handle_ = 1;
  uint64_t registrations_ = 0;
};

}  // namespace

nft::Ruleset GenerateRuleset(Random& random, const GenerateOptions& options,
                             const std::vector<CraftedPacket>& packets) {
  return RulesetGenerator(random, options, packets).Generate();
}

nft::Ruleset GenerateValueRules(Random& random, const GenerateOptions& options,
                                const std::vector<CraftedPacket>& packets, nft::Family family, uint32_t rules) {
  RulesetBuilder builder;
  builder.Table(family, "values");
  builder.BaseChain("c", nft::kPrerouting, -300);
  nft::Table& table = builder.ruleset().tables[0];
  uint64_t next_handle = 1000;
  const TableContext context{&table, &options, &packets, 1U << nft::kPrerouting, &next_handle};
  for (uint32_t i = 0; i < rules; ++i) {
    table.chains[0].rules.push_back(RuleGenerator(random, context, {}).GenerateValues());
  }
  return builder.ruleset();
}

CraftOptions CraftFor(const GenerateOptions& options, bool ethernet) {
  CraftOptions craft;
  craft.ethernet = ethernet;
  craft.for_kernel = options.for_kernel;
  craft.for_bridge = options.families == RuleFamilies::kBridge;
  craft.arp = options.families != RuleFamilies::kL3;
  return craft;
}

}  // namespace nftjit::testing
