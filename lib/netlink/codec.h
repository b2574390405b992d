// nf_tables messages to the model and back. This header is the whole interface of the codec.
//
// A server takes a message apart in two steps. `Parse…Message` reads the top-level attributes of any message of a
// subject (NEW, GET, DEL, DESTROY) under the kernel's policy: enough to look things up. `Decode…` then makes the
// model's value out of a NEW message with the checks that the kernel makes when it creates the thing, and the kernel's
// errnos (validation.md). What needs more than the message and the names in scope (existing things, uses, bindings,
// full sets, overlapping intervals) is the server's, what needs the whole table is Validate()'s (lib/nft/validate.h).
//
// `Encode…` writes what the kernel would dump, without nlmsghdr and nfgenmsg.
//
// Everything here is pure: no state, no exceptions, no reads outside the message. Errors carry the offset that the
// kernel's extended ack would carry.
#ifndef NFTJIT_LIB_NETLINK_CODEC_H_
#define NFTJIT_LIB_NETLINK_CODEC_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/netlink/attributes.h"
#include "lib/netlink/error.h"
#include "lib/netlink/numbers.h"
#include "lib/netlink/resolve.h"
#include "lib/nft/ruleset.h"

namespace nftjit::netlink {

// ---- Messages' top-level attributes -----------------------------------------------------------------------------

using TableAttributes = AttributeTable<kTableMax>;
using ChainAttributes = AttributeTable<kChainMax>;
using RuleAttributes = AttributeTable<kRuleMax>;
using SetAttributes = AttributeTable<kSetMax>;
using ElementListAttributes = AttributeTable<kElementsMax>;
using ObjectAttributes = AttributeTable<kObjectMax>;
using FlowtableAttributes = AttributeTable<kFlowtableMax>;
using GenAttributes = AttributeTable<kGenMax>;

// `message` begins at its nlmsghdr and ends where nlmsg_len says; the caller has checked that both headers fit.
// The tables point into it.
Result<TableAttributes> ParseTableMessage(ByteSpan message);
Result<ChainAttributes> ParseChainMessage(ByteSpan message);
Result<RuleAttributes> ParseRuleMessage(ByteSpan message);
Result<SetAttributes> ParseSetMessage(ByteSpan message);
Result<ElementListAttributes> ParseElementsMessage(ByteSpan message);
Result<ObjectAttributes> ParseObjectMessage(ByteSpan message);
Result<FlowtableAttributes> ParseFlowtableMessage(ByteSpan message);
Result<GenAttributes> ParseGenMessage(ByteSpan message);  // BATCH_BEGIN with a generation id, too.

// ---- Messages to the model --------------------------------------------------------------------------------------

// Handles are left 0 everywhere; names of anonymous sets keep their "%d".

Result<nft::Table> DecodeTable(const TableAttributes& attributes, nft::Family family);

// A new chain. `name` is empty if the message gives only an id (the server names it then).
Result<nft::Chain> DecodeChain(const ChainAttributes& attributes, nft::Family family);
// Type, hook, priority and devices of a message with a HOOK nest; policy, counters and registration are left at their
// defaults. For an update of a base chain give it as `existing`: its hook and priority stand in for missing ones.
Result<nft::BaseChain> DecodeHook(const ChainAttributes& attributes, nft::Family family,
                                  const nft::BaseChain* existing = nullptr);
Result<nft::Counter> DecodeChainCounters(const Attribute& nest);

// A rule's expressions, user data and compat nest. References to anonymous sets and binding chains are not checked for
// other users: see ForEachReference() in lib/nft/references.h.
Result<nft::Rule> DecodeRule(const RuleAttributes& attributes, const ResolveContext& context);

// A new set; `size` as given, expressions included. The name's pattern is checked for anonymous sets.
Result<nft::Set> DecodeSet(const SetAttributes& attributes, const ResolveContext& context);

// One item of ELEMENTS. `item` is the list's attribute, whatever its number.
enum class ElementUse : uint8_t { kAdd, kRemove, kGet };
Result<nft::Element> DecodeElement(const Attribute& item, const nft::Set& set, const ResolveContext& context,
                                   ElementUse use = ElementUse::kAdd);

Result<nft::Object> DecodeObject(const ObjectAttributes& attributes, const ResolveContext& context);
// A new flowtable. For an update (the table exists) hook and priority may be missing.
Result<nft::Flowtable> DecodeFlowtable(const FlowtableAttributes& attributes, nft::Family family,
                                       const nft::Flowtable* existing = nullptr);

// A single expression nest {NAME, DATA} outside a rule, with all words of the register file readable.
Result<nft::Expression> DecodeExpression(const Attribute& nest, const ResolveContext& context);

// ---- The model to messages --------------------------------------------------------------------------------------

// `use` is the count that the kernel keeps: of a table its chains, sets, objects and flowtables; of a chain its rules
// and the jumps to it; of an object or flowtable its references.
void EncodeTable(const nft::Table& table, uint32_t use, AttributeWriter& out);
void EncodeChain(std::string_view table, const nft::Chain& chain, uint32_t use, AttributeWriter& out);
// `position`: the handle of the rule before it, 0 for the first.
void EncodeRule(std::string_view table, std::string_view chain, const nft::Rule& rule, nft::Handle position,
                const NameContext& names, AttributeWriter& out);
// Without elements. `id`: the transaction's SET_ID, for events that echo one.
void EncodeSet(std::string_view table, const nft::Set& set, const NameContext& names, AttributeWriter& out,
               std::optional<uint32_t> id = std::nullopt);
// One list item. The caller writes TABLE, SET and opens ELEMENTS, and starts a new message when one is full.
void EncodeElement(const nft::Element& element, const nft::Set& set, const NameContext& names, AttributeWriter& out);
void EncodeObject(std::string_view table, const nft::Object& object, uint32_t use, const NameContext& names,
                  AttributeWriter& out);
void EncodeObject(std::string_view table, const nft::Object& object, uint32_t use, AttributeWriter& out);  // As dumped.
void EncodeFlowtable(std::string_view table, const nft::Flowtable& flowtable, uint32_t use, AttributeWriter& out);
// {NAME, DATA} as a nest of number `type`.
void EncodeExpression(uint16_t type, const nft::Expression& expression, const NameContext& names, AttributeWriter& out);

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_CODEC_H_
