// Tables, chains and flowtables (vm-semantics 6, 13; validation 2).
#include "lib/netlink/codec.h"
#include "lib/netlink/expression_codec.h"

namespace nftjit::netlink {
namespace {

using nft::Family;

constexpr TableAttributes::Policies kTablePolicies = {
    kAnyPolicy, kNamePolicy, kU32Policy, kU32Policy, kU64Policy, kAnyPolicy, {Policy::kBinary, 256}, kU32Policy};
constexpr ChainAttributes::Policies kChainPolicies = {kAnyPolicy,
                                                      kNamePolicy,
                                                      kU64Policy,
                                                      kNamePolicy,
                                                      kNestPolicy,
                                                      kU32Policy,
                                                      kU32Policy,
                                                      {Policy::kString, 42},
                                                      kNestPolicy,
                                                      kAnyPolicy,
                                                      kU32Policy,
                                                      kU32Policy,
                                                      {Policy::kBinary, 256}};
constexpr RuleAttributes::Policies kRulePolicies = {kAnyPolicy,  kNamePolicy, kNamePolicy, kU64Policy,
                                                    kNestPolicy, kNestPolicy, kU64Policy,  {Policy::kBinary, 256},
                                                    kAnyPolicy,  kU32Policy,  kU32Policy,  kU32Policy};
constexpr FlowtableAttributes::Policies kFlowtablePolicies = {kAnyPolicy, kNamePolicy, kNamePolicy, kNestPolicy,
                                                              kU32Policy, kU64Policy,  kAnyPolicy,  kU32Policy};
constexpr GenAttributes::Policies kGenPolicies = {kAnyPolicy, kU32Policy, kAnyPolicy, kAnyPolicy};
constexpr uint32_t kMaxDeviceName = 15;
constexpr AttributeTable<kHookMax>::Policies kHookPolicies = {
    kAnyPolicy, kU32Policy, kU32Policy, {Policy::kString, kMaxDeviceName}, kNestPolicy};
constexpr AttributeTable<kFlowtableHookMax>::Policies kFlowtableHookPolicies = {kAnyPolicy, kU32Policy, kU32Policy,
                                                                                kNestPolicy};
constexpr AttributeTable<2>::Policies kCountersPolicies = {kAnyPolicy, kU64Policy, kU64Policy};
constexpr uint16_t kCountersBytes = 1, kCountersPackets = 2;

constexpr uint32_t kTableFlagMask = 7, kTableOwnerFlag = 2, kChainFlagMask = 7, kFlowtableFlagMask = 3;
constexpr int32_t kConntrackPriority = -200;

using Failure = std::optional<NetlinkError>;

uint32_t HookBit(uint8_t hook) { return 1U << hook; }

// The hooks at which a chain of `type` may hang in `family`; 0: the family has no such type.
uint32_t AllowedHooks(nft::ChainType type, Family family) {
  const bool inet = family == Family::kInet;
  const bool l3 = inet || family == Family::kIp || family == Family::kIp6;
  constexpr uint32_t kAllFive = 0x1f;
  switch (type) {
    case nft::ChainType::kFilter:
      if (l3 || family == Family::kBridge) return kAllFive | (inet ? HookBit(nft::kInetIngress) : 0);
      return family == Family::kArp || family == Family::kNetdev ? 3 : 0;
    case nft::ChainType::kNat:
      return l3 ? kAllFive & ~HookBit(nft::kForward) : 0;
    case nft::ChainType::kRoute:
      return l3 ? HookBit(nft::kOutput) : 0;
  }
  return 0;
}

std::optional<nft::ChainType> TypeFromName(std::string_view name) {
  for (const nft::ChainType type : {nft::ChainType::kFilter, nft::ChainType::kNat, nft::ChainType::kRoute}) {
    if (nft::Name(type) == name) return type;
  }
  return std::nullopt;
}

bool RunsPerDevice(Family family, uint8_t hook) {
  return family == Family::kNetdev || (family == Family::kInet && hook == nft::kInetIngress);
}

// A list of devices, each by name or prefix. Errors point at the item.
Failure DecodeDevices(const Attribute& list, std::string_view thing, std::vector<nft::Device>* out) {
  for (AttributeCursor cursor(list); cursor.Next();) {
    const Attribute& item = cursor.attribute();
    if (item.type() != kDeviceName && item.type() != kDevicePrefix) {
      return MakeError(EINVAL, 0, thing, "a device is given by name (1) or prefix (2)");
    }
    if (item.size() > kMaxDeviceName + 1 || item.String().size() > kMaxDeviceName) {
      return MakeError(E2BIG, item.offset(), thing, "a device's name has at most 15 bytes");
    }
    nft::Device device{.name = std::string(item.String()), .prefix = item.type() == kDevicePrefix};
    for (const nft::Device& other : *out) {
      if (other == device) return MakeError(EEXIST, item.offset(), thing, "the same device twice");
    }
    out->push_back(std::move(device));
  }
  return std::nullopt;
}

void EncodeDevices(uint16_t type, const std::vector<nft::Device>& devices, AttributeWriter& out) {
  const size_t nest = out.BeginNest(type);
  for (const nft::Device& device : devices) out.String(device.prefix ? kDevicePrefix : kDeviceName, device.name);
  out.EndNest(nest);
}

Failure DecodeHookNumbers(const AttributeTable<kHookMax>& hook, const ChainAttributes& attributes,
                          const nft::BaseChain* existing, uint32_t* number, nft::BaseChain* base) {
  const bool complete = hook[kHookNumber] && hook[kHookPriority];
  if (!complete && existing == nullptr) {
    return MakeError(ENOENT, attributes[kChainName].offset(), "chain", "a hook needs a number and a priority");
  }
  *number = hook[kHookNumber] ? hook[kHookNumber].U32() : existing->hook;
  base->priority = hook[kHookPriority] ? static_cast<int32_t>(hook[kHookPriority].U32()) : existing->priority;
  return std::nullopt;
}

Failure DecodeHookDevices(const AttributeTable<kHookMax>& hook, nft::BaseChain* base) {
  base->devices_as_list = true;
  if (hook[kHookDevice]) {
    base->devices.push_back({.name = std::string(hook[kHookDevice].String()), .prefix = false});
    return std::nullopt;
  }
  return DecodeDevices(hook[kHookDevices], "chain", &base->devices);
}

// The base chain of a message with a HOOK nest, with policy and counters.
Failure DecodeBase(const ChainAttributes& attributes, Family family, nft::Chain& chain) {
  Result<nft::BaseChain> base = DecodeHook(attributes, family);
  if (!base.ok()) return base.error();
  if (attributes[kChainPolicy]) {
    const uint32_t policy = attributes[kChainPolicy].U32();
    if (policy > 1) return MakeError(EINVAL, 0, "chain", "policy must be 0 or 1");
    base->policy = static_cast<nft::VerdictCode>(policy);
  }
  if (attributes[kChainCounters]) {
    Result<nft::Counter> counters = DecodeChainCounters(attributes[kChainCounters]);
    if (!counters.ok()) return counters.error();
    base->counters = *counters;
  }
  if ((chain.flags & nft::kChainBinding) != 0) {
    return MakeError(EOPNOTSUPP, 0, "chain", "a base chain cannot be bound to a rule");
  }
  if ((chain.flags & nft::kChainHwOffload) != 0) {
    const bool no_device = RunsPerDevice(family, base->hook) && base->devices.empty();
    return MakeError(no_device ? EINVAL : EOPNOTSUPP, 0, "chain", "no device here takes over rules");
  }
  chain.flags |= nft::kChainBase;
  chain.base = *std::move(base);
  return std::nullopt;
}

}  // namespace

Result<TableAttributes> ParseTableMessage(ByteSpan message) { return ParseMessage<kTableMax>(message, kTablePolicies); }
Result<ChainAttributes> ParseChainMessage(ByteSpan message) { return ParseMessage<kChainMax>(message, kChainPolicies); }
Result<RuleAttributes> ParseRuleMessage(ByteSpan message) { return ParseMessage<kRuleMax>(message, kRulePolicies); }
Result<FlowtableAttributes> ParseFlowtableMessage(ByteSpan message) {
  return ParseMessage<kFlowtableMax>(message, kFlowtablePolicies);
}
Result<GenAttributes> ParseGenMessage(ByteSpan message) { return ParseMessage<kGenMax>(message, kGenPolicies); }

Result<nft::Table> DecodeTable(const TableAttributes& attributes, Family family) {
  if (!attributes[kTableName]) return MakeError(EINVAL, 0, "table", "needs a name");
  nft::Table table;
  table.family = family;
  table.name = attributes[kTableName].String();
  table.flags = attributes[kTableFlags].U32();
  if ((table.flags & ~kTableFlagMask) != 0) return MakeError(EOPNOTSUPP, 0, "table", "flags must be 0 to 7");
  table.userdata = attributes[kTableUserdata].Raw();
  return table;
}

void EncodeTable(const nft::Table& table, uint32_t use, AttributeWriter& out) {
  out.String(kTableName, table.name);
  out.U32(kTableUse, use);
  out.U64(kTableHandle, table.handle);
  out.U32(kTableFlags, table.flags);
  if ((table.flags & kTableOwnerFlag) != 0) out.U32(kTableOwner, table.owner);
  if (!table.userdata.empty()) out.Raw(kTableUserdata, table.userdata);
}

Result<nft::BaseChain> DecodeHook(const ChainAttributes& attributes, Family family, const nft::BaseChain* existing) {
  AttributeTable<kHookMax> hook;
  if (const int error = hook.Parse(AttributeCursor(attributes[kChainHook]), kHookPolicies)) {
    return MakeError(error, 0, "chain", "an attribute of its hook is too short or too long");
  }
  nft::BaseChain base;
  uint32_t number = 0;
  if (Failure failure = DecodeHookNumbers(hook, attributes, existing, &number, &base)) return *std::move(failure);
  base.type = existing != nullptr ? existing->type : nft::ChainType::kFilter;
  if (attributes[kChainType]) {
    const std::optional<nft::ChainType> type = TypeFromName(attributes[kChainType].String());
    if (!type || AllowedHooks(*type, family) == 0) {
      return MakeError(ENOENT, attributes[kChainType].offset(), "chain", "the family has no such type");
    }
    base.type = *type;
  }
  if (number > nft::kInetIngress || (AllowedHooks(base.type, family) & HookBit(static_cast<uint8_t>(number))) == 0) {
    return MakeError(EOPNOTSUPP, 0, "chain", "the type has no such hook in this family");
  }
  base.hook = static_cast<uint8_t>(number);
  if (base.type == nft::ChainType::kNat && base.priority <= kConntrackPriority) {
    return MakeError(EOPNOTSUPP, 0, "chain", "the priority of a nat chain must be above -200");
  }
  if (RunsPerDevice(family, base.hook)) {
    if (Failure failure = DecodeHookDevices(hook, &base)) return *std::move(failure);
  } else if (hook[kHookDevice] || hook[kHookDevices]) {
    return MakeError(EOPNOTSUPP, 0, "chain", "only ingress and egress hooks have devices");
  }
  return base;
}

Result<nft::Counter> DecodeChainCounters(const Attribute& nest) {
  AttributeTable<2> counters;
  if (const int error = counters.Parse(AttributeCursor(nest), kCountersPolicies)) {
    return MakeError(error, 0, "chain", "a counter is too short");
  }
  if (!counters[kCountersBytes] || !counters[kCountersPackets]) {
    return MakeError(EINVAL, 0, "chain", "counters need bytes and packets");
  }
  return nft::Counter{.bytes = counters[kCountersBytes].U64(), .packets = counters[kCountersPackets].U64()};
}

Result<nft::Chain> DecodeChain(const ChainAttributes& attributes, Family family) {
  if (!attributes[kChainName] && !attributes[kChainId]) return MakeError(EINVAL, 0, "chain", "needs a name or an id");
  if (attributes[kChainPolicy] && !attributes[kChainHook]) {
    return MakeError(EOPNOTSUPP, attributes[kChainPolicy].offset(), "chain", "only base chains have a policy");
  }
  nft::Chain chain;
  chain.flags = attributes[kChainFlags].U32();
  if ((chain.flags & ~kChainFlagMask) != 0) return MakeError(EOPNOTSUPP, 0, "chain", "flags must be 0 to 7");
  if (attributes[kChainHook]) {
    if (Failure failure = DecodeBase(attributes, family, chain)) return *std::move(failure);
  } else if ((chain.flags & nft::kChainBase) != 0) {
    return MakeError(EINVAL, 0, "chain", "a base chain needs a hook");
  } else if ((chain.flags & nft::kChainHwOffload) != 0) {
    return MakeError(EOPNOTSUPP, 0, "chain", "only base chains can be offloaded");
  }
  if (attributes[kChainName]) {
    chain.name = attributes[kChainName].String();
  } else if ((chain.flags & nft::kChainBinding) == 0) {
    return MakeError(EINVAL, 0, "chain", "a chain without a name must be bound to a rule");
  }
  chain.userdata = attributes[kChainUserdata].Raw();
  return chain;
}

void EncodeChain(std::string_view table, const nft::Chain& chain, uint32_t use, AttributeWriter& out) {
  out.String(kChainTable, table);
  out.String(kChainName, chain.name);
  out.U64(kChainHandle, chain.handle);
  if (chain.base) {
    const nft::BaseChain& base = *chain.base;
    const size_t hook = out.BeginNest(kChainHook);
    out.U32(kHookNumber, base.hook);
    out.U32(kHookPriority, static_cast<uint32_t>(base.priority));
    // The kernel dumps the list, and a single device once more.
    if (base.devices_as_list || !base.devices.empty()) EncodeDevices(kHookDevices, base.devices, out);
    if (base.devices.size() == 1 && !base.devices.front().prefix) out.String(kHookDevice, base.devices.front().name);
    out.EndNest(hook);
    out.U32(kChainPolicy, static_cast<uint32_t>(base.policy));
    out.String(kChainType, nft::Name(base.type));
    if (base.counters) {
      const size_t counters = out.BeginNest(kChainCounters);
      out.U64(kCountersPackets, base.counters->packets);
      out.U64(kCountersBytes, base.counters->bytes);
      out.EndNest(counters);
    }
  }
  if (chain.flags != 0) out.U32(kChainFlags, chain.flags);
  out.U32(kChainUse, use);
  if (!chain.userdata.empty()) out.Raw(kChainUserdata, chain.userdata);
}

Result<nft::Flowtable> DecodeFlowtable(const FlowtableAttributes& attributes, Family family,
                                       const nft::Flowtable* existing) {
  if (!attributes[kFlowtableTable] || !attributes[kFlowtableName] || !attributes[kFlowtableHook]) {
    return MakeError(EINVAL, 0, "flowtable", "needs a table, a name and a hook");
  }
  if (family != Family::kIp && family != Family::kIp6 && family != Family::kInet) {
    return MakeError(ENOENT, 0, "flowtable", "the family has no flowtables");
  }
  nft::Flowtable flowtable;
  flowtable.name = attributes[kFlowtableName].String();
  flowtable.flags = attributes[kFlowtableFlags].U32();
  if ((flowtable.flags & ~kFlowtableFlagMask) != 0) {
    return MakeError(EOPNOTSUPP, 0, "flowtable", "flags must be 0 to 3");
  }
  AttributeTable<kFlowtableHookMax> hook;
  if (const int error = hook.Parse(AttributeCursor(attributes[kFlowtableHook]), kFlowtableHookPolicies)) {
    return MakeError(error, 0, "flowtable", "an attribute of its hook is too short");
  }
  if (existing == nullptr && (!hook[kFlowtableHookNumber] || !hook[kFlowtableHookPriority])) {
    return MakeError(ENOENT, attributes[kFlowtableName].offset(), "flowtable", "a hook needs a number and a priority");
  }
  const uint32_t number =
      hook[kFlowtableHookNumber] || existing == nullptr ? hook[kFlowtableHookNumber].U32() : existing->hook;
  if (number != nft::kNetdevIngress) return MakeError(EOPNOTSUPP, 0, "flowtable", "its hook must be ingress (0)");
  flowtable.hook = static_cast<uint8_t>(number);
  flowtable.priority = hook[kFlowtableHookPriority] || existing == nullptr
                           ? static_cast<int32_t>(hook[kFlowtableHookPriority].U32())
                           : existing->priority;
  if (Failure failure = DecodeDevices(hook[kFlowtableHookDevices], "flowtable", &flowtable.devices)) {
    return *std::move(failure);
  }
  return flowtable;
}

void EncodeFlowtable(std::string_view table, const nft::Flowtable& flowtable, uint32_t use, AttributeWriter& out) {
  out.String(kFlowtableTable, table);
  out.String(kFlowtableName, flowtable.name);
  out.U64(kFlowtableHandle, flowtable.handle);
  out.U32(kFlowtableUse, use);
  out.U32(kFlowtableFlags, flowtable.flags);
  const size_t hook = out.BeginNest(kFlowtableHook);
  out.U32(kFlowtableHookNumber, flowtable.hook);
  out.U32(kFlowtableHookPriority, static_cast<uint32_t>(flowtable.priority));
  EncodeDevices(kFlowtableHookDevices, flowtable.devices, out);
  out.EndNest(hook);
}

}  // namespace nftjit::netlink
