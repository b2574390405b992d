// One table while a transaction changes it: names, ids and uses indexed, bindings checked, handles given.
#ifndef NFTJIT_LIB_CONTROL_TABLE_EDIT_H_
#define NFTJIT_LIB_CONTROL_TABLE_EDIT_H_

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/control/element_index.h"
#include "lib/control/state.h"
#include "lib/control/uses.h"
#include "lib/netlink/resolve.h"

namespace nftjit::control {

// Pointers to chains, sets, objects and flowtables are good until the next addition or removal of one of their kind.
class TableEdit final : public netlink::ResolveContext, public netlink::NameContext {
 public:
  TableEdit(nft::Table table, const netlink::KernelFeatures& features);
  TableEdit(const TableEdit&) = delete;
  TableEdit& operator=(const TableEdit&) = delete;

  nft::Table& table() { return table_; }
  [[nodiscard]] const nft::Table& table() const { return table_; }
  nft::Handle NewHandle() { return ++table_.last_handle; }
  [[nodiscard]] nft::Handle last_handle() const { return table_.last_handle; }
  [[nodiscard]] const UseCounts& uses() const { return uses_; }
  [[nodiscard]] uint32_t TableUse() const;

  // Additions take things without handles and give them one. `id` is the message's transaction id.
  nft::Chain& AddChain(nft::Chain chain, std::optional<uint32_t> id);
  nft::Set& AddSet(nft::Set set, std::optional<uint32_t> id);
  nft::Object& AddObject(nft::Object object);
  nft::Flowtable& AddFlowtable(nft::Flowtable flowtable);
  // Within the transaction the chain keeps its old name, as in the kernel.
  void RenameChainAtCommit(nft::Handle chain, std::string name) { renames_[chain] = std::move(name); }
  [[nodiscard]] bool IsFreeForRename(std::string_view name) const;

  // Removals drop everything inside as well, release what that refers to, and with it anonymous sets and binding
  // chains. The caller has checked that nothing refers to the thing.
  void RemoveChain(nft::Handle handle);
  void RemoveSet(nft::Handle handle);
  void RemoveObject(nft::Handle handle);
  void RemoveFlowtable(nft::Handle handle);

  // What keeps a rule out: the index of the expression and the errno; binds nothing.
  struct BindingConflict {
    size_t expression;
    int error;
  };
  [[nodiscard]] std::optional<BindingConflict> CheckBindings(const nft::Rule& rule) const;
  // `position`: index in the chain. The rule has its handle.
  void InsertRule(nft::Handle chain, size_t position, nft::Rule rule, std::optional<uint32_t> id);
  void RemoveRules(nft::Handle chain, size_t first, size_t count);
  void ReplaceRule(nft::Handle chain, size_t position, nft::Rule rule);
  // The rule made under RULE_ID in this transaction.
  [[nodiscard]] std::optional<nft::Handle> RuleById(uint32_t id) const;

  ElementIndex& Elements(nft::Handle set);
  void InsertElement(nft::Set& set, nft::Element element);
  void RemoveElement(nft::Set& set, uint32_t position);
  void RemoveAllElements(nft::Set& set);
  // Lets the vectors of elements hold living elements only. Before anything else reads them.
  void Compact();

  // The name for a new anonymous set: the pattern's %d, if it has one, replaced by the lowest number that is free.
  std::string AnonymousName(std::string_view pattern);

  // Null where there is none.
  nft::Chain* MutableChain(nft::Handle handle);
  nft::Set* MutableSet(nft::Handle handle);
  nft::Object* MutableObject(nft::Handle handle);
  nft::Flowtable* MutableFlowtable(nft::Handle handle);

  [[nodiscard]] nft::Family family() const override { return table_.family; }
  [[nodiscard]] const nft::Chain* ChainByName(std::string_view name) const override;
  [[nodiscard]] const nft::Chain* ChainById(uint32_t id) const override;
  [[nodiscard]] const nft::Set* SetByName(std::string_view name) const override;
  [[nodiscard]] const nft::Set* SetById(uint32_t id) const override;
  [[nodiscard]] const nft::Object* ObjectByName(std::string_view name, nft::ObjectType type) const override;
  [[nodiscard]] const nft::Flowtable* FlowtableByName(std::string_view name) const override;
  [[nodiscard]] const nft::Set* SetByHandle(nft::Handle handle) const override;
  [[nodiscard]] const netlink::KernelFeatures& features() const override { return features_; }
  [[nodiscard]] bool SetDeclaresExpressions(nft::Handle handle) const override;
  [[nodiscard]] std::string_view ChainName(nft::Handle handle) const override;
  [[nodiscard]] std::string_view SetName(nft::Handle handle) const override;
  [[nodiscard]] std::string_view ObjectName(nft::Handle handle) const override;
  [[nodiscard]] std::string_view FlowtableName(nft::Handle handle) const override;

  // The finished table. Nothing else may be called after it.
  nft::Table Release() &&;

 private:
  // Positions in one of the table's vectors.
  struct Index {
    absl::flat_hash_map<nft::Handle, size_t> by_handle;
    absl::flat_hash_map<std::string, size_t> by_name;
  };
  template <class Item>
  static void Rebuild(const std::vector<Item>& items, Index& index);
  template <class Item>
  static void Enter(std::vector<Item>& items, Item item, Index& index);
  template <class Item>
  static void Erase(std::vector<Item>& items, nft::Handle handle, Index& index);
  template <class Item>
  static Item* At(std::vector<Item>& items, const Index& index, nft::Handle handle);
  template <class Item>
  static const Item* At(const std::vector<Item>& items, const Index& index, nft::Handle handle);
  template <class Item>
  static const Item* Named(const std::vector<Item>& items, const Index& index, std::string_view name);

  // Releases a rule's references. Anonymous sets and binding chains that lose their only user are noted for removal.
  void ReleaseRule(const nft::Rule& rule);
  void RemoveOrphans();

  nft::Table table_;
  const netlink::KernelFeatures& features_;
  UseCounts uses_;
  Index chains_, sets_, objects_, flowtables_;
  absl::flat_hash_map<uint32_t, nft::Handle> chain_ids_, set_ids_, rule_ids_;
  absl::flat_hash_map<nft::Handle, std::unique_ptr<ElementIndex>> elements_;
  absl::flat_hash_map<std::string, uint32_t> lowest_free_number_;  // By pattern: no lower one is free.
  absl::flat_hash_map<nft::Handle, std::string> renames_;
  std::vector<nft::Handle> orphan_sets_, orphan_chains_;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_TABLE_EDIT_H_
