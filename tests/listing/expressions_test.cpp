// Every expression's text, as nft 1.0.6 printed it for rules of the same meaning.
#include <catch2/catch.hpp>

#include "lib/nft/listing_printer.h"

namespace nftjit::nft {
namespace {

Register Reg(uint32_t number) { return *Register::FromNetlink(number); }
Bytes16 Data(std::initializer_list<uint8_t> bytes) { return Bytes16(ByteSpan(std::data(bytes), bytes.size())); }
Bytes16 Word(uint32_t native) {
  uint8_t bytes[4];
  StoreNative(bytes, native);
  return Bytes16(ByteSpan(bytes, 4));
}

// A table with a chain `x` (handle 1), a set `s` (2), a counter `cnt` (3) and a flowtable `ft` (4).
Table SmallTable() {
  Table table;
  table.family = Family::kInet;
  table.name = "f";
  table.chains.push_back({.name = "x", .handle = 1});
  table.sets.push_back({.name = "s", .handle = 2});
  table.objects.push_back(
      {.name = "cnt", .handle = 3, .type = ObjectType::kCounter, .userdata = "", .body = Counter{}});
  table.flowtables.push_back({.name = "ft", .handle = 4});
  return table;
}

std::string Text(ExpressionBody body) {
  std::string out;
  AppendExpression(SmallTable(), Expression{std::move(body)}, out);
  return out;
}

TEST_CASE("constants are words of native order, padded with zeros") {
  CHECK(Text(Immediate{Reg(1), Data({0, 22}), {}}) == "immediate reg 1 0x00001600 ");
  CHECK(Text(Cmp{Reg(1), CmpOp::kEq, Data({0, 0x11, 0x22, 0x33, 0x44, 0x55})}) ==
        "cmp eq reg 1 0x33221100 0x00005544 ");
  CHECK(Text(Cmp{Reg(9), CmpOp::kGte, Data({6})}) == "cmp gte reg 9 0x00000006 ");
  CHECK(Text(Range{Reg(1), RangeOp::kNeq, Data({0, 1}), Data({0, 5})}) == "range neq reg 1 0x00000100 0x00000500 ");
}

TEST_CASE("verdicts name their chain") {
  CHECK(Text(Immediate{Register(), {}, {VerdictCode::kAccept, 0}}) == "immediate reg 0 accept ");
  CHECK(Text(Immediate{Register(), {}, {VerdictCode::kJump, 1}}) == "immediate reg 0 jump -> x ");
  CHECK(Text(Immediate{Register(), {}, {VerdictCode::kGoto, 77}}) == "immediate reg 0 goto -> 77 ");
}

TEST_CASE("arithmetic") {
  const Register r1 = Reg(1);
  CHECK(Text(Bitwise{r1, r1, 4, BitwiseOp::kMaskXor, Word(0xff), Word(0), {}, {}}) ==
        "bitwise reg 1 = ( reg 1 & 0x000000ff ) ^ 0x00000000 ");
  CHECK(Text(Bitwise{r1, Reg(2), 4, BitwiseOp::kLshift, {}, {}, Word(3), {}}) ==
        "bitwise reg 2 = ( reg 1 << 0x00000003 ) ");
  CHECK(Text(Bitwise{r1, r1, 4, BitwiseOp::kOr, {}, {}, {}, Reg(2)}) == "bitwise reg 1 = ( reg 1 | reg 2 ) ");
  CHECK(Text(Byteorder{r1, r1, ByteorderOp::kHton, 8, 2}) == "byteorder reg 1 = hton(reg 1, 2, 8) ");
  CHECK(Text(Numgen{r1, 3, 0, 5}) == "numgen reg 1 = inc mod 3 offset 5 ");
  CHECK(Text(Hash{Reg(2), r1, 8, 7, 0xdead, 2, 0}) == "hash reg 1 = jhash(reg 2, 8, 0xdead) % mod 7 offset 2 ");
  CHECK(Text(Hash{{}, r1, 0, 3, {}, 0, 1}) == "hash reg 1 = symhash() % mod 3 ");
}

TEST_CASE("loads") {
  const Register r1 = Reg(1);
  CHECK(Text(PayloadLoad{r1, PayloadBase::kNetwork, 12, 4}) == "payload load 4b @ network header + 12 => reg 1 ");
  CHECK(Text(MetaLoad{r1, MetaKey::kL4proto}) == "meta load l4proto => reg 1 ");
  CHECK(Text(CtLoad{r1, CtKey::kSrcIp, Direction::kOriginal}) == "ct load src_ip => reg 1 , dir original ");
  CHECK(Text(CtLoad{r1, CtKey::kState, {}}) == "ct load state => reg 1 ");
  CHECK(Text(ExthdrLoad{r1, 2, 2, 2, 0, ExthdrOp::kTcpOption}) == "exthdr load tcpopt 2b @ 2 + 2 => reg 1 ");
  CHECK(Text(ExthdrLoad{r1, 0, 0, 1, 1, ExthdrOp::kSctp}) == "exthdr load 1b @ 0 + 0 present => reg 1 ");
  CHECK(Text(Fib{r1, 1, 1 | 8 | 32}) == "fib saddr . iif oif present => reg 1 ");
  CHECK(Text(Fib{r1, 3, 2 | 4}) == "fib daddr . mark type => reg 1 ");
  CHECK(Text(Rt{r1, 3}) == "rt load tcpmss => reg 1 ");
  CHECK(Text(Xfrm{r1, 3, 1, 1}) == "xfrm load out 1 saddr4 => reg 1 ");
  CHECK(Text(Socket{0, r1, {}}) == "socket load transparent => reg 1 ");
  CHECK(Text(Tunnel{1, r1, {}}) == "tunnel load id => reg 1 ");
  CHECK(Text(Osf{r1, 0, 0}) == "osf dreg 1 ");
  CHECK(Text(Inner{1, 0xf, 8, std::make_shared<Expression>(Expression{MetaLoad{r1, MetaKey::kL4proto}})}) ==
        "inner type 1 hdrsize 8 flags f [ meta load l4proto => reg 1 ] ");
}

TEST_CASE("stores") {
  const Register r1 = Reg(1);
  CHECK(Text(PayloadStore{r1, PayloadBase::kNetwork, 0, 2, ChecksumType::kInet, 10, 0}) ==
        "payload write reg 1 => 2b @ network header + 0 csum_type 1 csum_off 10 csum_flags 0x0 ");
  CHECK(Text(MetaStore{r1, MetaKey::kMark}) == "meta set mark with reg 1 ");
  CHECK(Text(CtStore{r1, CtKey::kZone, Direction::kReply}) == "ct set zone with reg 1 , dir reply ");
  CHECK(Text(ExthdrStore{r1, 2, 2, 2, ExthdrOp::kTcpOption}) == "exthdr write tcpopt reg 1 => 2b @ 2 + 2 ");
  CHECK(Text(ExthdrStrip{4, ExthdrOp::kTcpOption}) == "exthdr reset tcpopt 4 ");
}

TEST_CASE("sets and objects") {
  CHECK(Text(Lookup{2, Reg(1), {}, 0}) == "lookup reg 1 set s ");
  CHECK(Text(Lookup{2, Reg(1), Register(), 0}) == "lookup reg 1 set s dreg 0 ");
  CHECK(Text(Lookup{2, Reg(1), {}, 1}) == "lookup reg 1 set s 0x1 ");
  Dynset dynset{2, 0, Reg(1), {}, 10000, 2, {}};
  dynset.expressions.push_back({Limit{1, 1, 5, LimitType::kPackets, 1}});
  dynset.expressions.push_back({Counter{}});
  CHECK(Text(dynset) ==
        "dynset add reg_key 1 set s timeout 10000ms expr [ limit rate 1/second burst 5 type packets flags 0x1 ] "
        "expr [ counter pkts 0 bytes 0 ] ");
  CHECK(Text(Dynset{2, 1, Reg(1), Reg(2), {}, 0, {}}) == "dynset update reg_key 1 set s sreg_data 2 ");
  CHECK(Text(ObjectRef{ObjectType::kCounter, 3}) == "objref type 1 name cnt ");
  CHECK(Text(ObjectMapRef{Reg(1), 2}) == "objref sreg 1 set s ");
  CHECK(Text(FlowOffload{4}) == "flow_offload flowtable ft ");
}

TEST_CASE("statements") {
  const Register r1 = Reg(1), r2 = Reg(2);
  CHECK(Text(Counter{7, 5}) == "counter pkts 5 bytes 7 ");
  CHECK(Text(Quota{100, 0, 5}) == "quota bytes 100 consumed 5 flags 0 ");
  CHECK(Text(Limit{5, 3600, 7, LimitType::kPackets, 0}) == "limit rate 5/hour burst 7 type packets flags 0x0 ");
  CHECK(Text(Limit{5, 2, 7, LimitType::kBytes, 0}) == "limit rate 5/2 second burst 7 type bytes flags 0x0 ");
  CHECK(Text(Connlimit{5, 1}) == "connlimit count 5 flags 1 ");
  CHECK(Text(Last{}) == "last never ");
  CHECK(Text(Log{}) == "log ");
  CHECK(Text(Log{3, "hello  level 5 ", 20, 4, {}, {}}) ==
        "log prefix hello  level 5  group 3 snaplen 20 qthreshold 4 ");
  CHECK(Text(Log{{}, "x", {}, {}, 7, 0x2f}) == "log prefix x level 7 tcpseq tcpopt ipopt uid macdecode ");
  CHECK(Text(Reject{RejectType::kIcmpx, 1}) == "reject type 2 code 1 ");
  CHECK(Text(Nat{0, Family::kIp, r1, r2, Reg(3), Reg(4), 0xe}) ==
        "nat snat ip addr_min reg 1 addr_max reg 2 proto_min reg 3 proto_max reg 4 flags 0xe ");
  CHECK(Text(Masquerade{4, {}, {}}) == "masq flags 0x4 ");
  CHECK(Text(Redirect{r1, {}, 2}) == "redir proto_min reg 1 flags 0x2 ");
  CHECK(Text(Redirect{}) == "redir ");
  CHECK(Text(Dup{{}, r1}) == "dup sreg_dev 1 ");
  CHECK(Text(Fwd{r1, r2, 2}) == "fwd sreg_dev 1 sreg_addr 2 nfproto 2 ");
  CHECK(Text(Tproxy{Family::kIp, r1, r2}) == "tproxy ip addr reg 1 port reg 2 ");
  CHECK(Text(Tproxy{Family::kInet, {}, r1}) == "tproxy port reg 1 ");
  CHECK(Text(Queue{3, 3, 1, {}}) == "queue num 3-5 bypass ");
  CHECK(Text(Queue{0, 16, 3, {}}) == "queue num 0-15 bypass fanout ");
  CHECK(Text(Queue{{}, 0, 1, r1}) == "queue sreg_qnum 1 bypass ");
  CHECK(Text(Synproxy{1460, 7, 3}) == "synproxy mss 1460 wscale 7 ");
  CHECK(Text(Notrack{}) == "notrack ");
  CHECK(Text(CompatMatch{"conntrack", 3, ""}) == "match name conntrack rev 3 ");
}

TEST_CASE("a rule with a comment has no empty line after it, one without has") {
  Table table = SmallTable();
  Chain& chain = table.chains[0];
  chain.rules.push_back({.handle = 5, .expressions = {{Counter{}}}});
  chain.rules.push_back({.handle = 6, .userdata = std::string("\0\x08note 47\0", 10)});
  CHECK(
      PrintListing(table).ends_with("inet f x\n  [ counter pkts 0 bytes 0 ]\n\n"
                                    "inet f x\n  userdata = { \\x00\\x08note 47\\x00 }\n"));
}

TEST_CASE("a set: flags, sizes, elements of all kinds on one line") {
  Table table = SmallTable();
  Set set{.name = "ss", .flags = kSetTimeout, .policy = 1, .size = 100, .timeout_ms = 7200000, .gc_interval_ms = 3000};
  CHECK(PrintSet(table, set) == "ss f 10 timeout 7200000ms gc_interval 3000ms policy 1 size 100\n");

  Set map{.name = "vv", .flags = kSetMap | kSetInterval | kSetConcat};
  map.elements.push_back({.key = std::string("\0\x16\0\0\x0a\0\0\0", 8),
                          .key_end = std::string("\0\x17\0\0\x0a\xff\xff\xff", 8),
                          .data = Verdict{VerdictCode::kJump, 1}});
  map.elements.push_back({.flags = kElementCatchall, .data = std::string("\1\2", 2)});
  map.elements.push_back({.key = "\1\2\3\4", .flags = kElementIntervalEnd, .userdata = std::string("\0\3hi\0", 5)});
  CHECK(PrintSet(table, map) ==
        "vv f 8c\nvv f 0\n"
        "\telement 00001600 0000000a  - 00001700 ffffff0a  : jump -> x 0 [end]"
        "\telement  : 00000201 2 [end]"
        "\telement 04030201  : 1 [end]  userdata = { \\x00\\x03hi\\x00 }\n");
}

TEST_CASE("an anonymous set stands before the rule that uses it, a named one before all rules") {
  Table table = SmallTable();
  table.sets.push_back({.name = "__set0", .handle = 9, .flags = kSetAnonymous | kSetConstant, .size = 2});
  table.chains[0].rules.push_back({.handle = 5, .expressions = {{Counter{}}}});
  table.chains[0].rules.push_back({.handle = 6, .expressions = {{Lookup{9, Reg(1), {}, 0}}}});
  CHECK(PrintListing(table) ==
        "s f 0\n"
        "inet f x\n  [ counter pkts 0 bytes 0 ]\n\n"
        "__set0 f 3 size 2\n"
        "inet f x\n  [ lookup reg 1 set __set0 ]\n\n");
}

}  // namespace
}  // namespace nftjit::nft
