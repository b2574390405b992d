// Names and handles of a finished table, indexed: the codec's contexts where there is no transaction.
#ifndef NFTJIT_LIB_NETLINK_TABLE_INDEX_H_
#define NFTJIT_LIB_NETLINK_TABLE_INDEX_H_

#include <absl/container/flat_hash_map.h>

#include "lib/netlink/resolve.h"

namespace nftjit::netlink {

// Refers to `table`, which must stay as it is while the index lives. Ids resolve to nothing.
class TableIndex final : public ResolveContext, public NameContext {
 public:
  // `exact`: encode all that the model holds (NameContext::exact), as an image or a kernel that loads it needs.
  explicit TableIndex(const nft::Table& table, KernelFeatures features = {}, bool exact = false);
  [[nodiscard]] nft::Family family() const override { return table_.family; }
  [[nodiscard]] const nft::Chain* ChainByName(std::string_view name) const override;
  [[nodiscard]] const nft::Chain* ChainById(uint32_t) const override { return nullptr; }
  [[nodiscard]] const nft::Set* SetByName(std::string_view name) const override;
  [[nodiscard]] const nft::Set* SetById(uint32_t) const override { return nullptr; }
  [[nodiscard]] const nft::Object* ObjectByName(std::string_view name, nft::ObjectType type) const override;
  [[nodiscard]] const nft::Flowtable* FlowtableByName(std::string_view name) const override;
  [[nodiscard]] const nft::Set* SetByHandle(nft::Handle handle) const override;
  [[nodiscard]] const KernelFeatures& features() const override { return features_; }
  [[nodiscard]] std::string_view ChainName(nft::Handle handle) const override;
  [[nodiscard]] std::string_view SetName(nft::Handle handle) const override;
  [[nodiscard]] std::string_view ObjectName(nft::Handle handle) const override;
  [[nodiscard]] std::string_view FlowtableName(nft::Handle handle) const override;
  [[nodiscard]] bool SetDeclaresExpressions(nft::Handle handle) const override;
  [[nodiscard]] bool exact() const override { return exact_; }

 private:
  template <class Item>
  struct Index {
    explicit Index(const std::vector<Item>& items);
    [[nodiscard]] const Item* ByName(std::string_view name) const;
    [[nodiscard]] const Item* ByHandle(nft::Handle handle) const;
    absl::flat_hash_map<std::string_view, const Item*> by_name;
    absl::flat_hash_map<nft::Handle, const Item*> by_handle;
  };
  const nft::Table& table_;
  KernelFeatures features_;
  bool exact_;
  Index<nft::Chain> chains_;
  Index<nft::Set> sets_;
  Index<nft::Object> objects_;  // Its names are ambiguous: one per type.
  Index<nft::Flowtable> flowtables_;
};

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_TABLE_INDEX_H_
