// Lines of tables, chains, objects and flowtables, in the text of libnftnl.
#include <absl/strings/str_cat.h>

#include "lib/nft/listing_printer.h"
#include "lib/support/absl_view.h"

namespace nftjit::nft {
namespace {

std::string DeviceList(const std::vector<Device>& devices) {
  if (devices.empty()) return "";
  std::string text = " dev { ";
  for (const Device& device : devices) absl::StrAppend(&text, device.name, device.prefix ? "* " : " ");
  return text + "} ";
}

struct ObjectText {
  std::string operator()(const Counter& o) const {
    return absl::StrCat("counter pkts ", o.packets, " bytes ", o.bytes, " ");
  }
  std::string operator()(const Quota& o) const {
    return absl::StrCat("quota bytes ", o.bytes, " flags ", o.flags, " ");
  }
  std::string operator()(const CtHelperObject& o) const {
    return absl::StrCat("ct_helper name ", o.name, " family ", o.l3proto, " protocol ", o.l4proto, " ");
  }
  std::string operator()(const Limit& o) const {
    return absl::StrCat("limit rate ", o.rate, " unit ", o.unit_s, " burst ", o.burst, " type ",
                        static_cast<int>(o.type), " flags ", o.flags, " ");
  }
  std::string operator()(const Connlimit& o) const {
    return absl::StrCat("connlimit count ", o.count, " flags ", absl::Hex(o.flags), " ");
  }
  std::string operator()(const TunnelObject&) const { return "tunnel "; }
  std::string operator()(const CtTimeoutObject& o) const {
    std::string text = absl::StrCat("ct_timeout family ", o.l3proto, " protocol ", o.l4proto, " policy = {");
    for (const auto& [state, seconds] : o.policy_s) absl::StrAppend(&text, " ", state, " : ", seconds);
    return text + " } ";
  }
  std::string operator()(const SecmarkObject& o) const { return absl::StrCat("secmark context ", o.context, " "); }
  std::string operator()(const CtExpectObject& o) const {
    return absl::StrCat("ct_expect family ", o.l3proto, " protocol ", o.l4proto, " dport ", o.dport_net, " timeout ",
                        o.timeout_ms, " size ", o.size, " ");
  }
  std::string operator()(const Synproxy& o) const {
    return absl::StrCat("synproxy mss ", o.mss, " wscale ", o.wscale, " ");
  }
};

}  // namespace

std::string PrintTableLine(const Table& table) {
  return absl::StrCat("table ", table.name, " ", View(Name(table.family)), " flags ", absl::Hex(table.flags), " use 0",
                      " handle ", table.handle, "\n");
}

std::string PrintChainLine(const Table& table, const Chain& chain) {
  std::string out = absl::StrCat(View(Name(table.family)), " ", table.name, " ", chain.name, " use 0");
  if (chain.base) {
    const BaseChain& base = *chain.base;
    const Counter counters = base.counters.value_or(Counter{});
    absl::StrAppend(&out, " type ", View(Name(base.type)), " hook ", View(HookName(table.family, base.hook)), " prio ",
                    base.priority, " policy ", View(Name(base.policy)));
    absl::StrAppend(&out, " packets ", counters.packets, " bytes ", counters.bytes, DeviceList(base.devices));
  }
  // The other flags follow from what was printed.
  if ((chain.flags & ~kChainBase) != 0) absl::StrAppend(&out, " flags ", absl::Hex(chain.flags));
  return out + "\n";
}

std::string PrintObjectLine(const Table& table, const Object& object) {
  return absl::StrCat("table ", table.name, " name ", object.name, " use 0 [ ", std::visit(ObjectText{}, object.body),
                      "]\n");
}

std::string PrintFlowtableLine(const Table& table, const Flowtable& flowtable) {
  return absl::StrCat("flow table ", table.name, " ", flowtable.name, " use 0 size 0 flags ",
                      absl::Hex(flowtable.flags), " hook ", View(HookName(Family::kNetdev, flowtable.hook)), " prio ",
                      flowtable.priority, DeviceList(flowtable.devices), "\n");
}

}  // namespace nftjit::nft
