// The places that rules are in, and expressions that may be there or not: validation 4.
#ifndef NFTJIT_TESTS_NETLINK_PLACES_H_
#define NFTJIT_TESTS_NETLINK_PLACES_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/nft/ruleset.h"
#include "tests/netlink/messages.h"
#include "tests/netlink/scratch_table.h"

namespace nftjit::netlink {

struct Place {
  Family family;
  uint8_t hook;
  nft::ChainType type;
};
// Every family, hook and chain type that goes with them.
std::vector<Place> Places();

// Every expression by name and bytes; those with a restriction in each of their kinds.
std::vector<std::pair<std::string, std::string>> Expressions();

// Bridges have other targets than MARK, but the server does not ask whether a target exists (docs/divergences.md).
inline bool IsUnknownTarget(const std::string& name, const Place& place) {
  return name == "target" && place.family == Family::kBridge;
}

Message BaseChain(const Place& place);  // "b".
Message RuleIn(Family family, std::string_view chain, Parts expressions);
// A base chain at the place, what expressions refer to, and a rule of the expression.
std::vector<Message> MessagesAt(const Place& place, const std::string& expression);

// The server's answer: to decode the messages, and to validate what they leave.
int AnswerTo(Family family, const std::vector<Message>& messages, KernelFeatures features = {});

}  // namespace nftjit::netlink

#endif  // NFTJIT_TESTS_NETLINK_PLACES_H_
