#include "lib/nft/hook_rules.h"

namespace nftjit::nft {
namespace {

constexpr uint32_t Bit(uint8_t hook) { return 1U << hook; }
constexpr uint32_t kPre = Bit(kPrerouting), kIn = Bit(kInput), kFwd = Bit(kForward), kOut = Bit(kOutput),
                   kPost = Bit(kPostrouting), kInetIng = Bit(kInetIngress);
constexpr uint32_t kFive = kPre | kIn | kFwd | kOut | kPost;
constexpr uint32_t kIng = Bit(kNetdevIngress), kEgr = Bit(kNetdevEgress);
constexpr uint32_t kAll = ~uint32_t{0};

constexpr uint32_t kFibOifResult = 1, kFibOifnameResult = 2, kFibIif = 8, kFibOif = 16;
constexpr uint32_t kRtTcpmss = 3;

bool IsL3(Family family) { return family == Family::kIp || family == Family::kIp6 || family == Family::kInet; }

// The hooks of a table's family at which an expression may run: `l3` in ip, ip6 and inet (there with its ingress),
// `netdev`, `bridge`; nothing else restricts arp.
struct Hooks {
  Family family;
  uint32_t L3(uint32_t l3, uint32_t netdev = 0, uint32_t bridge = 0) const {
    if (IsL3(family)) return l3;
    if (family == Family::kNetdev) return netdev;
    return family == Family::kBridge ? bridge : 0;
  }
};

// One overload for each restricted expression; all others run everywhere.
struct AllowedHooks {
  Hooks in;
  ChainType type;

  uint32_t operator()(const MetaLoad& meta) const {
    switch (meta.key) {
      case MetaKey::kSecpath:
        return in.L3(kPre | kIn | kFwd, kIng);
      case MetaKey::kSdif:
      case MetaKey::kSdifname:
        return in.L3(kIn | kFwd);
      case MetaKey::kBriIifhwaddr:
        return in.L3(0, 0, kPre);
      default:
        return kAll;
    }
  }
  uint32_t operator()(const MetaStore& meta) const {
    if (meta.key == MetaKey::kPkttype) return in.L3(kPre, kIng, kPre);
    return meta.key == MetaKey::kBroute ? in.L3(0, 0, kPre) : kAll;
  }
  uint32_t operator()(const Rt& rt) const { return in.L3(rt.key == kRtTcpmss ? kFwd | kOut | kPost : kAll); }
  uint32_t operator()(const Fib& fib) const {
    const bool interface = fib.result == kFibOifResult || fib.result == kFibOifnameResult;
    if (interface || (fib.flags & kFibIif) != 0) return in.L3(kPre | kIn | kFwd, kIng);
    return (fib.flags & kFibOif) != 0 ? in.L3(kFwd | kOut | kPost, kEgr) : in.L3(kFive, kIng | kEgr);
  }
  uint32_t operator()(const Socket&) const { return in.L3(kPre | kIn | kOut); }
  uint32_t operator()(const Tproxy&) const { return in.L3(kPre); }
  uint32_t operator()(const Osf&) const { return in.family == Family::kIp6 ? 0 : in.L3(kPre | kIn | kFwd); }
  uint32_t operator()(const Xfrm& xfrm) const { return in.L3(xfrm.dir == 0 ? kPre | kIn | kFwd : kFwd | kOut | kPost); }
  uint32_t operator()(const Reject&) const { return in.L3(kPre | kIn | kFwd | kOut | kInetIng, kIng, kPre | kIn); }
  uint32_t operator()(const Nat& nat) const { return Translation(nat.type == 0 ? kIn | kPost : kPre | kOut); }
  uint32_t operator()(const Masquerade&) const { return Translation(kPost); }
  uint32_t operator()(const Redirect&) const { return Translation(kPre | kOut); }
  uint32_t operator()(const Synproxy&) const { return in.L3(kIn | kFwd); }
  uint32_t operator()(const Queue&) const { return in.L3(kFive, 0, kFive); }
  uint32_t operator()(const FlowOffload&) const { return in.L3(kFwd); }
  uint32_t operator()(const CompatMatch&) const { return in.L3(kFive, 0, kFive); }
  template <class Body>
  uint32_t operator()(const Body&) const {
    return kAll;
  }

 private:
  [[nodiscard]] uint32_t Translation(uint32_t hooks) const { return type == ChainType::kNat ? in.L3(hooks) : 0; }
};

}  // namespace

bool IsAllowedAt(const ExpressionBody& body, Family family, uint8_t hook, ChainType type) {
  return (std::visit(AllowedHooks{{family}, type}, body) & Bit(hook)) != 0;
}

bool IsObjectAllowedAt(ObjectType object, Family family, uint8_t hook) {
  if (object != ObjectType::kSynproxy) return true;
  return (Hooks{family}.L3(kIn | kFwd) & Bit(hook)) != 0;
}

}  // namespace nftjit::nft
