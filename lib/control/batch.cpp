#include "lib/control/batch.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "lib/control/operations.h"
#include "lib/control/reply.h"
#include "lib/netlink/codec.h"

namespace nftjit::control {
namespace {

constexpr size_t kProcessName = 15;  // The kernel's names of processes are no longer.

// The messages of a batch and their outcomes so far.
struct Entry {
  Message message;
  Outcome outcome;
  RuleName rule{};  // The rule that it made.
};

class Batch {
 public:
  Batch(const State& state, const Client& client, const netlink::KernelFeatures& features)
      : state_(state), client_(client), features_(features) {}

  void Add(const Message& message) { entries_.push_back({.message = message, .outcome = {}}); }
  std::vector<Entry>& entries() { return entries_; }
  // What echoing clients are told once the batch is committed.
  std::vector<std::string> TakeEvents() {
    for (const auto& [event, place] : places_) TellPlace(place, events_[event]);
    return std::move(events_);
  }

  // Applies every message; those that fail are left out. Returns the transaction.
  Transaction& Run() {
    Begin();
    for (Entry& entry : entries_) {
      entry.outcome = ApplyOne(entry.message);
      const auto [table, rule] = std::exchange(transaction_->last_rule, {});
      entry.rule = {table, rule};
    }
    return *transaction_;
  }

  // After a run whose final state is bad: goes through the batch once more and checks after each message that adds
  // rules or elements. The one that completes a loop is blamed, and all after it until a message mends the table.
  void BlameMessages() {
    Begin();
    for (Entry& entry : entries_) {
      entry.outcome = ApplyOne(entry.message);
      const uint8_t operation = entry.message.operation();
      if (entry.outcome.error != 0 || (operation != netlink::kNewRule && operation != netlink::kNewSetElem)) continue;
      if (auto bad = Transaction::CheckTable(*transaction_->last_table); bad.has_value()) {
        entry.outcome = *std::move(bad);
      }
    }
  }

  [[nodiscard]] bool failed() const {
    return std::any_of(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.outcome.error != 0; });
  }
  Transaction& transaction() { return *transaction_; }

 private:
  // The rule before, for one that is neither the first nor the last of its chain (as the kernel tells it).
  static void TellPlace(const RulePlace& place, std::string& event) {
    const nft::Chain* chain = place.table->MutableChain(place.chain);
    if (chain == nullptr) return;  // It went in the same batch.
    for (size_t i = 1; i + 1 < chain->rules.size(); ++i) {
      if (chain->rules[i].handle != place.rule) continue;
      netlink::AttributeWriter(&event).U64(netlink::kRulePosition, chain->rules[i - 1].handle);
      StoreNative(reinterpret_cast<uint8_t*>(event.data()), static_cast<uint32_t>(event.size()));
    }
  }

  void Begin() {
    transaction_.emplace(state_, client_, features_);
    events_.clear();
    places_.clear();
  }

  Outcome ApplyOne(const Message& message) {
    if (message.subsystem() != netlink::kNftablesSubsystem) {
      return Refused(EINVAL, {}, absl::StrFormat("message type 0x%04x is not of nf_tables", message.type));
    }
    Operation operation{.transaction = *transaction_, .message = message, .notify = {}, .tell_place = {}};
    if (message.has(kFlagEcho)) {
      operation.notify = [&](uint8_t type, uint16_t flags, const Operation::WriteAttributes& write) {
        Datagram event(message);
        event.Begin(type, flags | (message.flags & (kFlagCreate | kFlagExclusive)), message.family,
                    state_.issued.generation + 1);
        netlink::AttributeWriter out = event.attributes();
        write(out);
        events_.push_back(event.Finish());
        if (type == netlink::kNewSetElem || type == netlink::kDelSetElem) {
          // These have no sequence number in the kernel.
          StoreNative(reinterpret_cast<uint8_t*>(events_.back().data()) + 8, uint32_t{0});
        }
      };
      operation.tell_place = [&](const RulePlace& place) { places_.emplace_back(events_.size() - 1, place); };
    }
    return Apply(operation);
  }

  const State& state_;
  const Client& client_;
  const netlink::KernelFeatures& features_;
  std::vector<Entry> entries_;
  std::optional<Transaction> transaction_;
  std::vector<std::string> events_;
  std::vector<std::pair<size_t, RulePlace>> places_;  // Of rules that events tell of.
};

// The BATCH_BEGIN itself: the subsystem must be ours and the generation, if given, the current one.
Outcome CheckBegin(const Message& begin, const State& state) {
  if (begin.resource != netlink::kNftablesSubsystem) {
    return Refused(EINVAL, {}, absl::StrFormat("batch of subsystem %d, expected nf_tables (10)", begin.resource));
  }
  const netlink::Result<netlink::GenAttributes> attributes = netlink::ParseGenMessage(begin.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Attribute& generation = (*attributes)[netlink::kGenId];
  if (generation && generation.U32() != state.issued.generation) {
    return Refused(ERESTART, {}, "the ruleset has changed since the client read it");
  }
  return Fine();
}

// Ends what an echoing client is told.
std::string NewGeneration(const Message& first, const State& state, const Client& client) {
  Datagram event(first);
  event.Begin(netlink::kNewGen, 0, 0, state.issued.generation);
  netlink::AttributeWriter out = event.attributes();
  out.U32(netlink::kGenId, state.issued.generation);
  out.U32(netlink::kGenProcPid, client.port);
  out.String(netlink::kGenProcName, client.program.substr(0, kProcessName));
  return event.Finish();
}

bool IsRefusedRule(const Message& message, RuleAnswer rule_answer) {
  return rule_answer == RuleAnswer::kRefuseAll && message.subsystem() == netlink::kNftablesSubsystem &&
         message.operation() == netlink::kNewRule;
}

void AppendAnswers(const std::vector<Entry>& entries, RuleAnswer rule_answer, BatchResult& result) {
  for (const Entry& entry : entries) {
    Outcome outcome = entry.outcome;
    if (outcome.error == 0 && IsRefusedRule(entry.message, rule_answer)) {
      outcome.error = EINVAL;
      result.refused_rules.push_back(entry.rule);
    }
    if (outcome.error != 0 || entry.message.has(kFlagAck)) {
      result.replies.push_back(Acknowledge(entry.message, outcome));
    }
  }
}

}  // namespace

BatchResult RunBatch(const State& state, const Message& begin, ByteSpan& rest, const Client& client,
                     const netlink::KernelFeatures& features, RuleAnswer rule_answer) {
  Batch batch(state, client, features);
  std::optional<Message> end;
  while (const std::optional<Message> message = NextMessage(rest)) {
    if (message->type == netlink::kBatchEnd) {
      end = message;
      break;
    }
    batch.Add(*message);
  }

  std::vector<std::string> replies;
  if (Outcome outcome = CheckBegin(begin, state); outcome.error != 0) {
    replies.push_back(Acknowledge(begin, outcome));
    return {.state = state, .replies = std::move(replies), .refused_rules = {}};
  }
  if (begin.has(kFlagAck)) replies.push_back(Acknowledge(begin, Fine()));

  batch.Run();
  std::optional<Outcome> at_commit;
  bool commit = end.has_value() && !batch.failed() && rule_answer == RuleAnswer::kTrue;
  if (!batch.failed()) {
    if (end.has_value()) at_commit = batch.transaction().CheckBound();
    // A batch without an end is answered and dropped; the kernel does not walk its chains (measured).
    if (end.has_value() && !at_commit.has_value() && batch.transaction().CheckTables().has_value()) {
      batch.BlameMessages();
    }
    commit = commit && !at_commit.has_value() && !batch.failed();
  }
  BatchResult result;
  if (commit) {
    result.replies = batch.TakeEvents();
    result.state = std::move(batch.transaction()).Commit();
    // The first message decides whether its sender is told of the new generation.
    const std::vector<Entry>& entries = batch.entries();
    const bool changed = result.state.issued.generation != state.issued.generation;
    if (changed && entries[0].message.has(kFlagEcho)) {
      result.replies.push_back(NewGeneration(entries[0].message, result.state, client));
    }
  } else {
    result.state = std::move(batch.transaction()).Abandon();
  }
  for (std::string& reply : replies) result.replies.push_back(std::move(reply));
  AppendAnswers(batch.entries(), rule_answer, result);
  if (end.has_value() && end->has(kFlagAck)) result.replies.push_back(Acknowledge(*end, Fine()));
  if (at_commit.has_value() && !batch.entries().empty()) {
    result.replies.push_back(Acknowledge(batch.entries().front().message, *at_commit));
  }
  return result;
}

}  // namespace nftjit::control
