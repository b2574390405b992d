// NEWCHAIN, DELCHAIN, DESTROYCHAIN.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "lib/control/operations.h"
#include "lib/netlink/codec.h"

namespace nftjit::control {
namespace {

using netlink::Attribute;
using netlink::ChainAttributes;

constexpr uint32_t kKnownChainFlags = nft::kChainBase | nft::kChainHwOffload | nft::kChainBinding;

bool HasDevices(nft::Family family, uint8_t hook) {
  return family == nft::Family::kNetdev || (family == nft::Family::kInet && hook == nft::kInetIngress);
}

void NotifyChain(const Operation& operation, uint8_t type, const TableEdit& table, const nft::Chain& chain) {
  operation.Notify(type, 0, [&](netlink::AttributeWriter& out) {
    const auto use = static_cast<uint32_t>(chain.rules.size()) + table.uses().of(chain.handle);
    netlink::EncodeChain(table.table().name, chain, use, out);
  });
}

void NotifyRemoval(const Operation& operation, const TableEdit& table, const nft::Chain& chain) {
  operation.Notify(netlink::kDelChain, 0, [&](netlink::AttributeWriter& out) {
    out.String(netlink::kChainTable, table.table().name);
    out.String(netlink::kChainName, chain.name);
    out.U64(netlink::kChainHandle, chain.handle);
  });
}

// For a change of a chain that has devices: of these the event tells only what came or went.
void NotifyDevices(const Operation& operation, uint8_t type, const TableEdit& table, const nft::Chain& chain,
                   std::vector<nft::Device> devices) {
  nft::Chain told = chain;
  told.base->devices_as_list = true;
  told.base->devices = std::move(devices);
  NotifyChain(operation, type, table, told);
}

// The chain that a message means, by handle or by name. Null without an error: there is none.
netlink::Result<const nft::Chain*> FindChain(TableEdit& table, const Attribute& handle, const Attribute& name) {
  if (handle) {
    const nft::Chain* chain = table.MutableChain(handle.U64());
    if (chain == nullptr) return Refused(ENOENT, handle, absl::StrFormat("chain %d does not exist", handle.U64()));
    return chain;
  }
  return name ? table.ChainByName(name.String()) : nullptr;
}

Outcome CheckPolicy(const ChainAttributes& attributes, const nft::Chain* existing) {
  const Attribute& policy = attributes[netlink::kChainPolicy];
  if (!policy) return Fine();
  const bool base = existing != nullptr ? existing->base.has_value() : bool{attributes[netlink::kChainHook]};
  if (!base) return Refused(EOPNOTSUPP, policy, "a policy is for base chains only");
  if (policy.U32() > 1) return Refused(EINVAL, {}, "a policy is drop (0) or accept (1)");
  return Fine();
}

// A netdev chain takes on the devices that it has not yet; a device may stand in a chain once.
void AddDevices(nft::BaseChain& base, const nft::BaseChain& hook) {
  for (const nft::Device& device : hook.devices) {
    if (std::find(base.devices.begin(), base.devices.end(), device) == base.devices.end()) {
      base.devices.push_back(device);
    }
  }
  if (base.devices.size() > 1) base.devices_as_list = true;
}

Outcome UpdateHook(const Operation& operation, const ChainAttributes& attributes, nft::Chain& chain,
                   const Attribute& at) {
  if (!chain.base.has_value()) return Refused(EEXIST, at, absl::StrFormat("chain %s is no base chain", chain.name));
  const netlink::Result<nft::BaseChain> hook = netlink::DecodeHook(attributes, operation.family(), &*chain.base);
  if (!hook.ok()) return hook.error();
  if (hook->hook != chain.base->hook || hook->priority != chain.base->priority) {
    return Refused(EOPNOTSUPP, {}, absl::StrFormat("chain %s has another hook or priority", chain.name));
  }
  if (hook->type != chain.base->type) {
    return Refused(EEXIST, at, absl::StrFormat("chain %s is of type %s", chain.name, nft::Name(chain.base->type)));
  }
  if (HasDevices(operation.family(), chain.base->hook)) AddDevices(*chain.base, *hook);
  return Fine();
}

Outcome UpdateChain(const Operation& operation, const ChainAttributes& attributes, TableEdit& table,
                    nft::Chain& chain) {
  const Attribute& handle = attributes[netlink::kChainHandle];
  const Attribute& name = attributes[netlink::kChainName];
  const Attribute& at = handle ? handle : name;
  if ((chain.flags & nft::kChainBinding) != 0) return Refused(EINVAL, {}, "a binding chain cannot be changed");
  if (operation.message.has(kFlagExclusive)) return Refused(EEXIST, at, absl::StrFormat("chain %s exists", chain.name));
  if (operation.message.has(kFlagReplace)) return Refused(EOPNOTSUPP, {}, "a chain cannot be replaced");

  const Attribute& flags = attributes[netlink::kChainFlags];
  const uint32_t wanted = (flags ? flags.U32() : chain.flags) | (chain.flags & nft::kChainBase);
  if (wanted != chain.flags) return Refused(EOPNOTSUPP, {}, "a chain's flags cannot be changed");
  const size_t devices_before = chain.base.has_value() ? chain.base->devices.size() : 0;
  if (attributes[netlink::kChainHook]) {
    if (Outcome outcome = UpdateHook(operation, attributes, chain, at); outcome.error != 0) return outcome;
  }
  if (handle && name && !table.IsFreeForRename(name.String())) {
    return Refused(EEXIST, name, absl::StrFormat("chain %s exists", name.String()));
  }
  if (const Attribute& counters = attributes[netlink::kChainCounters]; counters) {
    if (!chain.base.has_value()) return Refused(EOPNOTSUPP, {}, "counters are for base chains only");
    const netlink::Result<nft::Counter> counter = netlink::DecodeChainCounters(counters);
    if (!counter.ok()) return counter.error();
    chain.base->counters = *counter;
  }
  if (const Attribute& policy = attributes[netlink::kChainPolicy]; policy) {
    chain.base->policy = static_cast<nft::VerdictCode>(policy.U32());
  }
  if (handle && name) {
    table.RenameChainAtCommit(chain.handle, std::string(name.String()));
    nft::Chain renamed = chain;
    renamed.name = name.String();
    NotifyChain(operation, netlink::kNewChain, table, renamed);
  } else if (chain.base.has_value() && HasDevices(operation.family(), chain.base->hook)) {
    const std::vector<nft::Device>& devices = chain.base->devices;
    NotifyDevices(operation, netlink::kNewChain, table, chain, {devices.begin() + devices_before, devices.end()});
  } else {
    NotifyChain(operation, netlink::kNewChain, table, chain);
  }
  return Fine();
}

Outcome AddChain(const Operation& operation, const ChainAttributes& attributes, TableEdit& table) {
  netlink::Result<nft::Chain> chain = netlink::DecodeChain(attributes, operation.family());
  if (!chain.ok()) return chain.error();
  if (chain->base.has_value()) chain->base->registration = operation.transaction.NewRegistration();
  if (!attributes[netlink::kChainName]) {
    chain->name = absl::StrFormat("%s%d", kBindingChainPrefix, operation.transaction.NewBindingChainNumber());
  }
  const Attribute& id = attributes[netlink::kChainId];
  const nft::Chain& added = table.AddChain(*std::move(chain), id ? std::optional<uint32_t>(id.U32()) : std::nullopt);
  NotifyChain(operation, netlink::kNewChain, table, added);
  return Fine();
}

// A DELCHAIN with a hook takes devices off a chain that has some.
Outcome RemoveDevices(const Operation& operation, const ChainAttributes& attributes, const TableEdit& table,
                      nft::Chain& chain) {
  const Attribute& hook_attribute = attributes[netlink::kChainHook];
  const netlink::Result<nft::BaseChain> hook = netlink::DecodeHook(attributes, operation.family(), &*chain.base);
  if (!hook.ok()) return hook.error();
  std::vector<nft::Device>& devices = chain.base->devices;
  for (const nft::Device& device : hook->devices) {
    const auto found = std::find(devices.begin(), devices.end(), device);
    if (found == devices.end()) {
      return Refused(ENOENT, hook_attribute, absl::StrFormat("chain %s has no device %s", chain.name, device.name));
    }
    devices.erase(found);
  }
  // Last one first, as the kernel collects them.
  NotifyDevices(operation, netlink::kDelChain, table, chain, {hook->devices.rbegin(), hook->devices.rend()});
  return Fine();
}

}  // namespace

Outcome NewChain(const Operation& operation) {
  const netlink::Result<ChainAttributes> attributes = netlink::ParseChainMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kChainTable]);
  if (!table.ok()) return table.error();
  const Attribute& handle = (*attributes)[netlink::kChainHandle];
  const Attribute& name = (*attributes)[netlink::kChainName];
  if (!handle && !name && !(*attributes)[netlink::kChainId]) {
    return Refused(EINVAL, {}, "the chain has no name");
  }
  const netlink::Result<const nft::Chain*> existing = FindChain(**table, handle, name);
  if (!existing.ok()) return existing.error();
  if (Outcome outcome = CheckPolicy(*attributes, *existing); outcome.error != 0) return outcome;
  const Attribute& flags = (*attributes)[netlink::kChainFlags];
  if (flags && (flags.U32() & ~kKnownChainFlags) != 0) return Refused(EOPNOTSUPP, flags, "unknown chain flags");
  if (*existing != nullptr) {
    return UpdateChain(operation, *attributes, **table, *(*table)->MutableChain((*existing)->handle));
  }
  return AddChain(operation, *attributes, **table);
}

Outcome DeleteChain(const Operation& operation, bool lenient) {
  const netlink::Result<ChainAttributes> attributes = netlink::ParseChainMessage(operation.message.bytes);
  if (!attributes.ok()) return attributes.error();
  const netlink::Result<TableEdit*> table = ResolveTable(operation, (*attributes)[netlink::kChainTable]);
  if (!table.ok()) return table.error();
  const Attribute& handle = (*attributes)[netlink::kChainHandle];
  const Attribute& name = (*attributes)[netlink::kChainName];
  const Attribute& at = handle ? handle : name;
  if (!at) return Refused(EINVAL, {}, "the message names no chain");

  nft::Chain* chain = nullptr;
  if (handle) {
    chain = (*table)->MutableChain(handle.U64());
  } else if (const nft::Chain* named = (*table)->ChainByName(name.String()); named != nullptr) {
    chain = (*table)->MutableChain(named->handle);
  }
  if (chain == nullptr) return lenient ? Fine() : Refused(ENOENT, at, "the chain does not exist");
  if ((chain->flags & nft::kChainBinding) != 0) return Refused(EOPNOTSUPP, {}, "a binding chain goes with its rule");
  if ((*attributes)[netlink::kChainHook]) {
    if (lenient) return Refused(EOPNOTSUPP, {}, "a chain's hook cannot be destroyed");
    if (chain->base.has_value() && HasDevices(operation.family(), chain->base->hook)) {
      return RemoveDevices(operation, *attributes, **table, *chain);
    }
  }

  const uint32_t jumps = (*table)->uses().of(chain->handle);
  if (operation.message.has(kFlagNonRecursive) && (jumps > 0 || !chain->rules.empty())) {
    return Refused(EBUSY, {}, absl::StrFormat("chain %s is not empty or in use", chain->name));
  }
  // Also by a rule of its own: so the kernel counts.
  if (jumps > 0) return Refused(EBUSY, at, absl::StrFormat("chain %s is jumped to", chain->name));
  NotifyRemoval(operation, **table, *chain);
  (*table)->RemoveChain(chain->handle);
  return Fine();
}

}  // namespace nftjit::control
