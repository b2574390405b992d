// Loads and stores of packet bytes and metadata: validation 5.
#include <cerrno>

#include "tests/netlink/messages.h"

namespace nftjit::netlink {
namespace {

std::string Payload(Parts attributes) { return Expr("payload", attributes); }
std::string Load(uint32_t base, uint32_t offset, uint32_t len) {
  return Payload({U32(1, 1), U32(2, base), U32(3, offset), U32(4, len)});
}
std::string Store(uint32_t base, uint32_t len, Parts rest = {}) {
  std::string all = U32(5, 1) + U32(2, base) + U32(3, 0) + U32(4, len);
  for (const std::string& part : rest) all += part;
  return Payload({all});
}

void AddPayloadCases(const RuleAdder& add) {
  for (uint32_t base = 0; base <= 3; ++base) add("payload base " + std::to_string(base), 0, Load(base, 2, 2));
  add("payload base 4", EOPNOTSUPP, Load(4, 0, 2));
  add("payload base 5", EOPNOTSUPP, Load(5, 0, 2));
  add("payload offset 65535", 0, Load(1, 65535, 1));
  add("payload offset 65536", ERANGE, Load(1, 65536, 1));
  add("payload len 0", EINVAL, Load(1, 0, 0));
  add("payload len 256", ERANGE, Load(1, 0, 256));
  add("payload without base", EINVAL, Payload({U32(1, 1), U32(3, 0), U32(4, 1)}));
  add("payload without offset", EINVAL, Payload({U32(1, 1), U32(2, 1), U32(4, 1)}));
  add("payload without len", EINVAL, Payload({U32(1, 1), U32(2, 1), U32(3, 1)}));
  add("payload len of 1 byte", ERANGE, Payload({U32(1, 1), U32(2, 1), U32(3, 0), U8(4, 1)}));
  add("payload without register", EINVAL, Payload({U32(2, 1), U32(3, 0), U32(4, 1)}));
  add("payload with both registers", EINVAL, Payload({U32(1, 1), U32(5, 1), U32(2, 1), U32(3, 0), U32(4, 1)}));
  add("payload with an unknown attribute", 0, Payload({U32(1, 1), U32(2, 1), U32(3, 0), U32(4, 1), U32(20, 5)}));
  add("store", 0, Store(1, 4));
  add("store with checksum", 0, Store(2, 2, {U32(6, 1), U32(7, 16), U32(8, 1)}));
  add("store of 64 bytes", 0, Store(1, 64));
  add("store csum type 3", EOPNOTSUPP, Store(1, 4, {U32(6, 3)}));
  add("store csum type 256", EOPNOTSUPP, Store(1, 4, {U32(6, 256)}));
  add("store csum offset 255", 0, Store(1, 4, {U32(6, 1), U32(7, 255)}));
  add("store csum offset 256", ERANGE, Store(1, 4, {U32(6, 1), U32(7, 256)}));
  add("store csum flags 2", EINVAL, Store(1, 4, {U32(6, 1), U32(8, 2)}));
  add("store sctp csum", 0, Store(2, 4, {U32(6, 2), U32(7, 8)}));
  add("store sctp csum at network", EINVAL, Store(1, 4, {U32(6, 2), U32(7, 8)}));
  add("store sctp csum at 9", EINVAL, Store(2, 4, {U32(6, 2), U32(7, 9)}));
}

std::string Inner(uint32_t type, uint32_t flags, uint32_t hdrsize, const std::string& nested, uint32_t num = 0) {
  return Expr("inner", {U32(1, num), U32(2, type), U32(3, flags), U32(4, hdrsize), nested});
}
std::string InnerPayload(uint32_t base) {
  return Nest(5, {Str(1, "payload"), Nest(2, {U32(1, 1), U32(2, base), U32(3, 0), U32(4, 4)})});
}
std::string InnerMeta(uint32_t key) { return Nest(5, {Str(1, "meta"), Nest(2, {U32(1, 1), U32(2, key)})}); }

void AddInnerCases(const RuleAdder& add) {
  for (const uint32_t base : {0U, 1U, 2U, 4U}) {
    add("inner payload base " + std::to_string(base), 0, Inner(1, 15, 8, InnerPayload(base)));
  }
  add("inner payload base 3", EOPNOTSUPP, Inner(1, 15, 8, InnerPayload(3)));
  add("inner payload base 5", EOPNOTSUPP, Inner(1, 15, 8, InnerPayload(5)));
  add("inner meta protocol", 0, Inner(1, 15, 8, InnerMeta(1)));
  add("inner meta l4proto", 0, Inner(2, 15, 8, InnerMeta(16)));
  add("inner meta mark", EOPNOTSUPP, Inner(1, 15, 8, InnerMeta(3)));
  add("inner counter", EOPNOTSUPP, Inner(1, 15, 8, Nest(5, {Str(1, "counter"), Nest(2, {})})));
  add("inner num 1", EOPNOTSUPP, Inner(1, 15, 8, InnerMeta(1), 1));
  add("inner flags 16", EOPNOTSUPP, Inner(1, 16, 8, InnerMeta(1)));
  add("inner hdrsize 0", EOPNOTSUPP, Inner(1, 1, 0, InnerMeta(1)));
  add("inner hdrsize 64", 0, Inner(1, 1, 64, InnerMeta(1)));
  add("inner hdrsize 65", EOPNOTSUPP, Inner(1, 1, 65, InnerMeta(1)));
  add("inner hdrsize 0 without the flag", 0, Inner(1, 14, 0, InnerMeta(1)));
  add("inner type 255", 0, Inner(255, 15, 8, InnerMeta(1)));
  add("inner type 256", EINVAL, Inner(256, 15, 8, InnerMeta(1)));
  add("inner without expression", EINVAL, Inner(1, 15, 8, ""));
}

void AddMetaCases(std::vector<Case>& cases) {
  for (const Family family : {Family::kIp, Family::kInet, Family::kArp, Family::kNetdev, Family::kBridge}) {
    const RuleAdder add{cases, family};
    for (uint32_t key = 0; key <= 40; ++key) {
      const bool set_only = key == 12 || key == 35;
      const bool bridge = key == 17 || key == 18 || key == 28 || key == 29 || key >= 36;
      // Bridge keys: the live kernel says whether it has them.
      if (family == Family::kBridge && bridge) continue;
      add("meta load " + std::to_string(key), set_only || bridge ? EOPNOTSUPP : 0,
          Expr("meta", {U32(1, 1), U32(2, key)}));
      if (family == Family::kBridge && key == 35) continue;
      const bool stored = key == 2 || key == 3 || key == 12 || key == 14 || key == 19;
      add("meta set " + std::to_string(key), stored ? 0 : EOPNOTSUPP, Expr("meta", {U32(3, 1), U32(2, key)}));
    }
  }
  const RuleAdder add{cases};
  add("meta without key", EINVAL, Expr("meta", {U32(1, 1)}));
  add("meta with both registers", EINVAL, Expr("meta", {U32(1, 1), U32(2, 3), U32(3, 1)}));
  add("meta without register", EINVAL, Expr("meta", {U32(2, 3)}));
  add("meta key 256", ERANGE, Expr("meta", {U32(1, 1), U32(2, 256)}));
  cases.push_back(
      RuleCase("meta set of a word never stored", ENODATA, Family::kIp, {Expr("meta", {U32(3, 1), U32(2, 3)})}));
}

void AddCtCases(std::vector<Case>& cases) {
  const auto load = [](uint32_t key, const std::string& direction) {
    return Expr("ct", {U32(1, 1), U32(2, key), direction});
  };
  const auto store = [](uint32_t key, const std::string& direction) {
    return Expr("ct", {U32(4, 1), U32(2, key), direction});
  };
  const RuleAdder add{cases};
  for (uint32_t key = 0; key <= 25; ++key) {
    const bool loadable = key != 18 && key <= 23;
    const bool required = key == 8 || key == 9 || key == 11 || key == 12 || (key >= 19 && key <= 22);
    const bool forbidden = key <= 6 || key == 13 || key == 23;
    const std::string name = "ct load " + std::to_string(key);
    add(name, !loadable ? EOPNOTSUPP : required ? EINVAL : 0, load(key, ""));
    add(name + " original", !loadable ? EOPNOTSUPP : forbidden ? EINVAL : 0, load(key, U8(3, 0)));
    add(name + " direction 2", !loadable ? EOPNOTSUPP : EINVAL, load(key, U8(3, 2)));
    const bool stored = key == 3 || key == 4 || key == 13 || key == 17 || key == 18;
    add("ct set " + std::to_string(key), stored ? 0 : EOPNOTSUPP, store(key, ""));
    add("ct set with direction " + std::to_string(key),
        !stored     ? EOPNOTSUPP
        : key == 17 ? 0
                    : EINVAL,
        store(key, U8(3, 1)));
  }
  add("ct without key", EINVAL, Expr("ct", {U32(1, 1)}));
  add("ct with both registers", EINVAL, Expr("ct", {U32(1, 1), U32(2, 3), U32(4, 1)}));
  add("ct key 256", ERANGE, load(256, ""));
  for (const Family family : {Family::kIp6, Family::kInet}) {
    const RuleAdder other{cases, family};
    other("ct src", 0, load(8, U8(3, 1)));
    other("ct src", ERANGE, Expr("ct", {U32(1, 21), U32(2, 8), U8(3, 1)}));
  }
  for (const Family family : {Family::kArp, Family::kNetdev}) {
    const RuleAdder other{cases, family};
    other("ct state", EPROTO, load(0, ""));
    other("ct mark set", EPROTO, store(3, ""));
    other("ct zone set", EPROTO, store(17, ""));
    other("ct src", EAFNOSUPPORT, load(8, U8(3, 1)));
  }
}

std::string Exthdr(Parts attributes) { return Expr("exthdr", attributes); }
std::string ExthdrLoad(uint32_t op, uint8_t type, uint32_t offset, uint32_t len, const std::string& rest = {}) {
  return Exthdr({U32(1, 1), U8(2, type), U32(3, offset), U32(4, len), U32(6, op), rest});
}

void AddExthdrCases(std::vector<Case>& cases) {
  const RuleAdder add{cases};
  add("exthdr without op", 0, Exthdr({U32(1, 1), U8(2, 0), U32(3, 1), U32(4, 1)}));
  for (const uint32_t op : {0U, 1U, 3U}) add("exthdr op " + std::to_string(op), 0, ExthdrLoad(op, 3, 1, 2));
  add("exthdr op 5", EOPNOTSUPP, ExthdrLoad(5, 3, 1, 2));
  add("exthdr op 256", ERANGE, ExthdrLoad(256, 3, 1, 2));
  for (const uint8_t type : {uint8_t{7}, uint8_t{131}, uint8_t{137}, uint8_t{148}}) {
    add("ip option " + std::to_string(type), 0, ExthdrLoad(2, type, 0, 1));
  }
  add("ip option 1", EOPNOTSUPP, ExthdrLoad(2, 1, 0, 1));
  RuleAdder{cases, Family::kIp6}("ip option 7", EOPNOTSUPP, ExthdrLoad(2, 7, 0, 1));
  RuleAdder{cases, Family::kArp}("ip option 7", 0, ExthdrLoad(2, 7, 0, 1));
  add("exthdr len 0", EINVAL, ExthdrLoad(1, 3, 0, 0));
  add("exthdr len 65", ERANGE, ExthdrLoad(1, 3, 0, 65));
  add("exthdr len 256", ERANGE, ExthdrLoad(1, 3, 0, 256));
  add("exthdr offset 256", ERANGE, ExthdrLoad(1, 3, 256, 1));
  add("exthdr without type", EINVAL, Exthdr({U32(1, 1), U32(3, 1), U32(4, 1)}));
  add("exthdr present", 0, ExthdrLoad(1, 3, 0, 1, U32(5, 1)));
  add("exthdr flags 2", EINVAL, ExthdrLoad(1, 3, 0, 1, U32(5, 2)));
  add("exthdr present of 2 bytes", EINVAL, ExthdrLoad(1, 3, 0, 2, U32(5, 1)));
  const auto set = [](uint32_t op, uint32_t offset, uint32_t len, const std::string& rest = {}) {
    return Exthdr({U32(7, 1), U8(2, 2), U32(3, offset), U32(4, len), U32(6, op), rest});
  };
  add("tcpopt set", 0, set(1, 2, 2));
  add("tcpopt set 4", 0, set(1, 4, 4));
  add("tcpopt set with flags", EINVAL, set(1, 2, 2, U32(5, 0)));
  add("tcpopt set with dreg", EOPNOTSUPP, set(1, 2, 2, U32(1, 1)));
  add("tcpopt set len 3", EOPNOTSUPP, set(1, 2, 3));
  add("tcpopt set offset 1", EOPNOTSUPP, set(1, 1, 2));
  add("exthdr set with op ipv6", EOPNOTSUPP, set(0, 2, 2));
  add("exthdr set with op ipv4", EOPNOTSUPP, set(2, 2, 2));
  add("tcpopt strip", 0, Exthdr({U8(2, 4), U32(6, 1)}));
  add("tcpopt strip without type", EINVAL, Exthdr({U32(6, 1)}));
  add("tcpopt strip with offset", EINVAL, Exthdr({U8(2, 4), U32(3, 0), U32(6, 1)}));
  add("tcpopt strip with flags", EINVAL, Exthdr({U8(2, 4), U32(5, 0), U32(6, 1)}));
  add("strip with op sctp", EOPNOTSUPP, Exthdr({U8(2, 4), U32(6, 3)}));
}

void AddRouteCases(std::vector<Case>& cases) {
  const RuleAdder add{cases};
  for (uint32_t key = 0; key <= 4; ++key) {
    add("rt " + std::to_string(key), 0, Expr("rt", {U32(1, 1), U32(2, key)}));
  }
  add("rt 5", EOPNOTSUPP, Expr("rt", {U32(1, 1), U32(2, 5)}));
  add("rt without key", EINVAL, Expr("rt", {U32(1, 1)}));
  const auto fib = [](uint32_t result, uint32_t flags) {
    return Expr("fib", {U32(1, 1), U32(2, result), U32(3, flags)});
  };
  for (const uint32_t result : {1U, 2U, 3U}) {
    add("fib saddr " + std::to_string(result), 0, fib(result, 1));
    add("fib daddr mark iif " + std::to_string(result), 0, fib(result, 2 | 4 | 8));
    add("fib oif " + std::to_string(result), result == 3 ? 0 : EINVAL, fib(result, 1 | 16));
    add("fib present " + std::to_string(result), result == 1 ? 0 : EINVAL, fib(result, 1 | 32));
    add("fib no flags " + std::to_string(result), EINVAL, fib(result, 0));
    add("fib both addresses " + std::to_string(result), EINVAL, fib(result, 3));
    add("fib no address " + std::to_string(result), EINVAL, fib(result, 8));
    add("fib both devices " + std::to_string(result), EINVAL, fib(result, 1 | 8 | 16));
    add("fib unknown flag " + std::to_string(result), EINVAL, fib(result, 1 | 64));
  }
  add("fib result 0", EOPNOTSUPP, fib(0, 1));
  add("fib result 4", EOPNOTSUPP, fib(4, 1));
  for (const Family family : {Family::kArp, Family::kBridge}) RuleAdder{cases, family}("fib", ENOENT, fib(1, 1));
  RuleAdder{cases, Family::kNetdev}("fib", 0, fib(1, 1));
}

void AddSocketCases(std::vector<Case>& cases) {
  const RuleAdder add{cases};
  for (uint32_t key = 0; key <= 2; ++key) {
    add("socket " + std::to_string(key), 0, Expr("socket", {U32(1, key), U32(2, 1)}));
    add("socket with level " + std::to_string(key), 0, Expr("socket", {U32(1, key), U32(2, 1), U32(3, 1)}));
  }
  add("socket cgroupv2", 0, Expr("socket", {U32(1, 3), U32(2, 1), U32(3, 2)}));
  add("socket cgroupv2 level 256", ERANGE, Expr("socket", {U32(1, 3), U32(2, 1), U32(3, 256)}));
  add("socket cgroupv2 without level", EINVAL, Expr("socket", {U32(1, 3), U32(2, 1)}));
  add("socket 4", EOPNOTSUPP, Expr("socket", {U32(1, 4), U32(2, 1)}));
  RuleAdder{cases, Family::kArp}("socket", EOPNOTSUPP, Expr("socket", {U32(1, 0), U32(2, 1)}));
  add("osf", 0, Expr("osf", {U32(1, 1)}));
  add("osf with all", 0, Expr("osf", {U32(1, 1), U8(2, 2), U32(3, 1)}));
  add("osf ttl 3", EINVAL, Expr("osf", {U32(1, 1), U8(2, 3)}));
  add("osf flags 0", EINVAL, Expr("osf", {U32(1, 1), U32(3, 0)}));
  add("osf flags 2", EINVAL, Expr("osf", {U32(1, 1), U32(3, 2)}));
  const auto xfrm = [](uint32_t key, uint8_t dir, uint32_t spnum) {
    return Expr("xfrm", {U32(1, 1), U32(2, key), U8(3, dir), U32(4, spnum)});
  };
  for (uint32_t key = 1; key <= 6; ++key) add("xfrm " + std::to_string(key), 0, xfrm(key, 1, 5));
  add("xfrm 0", EINVAL, xfrm(0, 0, 0));
  add("xfrm 7", EINVAL, xfrm(7, 0, 0));
  add("xfrm dir 2", EINVAL, xfrm(5, 2, 0));
  add("xfrm spnum 6", ERANGE, xfrm(5, 0, 6));
  add("xfrm without spnum", 0, Expr("xfrm", {U32(1, 1), U32(2, 5), U8(3, 0)}));
  RuleAdder{cases, Family::kBridge}("xfrm", EOPNOTSUPP, xfrm(5, 0, 0));
  const RuleAdder netdev{cases, Family::kNetdev};
  const auto tunnel = [](uint32_t key, uint32_t mode) {
    return Expr("tunnel", {U32(1, key), U32(2, 1), U32(3, mode)});
  };
  netdev("tunnel path", 0, tunnel(0, 0));
  netdev("tunnel id", 0, tunnel(1, 2));
  netdev("tunnel 2", EOPNOTSUPP, tunnel(2, 0));
  netdev("tunnel mode 3", EOPNOTSUPP, tunnel(0, 3));
  netdev("tunnel without mode", 0, Expr("tunnel", {U32(1, 0), U32(2, 1)}));
  add("tunnel", ENOENT, tunnel(0, 0));
}

}  // namespace

std::vector<Case> PacketCases() {
  std::vector<Case> cases;
  AddPayloadCases(RuleAdder{cases});
  AddInnerCases(RuleAdder{cases});
  AddMetaCases(cases);
  AddCtCases(cases);
  AddExthdrCases(cases);
  AddRouteCases(cases);
  AddSocketCases(cases);
  return cases;
}

}  // namespace nftjit::netlink
