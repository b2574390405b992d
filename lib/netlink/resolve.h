// How the codec turns the names in messages into the model's handles, and back.
//
// The server implements both over its transaction state; TableIndex (table_index.h) over a finished nft::Table.
#ifndef NFTJIT_LIB_NETLINK_RESOLVE_H_
#define NFTJIT_LIB_NETLINK_RESOLVE_H_

#include <cstdint>
#include <string_view>

#include "lib/nft/ruleset.h"

namespace nftjit::netlink {

// Optional parts of a kernel. The default is a kernel that has everything; the tests that compare with a live one say
// what it lacks, for then the same messages are refused.
struct KernelFeatures {
  bool bridge_meta = true;       // meta ibrname, obrname, ibrpvid, ibrvproto, broute …
  bool bridge_conntrack = true;  // ct in the bridge family.
  bool bridge_reject = true;
  bool queue = true;
  bool flow_offload = true;
  bool dccp = true;     // exthdr dccp.
  bool secmark = true;  // A security module that knows every context.
};

// What a name in a message means at this point of the transaction. Null where there is no such thing.
// Pointers are only used until the decoding function returns.
class ResolveContext {
 public:
  virtual ~ResolveContext() = default;
  // Of the table that the message is about.
  [[nodiscard]] virtual nft::Family family() const = 0;
  [[nodiscard]] virtual const nft::Chain* ChainByName(std::string_view name) const = 0;
  [[nodiscard]] virtual const nft::Chain* ChainById(uint32_t id) const = 0;  // CHAIN_ID: made in this transaction.
  [[nodiscard]] virtual const nft::Set* SetByName(std::string_view name) const = 0;
  [[nodiscard]] virtual const nft::Set* SetById(uint32_t id) const = 0;  // SET_ID: made in this transaction.
  [[nodiscard]] virtual const nft::Object* ObjectByName(std::string_view name, nft::ObjectType type) const = 0;
  [[nodiscard]] virtual const nft::Flowtable* FlowtableByName(std::string_view name) const = 0;
  [[nodiscard]] virtual const nft::Set* SetByHandle(nft::Handle handle) const = 0;
  // Whether what is decoded was stored before: names of anonymous sets are final, and the size that a set got from its
  // first dynset does not tell its backend.
  [[nodiscard]] virtual bool stored() const { return false; }
  [[nodiscard]] virtual const KernelFeatures& features() const {
    static constexpr KernelFeatures kAll;
    return kAll;
  }
};

// The names of the things that handles stand for, for encoding. Empty for handles that do not exist.
class NameContext {
 public:
  virtual ~NameContext() = default;
  [[nodiscard]] virtual std::string_view ChainName(nft::Handle handle) const = 0;
  [[nodiscard]] virtual std::string_view SetName(nft::Handle handle) const = 0;
  [[nodiscard]] virtual std::string_view ObjectName(nft::Handle handle) const = 0;
  [[nodiscard]] virtual std::string_view FlowtableName(nft::Handle handle) const = 0;
  // Whether the set declares expressions: the kernel then leaves those of a dynset out of its dump.
  [[nodiscard]] virtual bool SetDeclaresExpressions(nft::Handle) const { return false; }
  // Whether to write what the model holds even where the kernel's dump loses something. For images, not for dumps.
  [[nodiscard]] virtual bool exact() const { return false; }
};

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_RESOLVE_H_
