// Validation 4, row by row: which expression is accepted where, and what it is answered elsewhere. The live kernel is
// asked the same in validate_test.cpp.
#include "tests/netlink/places.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <functional>
#include <initializer_list>
#include <set>

namespace nftjit::netlink {
namespace {

using nft::ChainType, nft::kForward, nft::kInput, nft::kOutput, nft::kPostrouting, nft::kPrerouting;

bool IsIp(const Place& at) { return at.family == Family::kIp || at.family == Family::kIp6; }
bool IsIngress(const Place& at) { return at.family == Family::kInet && at.hook == nft::kInetIngress; }
bool IsL3(const Place& at) { return IsIp(at) || (at.family == Family::kInet && !IsIngress(at)); }
bool IsOf(const Place& at, std::initializer_list<Family> families) {
  return std::find(families.begin(), families.end(), at.family) != families.end();
}
// At an L3 hook of these, or at netdev ingress or egress.
bool AtL3(const Place& at, std::initializer_list<uint8_t> hooks) {
  return IsL3(at) && std::find(hooks.begin(), hooks.end(), at.hook) != hooks.end();
}
bool AtNetdev(const Place& at, std::initializer_list<uint8_t> hooks) {
  return at.family == Family::kNetdev && std::find(hooks.begin(), hooks.end(), at.hook) != hooks.end();
}
constexpr uint8_t kIn = nft::kNetdevIngress, kOut = nft::kNetdevEgress;

int Refused(const Place& /*at*/) { return EOPNOTSUPP; }
int Missing(const Place& /*at*/) { return ENOENT; }
int MissingInBridgeAndArp(const Place& at) { return IsOf(at, {Family::kArp, Family::kBridge}) ? ENOENT : EOPNOTSUPP; }

// A row of the table: what the expressions of these names are answered at a place.
struct Row {
  const char* row;
  std::vector<std::string> names;
  std::function<int(const Place&)> answer;
};

// `allowed` where it is, `elsewhere` where not.
template <class Allowed>
std::function<int(const Place&)> Where(Allowed allowed, int (*elsewhere)(const Place&) = Refused) {
  return [=](const Place& at) { return allowed(at) ? 0 : elsewhere(at); };
}

std::vector<std::string> Numbered(const std::string& name, std::initializer_list<int> numbers) {
  std::vector<std::string> names;
  for (const int number : numbers) names.push_back(name + std::to_string(number));
  return names;
}

const std::vector<Row>& Rows() {
  const auto everywhere = Where([](const Place&) { return true; });
  const auto nowhere = Where([](const Place&) { return false; });
  const auto l3_or_ingress = [](const Place& at) { return IsL3(at) || IsIngress(at); };
  const auto packet_comes = [](const Place& at) {
    return AtL3(at, {kPrerouting, kInput, kForward}) || AtNetdev(at, {kIn});
  };
  const auto packet_goes = [](const Place& at) {
    return AtL3(at, {kForward, kOutput, kPostrouting}) || AtNetdev(at, {kOut});
  };
  const auto nat_at = [](std::initializer_list<uint8_t> hooks) {
    return [hooks = std::set<uint8_t>(hooks)](const Place& at) {
      return at.type == ChainType::kNat && hooks.count(at.hook) != 0;
    };
  };
  // The family that a nat or tproxy expression says, `asked`, in a table.
  const auto fits = [](const Place& at, Family asked) { return at.family == Family::kInet || at.family == asked; };
  const auto nat = [=](std::initializer_list<uint8_t> hooks, Family asked) {
    return Where([=, there = nat_at(hooks)](const Place& at) { return there(at) && fits(at, asked); });
  };
  const auto tproxy = [=](std::optional<Family> asked) {
    return [=](const Place& at) {
      const bool good = asked ? fits(at, *asked) : at.family == Family::kInet;
      if (!IsOf(at, {Family::kIp, Family::kIp6, Family::kInet})) return EOPNOTSUPP;
      return !good ? EINVAL : AtL3(at, {kPrerouting}) ? 0 : EOPNOTSUPP;
    };
  };
  const auto dup = [](bool has_address) {
    return [=](const Place& at) {
      if (IsIp(at)) return has_address ? 0 : EINVAL;
      if (at.family == Family::kNetdev) return has_address ? EINVAL : 0;
      return ENOENT;
    };
  };
  const auto untracked = [](const Place& at) {
    return IsOf(at, {Family::kArp, Family::kBridge, Family::kNetdev}) ? EPROTO : EOPNOTSUPP;
  };
  static const std::vector<Row> kRows = {
      {"immediate, cmp, range",
       {"immediate",     "cmp",           "range",       "bitwise",    "byteorder",    "payload load",
        "payload store", "inner",         "lookup",      "dynset",     "counter",      "quota",
        "limit",         "last",          "log",         "numgen",     "hash",         "notrack",
        "exthdr ipv6",   "exthdr tcpopt", "exthdr sctp", "tcpopt set", "tcpopt strip", "objref"},
       everywhere},
      {"payload base 4", {"payload of base 4", "payload of base 5"}, nowhere},
      {"meta load 0-11", Numbered("meta load ", {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 13, 14,
                                                 15, 16, 19, 20, 21, 22, 23, 24, 26, 27, 30, 31, 32}),
       everywhere},
      {"meta load 12", Numbered("meta load ", {12, 17, 18, 28, 29, 35, 36}), nowhere},
      {"meta load 25", {"meta load 25"}, Where(packet_comes)},
      {"meta load 33", Numbered("meta load ", {33, 34}), Where([](const Place& at) {
         return AtL3(at, {kInput, kForward});
       })},
      {"meta set 2", Numbered("meta set ", {2, 3, 12, 14}), everywhere},
      {"meta set 19", {"meta set 19"}, Where([](const Place& at) {
         return AtL3(at, {kPrerouting}) || AtNetdev(at, {kIn}) ||
                (at.family == Family::kBridge && at.hook == kPrerouting);
       })},
      {"meta set of any other key", Numbered("meta set ", {4, 23, 35}), nowhere},
      {"ct load and set",
       {"ct load", "ct set", "connlimit"},
       Where(l3_or_ingress, [](const Place&) { return EPROTO; })},
      {"rt classid", Numbered("rt ", {0, 1, 2, 4}), Where(l3_or_ingress)},
      {"rt tcpmss", {"rt 3"}, Where([](const Place& at) {
         return AtL3(at, {kForward, kOutput, kPostrouting});
       })},
      {"fib result oif", {"fib 1 1", "fib 1 10", "fib 2 1", "fib 2 10"}, Where(packet_comes, MissingInBridgeAndArp)},
      {"fib type, no",
       {"fib 3 1"},
       Where([](const Place& at) { return IsL3(at) || at.family == Family::kNetdev; }, MissingInBridgeAndArp)},
      {"fib type with IIF", {"fib 3 10"}, Where(packet_comes, MissingInBridgeAndArp)},
      {"fib type with IIF", {"fib 3 17"}, Where(packet_goes, MissingInBridgeAndArp)},
      {"socket", Numbered("socket ", {0, 1, 2, 3}), Where([](const Place& at) {
         return AtL3(at, {kPrerouting, kInput, kOutput});
       })},
      {"tproxy", {"tproxy 0"}, tproxy({})},
      {"tproxy", {"tproxy 2"}, tproxy(Family::kIp)},
      {"tproxy", {"tproxy 10"}, tproxy(Family::kIp6)},
      {"osf", {"osf"}, Where([](const Place& at) {
         return at.family != Family::kIp6 && AtL3(at, {kPrerouting, kInput, kForward});
       })},
      {"xfrm", {"xfrm 0"}, Where([](const Place& at) {
         return AtL3(at, {kPrerouting, kInput, kForward});
       })},
      {"xfrm", {"xfrm 1"}, Where([](const Place& at) {
         return AtL3(at, {kForward, kOutput, kPostrouting});
       })},
      {"tunnel", {"tunnel"}, Where([](const Place& at) { return at.family == Family::kNetdev; }, Missing)},
      {"reject",
       {"reject 0", "reject 1", "reject icmpx"},
       Where(
           [](const Place& at) {
             return AtL3(at, {kPrerouting, kInput, kForward, kOutput}) || IsIngress(at) || AtNetdev(at, {kIn});
           },
           MissingInBridgeAndArp)},
      {"nat snat", {"nat 0 2"}, nat({kInput, kPostrouting}, Family::kIp)},
      {"nat snat", {"nat 0 10"}, nat({kInput, kPostrouting}, Family::kIp6)},
      {"nat snat", {"nat 1 2"}, nat({kPrerouting, kOutput}, Family::kIp)},
      {"nat snat", {"nat 1 10"}, nat({kPrerouting, kOutput}, Family::kIp6)},
      {"masq / redir",
       {"masq"},
       Where(nat_at({kPostrouting}), [](const Place& at) { return IsL3(at) || IsIngress(at) ? EOPNOTSUPP : ENOENT; })},
      {"masq / redir",
       {"redir"},
       Where(nat_at({kPrerouting, kOutput}),
             [](const Place& at) { return IsL3(at) || IsIngress(at) ? EOPNOTSUPP : ENOENT; })},
      {"dup", {"dup address"}, dup(true)},
      {"dup", {"dup device"}, dup(false)},
      {"fwd", {"fwd"}, Where([](const Place& at) { return at.family == Family::kNetdev; }, Missing)},
      {"synproxy",
       {"synproxy"},
       Where(
           [](const Place& at) {
             return AtL3(at, {kInput, kForward});
           },
           +untracked)},
      {"synproxy",
       {"objref synproxy"},
       Where(
           [](const Place& at) {
             return AtL3(at, {kInput, kForward});
           },
           [](const Place& at) { return IsL3(at) || IsIngress(at) ? EOPNOTSUPP : ENOENT; })},
      {"exthdr ipv4", {"exthdr ipv4"}, Where([](const Place& at) { return at.family != Family::kIp6; })},
      {"exthdr dccp", {"exthdr dccp"}, nowhere},
      {"queue, flow_offload", {"queue", "flow_offload"}, Where([](const Place&) { return false; }, Missing)},
      {"xtables `match`",
       {"match"},
       Where([](const Place& at) { return IsL3(at) || at.family == Family::kBridge; },
             [](const Place& at) { return at.family == Family::kArp ? EINVAL : EOPNOTSUPP; })},
      {"xtables `target`",
       {"target"},
       Where(
           [](const Place& at) {
             return IsOf(at, {Family::kIp, Family::kIp6, Family::kArp});
           },
           Missing)},
  };
  return kRows;
}

// As the kernel that the table was observed on: without the parts that are optional.
constexpr KernelFeatures kBare = {.bridge_meta = false,
                                  .bridge_conntrack = false,
                                  .bridge_reject = false,
                                  .queue = false,
                                  .flow_offload = false,
                                  .dccp = false};

TEST_CASE("every row of the places of expressions is answered as recorded", "[netlink][validate]") {
  std::set<std::string> seen;
  for (const auto& [name, expression] : Expressions()) {
    const auto row = std::find_if(Rows().begin(), Rows().end(), [&name = name](const Row& it) {
      return std::find(it.names.begin(), it.names.end(), name) != it.names.end();
    });
    // An interface to be found by what the packet goes out at, which is what is asked for.
    if (name == "fib 1 17" || name == "fib 2 17") continue;
    INFO(name);
    REQUIRE(row != Rows().end());
    seen.insert(name);
    for (const Place& place : Places()) {
      if (IsUnknownTarget(name, place)) continue;
      INFO(row->row << ": " << nft::Name(place.family) << " " << nft::HookName(place.family, place.hook) << " "
                    << nft::Name(place.type));
      CHECK(ErrorText(AnswerTo(place.family, MessagesAt(place, expression), kBare)) == ErrorText(row->answer(place)));
    }
  }
  for (const Row& row : Rows()) {
    for (const std::string& name : row.names) {
      INFO(name);
      CHECK(seen.count(name) == 1);
    }
  }
}

TEST_CASE("parts that a kernel may lack are accepted by one that has them", "[netlink][validate]") {
  const auto at = [](Family family, uint8_t hook, const std::string& expression) {
    return AnswerTo(family, MessagesAt({family, hook, ChainType::kFilter}, expression));
  };
  CHECK(at(Family::kBridge, kForward, Expr("queue", {U16(1, 1)})) == 0);
  CHECK(at(Family::kNetdev, kIn, Expr("queue", {U16(1, 1)})) == EOPNOTSUPP);
  CHECK(at(Family::kBridge, kForward, Expr("ct", {U32(1, 1), U32(2, 0)})) == 0);
  CHECK(at(Family::kBridge, kInput, Expr("reject", {U32(1, 1)})) == 0);
  CHECK(at(Family::kBridge, kForward, Expr("meta", {U32(1, 1), U32(2, 17)})) == 0);
}

}  // namespace
}  // namespace nftjit::netlink
