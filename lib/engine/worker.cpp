// Packets through the chains of a hook.
#include "nftjit/worker.h"

#include <algorithm>
#include <utility>

#include "lib/engine/instance_state.h"

namespace nftjit {
namespace {

// The protocol family that an L3 packet of a mixed burst is run at: kIp, kIp6, or kInet for neither.
Family L3FamilyOf(const Packet& packet) noexcept {
  if (packet.protocol == 0x0800) return Family::kIp;
  if (packet.protocol == 0x86dd) return Family::kIp6;
  if (packet.protocol != 0 || packet.network_offset >= packet.length) return Family::kInet;
  const int version = packet.data[packet.network_offset] >> 4;
  return version == 4 ? Family::kIp : (version == 6 ? Family::kIp6 : Family::kInet);
}

static_assert(static_cast<int>(RejectKind::kIcmp) == static_cast<int>(nft::RejectType::kIcmp) + 1 &&
              static_cast<int>(RejectKind::kTcpReset) == static_cast<int>(nft::RejectType::kTcpReset) + 1 &&
              static_cast<int>(RejectKind::kIcmpx) == static_cast<int>(nft::RejectType::kIcmpx) + 1);

// The packet's fate depends on missing bytes. Always false, for callers to return.
bool BecomeUnknown(uint32_t base_chain, uint32_t rule, Result& result) noexcept {
  result.base_chain = base_chain;
  result.rule = rule;
  result.decided_by = DecidedBy::kMissing;
  result.verdict = Verdict::kUnknown;
  return false;
}

// Runs the chain of `step` on the entered frame. False: the packet goes no further.
template <bool short_packet>
bool RunStep(const PlanStep& step, Frame& frame, Result& result) noexcept {
  frame.rule = kNoRule;
  frame.reject = 0;
  const Outcome outcome = step.entry.run(step.entry.code, &frame);
  result.base_chain = step.chain.index;
  result.rule = frame.rule;
  if (short_packet && outcome == kUnknownOutcome) return BecomeUnknown(step.chain.index, frame.rule, result);
  if (outcome == static_cast<Outcome>(nft::VerdictCode::kContinue)) {
    const bool counted = step.policy_counter != UINT32_MAX && !(short_packet && frame.headers_unknown);
    if (counted) AddTo(frame.counters[step.policy_counter], 1, frame.length);
    result.rule = Result::kNone;
    result.decided_by = DecidedBy::kPolicy;
    result.verdict = step.policy_accepts ? Verdict::kAccept : Verdict::kDrop;
    return step.policy_accepts;
  }
  const bool accepted = outcome == static_cast<Outcome>(nft::VerdictCode::kAccept);
  result.decided_by = DecidedBy::kRule;
  result.verdict = accepted ? Verdict::kAccept : Verdict::kDrop;
  if ((frame.reject & kRejected) != 0) {
    result.reject = static_cast<RejectKind>((frame.reject >> 8 & 0xff) + 1);
    result.reject_code = static_cast<uint8_t>(frame.reject);
  }
  return accepted;
}

// Runs one packet through the chains of a hook: accept goes on to the next chain, drop ends.
//
// The headers are parsed once for all chains that parse alike, since no operation changes packet bytes or devices: the
// kernel's parse at each chain would find the same. The result is written in place: building it elsewhere and copying
// it costs more than the rest of this function.
template <bool short_packet>
void RunPlan(const HookPlan& plan, HookSite site, Packet& packet, Frame& frame, Result& result) noexcept {
  result = Result();
  const DeviceRole role = HookPlans::RoleOf(site);
  nft::Family entered = nft::Family::kUnspec;
  EnterResult enter = EnterResult::kRun;
  for (const PlanStep& step : plan.steps) {
    if (role != DeviceRole::kNone && !BoundTo(step, role == DeviceRole::kOif ? packet.oif : packet.iif)) continue;
    if (step.point.pf != entered) {
      enter = short_packet ? EnterShortChain(step.point, packet, frame) : EnterChain(step.point, packet, frame);
      entered = step.point.pf;
    }
    if (enter == EnterResult::kRun) {
      if (!RunStep<short_packet>(step, frame, result)) return;
    } else if (short_packet && enter == EnterResult::kUnknown) {
      BecomeUnknown(step.chain.index, kNoRule, result);
      return;
    } else if (enter == EnterResult::kDrop) {
      result.base_chain = step.chain.index;
      result.rule = Result::kNone;
      result.decided_by = DecidedBy::kHeader;
      result.verdict = Verdict::kDrop;
      return;
    }
  }
}

bool IsMixed(HookSite site) noexcept { return site.family == Family::kInet && site.hook != Hook::kIngress; }

const HookPlan& PlanFor(const HookPlans& plans, HookSite& site, const Packet& packet) noexcept {
  if (IsMixed(site)) site.family = L3FamilyOf(packet);
  return plans.At(site);
}

// So much is missing that it is not known which family the packet is of.
bool IsFamilyMissing(HookSite site, const Packet& packet) noexcept {
  return IsMixed(site) && packet.missing != 0 && packet.protocol == 0 && packet.network_offset >= packet.length;
}

// Packets for an engine that follows missing bytes.
void RunExactly(WorkerState& worker, HookSite site, Packet& packet, Result& result) noexcept {
  Frame& frame = worker.frame;
  frame.cut = frame.headers_unknown = frame.transport_unknown = false;
  const HookPlans& plans = *worker.plans;
  if (IsFamilyMissing(site, packet)) {
    result = Result();
    const bool any_chain =
        !plans.At({Family::kIp, site.hook}).steps.empty() || !plans.At({Family::kIp6, site.hook}).steps.empty();
    if (any_chain) BecomeUnknown(Result::kNone, Result::kNone, result);
    return;
  }
  const HookPlan& plan = PlanFor(plans, site, packet);
  if (packet.missing != 0) {
    RunPlan<true>(plan, site, packet, frame, result);
  } else {
    RunPlan<false>(plan, site, packet, frame, result);
  }
}

void ReadClock(WorkerState& worker, HookSite site) noexcept {
  const HookPlans& plans = *worker.plans;
  const bool needed =
      IsMixed(site) ? plans.At({Family::kIp, site.hook}).needs_clock || plans.At({Family::kIp6, site.hook}).needs_clock
                    : plans.At(site).needs_clock;
  if (!needed) return;
  const InstanceOptions& options = worker.instance->options;
  const ClockTime now = options.clock(options.clock_context);
  worker.frame.now_ns = now.monotonic_ns;
  worker.frame.wall_ns = now.wall_ns;
}

}  // namespace

Worker::Worker(std::unique_ptr<WorkerState> state) : state_(std::move(state)) {}
Worker::Worker(Worker&&) noexcept = default;
Worker& Worker::operator=(Worker&&) noexcept = default;
Worker::~Worker() = default;

void Worker::Run(HookSite site, std::span<Packet> packets, std::span<Result> results) noexcept {
  packets = packets.first(std::min(packets.size(), results.size()));
  ReadClock(*state_, site);
  if (state_->follows_missing_bytes) {
    for (size_t i = 0; i < packets.size(); ++i) {
      state_->log.packet = static_cast<uint32_t>(i);
      RunExactly(*state_, site, packets[i], results[i]);
    }
    return;
  }
  if (!IsMixed(site)) {
    const HookPlan& plan = state_->plans->At(site);
    for (size_t i = 0; i < packets.size(); ++i) {
      state_->log.packet = static_cast<uint32_t>(i);
      RunPlan<false>(plan, site, packets[i], state_->frame, results[i]);
    }
    return;
  }
  for (size_t i = 0; i < packets.size(); ++i) {
    state_->log.packet = static_cast<uint32_t>(i);
    HookSite own = site;
    const HookPlan& plan = PlanFor(*state_->plans, own, packets[i]);
    RunPlan<false>(plan, own, packets[i], state_->frame, results[i]);
  }
}

Result Worker::Run(HookSite site, Packet& packet) noexcept {
  Result result;
  Run(site, std::span(&packet, 1), std::span(&result, 1));
  return result;
}

size_t Worker::TakeLogs(std::span<LogEntry> out) noexcept {
  WorkerState& state = *state_;
  const uint64_t capacity = uint64_t{state.log.mask} + 1;
  const uint64_t oldest = state.log.written > capacity ? state.log.written - capacity : 0;
  if (state.logs_taken < oldest) {
    state.logs_lost += oldest - state.logs_taken;
    state.logs_taken = oldest;
  }
  const size_t count = std::min<uint64_t>(out.size(), state.log.written - state.logs_taken);
  for (size_t i = 0; i < count; ++i) {
    const LogRecord& record = state.log.records[state.logs_taken++ & state.log.mask];
    out[i] = {record.log, record.packet};
  }
  return count;
}

uint64_t Worker::lost_logs() const noexcept {
  const WorkerState& state = *state_;
  const uint64_t capacity = uint64_t{state.log.mask} + 1;
  const uint64_t oldest = state.log.written > capacity ? state.log.written - capacity : 0;
  return state.logs_lost + (oldest > state.logs_taken ? oldest - state.logs_taken : 0);
}

}  // namespace nftjit
