#include "tests/support/kernel_judge.h"

#include <absl/strings/str_cat.h>

#include <map>

#include "lib/engine/compile.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/stack_view.h"

namespace nftjit::testing {
namespace {

// The station where chains of `family` and `hook` run; none for output.
std::optional<Station> StationOf(nft::Family family, uint8_t hook) {
  switch (family) {
    case nft::Family::kNetdev:
      return hook == nft::kNetdevIngress ? Station::kIngress : Station::kEgress;
    case nft::Family::kArp:
      if (hook == nft::kArpInput) return Station::kArpInput;
      return std::nullopt;
    default:
      break;
  }
  switch (hook) {
    case nft::kPrerouting:
      return Station::kPrerouting;
    case nft::kInput:
      return Station::kInput;
    case nft::kForward:
      return Station::kForward;
    case nft::kPostrouting:
      return Station::kPostrouting;
    case nft::kInetIngress:
      return Station::kIngress;
    default:
      return std::nullopt;
  }
}

std::string Describe(const CounterValue& value) { return absl::StrCat(value.packets, "/", value.bytes); }

}  // namespace

struct KernelJudge::Side {
  const EngineChoice* choice;
  std::shared_ptr<const Program> program;
  std::unique_ptr<Instance> instance;
  std::optional<Worker> worker;
  std::vector<size_t> slots;  // For each of the kernel's places, the index into Instance::counters().
  std::vector<CounterValue> before;
};

KernelJudge::KernelJudge(LiveKernel& kernel, const nft::Ruleset& ruleset) : kernel_(kernel), ruleset_(ruleset) {}
KernelJudge::~KernelJudge() = default;

absl::StatusOr<std::unique_ptr<KernelJudge>> KernelJudge::Make(LiveKernel& kernel, const nft::Ruleset& ruleset) {
  std::unique_ptr<KernelJudge> judge(new KernelJudge(kernel, ruleset));
  if (absl::Status status = kernel.Load(ruleset); !status.ok()) return status;
  if (absl::Status status = judge->Compile(); !status.ok()) return status;
  judge->moved_.resize(kernel.places().size());
  for (const nft::Table& table : ruleset.tables) {
    if ((table.flags & 1) != 0) continue;
    for (const nft::Chain& chain : table.chains) {
      if (!chain.base) continue;
      if (std::optional<Station> station = StationOf(table.family, chain.base->hook)) judge->stations_.insert(*station);
    }
  }
  return judge;
}

absl::Status KernelJudge::Compile() {
  // Handles of rules by place, to find our counter for each of the kernel's.
  std::map<CounterPlace, nft::Handle> handles;
  for (const nft::Table& table : ruleset_.tables) {
    for (const nft::Chain& chain : table.chains) {
      for (uint32_t i = 0; i < chain.rules.size(); ++i) {
        handles[{table.family, table.name, chain.name, i, 0}] = chain.rules[i].handle;
      }
    }
  }
  for (const EngineChoice& choice : EngineChoices()) {
    CompileOptions options;
    options.engine = choice.engine;
    options.optimise = choice.optimise;
    absl::StatusOr<std::shared_ptr<const Program>> program = CompileModel(ruleset_, options);
    if (!program.ok()) {
      return absl::Status(program.status().code(),
                          absl::StrCat(std::string(choice.name), ": ", program.status().message()));
    }
    auto side = std::make_unique<Side>();
    side->choice = &choice;
    side->program = *std::move(program);
    side->instance = std::make_unique<Instance>(side->program);
    side->worker.emplace(side->instance->NewWorker());
    const std::vector<CounterReading> counters = side->instance->counters();
    for (const CounterPlace& place : kernel_.places()) {
      const nft::Handle handle = handles[{place.family, place.table, place.chain, place.rule, 0}];
      size_t slot = counters.size();
      for (size_t i = 0; i < counters.size(); ++i) {
        const CounterReading& counter = counters[i];
        if (counter.rule_handle == handle && counter.set.empty() && counter.expression == place.expression &&
            counter.table == place.table &&
            static_cast<uint8_t>(counter.family) == static_cast<uint8_t>(place.family) &&
            counter.chain == place.chain) {
          slot = i;
        }
      }
      if (slot == counters.size()) return absl::InternalError(absl::StrCat("no counter of ours at ", ToString(place)));
      side->slots.push_back(slot);
      side->before.push_back({counters[slot].packets, counters[slot].bytes});
    }
    sides_.push_back(std::move(side));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<std::string>> KernelJudge::Run(ByteSpan packet, KernelCoverage* coverage) {
  absl::StatusOr<Observation> seen = kernel_.Inject(packet);
  if (!seen.ok()) return seen.status();
  if (coverage != nullptr) {
    ++coverage->packets;
    bool met = !seen->accepted_by_device;
    for (const Station station : stations_) met = met || seen->entered[static_cast<size_t>(station)] > 0;
    // The last hook before the ones that the ruleset has chains at may have been the end of the packet's way.
    const bool on_its_way = seen->entered[static_cast<size_t>(Station::kPrerouting)] > 0 ||
                            seen->entered[static_cast<size_t>(Station::kArpInput)] > 0;
    if (!seen->accepted_by_device) ++coverage->refused_by_device;
    if (!met && !on_its_way) ++coverage->dropped_early;
  }
  for (const std::unique_ptr<Side>& side : sides_) {
    const bool first = side == sides_.front();
    if (std::optional<std::string> wrong = RunSide(*side, packet, *seen, first ? coverage : nullptr)) {
      return absl::StrCat(std::string(side->choice->name), ": ", *wrong);
    }
  }
  for (size_t i = 0; i < moved_.size(); ++i) {
    if (seen->counters[i].packets == 0) continue;
    moved_[i] = true;
    if (coverage != nullptr) ++coverage->counter_steps;
  }
  return std::optional<std::string>();
}

std::optional<std::string> KernelJudge::RunSide(Side& side, ByteSpan packet, const Observation& seen,
                                                KernelCoverage* coverage) {
  uint32_t mark = 0, priority = 0;
  bool beyond = false;
  for (size_t number = 0; number < kStationCount; ++number) {
    const auto station = static_cast<Station>(number);
    if (seen.entered[number] == 0 || stations_.count(station) == 0) continue;
    std::optional<StackView> at = ViewAt(station, kernel_.topology(), packet);
    if (!at || seen.entered[number] > 1) {
      beyond = true;
      break;
    }
    GuardedBytes guarded(at->bytes);
    Packet view;
    view.data = guarded.data();
    view.length = static_cast<uint32_t>(guarded.size());
    if (at->link) {
      ParseEthernet(view);
    } else {
      view.protocol = at->bytes[0] >> 4 == 6 ? 0x86dd : 0x0800;
    }
    view.pkttype = at->pkttype;
    view.mark = mark;
    view.priority = priority;
    view.iif = &kernel_.input();
    view.oif = station >= Station::kForward ? &kernel_.output() : nullptr;
    std::optional<Conntrack> ct = seen.conntrack[number];
    if (ct) {
      ct->l3protocol = at->site.family == nftjit::Family::kIp6 ? 10 : 2;
      view.ct = &*ct;
    }
    if (ct && coverage != nullptr) {
      ++((ct->state & kCtNew) != 0           ? coverage->ct_new
         : (ct->state & kCtEstablished) != 0 ? coverage->ct_established
         : (ct->state & kCtRelated) != 0     ? coverage->ct_related
                                             : coverage->ct_invalid);
    }
    const Result result = side.worker->Run(at->site, view);
    if (station !=
        Station::kInput) {  // The end of its way: a frame that a bridge floods, too, goes on as from prerouting.
      mark = view.mark;
      priority = view.priority;
    }
    const bool ours = result.verdict == Verdict::kAccept, theirs = seen.left[number] > 0;
    if (coverage != nullptr) ++(theirs ? coverage->passed : coverage->dropped)[number];
    if (ours != theirs) {
      return absl::StrCat("at ", std::string(Name(station)), " the kernel ", theirs ? "accepts" : "drops", ", we ",
                          ours ? "accept" : "drop", " (rule ", static_cast<int32_t>(result.rule), ")");
    }
  }
  if (beyond) {
    beyond_ = true;
    if (coverage != nullptr) ++coverage->beyond_model;
    // What the rest of the packet's way counted is not ours to know.
    for (size_t i = 0; i < side.slots.size(); ++i) side.before[i].packets = UINT64_MAX;
  }
  return CompareCounters(side, seen);
}

std::optional<std::string> KernelJudge::CompareCounters(Side& side, const Observation& seen) const {
  const std::vector<CounterReading> counters = side.instance->counters();
  for (size_t i = 0; i < side.slots.size(); ++i) {
    const CounterReading& counter = counters[side.slots[i]];
    const CounterValue now{counter.packets, counter.bytes};
    const bool skip = side.before[i].packets == UINT64_MAX;
    const CounterValue moved = now - side.before[i];
    side.before[i] = now;
    if (skip || moved == seen.counters[i]) continue;
    return absl::StrCat("counter ", ToString(kernel_.places()[i]), ": the kernel counts ", Describe(seen.counters[i]),
                        ", we count ", Describe(moved));
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<std::string>> KernelJudge::CompareElements() {
  if (beyond_) return std::optional<std::string>();
  for (const nft::Table& table : ruleset_.tables) {
    for (const nft::Set& set : table.sets) {
      absl::StatusOr<std::vector<ElementCounter>> theirs =
          ReadElementCounters(kernel_.socket(), table.family, table.name, set.name);
      if (!theirs.ok()) return theirs.status();
      for (const std::unique_ptr<Side>& side : sides_) {
        for (const CounterReading& counter : side->instance->counters()) {
          if (counter.set != set.name || counter.table != table.name) continue;
          for (const ElementCounter& element : *theirs) {
            const bool same = element.catchall ? counter.element_key.empty() : counter.element_key == element.key;
            if (!same || CounterValue{counter.packets, counter.bytes} == element.value) continue;
            return std::optional<std::string>(absl::StrCat(
                std::string(side->choice->name), ": counter of an element of ", set.name, ": the kernel has ",
                Describe(element.value), ", we have ", Describe({counter.packets, counter.bytes})));
          }
        }
      }
    }
  }
  return std::optional<std::string>();
}

void KernelJudge::CountRules(KernelCoverage& coverage) const {
  ++coverage.rulesets;
  for (const nft::Table& table : ruleset_.tables) {
    for (const nft::Chain& chain : table.chains) coverage.rules += chain.rules.size();
  }
  const std::vector<CounterPlace>& places = kernel_.places();
  for (size_t i = 0; i < places.size(); ++i) {
    const bool last = i + 1 == places.size() || places[i + 1].rule != places[i].rule ||
                      places[i + 1].chain != places[i].chain || places[i + 1].table != places[i].table;
    if (last && moved_[i]) ++coverage.rules_matched;
  }
}

std::string Print(const KernelCoverage& coverage) {
  std::string out = absl::StrCat(coverage.packets, " packets, ", coverage.rulesets, " rulesets; refused by the device ",
                                 coverage.refused_by_device, ", dropped early ", coverage.dropped_early,
                                 ", judged in part ", coverage.beyond_model, "; rules ", coverage.rules, ", matched ",
                                 coverage.rules_matched, ", counter steps ", coverage.counter_steps, "\n ");
  for (size_t i = 0; i < kStationCount; ++i) {
    absl::StrAppend(&out, " ", std::string(Name(static_cast<Station>(i))), " ", coverage.passed[i], " passed ",
                    coverage.dropped[i], " dropped;");
  }
  return absl::StrCat(out, "\n  conntrack: new ", coverage.ct_new, " established ", coverage.ct_established,
                      " related ", coverage.ct_related, " invalid ", coverage.ct_invalid, "\n");
}

}  // namespace nftjit::testing
