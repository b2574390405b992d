// Stateful expressions, statements, translations, wrappers: validation 5.
#include <cerrno>

#include "tests/netlink/messages.h"

namespace nftjit::netlink {
namespace {

constexpr uint64_t kBig = uint64_t{1} << 63;

void AddStatefulCases(std::vector<Case>& cases) {
  const RuleAdder add{cases};
  add("counter", 0, Expr("counter", {}));
  add("counter with values", 0, Expr("counter", {U64(1, 5), U64(2, 6)}));
  add("counter too short", ERANGE, Expr("counter", {U32(1, 5)}));
  const auto quota = [](uint64_t bytes, uint32_t flags, uint64_t consumed) {
    return Expr("quota", {U64(1, bytes), U32(2, flags), U64(4, consumed)});
  };
  add("quota", 0, quota(1000, 1, 10));
  add("quota 0", 0, quota(0, 0, 0));
  add("quota depleted", 0, quota(10, 0, 10));
  add("quota without bytes", EINVAL, Expr("quota", {U32(2, 0)}));
  add("quota flags 2", EINVAL, quota(10, 2, 0));
  add("quota overdrawn", EINVAL, quota(10, 0, 11));
  add("quota of 2^63", EOVERFLOW, quota(kBig, 0, 0));
  const auto limit = [](uint64_t rate, uint64_t unit, uint32_t burst, uint32_t type, uint32_t flags) {
    return Expr("limit", {U64(1, rate), U64(2, unit), U32(3, burst), U32(4, type), U32(5, flags)});
  };
  add("limit packets", 0, limit(10, 1, 5, 0, 0));
  add("limit packets inverted", 0, limit(10, 60, 0, 0, 1));
  add("limit bytes", 0, limit(1000, 1, 0, 1, 0));
  add("limit without rate", EINVAL, Expr("limit", {U64(2, 1)}));
  add("limit without unit", EINVAL, Expr("limit", {U64(1, 1)}));
  add("limit rate 0", EINVAL, limit(0, 1, 5, 0, 0));
  add("limit unit 0", 0, limit(1, 0, 5, 0, 0));
  add("limit type 2", EOPNOTSUPP, limit(1, 1, 5, 2, 0));
  add("limit flags 2", EOPNOTSUPP, limit(1, 1, 5, 0, 2));
  add("limit 1/day burst 2^32-1", EOVERFLOW, limit(1, 86400, 0xffffffff, 0, 0));
  add("limit bytes 2^35/second", EOVERFLOW, limit(uint64_t{1} << 35, 1, 0, 1, 0));
  add("limit bytes 2^64-1", EOVERFLOW, limit(~uint64_t{0}, 1, 1, 1, 0));
  add("limit unit 2^63", EOVERFLOW, limit(1, kBig, 1, 0, 0));
  add("connlimit", 0, Expr("connlimit", {U32(1, 5)}));
  add("connlimit inverted", 0, Expr("connlimit", {U32(1, 5), U32(2, 1)}));
  add("connlimit without count", EINVAL, Expr("connlimit", {}));
  add("connlimit flags 2", EOPNOTSUPP, Expr("connlimit", {U32(1, 5), U32(2, 2)}));
  RuleAdder{cases, Family::kNetdev}("connlimit", EPROTO, Expr("connlimit", {U32(1, 5)}));
  add("last", 0, Expr("last", {}));
  add("last never", 0, Expr("last", {U32(1, 0), U64(2, 4000)}));
  add("last beyond time", ERANGE, Expr("last", {U32(1, 1), U64(2, ~uint64_t{0})}));
}

void AddNumberCases(const RuleAdder& add) {
  const auto numgen = [](uint32_t modulus, uint32_t type, uint32_t offset) {
    return Expr("numgen", {U32(1, 1), U32(2, modulus), U32(3, type), U32(4, offset)});
  };
  add("numgen inc", 0, numgen(3, 0, 5));
  add("numgen random", 0, numgen(3, 1, 0));
  add("numgen type 2", EINVAL, numgen(3, 2, 0));
  add("numgen without type", EINVAL, Expr("numgen", {U32(1, 1), U32(2, 3)}));
  add("numgen modulus 0", ERANGE, numgen(0, 0, 0));
  add("numgen up to 2^32-1", 0, numgen(0xffffffff, 0, 1));
  add("numgen beyond 2^32", EOVERFLOW, numgen(0xffffffff, 0, 2));
  const auto hash = [](uint32_t len, uint32_t modulus, const std::string& rest = {}) {
    return Expr("hash", {U32(1, 1), U32(2, 2), U32(3, len), U32(4, modulus), rest});
  };
  add("jhash", 0, hash(4, 7));
  add("jhash with all", 0, hash(64, 7, U32(5, 0xdead) + U32(6, 2) + U32(7, 0)));
  add("jhash without modulus", EINVAL, Expr("hash", {U32(1, 1), U32(2, 2), U32(3, 4)}));
  add("jhash len 0", ERANGE, hash(0, 7));
  add("jhash len 65", ERANGE, hash(65, 7));
  add("jhash len 256", ERANGE, hash(256, 7));
  add("jhash modulus 0", ERANGE, hash(4, 0));
  add("jhash beyond 2^32", EOVERFLOW, hash(4, 0xffffffff, U32(6, 2)));
  add("hash type 2", EOPNOTSUPP, hash(4, 7, U32(7, 2)));
  add("symhash", 0, Expr("hash", {U32(2, 1), U32(4, 7), U32(7, 1)}));
  add("symhash without modulus", EINVAL, Expr("hash", {U32(2, 1), U32(7, 1)}));
}

void AddLogCases(const RuleAdder& add) {
  add("log", 0, Expr("log", {}));
  add("log with all of a level", 0, Expr("log", {Str(2, "hello"), U32(5, 6), U32(6, 0x2f)}));
  add("log with all of a group", 0, Expr("log", {Str(2, "hello"), U16(1, 3), U32(3, 96), U16(4, 5)}));
  add("log snaplen without group", 0, Expr("log", {U32(3, 96), U16(4, 5)}));
  add("log level 8", 0, Expr("log", {U32(5, 8)}));
  add("log level 9", EINVAL, Expr("log", {U32(5, 9)}));
  add("log flags 0x10", EINVAL, Expr("log", {U32(6, 0x10)}));
  add("log flags 0x40", EINVAL, Expr("log", {U32(6, 0x40)}));
  add("log group and level", EINVAL, Expr("log", {U16(1, 3), U32(5, 4)}));
  add("log group and flags", EINVAL, Expr("log", {U16(1, 3), U32(6, 1)}));
  add("log prefix of 127", 0, Expr("log", {Str(2, Bytes(127, 'x'))}));
  add("log prefix of 128", ERANGE, Expr("log", {Str(2, Bytes(128, 'x'))}));
}

void AddRejectCases(std::vector<Case>& cases) {
  const auto reject = [](uint32_t type, uint8_t code) { return Expr("reject", {U32(1, type), U8(2, code)}); };
  for (const Family family : {Family::kIp, Family::kInet, Family::kNetdev}) {
    const RuleAdder add{cases, family};
    add("reject icmp", 0, reject(0, 3));
    add("reject icmp 255", 0, reject(0, 255));
    add("reject tcp reset", 0, Expr("reject", {U32(1, 1)}));
    add("reject tcp reset with code", 0, reject(1, 9));
    add("reject icmpx", 0, reject(2, 3));
    add("reject icmpx 4", EINVAL, reject(2, 4));
    add("reject type 3", EINVAL, reject(3, 0));
    add("reject without code", EINVAL, Expr("reject", {U32(1, 0)}));
    add("reject icmpx without code", EINVAL, Expr("reject", {U32(1, 2)}));
    add("reject without type", EINVAL, Expr("reject", {U8(2, 0)}));
  }
  RuleAdder{cases, Family::kArp}("reject", ENOENT, reject(0, 3));
}

void AddNatCases(std::vector<Case>& cases) {
  const auto nat = [](uint32_t type, uint32_t family, const std::string& rest) {
    return Expr("nat", {U32(1, type), U32(2, family), rest});
  };
  const RuleAdder add{cases};
  add("snat", 0, nat(0, 2, U32(3, 1)));
  add("dnat with all", 0, nat(1, 2, U32(3, 1) + U32(4, 2) + U32(5, 3) + U32(6, 4) + U32(7, 0x7c)));
  add("dnat port", 0, nat(1, 2, U32(5, 3)));
  add("nat without family", EINVAL, Expr("nat", {U32(1, 0), U32(3, 1)}));
  add("nat without address and port", EINVAL, nat(0, 2, ""));
  add("nat flags 0x80", EINVAL, nat(0, 2, U32(3, 1) + U32(7, 0x80)));
  add("nat type 2", EOPNOTSUPP, nat(2, 2, U32(3, 1)));
  add("nat of ip6", EOPNOTSUPP, nat(0, 10, U32(3, 1)));
  const RuleAdder inet{cases, Family::kInet};
  inet("nat of ip", 0, nat(0, 2, U32(3, 1)));
  inet("nat of ip6", 0, nat(0, 10, U32(3, 1)));
  inet("nat of ip6 past the registers", ERANGE, nat(0, 10, U32(3, 21)));
  inet("nat of inet", EAFNOSUPPORT, nat(0, 1, U32(3, 1)));
  inet("nat port of inet", 0, nat(0, 1, U32(5, 1)));
  RuleAdder{cases, Family::kArp}("nat of ip", EOPNOTSUPP, nat(0, 2, U32(3, 1)));
  for (const Family family : {Family::kIp, Family::kIp6, Family::kInet}) {
    const RuleAdder each{cases, family};
    each("masq", 0, Expr("masq", {}));
    each("masq with all", 0, Expr("masq", {U32(1, 4), U32(2, 1), U32(3, 2)}));
    each("masq with a maximum only", 0, Expr("masq", {U32(3, 2)}));
    each("masq flags 0x80", EINVAL, Expr("masq", {U32(1, 0x80)}));
    each("redir", 0, Expr("redir", {}));
    each("redir with a port", 0, Expr("redir", {U32(1, 1)}));
    each("redir with all", 0, Expr("redir", {U32(1, 1), U32(2, 2), U32(3, 0)}));
    each("redir flags 0x80", EINVAL, Expr("redir", {U32(3, 0x80)}));
  }
  for (const Family family : {Family::kArp, Family::kBridge, Family::kNetdev}) {
    RuleAdder{cases, family}("masq", ENOENT, Expr("masq", {}));
    RuleAdder{cases, family}("redir", ENOENT, Expr("redir", {}));
  }
}

void AddForwardCases(std::vector<Case>& cases) {
  const RuleAdder ip{cases}, ip6{cases, Family::kIp6}, inet{cases, Family::kInet}, netdev{cases, Family::kNetdev};
  ip("dup", 0, Expr("dup", {U32(1, 1)}));
  ip("dup with a device", 0, Expr("dup", {U32(1, 1), U32(2, 2)}));
  ip("dup without address", EINVAL, Expr("dup", {U32(2, 1)}));
  ip6("dup", 0, Expr("dup", {U32(1, 1)}));
  ip6("dup past the registers", ERANGE, Expr("dup", {U32(1, 21)}));
  netdev("dup", 0, Expr("dup", {U32(2, 1)}));
  netdev("dup without device", EINVAL, Expr("dup", {U32(1, 1)}));
  inet("dup", ENOENT, Expr("dup", {U32(1, 1)}));
  netdev("fwd", 0, Expr("fwd", {U32(1, 1)}));
  netdev("fwd to a neighbour", 0, Expr("fwd", {U32(1, 1), U32(2, 2), U32(3, 2)}));
  netdev("fwd to a neighbour of ip6", 0, Expr("fwd", {U32(1, 1), U32(2, 2), U32(3, 10)}));
  netdev("fwd without family", EINVAL, Expr("fwd", {U32(1, 1), U32(2, 2)}));
  netdev("fwd of family 1", EOPNOTSUPP, Expr("fwd", {U32(1, 1), U32(2, 2), U32(3, 1)}));
  netdev("fwd without device", EINVAL, Expr("fwd", {U32(2, 2), U32(3, 2)}));
  netdev("fwd without anything", EOPNOTSUPP, Expr("fwd", {}));
  ip("fwd", ENOENT, Expr("fwd", {U32(1, 1)}));
  const auto tproxy = [](uint32_t family, const std::string& rest) { return Expr("tproxy", {U32(1, family), rest}); };
  ip("tproxy", 0, tproxy(2, U32(2, 1) + U32(3, 2)));
  ip("tproxy of family 0", EINVAL, tproxy(0, U32(3, 2)));
  ip("tproxy of ip6", EINVAL, tproxy(10, U32(3, 2)));
  ip("tproxy without address and port", EINVAL, tproxy(2, ""));
  ip("tproxy without family", EINVAL, Expr("tproxy", {U32(3, 1)}));
  for (const uint32_t family : {0U, 2U, 10U})
    inet("tproxy port " + std::to_string(family), 0, tproxy(family, U32(3, 1)));
  inet("tproxy address of family 0", EINVAL, tproxy(0, U32(2, 1)));
  inet("tproxy of family 1", EOPNOTSUPP, tproxy(1, U32(3, 1)));
  netdev("tproxy", EOPNOTSUPP, tproxy(2, U32(3, 1)));
}

void AddOtherStatementCases(std::vector<Case>& cases) {
  const RuleAdder ip{cases};
  ip("synproxy", 0, Expr("synproxy", {U16(1, 1460), U8(2, 7), U32(3, 15)}));
  ip("synproxy of nothing", 0, Expr("synproxy", {}));
  ip("synproxy flags 16", EOPNOTSUPP, Expr("synproxy", {U32(3, 16)}));
  RuleAdder{cases, Family::kArp}("synproxy", EPROTO, Expr("synproxy", {}));
  const std::string comment = Expr("match", {Str(1, "comment"), U32(2, 0), Attr(3, Bytes(256, '\0'))});
  for (const Family family : {Family::kIp, Family::kIp6, Family::kInet, Family::kNetdev}) {
    RuleAdder{cases, family}("match", 0, comment);
  }
  RuleAdder{cases, Family::kArp}("match", EINVAL, comment);
  ip("match without rev", EINVAL, Expr("match", {Str(1, "comment"), Attr(3, Bytes(256, '\0'))}));
  ip("match without info", EINVAL, Expr("match", {Str(1, "comment"), U32(2, 0)}));
  const std::string mark = Expr("target", {Str(1, "MARK"), U32(2, 2), Attr(3, Bytes(8, '\0'))});
  for (const Family family : {Family::kIp, Family::kArp}) RuleAdder{cases, family}("target", 0, mark);
  RuleAdder{cases, Family::kInet}("target", ENOENT, mark);
  RuleAdder{cases, Family::kNetdev}("target", ENOENT, mark);
  for (const Family family : {Family::kIp, Family::kArp, Family::kBridge, Family::kNetdev}) {
    RuleAdder{cases, family}("notrack", 0, Expr("notrack", {}));
  }
}

}  // namespace

std::vector<Case> StatementCases() {
  std::vector<Case> cases;
  AddStatefulCases(cases);
  AddNumberCases(RuleAdder{cases});
  AddLogCases(RuleAdder{cases});
  AddRejectCases(cases);
  AddNatCases(cases);
  AddForwardCases(cases);
  AddOtherStatementCases(cases);
  return cases;
}

}  // namespace nftjit::netlink
