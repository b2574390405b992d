// What nf_tables stores: tables with chains, rules, sets, elements, objects and flowtables, as plain values.
//
// This is the kernel's normalised state (defaults filled in, anonymous sets named, handles given), not a batch. It is a
// value: copying a Ruleset copies everything. References inside a table are handles; `Find…` resolve them.
#ifndef NFTJIT_LIB_NFT_RULESET_H_
#define NFTJIT_LIB_NFT_RULESET_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/nft/expression.h"
#include "lib/nft/types.h"
#include "lib/support/source.h"

namespace nftjit::nft {

struct Rule {
  Handle handle = 0;
  std::vector<Expression> expressions;
  std::string userdata;               // As it came: nft keeps the comment in it. See Comment().
  std::optional<std::string> compat;  // NFTA_RULE_COMPAT's nest, verbatim.
  SourcePos where;                    // Known only after the front end located it.
};
// The comment that nft keeps in the user data of rules, tables, chains, objects and elements; empty if there is none.
std::optional<std::string> Comment(std::string_view userdata);
// The same of a set, whose user data numbers its items otherwise.
std::optional<std::string> SetComment(std::string_view userdata);

enum class ChainType : uint8_t { kFilter, kNat, kRoute };
std::string_view Name(ChainType type);

// Device entry of a netdev or inet ingress chain, or of a flowtable.
struct Device {
  std::string name;
  bool prefix = false;  // Every device whose name starts with `name`.
  bool operator==(const Device&) const = default;
};

struct BaseChain {
  ChainType type = ChainType::kFilter;
  uint8_t hook = 0;
  int32_t priority = 0;
  VerdictCode policy = VerdictCode::kAccept;
  std::vector<Device> devices;
  bool devices_as_list = false;     // Given as DEVS, dumped as such.
  std::optional<Counter> counters;  // Base chains loaded with a COUNTERS nest.
  // Order of registration over the whole Ruleset: at equal priority the higher number runs first (vm-semantics 6).
  uint64_t registration = 0;
};

// Flags of chains, as dumped.
inline constexpr uint32_t kChainBase = 1, kChainHwOffload = 2, kChainBinding = 4;

struct Chain {
  std::string name;
  Handle handle = 0;
  uint32_t flags = 0;  // As dumped: base 1, hardware offload 2, binding 4.
  std::optional<BaseChain> base;
  std::string userdata;
  std::vector<Rule> rules;
};

// Flags of sets (vm-semantics 11.1).
inline constexpr uint32_t kSetAnonymous = 1, kSetConstant = 2, kSetInterval = 4, kSetMap = 8, kSetTimeout = 0x10,
                          kSetEval = 0x20, kSetObject = 0x40, kSetConcat = 0x80, kSetExpr = 0x100;
inline constexpr uint32_t kDataTypeVerdict = 0xffffff00;
inline constexpr uint32_t kElementIntervalEnd = 1, kElementCatchall = 2;

// An element as netlink carries it: an interval of an rbtree set is two elements, the second with kElementIntervalEnd.
struct Element {
  std::string key;      // Empty for the catch-all.
  std::string key_end;  // Concatenated ranges: the inclusive upper end, else empty.
  uint32_t flags = 0;
  std::variant<std::monostate, std::string, Verdict> data;
  Handle object = 0;                      // Object maps.
  std::optional<uint64_t> timeout_ms;     // Own timeout. Empty: the set's.
  std::optional<uint64_t> expiration_ms;  // Given at insertion.
  std::vector<Expression> expressions;    // Stateful; the set's declared ones were copied here.
  std::string userdata;
};

struct Set {
  std::string name;
  Handle handle = 0;
  uint32_t flags = 0;
  uint32_t key_type = 0;  // nft's data type number, informational.
  uint32_t key_len = 0;
  uint32_t data_type = 0;  // Maps; kDataTypeVerdict for verdict maps.
  uint32_t data_len = 0;
  uint32_t object_type = 0;  // Object maps.
  uint32_t policy = 0;
  std::optional<uint32_t> size;        // Elements at most.
  bool made_with_size = false;         // Else `size` came later: by a rule that adds elements, or an update.
  std::vector<uint8_t> field_lengths;  // Concatenations, in key order, before padding to four bytes.
  std::optional<uint64_t> timeout_ms;
  std::optional<uint32_t> gc_interval_ms;
  std::string userdata;
  std::vector<Expression> expressions;  // Declared: copied to each element added without its own.
  // Order of insertion. Backends that order by key do so on dump.
  std::vector<Element> elements;

  [[nodiscard]] bool is(uint32_t flag) const { return (flags & flag) != 0; }
  [[nodiscard]] bool is_verdict_map() const { return is(kSetMap) && data_type == kDataTypeVerdict; }
};

struct CtHelperObject {
  std::string name;
  uint16_t l3proto;
  uint8_t l4proto;
};
struct CtTimeoutObject {
  uint16_t l3proto;
  uint8_t l4proto;
  std::map<uint32_t, uint32_t> policy_s;
};
struct CtExpectObject {
  uint16_t l3proto;
  uint8_t l4proto;
  uint16_t dport_net;
  uint32_t timeout_ms;
  uint8_t size;
};
struct SecmarkObject {
  std::string context;
};
struct TunnelObject {
  std::string attributes;
};  // The data nest, verbatim.

struct Object {
  std::string name;
  Handle handle = 0;
  ObjectType type = ObjectType::kCounter;
  std::string userdata;
  std::variant<Counter, Quota, CtHelperObject, Limit, Connlimit, TunnelObject, CtTimeoutObject, SecmarkObject,
               CtExpectObject, Synproxy>
      body;
};

struct Flowtable {
  std::string name;
  Handle handle = 0;
  uint8_t hook = 0;
  int32_t priority = 0;
  std::vector<Device> devices;
  uint32_t flags = 0;
};

struct Table {
  Family family = Family::kUnspec;
  std::string name;
  Handle handle = 0;
  Handle last_handle = 0;  // Given to something in this table; never given again, not even after a failed batch.
  uint32_t flags = 0;      // Dormant 1, owner 2, persist 4.
  uint32_t owner = 0;
  std::string userdata;
  std::vector<Chain> chains;
  std::vector<Set> sets;
  std::vector<Object> objects;
  std::vector<Flowtable> flowtables;

  // Null where there is none. Linear; callers that resolve many build an index.
  [[nodiscard]] const Chain* FindChain(Handle handle) const;
  [[nodiscard]] const Chain* FindChain(std::string_view chain_name) const;
  [[nodiscard]] const Set* FindSet(Handle handle) const;
  [[nodiscard]] const Set* FindSet(std::string_view set_name) const;
  [[nodiscard]] const Object* FindObject(Handle handle) const;
  [[nodiscard]] const Object* FindObject(std::string_view object_name, ObjectType type) const;
  [[nodiscard]] const Flowtable* FindFlowtable(Handle handle) const;
  [[nodiscard]] const Flowtable* FindFlowtable(std::string_view flowtable_name) const;
};

// An interface that the ruleset was compiled against: nft turns `iif NAME` into a number.
struct Interface {
  std::string name;
  uint32_t index = 0;
};

// What was given out last, so that it is not given again after its owner is gone.
struct Issued {
  uint32_t generation = 1;  // Counts commits; 0 is skipped.
  Handle table = 0;
  uint64_t registration = 0;  // See BaseChain::registration.
  uint64_t binding_chain = 0;
  bool operator==(const Issued&) const = default;
};

struct Ruleset {
  std::vector<Table> tables;          // Order of creation.
  std::vector<Interface> interfaces;  // As the front end invented or was given them.
  Issued issued;
};

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_RULESET_H_
