// Engines against each other on everything observable. The judge is the reference engine on the program as lowered.
//
// Compared after every hook of every packet: verdict, what decided it, rule, base chain, reject, mark, priority,
// pkttype, secmark, the packet's bytes, log records; after every packet: all counters. Packets end at a guard page.
#ifndef NFTJIT_TESTS_SUPPORT_ENGINE_TESTER_H_
#define NFTJIT_TESTS_SUPPORT_ENGINE_TESTER_H_

#include <absl/status/statusor.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/ir/ir.h"
#include "nftjit/engine.h"
#include "nftjit/instance.h"
#include "tests/support/packet_case.h"

namespace nftjit::testing {

struct EngineChoice {
  std::string_view name;  // "x86, optimised"
  const EngineInterface* engine;
  bool optimise;
};
// The judge first.
std::span<const EngineChoice> EngineChoices();

// What a run of cases covered; printed, and checked for classes that stayed empty.
struct Coverage {
  static constexpr size_t kOps = 64;
  uint64_t cases = 0;                  // Packets.
  uint64_t runs = 0;                   // Hooks of packets, by each engine.
  std::array<uint64_t, 2> verdicts{};  // By Verdict.
  std::array<uint64_t, 4> decided{};   // By DecidedBy.
  std::array<uint64_t, 4> rejects{};   // By RejectKind.
  uint64_t marked = 0, logged = 0;     // Hooks that changed metadata, that logged.
  uint64_t programs = 0;
  std::array<uint64_t, kOps> ops{};     // Rows by Op in the programs.
  std::array<uint64_t, kOps> passed{};  // Of those, in rules that some packet passed to the end.
  void Count(const ir::Program& program);
};
std::string Print(const Coverage& coverage);
// Names of classes that nothing fell into; empty if all is covered. `ops` that lowering makes are all expected.
std::vector<std::string> EmptyClasses(const Coverage& coverage);

class EngineTester {
 public:
  // Compiles `lowered` for every choice. Errors: of the compilers, naming the engine.
  static absl::StatusOr<std::unique_ptr<EngineTester>> Make(const ir::Program& lowered);
  ~EngineTester();
  // Runs the first `length` bytes of the packet. Returns what differs, or nothing.
  std::optional<std::string> Run(const PacketCase& packet, size_t length, Coverage* coverage = nullptr);
  // Of the judge, in the order of Instance::counters().
  [[nodiscard]] std::vector<CounterReading> counters() const;
  // Adds to `coverage` the ops of rules whose last counter has moved or that decided a packet.
  void CountPassedRules(Coverage& coverage) const;

 private:
  struct Side;
  explicit EngineTester(const ir::Program& lowered);
  ir::Program lowered_;
  ClockTime clock_{.monotonic_ns = 1000000000000, .wall_ns = 1700000000000000000};
  std::vector<std::unique_ptr<Side>> sides_;
  std::vector<bool> decided_;  // By rule.
};

// A program and packets as one text, and back: what a failing test prints and tests/judge_engines/cases holds.
struct EngineCase {
  ir::Program program;
  std::vector<PacketCase> packets;
};
std::string Print(const EngineCase& engine_case);
absl::StatusOr<EngineCase> ParseEngineCase(std::string_view text, std::string_view file_name);

// Compiles and runs everything; what differs, or what could not be compiled.
std::optional<std::string> Disagreement(const EngineCase& engine_case);
// Drops rules, rows, set elements, packets and bytes while the engines still disagree.
EngineCase Shrink(EngineCase failing);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_ENGINE_TESTER_H_
