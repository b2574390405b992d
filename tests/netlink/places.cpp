#include "tests/netlink/places.h"

#include "lib/nft/validate.h"

namespace nftjit::netlink {

std::vector<Place> Places() {
  std::vector<Place> places;
  for (const Family family : {Family::kIp, Family::kIp6, Family::kInet}) {
    for (uint8_t hook = 0; hook <= (family == Family::kInet ? 5 : 4); ++hook) {
      places.push_back({family, hook, nft::ChainType::kFilter});
      if (hook != nft::kForward && hook <= 4) places.push_back({family, hook, nft::ChainType::kNat});
    }
    places.push_back({family, nft::kOutput, nft::ChainType::kRoute});
  }
  for (uint8_t hook = 0; hook <= 4; ++hook) places.push_back({Family::kBridge, hook, nft::ChainType::kFilter});
  for (const Family family : {Family::kArp, Family::kNetdev}) {
    for (uint8_t hook = 0; hook <= 1; ++hook) places.push_back({family, hook, nft::ChainType::kFilter});
  }
  return places;
}

Message BaseChain(const Place& place) {
  return ChainMessage(place.family, {Str(kChainName, "b"), Nest(kChainHook, {U32(1, place.hook), U32(2, 0)}),
                                     Str(kChainType, nft::Name(place.type))});
}
Message RuleIn(Family family, std::string_view chain, Parts expressions) {
  return {kNewRule, 0xc00, family, Str(kRuleTable, "t") + Str(kRuleChain, chain) + Nest(kRuleExpressions, expressions)};
}
std::vector<std::pair<std::string, std::string>> Expressions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (uint32_t key = 0; key <= 36; ++key) {
    all.emplace_back("meta load " + std::to_string(key), Expr("meta", {U32(1, 1), U32(2, key)}));
  }
  for (const uint32_t key : {2U, 3U, 4U, 12U, 14U, 19U, 23U, 35U}) {
    all.emplace_back("meta set " + std::to_string(key), Expr("meta", {U32(3, 1), U32(2, key)}));
  }
  for (uint32_t key = 0; key <= 4; ++key) {
    all.emplace_back("rt " + std::to_string(key), Expr("rt", {U32(1, 1), U32(2, key)}));
  }
  for (const uint32_t result : {1U, 2U, 3U}) {
    for (const uint32_t flags : {1U, 2U | 8U, 1U | 16U}) {
      all.emplace_back("fib " + std::to_string(result) + " " + std::to_string(flags),
                       Expr("fib", {U32(1, 1), U32(2, result), U32(3, flags)}));
    }
  }
  for (uint8_t direction = 0; direction <= 1; ++direction) {
    all.emplace_back("xfrm " + std::to_string(direction), Expr("xfrm", {U32(1, 1), U32(2, 5), U8(3, direction)}));
  }
  for (const uint32_t type : {0U, 1U}) {
    for (const uint32_t family : {2U, 10U}) {
      all.emplace_back("nat " + std::to_string(type) + " " + std::to_string(family),
                       Expr("nat", {U32(1, type), U32(2, family), U32(3, 1)}));
    }
    all.emplace_back("reject " + std::to_string(type), Expr("reject", {U32(1, type), U8(2, 0)}));
  }
  for (const uint32_t family : {0U, 2U, 10U}) {
    all.emplace_back("tproxy " + std::to_string(family), Expr("tproxy", {U32(1, family), U32(3, 1)}));
  }
  all.emplace_back("immediate", Imm(2, "abcd"));
  all.emplace_back("cmp", Expr("cmp", {U32(1, 1), U32(2, 0), Value(3, "abcd")}));
  all.emplace_back("range", Expr("range", {U32(1, 1), U32(2, 0), Value(3, "ab"), Value(4, "cd")}));
  all.emplace_back("bitwise", Expr("bitwise", {U32(1, 1), U32(2, 2), U32(3, 4), Value(4, "abcd"), Value(5, "abcd")}));
  all.emplace_back("byteorder", Expr("byteorder", {U32(1, 1), U32(2, 2), U32(3, 1), U32(4, 4), U32(5, 4)}));
  for (uint32_t base = 0; base <= 3; ++base) {
    all.emplace_back("payload load", Expr("payload", {U32(1, 1), U32(2, base), U32(3, 0), U32(4, 1)}));
    all.emplace_back("payload store", Expr("payload", {U32(5, 1), U32(2, base), U32(3, 0), U32(4, 1)}));
  }
  const std::string nested = Nest(5, {Str(1, "payload"), Nest(2, {U32(1, 1), U32(2, 1), U32(3, 0), U32(4, 4)})});
  all.emplace_back("inner", Expr("inner", {U32(1, 0), U32(2, 1), U32(3, 0xf), U32(4, 8), nested}));
  all.emplace_back("lookup", Expr("lookup", {Str(1, "s"), U32(2, 1)}));
  all.emplace_back("dynset", Expr("dynset", {Str(1, "s"), U32(3, 0), U32(4, 1)}));
  all.emplace_back("ct load", Expr("ct", {U32(1, 1), U32(2, 0)}));
  all.emplace_back("ct set", Expr("ct", {U32(4, 1), U32(2, 3)}));
  all.emplace_back("connlimit", Expr("connlimit", {U32(1, 1)}));
  for (uint32_t key = 0; key <= 3; ++key) {
    all.emplace_back("socket " + std::to_string(key), Expr("socket", {U32(1, key), U32(2, 1), U32(3, 1)}));
  }
  all.emplace_back("osf", Expr("osf", {U32(1, 1)}));
  all.emplace_back("tunnel", Expr("tunnel", {U32(1, 0), U32(2, 1)}));
  all.emplace_back("reject icmpx", Expr("reject", {U32(1, 2), U8(2, 0)}));
  all.emplace_back("masq", Expr("masq", {}));
  all.emplace_back("redir", Expr("redir", {}));
  all.emplace_back("dup address", Expr("dup", {U32(1, 1)}));
  all.emplace_back("dup device", Expr("dup", {U32(2, 1)}));
  all.emplace_back("fwd", Expr("fwd", {U32(1, 1)}));
  all.emplace_back("synproxy", Expr("synproxy", {}));
  all.emplace_back("objref synproxy", Expr("objref", {U32(1, 10), Str(2, "o")}));
  for (const uint32_t type : {1U, 2U, 4U}) {
    all.emplace_back("objref", Expr("objref", {U32(1, type), Str(2, "o")}));
  }
  all.emplace_back("notrack", Expr("notrack", {}));
  all.emplace_back("log", Expr("log", {}));
  all.emplace_back("numgen", Expr("numgen", {U32(1, 1), U32(2, 3), U32(3, 0)}));
  const auto exthdr = [](uint8_t type, uint32_t op) {
    return Expr("exthdr", {U32(1, 1), U8(2, type), U32(3, 1), U32(4, 1), U32(6, op)});
  };
  all.emplace_back("exthdr ipv6", exthdr(0, 0));
  all.emplace_back("exthdr tcpopt", exthdr(2, 1));
  all.emplace_back("exthdr ipv4", exthdr(7, 2));
  all.emplace_back("exthdr sctp", exthdr(0, 3));
  all.emplace_back("exthdr dccp", exthdr(0, 4));
  all.emplace_back("tcpopt set", Expr("exthdr", {U8(2, 2), U32(3, 2), U32(4, 2), U32(6, 1), U32(7, 1)}));
  all.emplace_back("tcpopt strip", Expr("exthdr", {U8(2, 2), U32(6, 1)}));
  all.emplace_back("payload of base 4", Expr("payload", {U32(1, 1), U32(2, 4), U32(3, 0), U32(4, 1)}));
  all.emplace_back("payload of base 5", Expr("payload", {U32(1, 1), U32(2, 5), U32(3, 0), U32(4, 1)}));
  all.emplace_back("counter", Expr("counter", {}));
  all.emplace_back("quota", Expr("quota", {U64(1, 1000)}));
  all.emplace_back("limit", Expr("limit", {U64(1, 1), U64(2, 1)}));
  all.emplace_back("last", Expr("last", {}));
  all.emplace_back("hash", Expr("hash", {U32(1, 1), U32(2, 2), U32(3, 4), U32(4, 3)}));
  all.emplace_back("flow_offload", Expr("flow_offload", {Str(1, "f")}));
  all.emplace_back("queue", Expr("queue", {U16(1, 1)}));
  all.emplace_back("match", Expr("match", {Str(1, "comment"), U32(2, 0), Attr(3, Bytes(256, '\0'))}));
  all.emplace_back("target", Expr("target", {Str(1, "MARK"), U32(2, 2), Attr(3, Bytes(8, '\0'))}));
  return all;
}

std::vector<Message> MessagesAt(const Place& place, const std::string& expression) {
  const Family family = place.family;
  std::vector<Message> messages = {BaseChain(place), ObjectMessage(family, "o", 1, {}),
                                   ObjectMessage(family, "o", 2, {U64(1, 1000)}),
                                   ObjectMessage(family, "o", 4, {U64(1, 1), U64(2, 1)}),
                                   SetMessage(family, "s", {U32(kSetKeyLen, 4), U32(kSetFlags, nft::kSetEval)})};
  // Families without connection tracking have no synproxy objects.
  if (family != Family::kArp && family != Family::kNetdev && family != Family::kBridge) {
    messages.push_back(ObjectMessage(family, "o", 10, {}));
  }
  messages.push_back(RuleIn(family, "b", {FillAll(), expression}));
  return messages;
}

int AnswerTo(Family family, const std::vector<Message>& messages, KernelFeatures features) {
  ScratchTable table(family, features);
  for (const Message& message : messages) {
    if (const auto error = table.Apply(message)) return error->error;
  }
  const std::optional<nft::Violation> violation = nft::Validate(table.table());
  return violation ? violation->error : 0;
}

}  // namespace nftjit::netlink
