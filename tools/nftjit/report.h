// What a run prints: a line per packet and hook, or of a summary a line per rule that decided, then the counters.
#ifndef NFTJIT_TOOLS_NFTJIT_REPORT_H_
#define NFTJIT_TOOLS_NFTJIT_REPORT_H_

#include <array>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <tuple>

#include "nftjit/instance.h"
#include "nftjit/program.h"
#include "nftjit/worker.h"

namespace nftjit::cli {

// JSON (one object a line) or text, as the constructor says. The shapes of the objects are documented in docs/cli.md.
class Report {
 public:
  // A summary has no lines of packets.
  Report(std::ostream& out, const Program& program, bool json, bool summary)
      : out_(out), program_(program), json_(json), summary_(summary) {}

  // Packet numbers count from 1.
  void PacketAtHook(uint64_t packet, HookSite site, const Result& result);
  // What each rule and policy decided, in the order of the ruleset. Nothing without `summary`, or in JSON.
  void Verdicts();
  // The last object of a run, or the table of counters.
  void Counters(uint64_t packets, uint64_t unknown, const Instance& instance);

 private:
  // What decided: rules before what stands for no rule.
  using Decider = std::tuple<bool, uint32_t, DecidedBy>;
  struct Decided {
    std::string where;
    std::array<uint64_t, 3> packets{};  // Accepted, dropped, unknown.
  };

  [[nodiscard]] std::string Where(const Result& result) const;
  void Tally(const Result& result);
  void PacketAsJson(uint64_t packet, HookSite site, const Result& result);
  void CountersAsJson(uint64_t packets, uint64_t unknown, const Instance& instance);

  std::ostream& out_;
  const Program& program_;
  bool json_, summary_;
  std::map<Decider, Decided> decided_;
};

// "accept", "drop", "unknown".
std::string_view VerdictText(Verdict verdict);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_REPORT_H_
