// What a run prints: a line per packet and hook, then the counters.
#ifndef NFTJIT_TOOLS_NFTJIT_REPORT_H_
#define NFTJIT_TOOLS_NFTJIT_REPORT_H_

#include <cstdint>
#include <iosfwd>

#include "nftjit/instance.h"
#include "nftjit/program.h"
#include "nftjit/worker.h"

namespace nftjit::cli {

// JSON (one object a line) or text, as the constructor says. The shapes of the objects are documented in docs/cli.md.
class Report {
 public:
  Report(std::ostream& out, const Program& program, bool json) : out_(out), program_(program), json_(json) {}

  // Packet numbers count from 1.
  void PacketAtHook(uint64_t packet, HookSite site, const Result& result);
  // The last object of a run, or the table of counters.
  void Counters(uint64_t packets, uint64_t unknown, const Instance& instance);

 private:
  void PacketAsJson(uint64_t packet, HookSite site, const Result& result);
  void CountersAsJson(uint64_t packets, uint64_t unknown, const Instance& instance);

  std::ostream& out_;
  const Program& program_;
  bool json_;
};

// "accept", "drop", "unknown".
std::string_view VerdictText(Verdict verdict);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_REPORT_H_
