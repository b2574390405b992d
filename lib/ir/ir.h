// The rule IR: what a ruleset means, with registers gone and everything implicit made explicit.
//
// A Program is flat: chains are ranges of items, items are ranges of rows, ids are indices. See docs/ir.md for the text
// form and lib/ir/verifier.h for the invariants. Values are byte strings of known length, in the byte order that the
// kernel's registers would hold.
#ifndef NFTJIT_LIB_IR_IR_H_
#define NFTJIT_LIB_IR_IR_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lib/ir/constants.h"
#include "lib/nft/ruleset.h"
#include "lib/support/id.h"

namespace nftjit::ir {

enum class Op : uint8_t {
#define OP(name, text, kind, a, b, c, effects) k##name,
#include "lib/ir/ops.def"
#undef OP
};

enum class OpKind : uint8_t { kValue, kTest, kAction, kEnd };
enum class Operand : uint8_t {
  kNone,
  kValue,
  kConstant,
  kOptConstant,
  kNumber,
  kSet,
  kChain,
  kCounter,
  kLimit,
  kLog,
  kText,
};
using Effects = uint16_t;
inline constexpr Effects kBreaks = 1, kPacket = 2, kMeta = 4, kSetsMeta = 8, kCt = 16, kSet = 32, kState = 64,
                         kClock = 128, kRandom = 256, kAll = 511;
struct OpInfo {
  std::string_view text;
  OpKind kind;
  Operand a, b, c;
  Effects effects;
};
const OpInfo& Info(Op op);

using RowId = Id<struct RowTag>;  // Also the id of the value that the row defines.
using ValueId = RowId;
using ItemId = Id<struct ItemTag>;
using ChainId = Id<struct ChainTag>;
using RuleId = Id<struct RuleTag>;
using SetId = Id<struct SetTag>;
using CounterId = Id<struct CounterTag>;
using LimitId = Id<struct LimitTag>;
using LogId = Id<struct LogTag>;

// Where a load counts its offset from (vm-semantics 7, 8, 10.6).
enum class Base : uint8_t { kLink = 0, kNetwork = 1, kTransport = 2, kInner = 3 };
inline constexpr size_t kBaseCount = 4;
std::string_view Name(Base base);

// What the kernel checks in silence before it loads. Row::a is the room wanted, counted from the base.
enum class GuardKind : uint8_t {
  kRoomLink,       // There is a link header, and `a` bytes from it lie in the packet.
  kRoomNetwork,    // `a` bytes from the network header lie in the packet.
  kRoomTransport,  // The transport header is known, and `a` bytes from it lie in the packet; also for later fragments.
  kRoomInner,      // There is an inner header (vm-semantics 7.2), and `a` bytes from it lie in the packet.
  kUnfragmented,   // Not a later fragment: the slow payload load of the kernel wants this, its fast load does not.
  kL4,             // The transport protocol is known (`meta l4proto`).
  kIif,            // The packet has an input device …
  kOif,            // … an output device.
  kCtEntry,        // The packet has a conntrack entry.
  kMetaKnown,      // `a` is an nft::MetaKey whose load BREAKs where the packet lacks the fact: skuid, skgid, cgroup,
                   // rtclassid, iifkind, oifkind, and iiftype (the type of the device that the packet is at: the
                   // output device at postrouting, none at output, else the input device).
  kCtKnown,  // `a` is an nft::CtKey | direction << 8 whose load BREAKs although there is an entry (helper, src_ip …).
};
inline constexpr size_t kGuardKindCount = 11;
std::string_view Name(GuardKind kind);

enum class Comparison : uint8_t { kEq, kNeq, kLt, kLte, kGt, kGte, kIn, kNotIn };
std::string_view Name(Comparison comparison);  // "==", "!=", "<" … "in", "not in"

// Row::flags.
inline constexpr uint8_t kOrZero = 1;                                                    // load, meta l4proto
inline constexpr uint8_t kPresent = 1;                                                   // exthdr
inline constexpr uint8_t kNegated = 1;                                                   // lookup
inline constexpr uint8_t kNative = 1;                                                    // test
inline constexpr uint8_t kDirectionOriginal = 0, kDirectionReply = 1, kNoDirection = 2;  // ct

// Bytes that a load of `key` stores, which is the length of its value; the register word around them is zero. Not
// nft::MetaLength, which is what the register check counts. 0 for keys that cannot be loaded.
uint8_t MetaLoadLength(nft::MetaKey key);

// One operation. See ops.def for what the fields hold per op.
struct Row {
  Op op = Op::kConst;
  uint8_t length = 0;  // Bytes of the value defined, 1 to 64; 0 for other kinds.
  uint8_t key = 0;
  uint8_t flags = 0;
  uint32_t a = UINT32_MAX, b = UINT32_MAX, c = UINT32_MAX;
  bool operator==(const Row&) const = default;

  [[nodiscard]] ValueId value_a() const { return ValueId(a); }
  [[nodiscard]] ValueId value_b() const { return ValueId(b); }
  [[nodiscard]] Base base() const { return static_cast<Base>(key); }
  [[nodiscard]] GuardKind guard() const { return static_cast<GuardKind>(key); }
  [[nodiscard]] Comparison comparison() const { return static_cast<Comparison>(key); }
  [[nodiscard]] nft::VerdictCode verdict() const { return static_cast<nft::VerdictCode>(static_cast<int8_t>(key)); }
};
static_assert(sizeof(Row) == 16 && std::is_trivially_copyable_v<Row>);

// The expression that a row came from, and the others that passes merged into it: read by ForEachOrigin, added to by
// AddOrigin (lib/ir/origin.h).
struct Origin {
  static constexpr uint16_t kNoExpression = UINT16_MAX;
  static constexpr uint16_t kList = 0x8000;
  static constexpr int kBits = 15;
  uint32_t rule = UINT32_MAX;
  uint16_t expression = kNoExpression;
  // Bit k: expression - 1 - k of the same rule, too. Or, with kList, an index into Program::origin_lists.
  uint16_t more = 0;
  bool operator==(const Origin&) const = default;
};

enum class ItemKind : uint8_t {
  kRule,   // Rows in a straight line, ended by the first failing test or by an `end` row.
  kBlock,  // Rows (guards, tests, values), then child items: entered if all tests pass.
};

// Items of a chain lie in preorder: the children of a block follow it, up to `end`.
struct Item {
  ItemKind kind = ItemKind::kRule;
  uint32_t first_row = 0, row_count = 0;
  uint32_t end = 0;  // One past the last item inside: own index + 1 for a rule.
  RuleId rule;       // kRule only.
  bool operator==(const Item&) const = default;
};

struct BaseChainInfo {
  nft::ChainType type = nft::ChainType::kFilter;
  uint8_t hook = 0;
  int32_t priority = 0;
  nft::VerdictCode policy = nft::VerdictCode::kAccept;
  uint64_t registration = 0;
  std::vector<nft::Device> devices;
  std::optional<nft::Counter> counters = std::nullopt;  // Present: packets that reach the policy are counted.
  bool operator==(const BaseChainInfo&) const = default;
};

struct Chain {
  nft::Family family = nft::Family::kUnspec;
  std::string table, name;
  std::optional<BaseChainInfo> base;
  bool dormant = false;  // The table's flag: its base chains are not run.
  uint32_t first_item = 0, item_count = 0;
  bool operator==(const Chain&) const = default;
};

struct RuleInfo {
  ChainId chain;
  nft::Handle handle = 0;
  std::string comment;  // Empty: none.
  SourcePos where;
  bool operator==(const RuleInfo&) const = default;
};

// A counter of the ruleset and where it stands: in a rule's expression, or (no rule) in an element of a set.
struct CounterInfo {
  RuleId rule;
  uint16_t expression = Origin::kNoExpression;
  uint64_t packets = 0, bytes = 0;  // Initial values.
  bool operator==(const CounterInfo&) const = default;
};
struct LimitInfo {
  uint64_t rate = 0, unit_s = 0;
  uint32_t burst = 0;
  nft::LimitType type = nft::LimitType::kPackets;
  bool inverted = false;
  bool operator==(const LimitInfo&) const = default;
};
struct LogInfo {
  RuleId rule;
  nft::Log options;
  bool operator==(const LogInfo&) const = default;
};

// A set as lookups see it: normalised (vm-semantics 11.2), no longer netlink's boundaries.
enum class SetKind : uint8_t {
  kExact,         // Byte strings of key_len, padding included.
  kInterval,      // Disjoint [key, key_end], both inclusive, memcmp order, sorted.
  kConcatRanges,  // Per field [key, key_end]; padding ignored; among several that match the first in `elements` wins.
};
struct SetElement {
  std::string key, key_end;                                // kExact: key_end empty.
  std::string data;                                        // Data maps: data_len bytes.
  nft::VerdictCode verdict = nft::VerdictCode::kContinue;  // Verdict maps.
  ChainId chain;                                           // Of jump and goto.
  std::optional<uint64_t> timeout_ms;                      // From the creation of the Instance; empty: forever.
  // Stateful expressions run on a hit, in order: counters and limits.
  std::vector<CounterId> counters;
  std::vector<LimitId> limits;
  bool counters_first = true;  // With one of each: which comes first.
  [[nodiscard]] const std::string& upper() const { return key_end.empty() ? key : key_end; }
  bool operator==(const SetElement&) const = default;
};
struct SetInfo {
  nft::Family family = nft::Family::kUnspec;
  std::string table, name;
  nft::Handle handle = 0;
  SetKind kind = SetKind::kExact;
  bool constant = false;  // Anonymous or constant: passes may look at the elements. Else it is data.
  bool verdict_map = false;
  uint8_t key_len = 0, data_len = 0;   // data_len is 0 for sets and verdict maps.
  std::vector<uint8_t> field_lengths;  // kConcatRanges: of each field, before padding to four bytes.
  std::vector<SetElement> elements;
  std::optional<SetElement> catchall;
  bool operator==(const SetInfo&) const = default;
};

// A rule that was left out, or that no engine can run: the first expression that is unsupported, by name.
struct UnsupportedRule {
  RuleId rule;
  uint16_t expression = Origin::kNoExpression;
  std::string what;  // "nat", "dynset", "lookup in an object map" …
  bool operator==(const UnsupportedRule&) const = default;
};

// Copyable. Ids index the vectors; rows and origins run in parallel.
struct Program {
  ConstantPool constants;
  std::vector<Row> rows;
  std::vector<Origin> origins;
  std::vector<std::vector<Origin>> origin_lists;
  std::vector<Item> items;
  std::vector<Chain> chains;
  std::vector<RuleInfo> rules;
  std::vector<SetInfo> sets;
  std::vector<CounterInfo> counters;
  std::vector<LimitInfo> limits;
  std::vector<LogInfo> logs;
  std::vector<std::string> texts;
  std::vector<UnsupportedRule> unsupported;

  [[nodiscard]] std::span<const Item> ItemsOf(const Chain& chain) const {
    return std::span(items).subspan(chain.first_item, chain.item_count);
  }
  [[nodiscard]] std::span<const Row> RowsOf(const Item& item) const {
    return std::span(rows).subspan(item.first_row, item.row_count);
  }
};

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_IR_H_
