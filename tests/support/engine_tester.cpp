#include "tests/support/engine_tester.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cstring>

#include "lib/engine/compile.h"
#include "tests/support/guarded_bytes.h"

namespace nftjit::testing {
namespace {

ClockTime ReadClock(void* context) noexcept { return *static_cast<const ClockTime*>(context); }

constexpr std::array<std::string_view, 2> kVerdictNames = {"drop", "accept"};
constexpr std::array<std::string_view, 4> kDecidedNames = {"no chain", "rule", "policy", "header"};

// What one engine made of one hook.
struct Seen {
  Result result;
  uint32_t mark, priority, secmark;
  uint8_t pkttype;
  std::vector<LogEntry> logs;
  bool operator==(const Seen&) const = default;
};

std::string Describe(const Seen& seen) {
  const Result& r = seen.result;
  std::string out = absl::StrCat(std::string(kVerdictNames[static_cast<size_t>(r.verdict)]), " by ",
                                 std::string(kDecidedNames[static_cast<size_t>(r.decided_by)]));
  if (r.rule != Result::kNone) absl::StrAppend(&out, " ", r.rule);
  absl::StrAppend(&out, " (base chain ", static_cast<int32_t>(r.base_chain), ", reject ", static_cast<int>(r.reject),
                  "/", static_cast<int>(r.reject_code), ", mark ", seen.mark, ", priority ", seen.priority,
                  ", pkttype ", static_cast<int>(seen.pkttype), ", secmark ", seen.secmark, ", logs ", seen.logs.size(),
                  ")");
  return out;
}

std::string DescribeCounter(const CounterReading& counter) {
  return absl::StrCat(std::string(counter.table), " ", std::string(counter.chain), std::string(counter.set), " rule ",
                      static_cast<int32_t>(counter.rule), " expression ", counter.expression, ": ", counter.packets,
                      " packets ", counter.bytes, " bytes");
}

}  // namespace

std::span<const EngineChoice> EngineChoices() {
  static const std::array kChoices = {
      EngineChoice{"reference", &ReferenceEngine(), false},
      EngineChoice{"reference, optimised", &ReferenceEngine(), true},
      EngineChoice{"interp", &InterpreterEngine(), false},
      EngineChoice{"interp, optimised", &InterpreterEngine(), true},
      EngineChoice{"x86", &X86Engine(), false},
      EngineChoice{"x86, optimised", &X86Engine(), true},
  };
  return kChoices;
}

struct EngineTester::Side {
  const EngineChoice* choice;
  std::shared_ptr<const Program> program;
  std::unique_ptr<Instance> instance;
  std::optional<Worker> worker;
};

EngineTester::EngineTester(const ir::Program& lowered) : lowered_(lowered), decided_(lowered.rules.size()) {}
EngineTester::~EngineTester() = default;

absl::StatusOr<std::unique_ptr<EngineTester>> EngineTester::Make(const ir::Program& lowered) {
  std::unique_ptr<EngineTester> tester(new EngineTester(lowered));
  for (const EngineChoice& choice : EngineChoices()) {
    CompileIrOptions options;
    options.engine = choice.engine;
    options.optimise = choice.optimise;
    options.passes.verify_each = true;
    absl::StatusOr<std::shared_ptr<const Program>> program = CompileIr(lowered, options);
    if (!program.ok()) {
      return absl::Status(program.status().code(),
                          absl::StrCat(std::string(choice.name), ": ", program.status().message()));
    }
    auto side = std::make_unique<Side>();
    side->choice = &choice;
    side->program = *program;
    InstanceOptions instance;
    instance.clock = &ReadClock;
    instance.clock_context = &tester->clock_;
    side->instance = std::make_unique<Instance>(*program, instance);
    side->worker.emplace(side->instance->NewWorker());
    tester->sides_.push_back(std::move(side));
  }
  return tester;
}

std::optional<std::string> EngineTester::Run(const PacketCase& packet, size_t length, Coverage* coverage) {
  clock_.monotonic_ns += packet.gap_ns;
  clock_.wall_ns += packet.gap_ns;
  const std::span<const uint8_t> bytes(packet.bytes.data(), length);
  GuardedBytes guarded(bytes);
  std::vector<Seen> expected;
  std::vector<CounterReading> expected_counters;
  for (const std::unique_ptr<Side>& side : sides_) {
    Packet view = packet.View(guarded.data(), length);
    const bool judge = side == sides_.front();
    for (size_t hook = 0; hook < packet.path.size(); ++hook) {
      Seen seen;
      seen.result = side->worker->Run(packet.path[hook], view);
      seen.mark = view.mark;
      seen.priority = view.priority;
      seen.secmark = view.secmark;
      seen.pkttype = view.pkttype;
      seen.logs.resize(256);
      seen.logs.resize(side->worker->TakeLogs(seen.logs));
      if (!bytes.empty() && std::memcmp(guarded.data(), bytes.data(), length) != 0) {
        return absl::StrCat(std::string(side->choice->name), " changed the packet's bytes");
      }
      if (judge) {
        if (coverage != nullptr) {
          ++coverage->verdicts[static_cast<size_t>(seen.result.verdict)];
          ++coverage->decided[static_cast<size_t>(seen.result.decided_by)];
          ++coverage->rejects[static_cast<size_t>(seen.result.reject)];
          if (seen.mark != packet.facts.mark || seen.priority != packet.facts.priority) ++coverage->marked;
          if (!seen.logs.empty()) ++coverage->logged;
        }
        if (seen.result.rule != Result::kNone) decided_[seen.result.rule] = true;
        expected.push_back(std::move(seen));
      } else if (!(seen == expected[hook])) {
        return absl::StrCat("hook ", hook, " of the path: reference says ", Describe(expected[hook]), ", ",
                            std::string(side->choice->name), " says ", Describe(seen));
      }
      if (coverage != nullptr) ++coverage->runs;
    }
    std::vector<CounterReading> counters = side->instance->counters();
    if (judge) {
      expected_counters = std::move(counters);
      continue;
    }
    for (size_t i = 0; i < expected_counters.size(); ++i) {
      if (counters[i].packets != expected_counters[i].packets || counters[i].bytes != expected_counters[i].bytes) {
        return absl::StrCat("counter: reference has ", DescribeCounter(expected_counters[i]), ", ",
                            std::string(side->choice->name), " has ", DescribeCounter(counters[i]));
      }
    }
  }
  if (coverage != nullptr) ++coverage->cases;
  return std::nullopt;
}

std::vector<CounterReading> EngineTester::counters() const { return sides_.front()->instance->counters(); }

void EngineTester::CountPassedRules(Coverage& coverage) const {
  std::vector<bool> passed = decided_;
  std::vector<uint32_t> last(lowered_.rules.size(), 0);
  for (const CounterReading& counter : counters()) {
    if (counter.rule == Result::kNone || counter.expression < last[counter.rule]) continue;
    last[counter.rule] = counter.expression;
    if (counter.packets > 0) passed[counter.rule] = true;
  }
  for (const ir::Item& item : lowered_.items) {
    if (item.kind != ir::ItemKind::kRule || !passed[item.rule.index]) continue;
    for (const ir::Row& row : lowered_.RowsOf(item)) ++coverage.passed[static_cast<size_t>(row.op)];
  }
}

void Coverage::Count(const ir::Program& program) {
  ++programs;
  for (const ir::Row& row : program.rows) ++ops[static_cast<size_t>(row.op)];
}

std::string Print(const Coverage& coverage) {
  std::string out =
      absl::StrCat(coverage.cases, " packets, ", coverage.programs, " programs, ", coverage.runs,
                   " runs of a hook by an engine, ", EngineChoices().size(), " engine choices\n  verdicts:");
  for (size_t i = 0; i < coverage.verdicts.size(); ++i) {
    absl::StrAppend(&out, " ", std::string(kVerdictNames[i]), " ", coverage.verdicts[i]);
  }
  absl::StrAppend(&out, "\n  decided by:");
  for (size_t i = 0; i < coverage.decided.size(); ++i) {
    absl::StrAppend(&out, " ", std::string(kDecidedNames[i]), " ", coverage.decided[i]);
  }
  absl::StrAppend(&out, "\n  rejects: icmp ", coverage.rejects[1], " tcp reset ", coverage.rejects[2], " icmpx ",
                  coverage.rejects[3], "\n  changed metadata ", coverage.marked, ", logged ", coverage.logged,
                  "\n  ops (in programs, in rules that a packet passed):");
  for (size_t i = 0; i < Coverage::kOps; ++i) {
    if (coverage.ops[i] == 0) continue;
    absl::StrAppend(&out, " ", std::string(ir::Info(static_cast<ir::Op>(i)).text), " ", coverage.ops[i], "/",
                    coverage.passed[i]);
  }
  return absl::StrCat(out, "\n");
}

std::vector<std::string> EmptyClasses(const Coverage& coverage) {
  std::vector<std::string> empty;
  for (size_t i = 0; i < coverage.verdicts.size(); ++i) {
    if (coverage.verdicts[i] == 0) empty.push_back(absl::StrCat("verdict ", std::string(kVerdictNames[i])));
  }
  for (size_t i = 0; i < coverage.decided.size(); ++i) {
    if (coverage.decided[i] == 0) empty.push_back(absl::StrCat("decided by ", std::string(kDecidedNames[i])));
  }
  for (size_t i = 0; i < coverage.rejects.size(); ++i) {
    if (coverage.rejects[i] == 0) empty.push_back(absl::StrCat("reject kind ", i));
  }
  if (coverage.marked == 0) empty.emplace_back("changed metadata");
  if (coverage.logged == 0) empty.emplace_back("logged");
  constexpr auto kLast = static_cast<size_t>(ir::Op::kUnsupported);
  for (size_t i = 0; i < kLast; ++i) {
    if (coverage.passed[i] == 0)
      empty.push_back(absl::StrCat("op ", std::string(ir::Info(static_cast<ir::Op>(i)).text)));
  }
  return empty;
}

}  // namespace nftjit::testing
