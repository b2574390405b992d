// The text form: what is printed reads back, what is canonical prints back, and bad text is refused with its place.
#include "lib/ir/text.h"

#include <catch2/catch.hpp>
#include <string>

#include "lib/ir/verifier.h"
#include "tests/support/files.h"

namespace nftjit::ir {
namespace {

// Every declaration and every op once, with most of their options.
constexpr std::string_view kEverything = R"(set inet fw allowed handle 5 interval key 4 constant:
  0a000000-0affffff
  c0a80000-c0a8ffff timeout 3000 counter #1 limit #1
set inet fw "odd name" exact key 2:
  0016
  * limit #1 counter #2
map inet fw m exact key 2 data 3:
  0016 : 010203
vmap inet fw v ranges key 8 fields 4 2:
  0a0000000050ffff-0a0000ff005fffff : jump services
  0a0000000000ffff-0affffffffffffff : goto "other chain"
  * : drop
set ip nat s exact key 1:
counter #1 packets 5 bytes 300
limit #0 rate 5 unit 3600 burst 7 packets
limit #1 rate 1000 unit 1 burst 0 bytes over
log #0 prefix "a \"b\" \\ \x07" level 4 flags 3
log #1 group 2 snaplen 100 qthreshold 8
chain inet fw input hook input priority -10 policy drop:
rule 31 fw.nft:31 "ssh from office only":
  guard room.network 16
  %0 = load network+12, 4
  test %0 & fffffff0 != c0000200
  guard room.transport 4
  guard unfragmented
  %1 = load? transport+2, 2
  test %1 in 0016-0050
  test %1 not in 0400-0500
  test native %1 <= 0a00
  count #0
  log #0
  verdict jump services
block:
  guard l4
  %2 = meta l4proto
  test %2 == 06
  rule 32 at "my file.nft":32:7:
    lookup %0 @allowed
    lookup %1 not @"odd name"
    %3 = map %1 @m
    limit #0
    reject icmpx 3
  block:
    guard iif
    guard oif
    guard meta skuid
    guard ct
    guard ct.known src_ip original
    guard ct.known helper
    rule 33 fw.nft:
      %4 = ct state
      %5 = ct src original, 4
      %6 = ct proto_dst reply
      %7 = concat %0, %6
      %8 = zext %7, 8
      vmap %8 @v
      log #1
      verdict accept
  rule 34 "after the block":
    %9 = const 01000000
    set mark %9
    reject tcp-reset
rule 35:
  %10 = stale 4
  %11 = and %0, ffff0000
  %12 = or %11, 000000ff
  %13 = xor %12, 0000ff00
  %14 = andv %13, %10
  %15 = orv %14, %10
  %16 = xorv %15, %10
  %17 = shl %16, 4
  %18 = shr %17, 31
  %19 = swap %18, 2
  %20 = slice %19+1, 2
  %21 = exthdr present ipv6 44+0, 1
  %22 = exthdr tcpopt 2+2, 2
  guard room.link 14
  guard room.inner 8
  unsupported "lookup in @x"
chain inet fw services:
rule 35 of input:
  verdict return
rule 3 from ip nat pre "elsewhere":
  %0 = meta nfproto
  %1 = meta? l4proto
  lookup %0 @ip nat s
  verdict jump ip nat sub
omitted 4 fw.nft:40 expression 2 unsupported "nat"
chain inet fw "other chain":
chain ip nat pre type nat hook prerouting priority 0 policy accept registration 7 counter packets 3 bytes 99 dormant:
chain ip nat sub:
chain netdev t in hook ingress priority 0 policy accept device eth0 prefix "t@":
)";

Program ParseText(std::string_view text) {
  absl::StatusOr<Program> program = Parse(text, "t.ir");
  INFO(program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

TEST_CASE("canonical text prints back as it was", "[ir][text]") {
  const Program program = ParseText(kEverything);
  REQUIRE(Print(program) == kEverything);
  std::string chains;
  for (uint32_t i = 0; i < program.chains.size(); ++i) chains += PrintChain(program, ChainId(i));
  REQUIRE(kEverything.ends_with(chains));
}

TEST_CASE("the text form shows every operation", "[ir][text]") {
  const Program program = ParseText(kEverything);
  for (size_t op = 0; op <= static_cast<size_t>(Op::kUnsupported); ++op) {
    INFO(Info(static_cast<Op>(op)).text);
    REQUIRE(std::any_of(program.rows.begin(), program.rows.end(),
                        [op](const Row& row) { return row.op == static_cast<Op>(op); }));
  }
}

TEST_CASE("with origins the text is the whole program", "[ir][text]") {
  Program program = ParseText(kEverything);
  program.origins[1].expression = 4;
  program.origin_lists.push_back({{0, 5}, {2, Origin::kNoExpression}, {1, 20}});
  program.origins[2] = {1, 2, Origin::kList};
  program.origins[3] = {1, 4, 0b101};
  program.counters[0] = {RuleId(2), 6, 0, 0};
  program.rules.push_back({ChainId(0), 99, "gone", {"fw.nft", 50, 0}});
  const std::string text = Print(program, {.origins = true});
  const Program again = ParseText(text);
  REQUIRE(Print(again, {.origins = true}) == text);
  REQUIRE(again.rules == program.rules);
  REQUIRE(again.rows == program.rows);
  REQUIRE(again.origins == program.origins);
  REQUIRE(again.origin_lists == program.origin_lists);
  REQUIRE(again.items == program.items);
  REQUIRE(again.chains == program.chains);
  REQUIRE(again.sets == program.sets);
  REQUIRE(again.counters == program.counters);
  REQUIRE(again.limits == program.limits);
  REQUIRE(again.logs == program.logs);
  REQUIRE(again.texts == program.texts);
  REQUIRE(again.unsupported == program.unsupported);
}

TEST_CASE("rows print alone as in their chain", "[ir][text]") {
  const Program program = ParseText(kEverything);
  REQUIRE(PrintRow(program, RowId(1)) == "%0 = load network+12, 4");
  const RowPrinter print(program);
  std::string text;
  for (uint32_t i = 0; i < program.rows.size(); ++i) {
    REQUIRE(kEverything.find(" " + print(RowId(i)) + "\n") != std::string_view::npos);
  }
}

TEST_CASE("text need not be canonical", "[ir][text]") {
  const Program program = ParseText(
      "# a comment\n"
      "\n"
      "chain ip t c:\r\n"
      "  rule 1:\n"
      "  \t %src = load?network+12,4\n"
      "    # another\n"
      "    test %src&ff000000==0A000000\n"
      "    lookup %src @late\n"
      "    verdict goto d\n"
      "set ip t late exact key 4:\n"
      "chain ip t d:");
  REQUIRE(Print(program) ==
          "set ip t late exact key 4:\n"
          "chain ip t c:\n"
          "rule 1:\n"
          "  %0 = load? network+12, 4\n"
          "  test %0 & ff000000 == 0a000000\n"
          "  lookup %0 @late\n"
          "  verdict goto d\n"
          "chain ip t d:\n");
  REQUIRE(Verify(program) == absl::OkStatus());
}

TEST_CASE("one rule may stand in several places", "[ir][text]") {
  const Program program = ParseText(
      "chain ip t a:\n"
      "rule 7 of b f:1 \"x\":\n"
      "rule 7:\n"
      "chain ip t b:\n"
      "rule 7 f:1 \"x\":\n");
  REQUIRE(program.rules.size() == 2);
  REQUIRE(program.items[0].rule == program.items[2].rule);
  REQUIRE(program.rules[1].chain == ChainId(0));
}

struct BadText {
  const char *text, *error;
};

TEST_CASE("bad text is refused with its place", "[ir][text]") {
  const auto c = GENERATE(values<BadText>({
      {"rule 1:\n", "t.ir:1: expected a declaration of a set, counter, limit, log or chain, found `rule 1:`"},
      {"chain ipx t c:\n", "t.ir:1: `ipx` is no family"},
      {"chain ip t c\n", "t.ir:1: expected `:`, found the end of the line"},
      {"chain ip t c:\nchain ip t c:\n", "t.ir:2: chain `c` is declared twice"},
      {"chain ip t c hook ingress:\n", "t.ir:1: `ingress` is no hook of the family"},
      {"chain ip t c hook input policy queue:\n", "t.ir:1: a policy is accept or drop"},
      {"set ip t s exact key 65:\n", "t.ir:1: a length is 1 to 64"},
      {"set ip t s hash key 4:\n", "t.ir:1: expected exact, interval or ranges, found `hash key 4:`"},
      {"set ip t s exact key 4:\n  0a0\n", "t.ir:2: expected a key as pairs of hex digits, found `0a0`"},
      {"vmap ip t s exact key 4:\n  0a000001 : jump x\n", "t.ir:2: no chain `x` in the set's table"},
      {"chain ip t c:\n  verdict drop\n",
       "t.ir:2: a row must stand below its rule or block, indented more, before the block's items"},
      {"chain ip t c:\nblock:\n  rule 1:\n  guard l4\n",
       "t.ir:4: a row must stand below its rule or block, indented more, before the block's items"},
      {"chain ip t c:\nrule 1:\n  rule 2:\n", "t.ir:3: a rule holds rows only: indent as much as the rule before"},
      {"chain ip t c:\nrule 1:\n  frob %0\n", "t.ir:3: `frob` is no operation"},
      {"chain ip t c:\nrule 1:\n  test %0 == 00\n", "t.ir:3: %0 is not defined before in this chain"},
      {"chain ip t c:\nrule 1:\n  load? link+0, 1\n", "t.ir:3: `load` needs a value: `%name = …`"},
      {"chain ip t c:\nrule 1:\n  %0 = verdict drop\n", "t.ir:3: `verdict` defines no value"},
      {"chain ip t c:\nrule 1:\n  %0 = stale 1\n  %0 = stale 1\n", "t.ir:4: %0 is defined twice"},
      {"chain ip t c:\nrule 1:\n  %0 = stale 1\n  test %0 ~ 00\n", "t.ir:4: expected a comparison, found `~ 00`"},
      {"chain ip t c:\nrule 1:\n  %0 = stale 1\n  test %0 in 00-0001\n", "t.ir:4: the bounds differ in length"},
      {"chain ip t c:\nrule 1:\n  %0 = stale 1\n  lookup %0 @s\n", "t.ir:4: no set `s`"},
      {"chain ip t c:\nrule 1:\n  %0 = meta nftrace\n", "t.ir:3: meta nftrace cannot be loaded"},
      {"chain ip t c:\nrule 1:\n  %0 = ct event\n", "t.ir:3: ct event cannot be loaded"},
      {"chain ip t c:\nrule 1:\n  limit #0\n", "t.ir:3: #0 is not declared"},
      {"log #0\nlog #0\n", "t.ir:2: #0 is declared twice"},
      {"limit #99999999 rate 1 unit 1 burst 1 packets\n", "t.ir:1: the number of a limit is too big"},
      {"chain ip t c:\nrule 1:\n  verdict jump d\n", "t.ir:3: no chain `d`"},
      {"chain ip t c:\nrule 1:\n  verdict drop now\n", "t.ir:3: expected the end of the line, found `now`"},
      {"chain ip t c:\nrule 1:\n  unsupported \"x\n", "t.ir:3: expected a closing quote, found `\"x`"},
      {"chain ip t c:\nrule 1 f:1:\nrule 1 f:2:\n",
       "t.ir:3: a rule of this handle stands before with another place or comment"},
      {"chain ip t c:\nrule [0] 1:\nrule [0] 2:\n", "t.ir:3: another rule has this number"},
      {"chain ip t c:\nrule 1:\n  guard room.network 99999999999\n",
       "t.ir:3: bytes of room is out of range, found `99999999999`"},
  }));
  INFO(c.text);
  const absl::StatusOr<Program> program = Parse(c.text, "t.ir");
  REQUIRE(program.status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(program.status().message() == c.error);
}

// As the first word of a code span, or the first after "%N = ".
bool IsDescribed(const std::string& page, std::string_view op) {
  for (size_t at = page.find(op); at != std::string::npos; at = page.find(op, at + 1)) {
    const char before = page[at - 1], after = page[at + op.size()];
    const bool begins = before == '`' || page.compare(at - 2, 2, "= ") == 0;
    if (begins && (after == ' ' || after == '`' || after == '?')) return true;
  }
  return false;
}

TEST_CASE("docs/ir.md describes every op", "[ir][text]") {
  const std::string page = testing::ReadFile(NFTJIT_SOURCE_DIR "/docs/ir.md");
  for (const std::string_view op : {
#define OP(Name, text, ...) std::string_view(text),
#include "lib/ir/ops.def"
#undef OP
       }) {
    INFO(op);
    CHECK(IsDescribed(page, op));
  }
}

}  // namespace
}  // namespace nftjit::ir
