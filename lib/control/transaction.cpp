#include "lib/control/transaction.h"

#include <absl/strings/str_format.h>

#include <cerrno>
#include <utility>

#include "lib/nft/validate.h"

namespace nftjit::control {

Transaction::Transaction(const State& base, const Client& client, const netlink::KernelFeatures& features)
    : next_(base), client_(client), features_(features) {
  for (std::shared_ptr<const nft::Table>& table : next_.tables) slots_.push_back({.base = std::move(table)});
  next_.tables.clear();
}

TableEdit& Transaction::Touch(Slot& slot) {
  if (slot.edit == nullptr) slot.edit = std::make_unique<TableEdit>(*slot.base, features_);
  return *slot.edit;
}

TableEdit* Transaction::FindTable(nft::Family family, std::string_view name) {
  for (Slot& slot : slots_) {
    if (!slot.removed && slot.table().family == family && slot.table().name == name) return &Touch(slot);
  }
  return nullptr;
}

TableEdit* Transaction::FindTable(nft::Family family, nft::Handle handle) {
  for (Slot& slot : slots_) {
    if (!slot.removed && slot.table().family == family && slot.table().handle == handle) return &Touch(slot);
  }
  return nullptr;
}

TableEdit& Transaction::AddTable(nft::Table table) {
  table.handle = ++next_.issued.table;
  slots_.push_back({.edit = std::make_unique<TableEdit>(std::move(table), features_)});
  return *slots_.back().edit;
}

void Transaction::RemoveTable(const TableEdit& table) {
  for (Slot& slot : slots_) {
    if (slot.edit.get() == &table) slot.removed = true;
  }
}

bool Transaction::IsForeign(const nft::Table& table) const { return table.owner != 0 && table.owner != client_.port; }

std::vector<TableEdit*> Transaction::Tables(nft::Family family) {
  std::vector<TableEdit*> tables;
  for (Slot& slot : slots_) {
    if (slot.removed || IsForeign(slot.table())) continue;
    if (family == nft::Family::kUnspec || slot.table().family == family) tables.push_back(&Touch(slot));
  }
  return tables;
}

std::optional<netlink::NetlinkError> Transaction::CheckBound() {
  for (const Slot& slot : slots_) {
    if (slot.removed || slot.edit == nullptr) continue;
    for (const nft::Set& set : slot.table().sets) {
      if (!set.is(nft::kSetAnonymous) || slot.edit->uses().of(set.handle) > 0) continue;
      return netlink::NetlinkError{
          .error = EINVAL, .message = absl::StrFormat("anonymous set %s: no rule of the batch uses it", set.name)};
    }
    for (const nft::Chain& chain : slot.table().chains) {
      if ((chain.flags & nft::kChainBinding) == 0 || slot.edit->uses().of(chain.handle) > 0) continue;
      return netlink::NetlinkError{
          .error = EINVAL,
          .message = absl::StrFormat("binding chain %s: no rule of the batch jumps to it", chain.name)};
    }
  }
  return std::nullopt;
}

std::optional<netlink::NetlinkError> Transaction::CheckTable(TableEdit& table) {
  table.Compact();
  const std::optional<nft::Violation> violation = nft::Validate(table.table());
  if (!violation.has_value()) return std::nullopt;
  return netlink::NetlinkError{.error = violation->error, .message = violation->message};
}

std::optional<netlink::NetlinkError> Transaction::CheckTables() {
  for (const Slot& slot : slots_) {
    if (slot.removed || slot.edit == nullptr) continue;
    if (std::optional<netlink::NetlinkError> error = CheckTable(*slot.edit); error.has_value()) return error;
  }
  return std::nullopt;
}

State Transaction::Commit() && {
  for (Slot& slot : slots_) {
    if (slot.removed) continue;
    if (slot.edit == nullptr) {
      next_.tables.push_back(std::move(slot.base));
      continue;
    }
    next_.tables.push_back(std::make_shared<const nft::Table>(std::move(*slot.edit).Release()));
  }
  if (changed && ++next_.issued.generation == 0) next_.issued.generation = 1;
  return std::move(next_);
}

State Transaction::Abandon() && {
  for (Slot& slot : slots_) {
    if (slot.base == nullptr) continue;
    if (slot.edit != nullptr && slot.edit->last_handle() != slot.base->last_handle) {
      auto kept = std::make_shared<nft::Table>(*slot.base);
      kept->last_handle = slot.edit->last_handle();
      next_.tables.push_back(std::move(kept));
    } else {
      next_.tables.push_back(std::move(slot.base));
    }
  }
  return std::move(next_);
}

}  // namespace nftjit::control
