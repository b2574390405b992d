// Tables, chains and flowtables: validation 2.
#include <cerrno>

#include "lib/nft/ruleset.h"
#include "tests/netlink/messages.h"

namespace nftjit::netlink {
namespace {

std::string Name() { return Str(kChainName, "n"); }
std::string Hook(uint32_t number, int32_t priority = 0, const std::string& rest = {}) {
  return Nest(kChainHook, {U32(kHookNumber, number), U32(kHookPriority, static_cast<uint32_t>(priority)), rest});
}
std::string Type(std::string_view type) { return Str(kChainType, type); }

struct ChainAdder {
  std::vector<Case>& cases;
  void operator()(const std::string& name, int error, Family family, Parts attributes) const {
    cases.push_back({"chain: " + name, {}, ChainMessage(family, attributes), error});
  }
};

void AddHookCases(std::vector<Case>& cases) {
  const ChainAdder add{cases};
  struct Row {
    Family family;
    uint32_t filter, nat, route;  // Bits of the hooks that the type has; 0: no such type.
  };
  constexpr Row kRows[] = {{Family::kIp, 0x1f, 0x1b, 0x08},   {Family::kIp6, 0x1f, 0x1b, 0x08},
                           {Family::kInet, 0x3f, 0x1b, 0x08}, {Family::kArp, 0x03, 0, 0},
                           {Family::kBridge, 0x1f, 0, 0},     {Family::kNetdev, 0x03, 0, 0}};
  for (const Row& row : kRows) {
    const std::string family(nft::Name(row.family));
    for (uint32_t hook = 0; hook <= 8; ++hook) {
      const auto expected = [hook](uint32_t hooks) {
        return hooks == 0 ? ENOENT : (hooks >> hook & 1) != 0 ? 0 : EOPNOTSUPP;
      };
      const std::string at = family + " hook " + std::to_string(hook);
      add("filter " + at, expected(row.filter), row.family, {Name(), Hook(hook), Type("filter")});
      add("nat " + at, expected(row.nat), row.family, {Name(), Hook(hook), Type("nat")});
      add("route " + at, expected(row.route), row.family, {Name(), Hook(hook), Type("route")});
    }
    add("unknown type in " + family, ENOENT, row.family, {Name(), Hook(0), Type("nonsense")});
    add("default type in " + family, 0, row.family, {Name(), Hook(0)});
  }
  add("hook without priority", ENOENT, Family::kIp, {Name(), Nest(kChainHook, {U32(kHookNumber, 0)})});
  add("hook without number", ENOENT, Family::kIp, {Name(), Nest(kChainHook, {U32(kHookPriority, 0)})});
  add("nat at -199", 0, Family::kIp, {Name(), Hook(0, -199), Type("nat")});
  add("nat at -200", EOPNOTSUPP, Family::kIp, {Name(), Hook(0, -200), Type("nat")});
  add("lowest priority", 0, Family::kIp, {Name(), Hook(0, INT32_MIN)});
  add("type without hook", 0, Family::kIp, {Name(), Type("nat")});
}

void AddDeviceCases(std::vector<Case>& cases) {
  const ChainAdder add{cases};
  const auto devices = [](Parts items) { return Nest(kHookDevices, items); };
  const std::string lo = Str(kDeviceName, "lo"), other = Str(kDeviceName, "other"), prefix = Str(kDevicePrefix, "eth");
  for (const Family family : {Family::kNetdev, Family::kInet}) {
    const uint32_t hook = family == Family::kInet ? 5 : 0;
    const std::string in = " in " + std::string(nft::Name(family));
    add("no device" + in, 0, family, {Name(), Hook(hook)});
    add("device" + in, 0, family, {Name(), Hook(hook, 0, Str(kHookDevice, "lo"))});
    add("missing device" + in, 0, family, {Name(), Hook(hook, 0, Str(kHookDevice, "nowhere"))});
    add("empty device" + in, 0, family, {Name(), Hook(hook, 0, Str(kHookDevice, ""))});
    add("device of 16 bytes" + in, ERANGE, family, {Name(), Hook(hook, 0, Str(kHookDevice, Bytes(16, 'x')))});
    add("devices" + in, 0, family, {Name(), Hook(hook, 0, devices({lo, other, prefix}))});
    add("one device in a list" + in, 0, family, {Name(), Hook(hook, 0, devices({lo}))});
    add("one prefix in a list" + in, 0, family, {Name(), Hook(hook, 0, devices({prefix}))});
    add("both" + in, 0, family, {Name(), Hook(hook, 0, Str(kHookDevice, "a") + devices({lo}))});
    add("same device twice" + in, EEXIST, family, {Name(), Hook(hook, 0, devices({lo, other, lo}))});
    add("listed device of 16 bytes" + in, E2BIG, family, {Name(), Hook(hook, 0, devices({Str(1, Bytes(16, 'x'))}))});
    add("list item of number 3" + in, EINVAL, family, {Name(), Hook(hook, 0, devices({Str(3, "lo")}))});
  }
  add("device on an ip chain", EOPNOTSUPP, Family::kIp, {Name(), Hook(0, 0, Str(kHookDevice, "lo"))});
  add("device on an inet prerouting chain", EOPNOTSUPP, Family::kInet, {Name(), Hook(0, 0, devices({lo}))});
}

void AddOtherChainCases(std::vector<Case>& cases) {
  const ChainAdder add{cases};
  add("no name and id", EINVAL, kIp, {});
  add("id alone", EINVAL, kIp, {U32(kChainId, 5)});
  add("empty name", 0, kIp, {Str(kChainName, "")});
  add("name of 0 bytes", ERANGE, kIp, {Attr(kChainName, "")});
  add("name of 255", 0, kIp, {Str(kChainName, Bytes(255, 'x'))});
  add("name of 256", ERANGE, kIp, {Str(kChainName, Bytes(256, 'x'))});
  add("policy drop", 0, kIp, {Name(), Hook(1), U32(kChainPolicy, 0)});
  add("policy 2", EINVAL, kIp, {Name(), Hook(1), U32(kChainPolicy, 2)});
  add("policy of a regular chain", EOPNOTSUPP, kIp, {Name(), U32(kChainPolicy, 1)});
  add("flags base", EINVAL, kIp, {Name(), U32(kChainFlags, 1)});
  add("flags base with a hook", 0, kIp, {Name(), Hook(1), U32(kChainFlags, 1)});
  add("flags offload", EOPNOTSUPP, kIp, {Name(), U32(kChainFlags, 2)});
  add("flags offload with a hook", EOPNOTSUPP, kIp, {Name(), Hook(1), U32(kChainFlags, 2)});
  add("flags offload in netdev", EOPNOTSUPP, Family::kNetdev,
      {Name(), Hook(0, 0, Str(kHookDevice, "lo")), U32(kChainFlags, 2)});
  add("flags offload without device", EINVAL, Family::kNetdev, {Name(), Hook(0), U32(kChainFlags, 2)});
  add("flags 8", EOPNOTSUPP, kIp, {Name(), U32(kChainFlags, 8)});
  add("flags binding with a hook", EOPNOTSUPP, kIp, {Name(), Hook(1), U32(kChainFlags, 4)});
  const auto counters = [](Parts values) { return Nest(kChainCounters, values); };
  add("counters", 0, kIp, {Name(), Hook(1), counters({U64(1, 3), U64(2, 4)})});
  add("counters without packets", EINVAL, kIp, {Name(), Hook(1), counters({U64(1, 3)})});
  add("counters without bytes", EINVAL, kIp, {Name(), Hook(1), counters({U64(2, 3)})});
  add("counters too short", ERANGE, kIp, {Name(), Hook(1), counters({U32(1, 3), U64(2, 4)})});
  add("counters of a regular chain", 0, kIp, {Name(), counters({})});
  add("user data of 256", 0, kIp, {Name(), Attr(kChainUserdata, Bytes(256))});
  add("user data of 257", ERANGE, kIp, {Name(), Attr(kChainUserdata, Bytes(257))});
  for (const uint32_t flags : {0U, 1U}) {
    cases.push_back({"table flags", {}, TableMessage(kIp, {U32(kTableFlags, flags)}), 0});
  }
  cases.push_back({"table flags 8", {}, TableMessage(kIp, {U32(kTableFlags, 8)}), EOPNOTSUPP});
  cases.push_back({"table without name", {}, {kNewTable, 0x400, kIp, U32(kTableFlags, 0)}, EINVAL});
  cases.push_back({"table user data of 257", {}, TableMessage(kIp, {Attr(kTableUserdata, Bytes(257))}), ERANGE});
}

}  // namespace

std::vector<Case> ChainCases() {
  std::vector<Case> cases;
  AddHookCases(cases);
  AddDeviceCases(cases);
  AddOtherChainCases(cases);
  return cases;
}

}  // namespace nftjit::netlink
