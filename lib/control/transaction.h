// A batch being applied: the tables it touches are copied, the rest is shared with the state it began from.
#ifndef NFTJIT_LIB_CONTROL_TRANSACTION_H_
#define NFTJIT_LIB_CONTROL_TRANSACTION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/control/state.h"
#include "lib/control/table_edit.h"
#include "lib/netlink/error.h"

namespace nftjit::control {

// Who sends a batch.
struct Client {
  uint32_t port = 0;    // Owner of the tables it creates with the owner flag.
  std::string program;  // As events name it.
};

class Transaction {
 public:
  Transaction(const State& base, const Client& client, const netlink::KernelFeatures& features);

  // Null where there is none. The first access to a table copies it.
  TableEdit* FindTable(nft::Family family, std::string_view name);
  TableEdit* FindTable(nft::Family family, nft::Handle handle);
  TableEdit& AddTable(nft::Table table);
  void RemoveTable(const TableEdit& table);
  // Whether another client owns the table.
  [[nodiscard]] bool IsForeign(const nft::Table& table) const;
  // All tables of a family that this client may change; kUnspec: of all families.
  std::vector<TableEdit*> Tables(nft::Family family);

  uint64_t NewRegistration() { return ++next_.issued.registration; }
  uint64_t NewBindingChainNumber() { return ++next_.issued.binding_chain; }
  [[nodiscard]] const Client& client() const { return client_; }
  // For the batch's bookkeeping: the table that a message named last, and the rule that was made last, by its table's
  // handle and its own; {0, 0}: none was.
  TableEdit* last_table = nullptr;
  std::pair<nft::Handle, nft::Handle> last_rule{};
  bool changed = false;  // A batch that changes nothing makes no new generation.

  // What the kernel finds only at commit: hooks, jumps, and unbound anonymous sets and binding chains. Empty: all well.
  std::optional<netlink::NetlinkError> CheckBound();
  std::optional<netlink::NetlinkError> CheckTables();
  static std::optional<netlink::NetlinkError> CheckTable(TableEdit& table);

  // The state after the batch. Nothing else may be called after it.
  State Commit() &&;
  // The state without the batch, but for the handles that it used up, as in the kernel.
  State Abandon() &&;

 private:
  struct Slot {
    std::shared_ptr<const nft::Table> base;  // Null: made in this batch.
    std::unique_ptr<TableEdit> edit;         // Null: not touched.
    bool removed = false;
    // Of what the slot holds now.
    [[nodiscard]] const nft::Table& table() const { return edit != nullptr ? edit->table() : *base; }
  };
  TableEdit& Touch(Slot& slot);

  State next_;  // Its tables are in slots_.
  std::vector<Slot> slots_;
  const Client client_;
  const netlink::KernelFeatures& features_;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_TRANSACTION_H_
