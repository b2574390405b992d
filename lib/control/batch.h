// Applies one batch of messages to a state, all or nothing, and writes the answers.
#ifndef NFTJIT_LIB_CONTROL_BATCH_H_
#define NFTJIT_LIB_CONTROL_BATCH_H_

#include <string>
#include <vector>

#include "lib/control/message.h"
#include "lib/control/state.h"
#include "lib/control/transaction.h"

namespace nftjit::control {

// Whether every NEWRULE is to be answered by an error after all else went well: so that the client prints the place
// of each rule. Nothing is committed then.
enum class RuleAnswer : uint8_t { kTrue, kRefuseAll };

// A rule made by a batch, by handles.
struct RuleName {
  nft::Handle table;
  nft::Handle rule;
};

struct BatchResult {
  State state;
  std::vector<std::string> replies;     // Events for echoing clients first, then acks in the order of the messages.
  std::vector<RuleName> refused_rules;  // kRefuseAll: those that were refused only for that, in order.
};

// `begin` is the BATCH_BEGIN; `rest` what follows it in the request, taken up to and including BATCH_END. Without a
// BATCH_END nothing is applied (a check run).
BatchResult RunBatch(const State& state, const Message& begin, ByteSpan& rest, const Client& client,
                     const netlink::KernelFeatures& features, RuleAnswer rule_answer);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_BATCH_H_
