// The listing's parser on texts of its own: what it reads, what it refuses and where, what it says that the text lost.
#include <catch2/catch.hpp>

#include "lib/nft/listing_parser.h"
#include "lib/nft/listing_printer.h"

namespace nftjit::nft {
namespace {

constexpr ListingDialect kLegacy = ListingDialect::kLegacy, kCurrent = ListingDialect::kCurrent;

Listing Parse(const std::string& text, std::optional<ListingDialect> dialect = {}) {
  absl::StatusOr<Listing> listing = ParseListing(text, {.file_name = "t", .dialect = dialect});
  INFO(text);
  INFO(listing.status().message());
  REQUIRE(listing.ok());
  return *std::move(listing);
}
std::string Error(const std::string& text, std::optional<ListingDialect> dialect = kLegacy) {
  return std::string(ParseListing(text, {.file_name = "t", .dialect = dialect}).status().message());
}
std::string Hex(const Bytes16& bytes) { return ToHex(bytes.span()); }
std::string Hex(const std::string& bytes) {
  return ToHex({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}
// The only rule of `text`.
Rule RuleOf(const std::string& text, std::optional<ListingDialect> dialect = {}) {
  return Parse(text, dialect).ruleset.tables.at(0).chains.at(0).rules.at(0);
}
template <class E>
E ExpressionOf(const std::string& text, size_t at, std::optional<ListingDialect> dialect = {}) {
  return std::get<E>(RuleOf(text, dialect).expressions.at(at).body);
}

TEST_CASE("a constant has the length and the order of what it is compared with") {
  const std::string port = "ip t c\n [ payload load 2b @ transport header + 2 => reg 1 ]\n [ cmp eq reg 1 ";
  CHECK(Hex(ExpressionOf<Cmp>(port + "0x00001600 ]\n", 1).data) == "0016");
  CHECK(Hex(ExpressionOf<Cmp>(port + "0x0016 ]\n", 1).data) == "0016");
  const std::string mark = "ip t c\n [ meta load mark => reg 1 ]\n [ cmp eq reg 1 0x00001234 ]\n";
  CHECK(Hex(ExpressionOf<Cmp>(mark, 1, kLegacy).data) == "34120000");
  CHECK(Hex(ExpressionOf<Cmp>(mark, 1, kCurrent).data) == "34120000");
  CHECK(Hex(ExpressionOf<Cmp>(mark, 1).data) == "34120000");
  const std::string swapped =
      "ip t c\n [ meta load skuid => reg 1 ]\n [ byteorder reg 1 = hton(reg 1, 4, 4) ]\n [ range eq reg 1 ";
  CHECK(Hex(ExpressionOf<Range>(swapped + "0xd1070000 0xd5070000 ]\n", 2, kLegacy).from) == "000007d1");
  CHECK(Hex(ExpressionOf<Range>(swapped + "0x000007d1 0x000007d5 ]\n", 2, kCurrent).to) == "000007d5");
  const std::string label = "ip t c\n [ ct load label => reg 1 ]\n [ cmp eq reg 1 ";
  CHECK(Hex(ExpressionOf<Cmp>(label + "0x80000000 0x00000000 0x00000000 0x00000001 ]\n", 1, kCurrent).data) ==
        "01000000000000000000000000000080");
}

TEST_CASE("an immediate has the length and the order that its reader wants") {
  const auto value = [](const std::string& word, const std::string& reader, ListingDialect dialect) {
    return Hex(
        ExpressionOf<Immediate>("ip t c\n [ immediate reg 1 " + word + " ]\n [ " + reader + " ]\n", 0, dialect).data);
  };
  CHECK(value("0x00000007", "ct set zone with reg 1", kLegacy) == "0700");
  CHECK(value("0x0007", "ct set zone with reg 1", kCurrent) == "0700");
  CHECK(value("0x00005000", "redir proto_min reg 1 flags 0x2", kLegacy) == "0050");
  CHECK(value("0x0050", "redir proto_min reg 1 flags 0x2", kCurrent) == "0050");
  CHECK(value("0x00000001", "meta set nftrace with reg 1", kLegacy) == "01");
  CHECK(value("0x0100000a", "nat dnat ip addr_min reg 1", kLegacy) == "0a000001");
}

TEST_CASE("sets take their fields from the registers, in both dialects") {
  const std::string rule =
      "inet t c\n [ payload load 4b @ network header + 12 => reg 1 ]\n [ payload load 2b @ transport header + 2 => reg "
      "9 "
      "]\n [ lookup reg 1 set __set%d ]\n";
  for (const std::string elements :
       {"__set%d t 87\n__set%d t 0\n\telement 0000000a 00005000  - ff00000a 00005a00  : 0 [end]\n",
        "__set%d t 87\n__set%d t 0\n\telement 0a000000 . 0050 - 0a0000ff . 005a\n"}) {
    const Table table = Parse(elements + rule).ruleset.tables.at(0);
    REQUIRE(table.sets.size() == 1);
    CHECK(table.sets[0].key_len == 8);
    CHECK(table.sets[0].field_lengths == std::vector<uint8_t>{4, 2});
    CHECK(Hex(table.sets[0].elements.at(0).key) == "0a00000000500000");
    CHECK(Hex(table.sets[0].elements.at(0).key_end) == "0a0000ff005a0000");
  }
}

TEST_CASE("each anonymous set of a rule is another, in the order of their lines") {
  const Table table = Parse(
                          "__set%d t 3\n__set%d t 0\n\telement 00000006  : 0 [end]\n"
                          "__set%d t 3\n__set%d t 0\n\telement 00001600  : 0 [end]\n"
                          "ip t c\n [ meta load l4proto => reg 1 ]\n [ lookup reg 1 set __set%d ]\n"
                          " [ payload load 2b @ transport header + 2 => reg 1 ]\n [ lookup reg 1 set __set%d ]\n")
                          .ruleset.tables.at(0);
  REQUIRE(table.sets.size() == 2);
  CHECK(Hex(table.sets[0].elements.at(0).key) == "06");
  CHECK(Hex(table.sets[1].elements.at(0).key) == "0016");
}

TEST_CASE("maps: verdicts, data, catch-all, objects") {
  const Table verdicts = Parse(
                             "vm t 8\nvm t 0\n\telement 00001600  : accept 0 [end]\telement 00001700  : jump -> x 0 "
                             "[end]\telement  : drop 2 [end]\nip t c\n [ payload load 2b @ transport header + 2 => reg "
                             "1 ]\n [ lookup reg 1 set vm dreg 0 ]\nip t x\n [ counter pkts 0 bytes 0 ]\n")
                             .ruleset.tables.at(0);
  REQUIRE(verdicts.sets.at(0).elements.size() == 3);
  CHECK(verdicts.sets[0].is_verdict_map());
  CHECK(std::get<Verdict>(verdicts.sets[0].elements[1].data).chain == verdicts.FindChain("x")->handle);
  CHECK(verdicts.sets[0].elements[2].flags == kElementCatchall);

  const Table data =
      Parse(
          "m t 8\nm t 0\n\telement 0050 : 01020304 . 0016\nip t c\n [ payload load 2b @ transport header "
          "+ 2 => reg 1 ]\n [ lookup reg 1 set m dreg 1 ]\n [ nat dnat ip addr_min reg 1 proto_min reg 9 "
          "]\n")
          .ruleset.tables.at(0);
  CHECK(data.sets.at(0).data_len == 8);
  CHECK(Hex(std::get<std::string>(data.sets[0].elements.at(0).data)) == "0102030400160000");

  const Listing objects = Parse(
      "table t name q1 use 1 [ quota bytes 1000 flags 1 ]\nom t 40\nom t 0\n\telement 0050 : q1\n"
      "ip t c\n [ payload load 2b @ transport header + 2 => reg 1 ]\n [ objref sreg 1 set om ]\n");
  CHECK(objects.losses.empty());
  CHECK(objects.ruleset.tables.at(0).sets.at(0).object_type == static_cast<uint32_t>(ObjectType::kQuota));
}

TEST_CASE("lines of chains, tables and flowtables") {
  const Table table = Parse(
                          "table t inet flags 1 use 2 handle 9\n"
                          "inet t c use 1 type nat hook postrouting prio 100 policy drop packets 0 bytes 0\n"
                          "inet (null) (null) use 0 type filter hook input prio 0 packets 0 bytes 0\n"
                          "inet t x use 0\n"
                          "flow table t f use 0 size 0 flags 0 hook ingress prio 5 dev { eth0 wlan* } \n"
                          "inet t c 4 3\n [ masq ]\n")
                          .ruleset.tables.at(0);
  CHECK(table.flags == 1);
  REQUIRE(table.chains.size() == 2);
  REQUIRE(table.chains[0].base);
  CHECK(table.chains[0].base->type == ChainType::kNat);
  CHECK(table.chains[0].base->hook == kPostrouting);
  CHECK(table.chains[0].base->priority == 100);
  CHECK(table.chains[0].base->policy == VerdictCode::kDrop);
  CHECK(table.chains[0].rules.size() == 1);
  CHECK(table.flowtables.at(0).devices == std::vector<Device>{{"eth0", false}, {"wlan", true}});
}

TEST_CASE("a pasted post: quotes, comments, no header, line ends of another system") {
  const Table table =
      Parse(
          "> # iptables -A INPUT ! -s 10.0.0.0/10\r\n>   [ payload load 4b @ network header + 12 => reg 1 ]\r\n"
          ">   [ bitwise reg 1 = ( reg 1 & 0x0000c0ff ) ^ 0x00000000 ]\r\n>   [ cmp neq reg 1 0x0000000a ]\r\n"
          ">   [ counter pkts 0 bytes 0 ]\r\n>\r\n>   [ counter pkts 7 bytes 9 ]\r\n",
          kLegacy)
          .ruleset.tables.at(0);
  CHECK(table.name.empty());
  REQUIRE(table.chains.at(0).rules.size() == 2);
  CHECK(table.chains[0].rules[0].expressions.size() == 4);
  CHECK(table.chains[0].rules[0].where.line == 2);
}

TEST_CASE("libnftnl up to 1.1.8 writes bitwise otherwise") {
  const Bitwise bitwise = ExpressionOf<Bitwise>(
      "ip t c\n [ meta load mark => reg 1 ]\n [ bitwise reg 1 = (reg=1 & 0x000000ff ) ^ 0x00000000 ]\n", 1);
  CHECK(Hex(bitwise.mask) == "ff000000");
}

TEST_CASE("where nft lists what the kernel told it, the current dialect has everything in the order of registers") {
  const std::string rule = " [ meta load mark => reg 1 ]\n [ cmp eq reg 1 0x34120000 ]\n";
  CHECK(Hex(ExpressionOf<Cmp>("ip t c 4\n" + rule, 1, kCurrent).data) == "34120000");
  CHECK(Hex(ExpressionOf<Cmp>("ip t c\n" + rule, 1, kCurrent).data) == "00001234");
}

TEST_CASE("a log prefix ends where the other words begin") {
  const auto prefix = [](const std::string& text) {
    return ExpressionOf<Log>("ip t c\n [ log " + text + "]\n", 0).prefix.value_or("(none)");
  };
  CHECK(prefix("prefix hello level 6 tcpseq uid ") == "hello");
  CHECK(prefix("prefix two  words  group 2 snaplen 0 qthreshold 0 ") == "two  words ");
  CHECK(prefix("prefix in ] out: ") == "in ] out:");
  CHECK(prefix("level 3 ") == "(none)");
  CHECK(prefix("prefix uid level ") == "uid level");
}

TEST_CASE("user data is kept, whatever it holds") {
  const std::string text = "ip t c\n  [ counter pkts 0 bytes 0 ]\n  userdata = { \\x00\\x09a } b \\x41 }\n";
  const Listing listing = Parse(text);
  CHECK(listing.ruleset.tables[0].chains[0].rules[0].userdata == std::string("\0\x09"
                                                                             "a } b \\x41",
                                                                             12));
  CHECK(PrintListing(listing.ruleset) == text);
}

TEST_CASE("both dialects of one ruleset say the same") {
  const std::string legacy =
      "table t ip flags 0 use 0 handle 1\n"
      "ip t c use 0 type filter hook input prio 0 policy accept packets 0 bytes 0\n"
      "s t 0 size 7\ns t 0\n\telement 0100000a  : 0 [end]\telement 0200000a  : 0 [end]\n"
      "__map%d t b\n__map%d t 0\n\telement 01000000  : 00000005 0 [end]\n"
      "ip t c\n  [ payload load 4b @ network header + 12 => reg 1 ]\n  [ lookup reg 1 set s ]\n"
      "  [ meta load mark => reg 1 ]\n  [ byteorder reg 1 = hton(reg 1, 4, 4) ]\n"
      "  [ lookup reg 1 set __map%d dreg 1 ]\n  [ meta set mark with reg 1 ]\n\n";
  const std::string current =
      "table t ip flags 0 use 0 handle 1\n"
      "ip t c use 0 type filter hook input prio 0 policy accept packets 0 bytes 0\n"
      "s t 0 size 7\ns t 0\n\telement 0a000001\telement 0a000002\n"
      "__map%d t b\n__map%d t 0\n\telement 00000001 : 00000005\n"
      "ip t c\n  [ payload load 4b @ network header + 12 => reg 1 ]\n  [ lookup reg 1 set s ]\n"
      "  [ meta load mark => reg 1 ]\n  [ byteorder reg 1 = hton(reg 1, 4, 4) ]\n"
      "  [ lookup reg 1 set __map%d dreg 1 ]\n  [ meta set mark with reg 1 ]\n";
  for (const std::string& text : {legacy, current}) {
    const Listing listing = Parse(text);
    CHECK(listing.losses.empty());
    CHECK(PrintListing(listing.ruleset, {.dialect = kLegacy, .declarations = true}) == legacy);
    CHECK(PrintListing(listing.ruleset, {.dialect = kCurrent, .declarations = true}) == current);
  }
}

TEST_CASE("objects of every kind print and parse back") {
  std::string text = "table t ip flags 0 use 0 handle 1\n";
  for (const std::string body :
       {"counter pkts 3 bytes 4", "quota bytes 1000 flags 1", "limit rate 5 unit 1 burst 7 type 0 flags 0",
        "connlimit count 4 flags 1", "ct_helper name ftp family 0 protocol 6",
        "ct_timeout family 2 protocol 6 policy = { 0 : 60 4 : 7 }",
        "ct_expect family 2 protocol 17 dport 5060 timeout 3000 size 4", "secmark context system_u:x",
        "synproxy mss 1460 wscale 7", "tunnel"}) {
    text += "table t name o" + std::to_string(text.size()) + " use 0 [ " + body + " ]\n";
  }
  CHECK(PrintListing(Parse(text).ruleset, {.declarations = true}) == text);
}

TEST_CASE("errors name line, column and what was expected") {
  CHECK(Error("ip t c\n [ cmp ex reg 1 0x00000001 ]\n") ==
        "t:2:8: expected one of eq, neq, lt, lte, gt, gte, found `ex reg 1 0x00000001 ]`");
  CHECK(Error("ip t c\n [ frob reg 1 ]\n") == "t:2:4: `frob` is no expression");
  CHECK(Error("ip t c\n [ meta move mark ]\n") == "t:2:9: expected what meta does, found `move mark ]`");
  CHECK(Error("ip t c\n [ meta load frob => reg 1 ]\n") == "t:2:14: `frob` is no key of meta");
  CHECK(Error("ip t c\n [ meta load mark => reg 5 ]\n") == "t:2:26: register 5 does not exist (0 to 4 and 8 to 23 do)");
  CHECK(Error("ip t c\n [ cmp eq reg 1 0x00000001 ]\n") ==
        "t:2:4: register 1 is read, and no line of the rule before this one loads it");
  CHECK(Error("ip t c\n [ payload load 300b @ link header + 0 => reg 1 ]\n") ==
        "t:2:17: a number is out of range, found `300b @ link header + 0 => reg 1 ]`");
  CHECK(Error("ip t c\n [ immediate reg 0 jump ]\n") == "t:2:25: expected `-> CHAIN` behind jump, found `]`");
  CHECK(Error("ip t c\n [ meta load mark => reg 1 ]\n [ cmp eq reg 1 0x0016 ]\n") ==
        "t:3:17: expected words of 8 hex digits, found `0016`");
  CHECK(Error("hello world\n") ==
        "t:1:1: expected a rule's header, an expression in [ ], a set or its elements, found `hello world`");
  CHECK(Error("\telement 00000001  : 0 [end]\n") ==
        "t:1:2: expected the line of a set in front of its elements, found `element 00000001  : 0 [end]`");
  CHECK(Error("s t 0\ns t 0\n\telement  : 0 [end]\n") ==
        "t:3:11: expected a key, or the flags of a catch-all element (2)");
  CHECK(Error("ip t c\n [ meta load mark => reg 1 ]\n [ range eq reg 1 0x00000001 0x00000002 0x00000003 ]\n") ==
        "t:3:19: expected two bounds of equally many words, found 3 words");
  CHECK(Error("s t 0\ns t 0\n\telement 01\n", {}).empty());
  CHECK(Error("s t 0\ns t 0\n\telement 01\n\telement 00000001  : 0 [end]\n", {}) ==
        "t:4:1: this line is of the legacy dialect, line 3 of the current");
}

TEST_CASE("a text that both dialects can read is an error only if it matters") {
  const std::string load = "ip t c\n [ payload load 4b @ network header + 12 => reg 1 ]\n";
  CHECK(
      Error(load + " [ cmp eq reg 1 0x0100000a ]\n", {}) ==
      "t:1:1: the constants of this rule mean something else in the legacy and in the current dialect, and no line of "
      "the text shows which it is: say so (--dialect legacy or current)");
  CHECK(Error(load + " [ cmp eq reg 1 0x01010101 ]\n", {}).empty());
  CHECK(
      Error(load + " [ cmp eq reg 1 0x0100000a ]\n [ meta load l4proto => reg 1 ]\n [ cmp eq reg 1 0x00000006 ]\n", {})
          .empty());
}

TEST_CASE("what the text lost is named, with what is assumed") {
  const auto loss = [](const std::string& text, std::optional<ListingDialect> dialect = kLegacy) -> std::string {
    const Listing listing = Parse(text, dialect);
    return listing.losses.empty() ? "" : ToString(listing.losses[0].where) + ": " + listing.losses[0].what;
  };
  CHECK(loss("ip t c\n [ osf dreg 1 ]\n") == "t:2:4: the listing does not print ttl and flags of osf; 0 is assumed");
  CHECK(loss("ip t c\n [ synproxy mss 1460 wscale 7 ]\n") ==
        "t:2:4: the listing does not print the flags of synproxy; neither sack-perm nor timestamp is assumed");
  CHECK(loss("ip t c\n [ socket load mark => reg 1 ]\n").empty());
  CHECK_FALSE(loss("ip t c\n [ socket load cgroupv2 => reg 1 ]\n").empty());
  CHECK_FALSE(loss("ip t c\n [ match name conntrack rev 3 ]\n").empty());
  CHECK_FALSE(loss("ip t c\n [ tunnel load id => reg 1 ]\n").empty());
  const std::string chunk = " [ exthdr load 1b @ 0 + 0 present => reg 1 ]\n";
  CHECK_FALSE(loss("ip t c\n" + chunk).empty());
  const std::string dccp = "ip t c\n [ meta load l4proto => reg 1 ]\n [ cmp eq reg 1 0x00000021 ]\n" + chunk;
  CHECK(loss(dccp).empty());
  CHECK(ExpressionOf<ExthdrLoad>(dccp, 2, kLegacy).op == ExthdrOp::kDccp);
  CHECK(loss("ip t c\n [ immediate reg 0 jump -> x ]\n") ==
        "t:2:4: the text has no line of chain x; an empty one is assumed");
  CHECK(loss("ip t c\n [ meta load mark => reg 1 ]\n [ lookup reg 1 set s ]\n") ==
        "t:3:4: the text has no line of set s; an empty one is assumed");
  CHECK(loss("ip t c\n [ objref type 1 name c ]\n").empty());
  CHECK_FALSE(loss("ip t c\n [ objref type 2 name q ]\n").empty());
  // `eth*` or an interface called eth; `eth0`, compared with its zero; four characters and more behind them.
  const std::string name = "ip t c\n [ meta load iifname => reg 1 ]\n [ cmp eq reg 1 ";
  CHECK(loss(name + "0x00687465 ]\n") ==
        "t:3:4: the listing does not print the length of the name, so that it may be `eth` or all that begin like it; "
        "all "
        "that begin like it are assumed");
  CHECK(loss(name + "0x30687465 0x00000000 ]\n").empty());
  CHECK(loss(name + "0x30687465 ]\n").empty());
  CHECK(loss(name + "0x30687465 0x00000000 0x00000000 0x00000000 ]\n").empty());
  CHECK(loss(name + "0x657468 ]\n", kCurrent).empty());
  const std::string address = "ip t c\n [ ct load src_ip => reg 1 , dir original ]\n [ cmp eq reg 1 ";
  CHECK_FALSE(loss(address + "0x0001a8c0 ]\n").empty());
  CHECK(loss(address + "0x0101a8c0 ]\n").empty());
  CHECK(loss(address + "0xc0a801 ]\n", kCurrent).empty());
}

TEST_CASE("a listing is recognised by its expressions") {
  CHECK(LooksLikeListing("> ip t c\n>   [ counter pkts 0 bytes 0 ]\n"));
  CHECK_FALSE(LooksLikeListing("table ip t {\n  # [ counter pkts 0 bytes 0 ]\n}\n"));
  CHECK_FALSE(LooksLikeListing("add rule t c dnat to\n[ ::1 ]:80\n"));
  CHECK_FALSE(LooksLikeListing(""));
}

}  // namespace
}  // namespace nftjit::nft
