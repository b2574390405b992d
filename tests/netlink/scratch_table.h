// A table that takes NEW messages through the codec: the smallest thing that is a context for it. No transactions.
#ifndef NFTJIT_TESTS_NETLINK_SCRATCH_TABLE_H_
#define NFTJIT_TESTS_NETLINK_SCRATCH_TABLE_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lib/netlink/codec.h"
#include "tests/netlink/messages.h"

namespace nftjit::netlink {

class ScratchTable final : public ResolveContext, public NameContext {
 public:
  // `stored`: for messages that say what was stored before, the chain "c" and all handles included.
  ScratchTable(nft::Family family, KernelFeatures features, bool exact = false, bool stored = false);

  // Applies the message. The error, if any; then nothing has changed. Handles are given as the kernel gives them.
  std::optional<NetlinkError> Apply(const Message& message) { return Apply(message.type, ToBytes(message)); }
  std::optional<NetlinkError> Apply(MessageType type, std::string_view bytes);

  [[nodiscard]] const nft::Table& table() const { return table_; }
  // What a dump of everything answers, one body per thing, in the order of the handles within a kind.
  [[nodiscard]] std::vector<std::string> Dump(MessageType kind) const;
  // One body per set: all its elements.
  [[nodiscard]] std::string DumpElements(const nft::Set& set) const;

  [[nodiscard]] nft::Family family() const override { return table_.family; }
  [[nodiscard]] const nft::Chain* ChainByName(std::string_view name) const override { return table_.FindChain(name); }
  [[nodiscard]] const nft::Chain* ChainById(uint32_t id) const override;
  [[nodiscard]] const nft::Set* SetByName(std::string_view name) const override { return table_.FindSet(name); }
  [[nodiscard]] const nft::Set* SetById(uint32_t id) const override;
  [[nodiscard]] const nft::Object* ObjectByName(std::string_view name, nft::ObjectType type) const override {
    return table_.FindObject(name, type);
  }
  [[nodiscard]] const nft::Flowtable* FlowtableByName(std::string_view name) const override {
    return table_.FindFlowtable(name);
  }
  [[nodiscard]] const nft::Set* SetByHandle(nft::Handle handle) const override { return table_.FindSet(handle); }
  [[nodiscard]] const KernelFeatures& features() const override { return features_; }
  [[nodiscard]] std::string_view ChainName(nft::Handle handle) const override { return table_.FindChain(handle)->name; }
  [[nodiscard]] std::string_view SetName(nft::Handle handle) const override { return table_.FindSet(handle)->name; }
  [[nodiscard]] std::string_view ObjectName(nft::Handle handle) const override {
    return table_.FindObject(handle)->name;
  }
  [[nodiscard]] std::string_view FlowtableName(nft::Handle handle) const override {
    return table_.FindFlowtable(handle)->name;
  }
  [[nodiscard]] bool SetDeclaresExpressions(nft::Handle handle) const override {
    return !table_.FindSet(handle)->expressions.empty();
  }
  [[nodiscard]] bool exact() const override { return exact_; }
  [[nodiscard]] bool stored() const override { return stored_; }

 private:
  std::optional<NetlinkError> AddChain(ByteSpan message);
  std::optional<NetlinkError> AddRule(ByteSpan message);
  std::optional<NetlinkError> AddSet(ByteSpan message);
  std::optional<NetlinkError> AddElements(ByteSpan message);
  std::optional<NetlinkError> AddObject(ByteSpan message);
  std::optional<NetlinkError> AddFlowtable(ByteSpan message);

  nft::Table table_;
  KernelFeatures features_;
  bool exact_, stored_;
  nft::Handle NextHandle(const Attribute& given);
  nft::Handle last_handle_ = 0;
  std::map<uint32_t, nft::Handle> chain_ids_, set_ids_;
};

}  // namespace nftjit::netlink

#endif  // NFTJIT_TESTS_NETLINK_SCRATCH_TABLE_H_
