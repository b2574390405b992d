// What each message of a batch does. One file per subject: tables.cpp, chains.cpp, rules.cpp …
#ifndef NFTJIT_LIB_CONTROL_OPERATIONS_H_
#define NFTJIT_LIB_CONTROL_OPERATIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/control/message.h"
#include "lib/control/transaction.h"
#include "lib/netlink/attributes.h"
#include "lib/netlink/error.h"

namespace nftjit::control {

// A rule by handles.
struct RulePlace {
  TableEdit* table;
  nft::Handle chain, rule;
};

// Everything an operation works on. A failed operation may leave part of its work behind: its batch is lost anyway.
struct Operation {
  Transaction& transaction;
  const Message& message;
  // Calls for the event that tells clients of a change; only made for messages with NLM_F_ECHO. Null: nobody listens.
  using WriteAttributes = std::function<void(netlink::AttributeWriter&)>;
  std::function<void(uint8_t operation, uint16_t flags, const WriteAttributes&)> notify;
  // Where the rule of the last event stands is told as of the end of the batch.
  std::function<void(const RulePlace&)> tell_place;

  // What the kernel tells of is what makes a new generation.
  void Notify(uint8_t operation, uint16_t flags, const WriteAttributes& write) const {
    transaction.changed = true;
    if (notify) notify(operation, flags, write);
  }
  [[nodiscard]] nft::Family family() const { return message.nft_family(); }
};

// `error` 0: it worked.
using Outcome = netlink::NetlinkError;

inline Outcome Fine() { return {}; }
// An error with the place of the attribute that is to blame; an absent one has none.
Outcome Refused(int error, const netlink::Attribute& at, std::string message);

// Adds or changes ("NEW" messages), removes ("DEL"; `lenient` for "DESTROY", which forgives what is not there).
Outcome NewTable(const Operation& operation);
Outcome DeleteTable(const Operation& operation, bool lenient);
Outcome NewChain(const Operation& operation);
Outcome DeleteChain(const Operation& operation, bool lenient);
Outcome NewRule(const Operation& operation);
Outcome DeleteRule(const Operation& operation, bool lenient);
Outcome NewSet(const Operation& operation);
Outcome DeleteSet(const Operation& operation, bool lenient);
Outcome NewElements(const Operation& operation);
Outcome DeleteElements(const Operation& operation, bool lenient);
Outcome NewObject(const Operation& operation);
Outcome DeleteObject(const Operation& operation, bool lenient);
Outcome NewFlowtable(const Operation& operation);
Outcome DeleteFlowtable(const Operation& operation, bool lenient);

// Applies a message of a batch by its type. EINVAL for those that no batch may hold.
Outcome Apply(const Operation& operation);

// ---- Shared by the subjects --------------------------------------------------------------------------------------

// The table that attribute `name` names, or the kernel's error.
netlink::Result<TableEdit*> ResolveTable(const Operation& operation, const netlink::Attribute& name);
netlink::Result<const nft::Set*> ResolveSet(const TableEdit& table, const netlink::Attribute& name,
                                            const netlink::Attribute& id);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_OPERATIONS_H_
