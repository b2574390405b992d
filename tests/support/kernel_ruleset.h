// Our model of a ruleset in the live kernel: loading it, and reading its counters back.
#ifndef NFTJIT_TESTS_SUPPORT_KERNEL_RULESET_H_
#define NFTJIT_TESTS_SUPPORT_KERNEL_RULESET_H_

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/nft/ruleset.h"
#include "tests/support/netlink_socket.h"

namespace nftjit::testing {

// Appends the messages that create `ruleset`, base chains in the order of their registration. Anonymous sets and
// implicit chains become ordinary ones of the same name: lookups are the same, and nothing has to be bound.
void AppendRuleset(const nft::Ruleset& ruleset, Batch& batch);
void AppendDeletion(const nft::Ruleset& ruleset, Batch& batch);

struct CounterValue {
  uint64_t packets = 0, bytes = 0;
  bool operator==(const CounterValue&) const = default;
  CounterValue operator-(const CounterValue& other) const { return {packets - other.packets, bytes - other.bytes}; }
};

// Where a counter expression stands. Numbers count from 0; `expression` among all expressions of the rule.
struct CounterPlace {
  nft::Family family = nft::Family::kUnspec;
  std::string table, chain;
  uint32_t rule = 0, expression = 0;
  auto operator<=>(const CounterPlace&) const = default;
};
std::string ToString(const CounterPlace& place);

// All counter expressions of `family`'s rules (unspec: every family) in the order of the kernel's dump, which does not
// change while the rules do not. `places`, if given, receives where they stand.
absl::Status ReadCounters(NetlinkSocket& socket, nft::Family family, std::vector<CounterValue>* values,
                          std::vector<CounterPlace>* places = nullptr);

// The elements' counters of one set, keyed by the element's key bytes; elements without counter are left out.
struct ElementCounter {
  std::string key, key_end;
  bool catchall = false;
  CounterValue value;
};
absl::StatusOr<std::vector<ElementCounter>> ReadElementCounters(NetlinkSocket& socket, nft::Family family,
                                                                std::string_view table, std::string_view set);

// The keys of all elements of one set.
absl::StatusOr<std::vector<std::string>> ReadElementKeys(NetlinkSocket& socket, nft::Family family,
                                                         std::string_view table, std::string_view set);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_KERNEL_RULESET_H_
