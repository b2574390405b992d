// Each expression, lowered: the rows it becomes, in text.
#include "lib/ir/lower.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "lib/ir/text.h"
#include "tests/ir/lowered.h"
#include "tests/support/model_builder.h"

namespace nftjit::ir {
namespace {

using namespace nftjit::testing;

using nft::BitwiseOp;
using nft::CmpOp;
using nft::CtKey;
using nft::MetaKey;
using nft::PayloadBase;
using nft::VerdictCode;

TEST_CASE("the common rule lowers to what it says", "[ir][lower]") {
  REQUIRE(LoweredRows({Meta(MetaKey::kL4proto, R1), Eq(R1, "06"), Load(PayloadBase::kTransport, 2, 2, R1),
                       Eq(R1, "0016"), Load(PayloadBase::kNetwork, 12, 4, R1), MaskXor(R1, R1, "fffffff0", "00000000"),
                       Compare(R1, CmpOp::kNeq, "c0000200"), Make(nft::Counter{100, 2}), Give(VerdictCode::kDrop)}) ==
          "guard l4\n"
          "%0 = meta l4proto\n"
          "test %0 == 06\n"
          "guard room.transport 4\n"
          "%1 = load transport+2, 2\n"
          "test %1 == 0016\n"
          "guard room.network 16\n"
          "%2 = load network+12, 4\n"
          "%3 = and %2, fffffff0\n"
          "test %3 != c0000200\n"
          "count #0\n"
          "verdict drop\n");
}

TEST_CASE("every row has the rule and the expression it came from", "[ir][lower]") {
  const Program program = MustLower(MakeRuleset({{},
                                                 {Load(PayloadBase::kTransport, 1, 2, R1), Eq(R1, "0016"),
                                                  Make(nft::Counter{7, 5}), Give(VerdictCode::kAccept)}}));
  REQUIRE(Print(program, {.origins = true}) ==
          "counter #0 rule 1 expression 2 packets 5 bytes 7\n"
          "chain inet t c hook input priority 0 policy accept:\n"
          "rule [0] 10 f:1:\n"
          "rule [1] 11 f:2:\n"
          "  guard unfragmented ; 1.0\n"
          "  guard room.transport 3 ; 1.0\n"
          "  %0 = load transport+1, 2 ; 1.0\n"
          "  test %0 == 0016 ; 1.1\n"
          "  count #0 ; 1.2\n"
          "  verdict accept ; 1.3\n"
          "chain inet t d:\n");
}

TEST_CASE("payload loads have the guards of the kernel's path", "[ir][lower]") {
  struct Case {
    PayloadBase base;
    uint16_t offset;
    uint8_t length;
    const char* rows;
  };
  const auto c = GENERATE(values<Case>({
      {PayloadBase::kLink, 12, 2, "guard room.link 14\n%0 = load link+12, 2\n"},
      {PayloadBase::kLink, 1, 3, "guard room.link 4\n%0 = load link+1, 3\n"},
      {PayloadBase::kNetwork, 9, 1, "guard room.network 10\n%0 = load network+9, 1\n"},
      {PayloadBase::kNetwork, 8, 16, "guard room.network 24\n%0 = load network+8, 16\n"},
      {PayloadBase::kTransport, 13, 1, "guard room.transport 14\n%0 = load transport+13, 1\n"},
      {PayloadBase::kTransport, 2, 2, "guard room.transport 4\n%0 = load transport+2, 2\n"},
      {PayloadBase::kTransport, 4, 4, "guard room.transport 8\n%0 = load transport+4, 4\n"},
      {PayloadBase::kTransport, 1, 2,
       "guard unfragmented\nguard room.transport 3\n%0 = load transport+1, "
       "2\n"},
      {PayloadBase::kTransport, 2, 4,
       "guard unfragmented\nguard room.transport 6\n%0 = load transport+2, "
       "4\n"},
      {PayloadBase::kTransport, 0, 3,
       "guard unfragmented\nguard room.transport 3\n%0 = load transport+0, "
       "3\n"},
      {PayloadBase::kTransport, 0, 8,
       "guard unfragmented\nguard room.transport 8\n%0 = load transport+0, "
       "8\n"},
      {PayloadBase::kInner, 0, 4, "guard room.inner 4\n%0 = load inner+0, 4\n"},
      {PayloadBase::kNetwork, 65535, 64, "guard room.network 65599\n%0 = load network+65535, 64\n"},
      {PayloadBase::kTunnel, 0, 4, "unsupported \"payload of a tunnel header\"\n"},
  }));
  REQUIRE(LoweredRows({Load(c.base, c.offset, c.length, R1)}) == c.rows);
}

TEST_CASE("meta loads have their guards and the bytes that are stored", "[ir][lower]") {
  struct Case {
    MetaKey key;
    uint8_t length;
    const char* guards;
  };
  const auto c = GENERATE(values<Case>({
      {MetaKey::kLen, 4, ""},
      {MetaKey::kProtocol, 2, ""},
      {MetaKey::kPriority, 4, ""},
      {MetaKey::kMark, 4, ""},
      {MetaKey::kIif, 4, ""},
      {MetaKey::kOif, 4, ""},
      {MetaKey::kIifname, 16, ""},
      {MetaKey::kOifname, 16, ""},
      {MetaKey::kIiftype, 2, "guard meta iiftype\n"},
      {MetaKey::kOiftype, 2, "guard oif\n"},
      {MetaKey::kSkuid, 4, "guard meta skuid\n"},
      {MetaKey::kSkgid, 4, "guard meta skgid\n"},
      {MetaKey::kRtclassid, 4, "guard meta rtclassid\n"},
      {MetaKey::kSecmark, 4, ""},
      {MetaKey::kNfproto, 1, ""},
      {MetaKey::kL4proto, 1, "guard l4\n"},
      {MetaKey::kPkttype, 1, ""},
      {MetaKey::kCpu, 4, ""},
      {MetaKey::kIifgroup, 4, "guard iif\n"},
      {MetaKey::kOifgroup, 4, "guard oif\n"},
      {MetaKey::kCgroup, 4, "guard meta cgroup\n"},
      {MetaKey::kPrandom, 4, ""},
      {MetaKey::kSecpath, 1, ""},
      {MetaKey::kIifkind, 16, "guard iif\nguard meta iifkind\n"},
      {MetaKey::kOifkind, 16, "guard oif\nguard meta oifkind\n"},
      {MetaKey::kTime, 8, ""},
      {MetaKey::kDay, 1, ""},
      {MetaKey::kHour, 4, ""},
      {MetaKey::kSdif, 4, ""},
      {MetaKey::kSdifname, 16, ""},
  }));
  const std::string load = "%0 = meta " + std::string(nft::Name(c.key)) + "\n";
  const std::string test = c.length == 1 ? "test %0 == 00\n" : "%1 = slice %0+0, 1\ntest %1 == 00\n";
  const Program program = MustLower(MakeRuleset({{Meta(c.key, R1), Eq(R1, "00")}}));
  REQUIRE(RowsOf(program) == c.guards + load + test);
  const auto row = std::ranges::find(program.rows, Op::kMeta, &Row::op);
  REQUIRE(row->length == c.length);
}

TEST_CASE("meta keys that are not loaded", "[ir][lower]") {
  for (const MetaKey key : {MetaKey::kBriIifname, MetaKey::kBriOifname, MetaKey::kBriIifpvid, MetaKey::kBriIifvproto,
                            MetaKey::kBriIifhwaddr, MetaKey::kNftrace, MetaKey::kBroute}) {
    REQUIRE(LoweredRows({Meta(key, R1)}) == "unsupported \"meta " + std::string(nft::Name(key)) + "\"\n");
  }
}

TEST_CASE("short facts fill their word with zeros", "[ir][lower]") {
  REQUIRE(LoweredRows({Meta(MetaKey::kNfproto, R1), Eq(R1, "02000000")}) ==
          "%0 = meta nfproto\n%1 = zext %0, 4\ntest %1 == 02000000\n");
  REQUIRE(LoweredRows({Meta(MetaKey::kProtocol, R1), Eq(R1, "080000")}) ==
          "%0 = meta protocol\n%1 = zext %0, 3\ntest %1 == 080000\n");
}

TEST_CASE("conntrack loads have their guards", "[ir][lower]") {
  REQUIRE(LoweredRows(
              {Ct(CtKey::kState, R1), MaskXor(R1, R1, "06000000", "00000000"), Compare(R1, CmpOp::kNeq, "00000000")}) ==
          "%0 = ct state\n%1 = and %0, 06000000\ntest %1 != 00000000\n");
  REQUIRE(LoweredRows({Ct(CtKey::kMark, R1)}) == "guard ct\n%0 = ct mark\n");
  REQUIRE(LoweredRows({Ct(CtKey::kDirection, R1), Eq(R1, "01")}) == "guard ct\n%0 = ct direction\ntest %0 == 01\n");
  REQUIRE(LoweredRows({Ct(CtKey::kProtoDst, R1, nft::Direction::kReply), Eq(R1, "0016")}) ==
          "guard ct\n%0 = ct proto_dst reply\ntest %0 == 0016\n");
  REQUIRE(LoweredRows({Ct(CtKey::kSrc, R1, nft::Direction::kOriginal)}) == "guard ct\n%0 = ct src original, 16\n");
  REQUIRE(LoweredRows({Ct(CtKey::kHelper, R1)}) == "guard ct\nguard ct.known helper\n%0 = ct helper\n");
  REQUIRE(LoweredRows({Ct(CtKey::kDstIp6, R1, nft::Direction::kReply)}) ==
          "guard ct\nguard ct.known dst_ip6 reply\n%0 = ct dst_ip6 reply\n");
  REQUIRE(LoweredRows({Ct(CtKey::kBytes, R1)}) == "guard ct\n%0 = ct bytes\n");
  nft::Ruleset ip = MakeRuleset({{Ct(CtKey::kDst, R1, nft::Direction::kOriginal)}});
  ip.tables[0].family = nft::Family::kIp;
  REQUIRE(RowsOf(MustLower(ip)) == "guard ct\n%0 = ct dst original, 4\n");
}

TEST_CASE("extension headers", "[ir][lower]") {
  REQUIRE(LoweredRows({Make(nft::ExthdrLoad{R1, 2, 2, 2, 0, nft::ExthdrOp::kTcpOption}), Eq(R1, "05b4")}) ==
          "%0 = exthdr tcpopt 2+2, 2\ntest %0 == 05b4\n");
  REQUIRE(LoweredRows({Make(nft::ExthdrLoad{R1, 44, 0, 1, 1, nft::ExthdrOp::kIpv6}), Eq(R1, "01")}) ==
          "%0 = exthdr present ipv6 44+0, 1\ntest %0 == 01\n");
  REQUIRE(LoweredRows({Make(nft::ExthdrLoad{R1, 0, 0, 1, 1, nft::ExthdrOp::kDccp})}) ==
          "unsupported \"exthdr dccp\"\n");
  REQUIRE(LoweredRows({Make(nft::ExthdrStrip{2, nft::ExthdrOp::kTcpOption})}) == "unsupported \"exthdr reset\"\n");
}

TEST_CASE("ranges", "[ir][lower]") {
  REQUIRE(LoweredRows({Load(PayloadBase::kTransport, 2, 2, R1), InRange(R1, nft::RangeOp::kEq, "0400", "ffff"),
                       InRange(R1, nft::RangeOp::kNeq, "0a00", "0100")}) ==
          "guard room.transport 4\n%0 = load transport+2, 2\ntest %0 in "
          "0400-ffff\ntest %0 not in 0a00-0100\n");
}

TEST_CASE("bitwise leaves out what changes nothing", "[ir][lower]") {
  const nft::Expression load = Load(PayloadBase::kNetwork, 12, 4, R1);
  const std::string rows = "guard room.network 16\n%0 = load network+12, 4\n";
  REQUIRE(LoweredRows({load, MaskXor(R1, R2, "ffffffff", "00000000"), Eq(R2, "0a000001")}) ==
          rows + "test %0 == 0a000001\n");
  REQUIRE(LoweredRows({load, MaskXor(R1, R2, "ffffffff", "000000ff"), Eq(R2, "0a000001")}) ==
          rows + "%1 = xor %0, 000000ff\ntest %1 == 0a000001\n");
  REQUIRE(LoweredRows({load, MaskXor(R1, R1, "ffffff00", "000000ff"), Eq(R1, "0a000001")}) ==
          rows +
              "%1 = and %0, ffffff00\n%2 = xor %1, 000000ff\ntest %2 == "
              "0a000001\n");
  REQUIRE(LoweredRows({load, MaskXor(R1, R1, "ffffff", "000000"), Eq(R1, "0a000000")}) ==
          rows + "%1 = slice %0+0, 3\n%2 = zext %1, 4\ntest %2 == 0a000000\n");
}

TEST_CASE("keys of concatenations are pieced together", "[ir][lower]") {
  nft::Ruleset ruleset =
      MakeRuleset({{Meta(MetaKey::kL4proto, R1), Load(PayloadBase::kNetwork, 12, 4, R32(9)),
                    Load(PayloadBase::kTransport, 2, 2, R32(10)), Set(R32(11), "07"), Lookup(5, R1)}});
  ruleset.tables[0].sets = {MakeSet("s", 5, nft::kSetConcat, 16)};
  REQUIRE(RowsOf(MustLower(ruleset)) ==
          "guard l4\n"
          "%0 = meta l4proto\n"
          "guard room.network 16\n"
          "%1 = load network+12, 4\n"
          "guard room.transport 4\n"
          "%2 = load transport+2, 2\n"
          "%3 = zext %0, 4\n"
          "%4 = concat %3, %1\n"
          "%5 = concat %4, %2\n"
          "%6 = const 000007000000\n"
          "%7 = concat %5, %6\n"
          "lookup %7 @s\n");
}

TEST_CASE("immediates are constants where they are read", "[ir][lower]") {
  REQUIRE(LoweredRows({Set(R1, "01000000"), Set(R2, "ff"), Make(nft::MetaStore{R1, MetaKey::kMark}),
                       Make(nft::MetaStore{R2, MetaKey::kPriority})}) ==
          "%0 = const 01000000\nset mark %0\n%1 = const ff000000\nset priority "
          "%1\n");
  REQUIRE(LoweredRows({Make(nft::MetaStore{R1, MetaKey::kNftrace})}) == "unsupported \"meta set nftrace\"\n");
}

TEST_CASE("verdicts", "[ir][lower]") {
  REQUIRE(LoweredRows({Give(VerdictCode::kContinue), Give(VerdictCode::kJump, 2), Make(nft::Counter{}),
                       Give(VerdictCode::kDrop)}) == "verdict jump d\n");
  REQUIRE(LoweredRows({Give(VerdictCode::kGoto, 2)}) == "verdict goto d\n");
  REQUIRE(LoweredRows({Give(VerdictCode::kBreak)}) == "verdict break\n");
  REQUIRE(LoweredRows({Give(VerdictCode::kReturn)}) == "verdict return\n");
  REQUIRE(LoweredRows({Make(nft::Reject{nft::RejectType::kIcmpx, 1}), Make(nft::Quota{})}) == "reject icmpx 1\n");
  REQUIRE(LoweredRows({Make(nft::Reject{nft::RejectType::kTcpReset, 9})}) == "reject tcp-reset\n");
  REQUIRE(LoweredRows({Make(nft::Reject{nft::RejectType::kIcmp, 3})}) == "reject icmp 3\n");
}

TEST_CASE("counters behind the end of a rule stay to be read", "[ir][lower]") {
  const Program program = MustLower(MakeRuleset(
      {{Make(nft::Counter{1, 1}), Give(VerdictCode::kDrop), Make(nft::Counter{20, 2}), Make(nft::Counter{30, 3})}}));
  REQUIRE(RowsOf(program) == "count #0\nverdict drop\n");
  REQUIRE(program.counters ==
          std::vector<CounterInfo>{{RuleId(0), 0, 1, 1}, {RuleId(0), 2, 2, 20}, {RuleId(0), 3, 3, 30}});
}

TEST_CASE("limits and logs carry their options", "[ir][lower]") {
  nft::Log log;
  log.prefix = "x";
  log.level = 5;
  const Program program = MustLower(MakeRuleset({{Make(nft::Limit{10, 60, 0, nft::LimitType::kPackets, 1}), Make(log),
                                                  Make(nft::Limit{5, 1, 7, nft::LimitType::kBytes, 0})}}));
  REQUIRE(
      Print(program).starts_with("limit #0 rate 10 unit 60 burst 0 packets over\n"
                                 "limit #1 rate 5 unit 1 burst 7 bytes\n"
                                 "log #0 prefix \"x\" level 5\n"));
  REQUIRE(RowsOf(program) == "limit #0\nlog #0\nlimit #1\n");
}

TEST_CASE("what no engine runs is named", "[ir][lower]") {
  struct Case {
    nft::Expression expression;
    const char* what;
  };
  const std::vector<Case> cases = {
      {Make(nft::PayloadStore{}), "payload set"},
      {Make(nft::Inner{}), "inner"},
      {Make(nft::CtStore{R1, CtKey::kMark, {}}), "ct set mark"},
      {Make(nft::Notrack{}), "notrack"},
      {Make(nft::Dynset{}), "dynset"},
      {Make(nft::ObjectRef{}), "objref"},
      {Make(nft::ObjectMapRef{}), "objref"},
      {Make(nft::Quota{}), "quota"},
      {Make(nft::Connlimit{}), "connlimit"},
      {Make(nft::Last{}), "last"},
      {Make(nft::Nat{}), "nat"},
      {Make(nft::Masquerade{}), "masq"},
      {Make(nft::Redirect{}), "redir"},
      {Make(nft::Dup{}), "dup"},
      {Make(nft::Fwd{}), "fwd"},
      {Make(nft::Tproxy{}), "tproxy"},
      {Make(nft::Socket{}), "socket"},
      {Make(nft::ExthdrStore{}), "exthdr set"},
      {Make(nft::Rt{}), "rt"},
      {Make(nft::Fib{}), "fib"},
      {Make(nft::Osf{}), "osf"},
      {Make(nft::Xfrm{}), "xfrm"},
      {Make(nft::Tunnel{}), "tunnel"},
      {Make(nft::Numgen{}), "numgen"},
      {Make(nft::Hash{}), "hash"},
      {Make(nft::Queue{}), "queue"},
      {Make(nft::Synproxy{}), "synproxy"},
      {Make(nft::FlowOffload{}), "flow_offload"},
      {Make(nft::CompatMatch{"conntrack", 3, {}}), "match conntrack"},
      {Make(nft::CompatTarget{"LOG", 0, {}}), "target LOG"},
      {{nft::Counter{}, std::make_shared<const std::string>("?")}, "counter with attributes that are not known"},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    const nft::Ruleset ruleset =
        MakeRuleset({{Meta(MetaKey::kMark, R1), c.expression, Make(nft::Counter{}), Give(VerdictCode::kDrop)},
                     {Make(nft::Counter{})}});
    const Program kept = MustLower(ruleset);
    REQUIRE(RowsOf(kept) == "%0 = meta mark\nunsupported \"" + std::string(c.what) + "\"\n");
    REQUIRE(kept.unsupported == std::vector<UnsupportedRule>{{RuleId(0), 1, c.what}});
    const Program left_out = MustLower(ruleset, true);
    REQUIRE(left_out.unsupported == kept.unsupported);
    REQUIRE(left_out.items.size() == 1);
    REQUIRE(left_out.items[0].rule == RuleId(1));
    REQUIRE(Print(left_out).find("omitted 10 f:1 expression 1 unsupported \"" + std::string(c.what) + "\"\nrule 11") !=
            std::string::npos);
    REQUIRE(left_out.counters.back() == CounterInfo{RuleId(1), 0, 0, 0});
  }
}

TEST_CASE("the comment match of iptables always matches", "[ir][lower]") {
  REQUIRE(LoweredRows({Make(nft::CompatMatch{"comment", 0, "text"}), Give(VerdictCode::kDrop)}) == "verdict drop\n");
}

TEST_CASE("nat chains do not run as hooks", "[ir][lower]") {
  nft::Ruleset ruleset = MakeRuleset({{Give(VerdictCode::kDrop)}});
  nft::BaseChain& base = *ruleset.tables[0].chains[0].base;
  base.type = nft::ChainType::kNat;
  REQUIRE(RowsOf(MustLower(ruleset)) == "unsupported \"nat chain\"\n");

  ruleset.tables[0].flags = 1;  // Dormant: it never runs.
  REQUIRE(RowsOf(MustLower(ruleset)) == "verdict drop\n");
  REQUIRE(MustLower(ruleset).chains[0].dormant);
  ruleset.tables[0].chains[0].rules[0].expressions = {Make(nft::Masquerade{})};
  const Program dormant = MustLower(ruleset);
  REQUIRE(dormant.items.empty());
  REQUIRE(dormant.unsupported.empty());

  ruleset.tables[0].flags = 0;
  ruleset.tables[0].chains[0].rules.clear();
  REQUIRE(MustLower(ruleset).unsupported.empty());
  base.policy = VerdictCode::kDrop;
  REQUIRE(MustLower(ruleset).unsupported ==
          std::vector<UnsupportedRule>{{RuleId(0), Origin::kNoExpression, "policy drop of a nat chain"}});
}

TEST_CASE("broken promises of validation are errors with a place", "[ir][lower]") {
  struct Case {
    Rule rule;
    const char* error;
  };
  const std::vector<Case> cases = {
      {{Lookup(9, R1)}, "f:1: rule 10 of inet t, expression 0: lookup: no set with handle 9"},
      {{Make(nft::Counter{}), Give(VerdictCode::kJump, 9)},
       "f:1: rule 10 of inet t, expression 1: verdict: no chain with handle 9"},
      {{Give(VerdictCode::kQueue)},
       "f:1: rule 10 of inet t, expression 0: verdict: not one that a rule can "
       "give"},
      {{Load(PayloadBase::kNetwork, 0, 64, R32(9))},
       "f:1: rule 10 of inet t, expression 0: register 9 with 64 bytes is "
       "outside of the register file"},
      {{Eq(R1, "")},
       "f:1: rule 10 of inet t, expression 0: register 1 with 0 bytes is "
       "outside of the register file"},
      {{Shift(R1, R1, 4, BitwiseOp::kLshift, 32)},
       "f:1: rule 10 of inet t, expression 0: bitwise: a shift is by 1 to 31"},
      {{Swap(R1, R1, 3, 3)},
       "f:1: rule 10 of inet t, expression 0: byteorder: an element has 2, 4 "
       "or 8 bytes"},
      {{MaskXor(R1, R1, "ff", "0000")},
       "f:1: rule 10 of inet t, expression 0: bitwise: mask or xor is not as "
       "long as the value"},
      {{InRange(R1, nft::RangeOp::kEq, "00", "0000")},
       "f:1: rule 10 of inet t, expression 0: range: the bounds differ in "
       "length"},
  };
  for (const Case& c : cases) {
    const absl::Status status = Lower(MakeRuleset({c.rule}), {}).status();
    REQUIRE(status.code() == absl::StatusCode::kInternal);
    REQUIRE(status.message() == c.error);
  }
}

TEST_CASE("chains keep what they are", "[ir][lower]") {
  nft::Ruleset ruleset = MakeRuleset({});
  nft::BaseChain& base = *ruleset.tables[0].chains[0].base;
  base.type = nft::ChainType::kRoute;
  base.hook = nft::kOutput;
  base.priority = -150;
  base.policy = VerdictCode::kDrop;
  base.registration = 4;
  nft::Table& netdev = ruleset.tables.emplace_back();
  netdev.family = nft::Family::kNetdev;
  netdev.name = "n";
  netdev.chains.emplace_back().name = "in";
  netdev.chains[0].base = nft::BaseChain{};
  netdev.chains[0].base->devices = {{"eth0", false}, {"tun", true}};
  netdev.chains[0].rules.emplace_back().userdata = std::string("\x00\x05note\0", 7);
  REQUIRE(Print(MustLower(ruleset)) ==
          "chain inet t c type route hook output priority -150 policy drop "
          "registration 4:\n"
          "chain inet t d:\n"
          "chain netdev n in hook ingress priority 0 policy accept device eth0 "
          "prefix tun:\n"
          "rule 0 \"note\":\n");
}

}  // namespace
}  // namespace nftjit::ir
