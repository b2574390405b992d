// Runs packets through the base chains of a hook, on one thread.
#ifndef NFTJIT_WORKER_H_
#define NFTJIT_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "nftjit/packet.h"

namespace nftjit {

// Where packets are run: a hook of one protocol family.
//
// kIp, kIp6   prerouting to postrouting. Base chains of ip or ip6 tables and of inet tables run, in one order.
// kInet       prerouting to postrouting: each packet of the burst is run at kIp or kIp6, whichever its `protocol` says
//             (0x0800, 0x86dd), or if that is 0 the version nibble at its network offset. Others meet no chain.
// kArp        input, output.          kBridge  prerouting to postrouting.
// kNetdev     ingress, egress. A device has one list of ingress chains for netdev and inet tables, so kInet with
//             kIngress means the same. Only chains of the packet's `iif` (egress: `oif`) run.
// Any other combination has no chains: packets are accepted.
struct HookSite {
  Family family = Family::kIp;
  Hook hook = Hook::kInput;
  bool operator==(const HookSite&) const = default;
};

enum class Verdict : uint8_t {
  kDrop = 0,
  kAccept = 1,
  // It depends on bytes that are not at hand: only of packets with `missing` bytes, and only by the reference engine,
  // whose other verdicts hold whatever the missing bytes are. What follows is not run, so counters, log records and
  // changed metadata are those of what came before. (Nor is a packet counted of which not even the length is known.)
  kUnknown = 2,
};

// What ended the last base chain that was run.
enum class DecidedBy : uint8_t {
  kNoChain,  // The hook has no chain for this packet; it is accepted.
  kRule,     // The verdict of `rule`.
  kPolicy,   // The policy of `base_chain`: the packet fell off its end or returned.
  kHeader,   // inet ingress: a broken L3 header dropped the packet before `base_chain` was run (vm-semantics 7).
  kMissing,  // Nothing: the verdict is kUnknown since `rule`; if that is kNone, since the headers were to be parsed.
};

enum class RejectKind : uint8_t { kNone, kIcmp, kTcpReset, kIcmpx };  // kIcmpx: the code is of nf_tables' own.

// What became of one packet.
struct Result {
  static constexpr uint32_t kNone = UINT32_MAX;

  Verdict verdict = Verdict::kAccept;
  DecidedBy decided_by = DecidedBy::kNoChain;
  RejectKind reject = RejectKind::kNone;  // How the sender is to be told of the drop.
  uint8_t reject_code = 0;
  uint32_t base_chain = kNone;  // Index into Program::chains(): the base chain that was run last.
  uint32_t rule = kNone;        // Index into Program::rules(): it may stand in a chain that `base_chain` jumped to.
  bool operator==(const Result&) const = default;
};

// A `log` statement that was evaluated.
struct LogEntry {
  uint32_t log = 0;     // Index into Program::logs().
  uint32_t packet = 0;  // Index into the burst.
  bool operator==(const LogEntry&) const = default;
};

struct WorkerState;

// Made by Instance::NewWorker(). One thread at a time may use it; different Workers run in parallel. It keeps the
// Instance's state alive; when it goes, its counts stay with the Instance.
class Worker {
 public:
  explicit Worker(std::unique_ptr<WorkerState> state);
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) noexcept;
  ~Worker();

  // Runs the packets in order through the base chains of `site`, the result of each at its index; of spans of different
  // length as many as the shorter has. The same as one call per packet, but that the clock is read once. Allocates
  // nothing, takes no lock. May change mark, priority, pkttype and secmark of the packets, and nothing else of them.
  void Run(HookSite site, std::span<Packet> packets, std::span<Result> results) noexcept;
  Result Run(HookSite site, Packet& packet) noexcept;

  // Moves the oldest log entries that were not taken yet into `out` and returns their number. When more than
  // InstanceOptions::log_capacity wait, the oldest are lost and counted. `packet` counts within the burst of its Run().
  size_t TakeLogs(std::span<LogEntry> out) noexcept;
  [[nodiscard]] uint64_t lost_logs() const noexcept;

 private:
  std::unique_ptr<WorkerState> state_;
};

}  // namespace nftjit

#endif  // NFTJIT_WORKER_H_
