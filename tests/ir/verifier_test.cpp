// Each invariant of lib/ir/verifier.h, with a program that breaks it.
#include "lib/ir/verifier.h"

#include <catch2/catch.hpp>
#include <functional>
#include <string>

#include "lib/ir/text.h"

namespace nftjit::ir {
namespace {

constexpr std::string_view kSets = R"(set ip t s exact key 4:
map ip t m exact key 4 data 2:
  0a000001 : 0102
vmap ip t v exact key 4:
limit #0 rate 1 unit 1 burst 1 packets
log #0
)";

Program MustParse(std::string_view text) {
  absl::StatusOr<Program> program = Parse(text, "t.ir");
  INFO(text);
  INFO(program.status());
  REQUIRE(program.ok());
  return *std::move(program);
}

std::string Verdict(const Program& program) {
  const absl::Status status = Verify(program);
  REQUIRE((status.ok() || status.code() == absl::StatusCode::kInternal));
  return std::string(status.message());
}

struct Case {
  const char* rows;   // Of rule 1 of chain c, or with `chain` or `set` at the head a whole program.
  const char* error;  // Empty: verified.
};

std::string Wrap(const std::string& rows) {
  if (rows.starts_with("chain") || rows.starts_with("set") || rows.starts_with("vmap")) return rows;
  std::string text(kSets);
  text += "chain ip t d:\nchain ip t b hook input priority 0 policy accept:\nchain ip t c:\nrule 1 f:9:\n";
  size_t begin = 0;
  while (begin < rows.size()) {
    const size_t end = std::min(rows.find('\n', begin), rows.size());
    text += "  " + rows.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return text;
}

#define RULE "chain ip t c: item 0, rule 1 (f:9): "

TEST_CASE("the verifier accepts what keeps its invariants and names what breaks them", "[ir][verifier]") {
  const auto c = GENERATE(values<Case>({
      {"guard room.network 4\n%0 = load network+0, 4\nvmap %0 @v\nverdict jump d", ""},
      {"%0 = load? network+0, 4\n%1 = map %0 @m\ntest native %1 < 0102\nlookup %0 not @s", ""},
      // Guards.
      {"%0 = load network+0, 4", RULE "row 0 (load): no guard room.network of 4 on the way to it"},
      {"guard room.network 3\n%0 = load network+0, 4",
       RULE "row 1 (load): no guard room.network of 4 on the way to it"},
      {"guard room.link 4\n%0 = load network+0, 4", RULE "row 1 (load): no guard room.network of 4 on the way to it"},
      {"%0 = load? network+0, 4\nguard room.network 4\n%1 = load network+0, 4", ""},
      {"%0 = meta l4proto", RULE "row 0 (meta): no guard l4 of 0 on the way to it"},
      {"guard room.transport 1\n%0 = meta l4proto", ""},
      {"%0 = meta? l4proto", ""},
      {"%0 = meta? iifgroup", RULE "row 0 (meta): no such flag"},
      {"%0 = meta skuid", RULE "row 0 (meta): no guard meta of 10 on the way to it"},
      {"guard meta skgid\n%0 = meta skuid", RULE "row 1 (meta): no guard meta of 10 on the way to it"},
      {"guard meta iiftype\n%0 = meta iiftype", ""},
      {"guard iif\n%0 = meta iiftype", RULE "row 1 (meta): no guard meta of 8 on the way to it"},
      {"guard iif\n%0 = meta iifkind", RULE "row 1 (meta): no guard meta of 26 on the way to it"},
      {"guard meta iifkind\n%0 = meta iifkind\n%1 = meta iifgroup", ""},
      {"%0 = meta oiftype", RULE "row 0 (meta): no guard oif of 0 on the way to it"},
      {"%0 = meta oifname\n%1 = meta iif\n%2 = ct state", ""},
      {"%0 = ct mark", RULE "row 0 (ct): no guard ct of 0 on the way to it"},
      {"guard ct\n%0 = ct mark", ""},
      {"guard ct\n%0 = ct helper", RULE "row 1 (ct): no guard ct.known of 518 on the way to it"},
      {"guard ct.known src_ip reply\n%0 = ct src_ip original",
       RULE "row 1 (ct): no guard ct.known of 19 on the way to it"},
      {"guard ct.known src_ip reply\n%0 = ct src_ip reply\n%1 = ct mark", ""},
      // A guard covers what stands in its block, not what stands beside it.
      {"chain ip t c:\nblock:\n  guard l4\n  rule 1:\n    %0 = meta l4proto\n  block:\n    rule 2:\n      %1 = meta "
       "l4proto",
       ""},
      {"chain ip t c:\nblock:\n  guard l4\nrule 1:\n  %0 = meta l4proto",
       "chain ip t c: item 1, rule 1: row 1 (meta): no guard l4 of 0 on the way to it"},
      // Values belong to their item, or to the block that defines them.
      {"chain ip t c:\nblock:\n  %0 = stale 1\n  rule 1:\n    test %0 == 00\n  block:\n    test %0 == 00", ""},
      {"chain ip t c:\nblock:\n  %0 = stale 1\nrule 1:\n  test %0 == 00",
       "chain ip t c: item 1, rule 1: row 1 (test): an operand is defined neither in its item nor in a block around "
       "it"},
      {"chain ip t c:\nrule 1:\n  %0 = stale 1\nrule 2:\n  test %0 == 00",
       "chain ip t c: item 1, rule 2: row 1 (test): an operand is defined neither in its item nor in a block around "
       "it"},
      // Lengths.
      {"%0 = stale 4\n%1 = and %0, ff", RULE "row 1 (and): a constant of 1 bytes, not 4"},
      {"%0 = stale 4\n%1 = stale 2\n%2 = orv %0, %1", RULE "row 2 (orv): a second operand of 2 bytes, not 4"},
      {"%0 = stale 2\n%1 = shl %0, 1", RULE "row 1 (shl): a shift is of whole words"},
      {"%0 = stale 4\n%1 = shr %0, 32", RULE "row 1 (shr): a shift is by 1 to 31"},
      {"%0 = stale 4\n%1 = shr %0, 0", RULE "row 1 (shr): a shift is by 1 to 31"},
      {"%0 = stale 4\n%1 = swap %0, 3", RULE "row 1 (swap): a swap is of elements of 2, 4 or 8 bytes"},
      {"%0 = stale 4\n%1 = swap %0, 8", RULE "row 1 (swap): a swap is of whole elements"},
      {"%0 = stale 4\n%1 = slice %0+1, 4", RULE "row 1 (slice): it reaches past its operand"},
      {"%0 = stale 4\n%1 = slice %0+4294967295, 2", RULE "row 1 (slice): it reaches past its operand"},
      {"%0 = stale 4\n%1 = zext %0, 3", RULE "row 1 (zext): it is shorter than its operand"},
      {"%0 = stale 4\n%1 = zext %0, 4", ""},
      {"%0 = stale 40\n%1 = concat %0, %0", RULE "row 1 (concat): a value is 1 to 64 bytes"},
      {"%0 = stale 4\ntest %0 == 00", RULE "row 1 (test): a constant of 1 bytes, not 4"},
      {"%0 = stale 1\ntest %0 in 0001-0002", RULE "row 1 (test): a constant of 4 bytes, not 2"},
      {"%0 = stale 1\ntest %0 & 0001 == 00", RULE "row 1 (test): a mask of 2 bytes, not 1"},
      {"%0 = stale 3\ntest native %0 == 000000", RULE "row 1 (test): a native test is of 1, 2, 4 or 8 bytes"},
      {"%0 = stale 2\nlookup %0 @s", RULE "row 1 (lookup): a key of 2 bytes, not 4"},
      {"%0 = stale 4\n%1 = map %0 @s", RULE "row 1 (map): a value is 1 to 64 bytes"},
      {"%0 = stale 4\nvmap %0 @m", RULE "row 1 (vmap): the set is no verdict map"},
      {"%0 = stale 2\nset mark %0", RULE "row 1 (set): a value of 2 bytes, not 4"},
      {"%0 = stale 4\nset iif %0", RULE "row 1 (set): the key cannot be set"},
      {"guard ct\n%0 = ct src original, 5", RULE "row 1 (ct): a value of 5 bytes, not 16"},
      {"%0 = exthdr present ipv6 44+0, 2", RULE "row 0 (exthdr): a value of 2 bytes, not 1"},
      {"%0 = exthdr tcpopt 300+0, 2", RULE "row 0 (exthdr): type or offset is above 255"},
      {"%0 = load? link+65599, 1", RULE "row 0 (load): the field ends behind any that a rule can load"},
      {"guard room.link 70000", RULE "row 0 (guard): more room than any load wants"},
      // Ends.
      {"verdict drop\nverdict accept", RULE "row 0 (verdict): it ends the rule but is not its last row"},
      {"reject icmp 3\ncount #0", RULE "row 0 (reject): it ends the rule but is not its last row"},
      {"reject icmp 300", RULE "row 0 (reject): no such reject"},
      {"verdict queue", RULE "row 0 (verdict): a verdict that rules cannot give"},
      {"verdict goto b", RULE "row 0 (verdict): the chain to go to, b, is a base chain"},
      {"chain ip t c:\nblock:\n  count #0", "chain ip t c: item 0: row 0 (count): a block has only values and tests"},
      {"chain ip t c:\nblock:\n  verdict drop",
       "chain ip t c: item 0: row 0 (verdict): a block has only values and tests"},
      // Sets.
      {"set ip t s exact key 4:\n  0a", "set t s: a key of 1 bytes, not 4"},
      {"set ip t s interval key 1:\n  0a", "set t s: an end of a key of 0 bytes, not 1"},
      {"set ip t s interval key 1:\n  0a-09", "set t s: an interval is empty"},
      {"set ip t s interval key 1:\n  0a-0f\n  0f-ff", "set t s: intervals overlap or are not sorted"},
      {"set ip t s interval key 1:\n  0a-7f\n  80-ff", ""},
      {"set ip t s ranges key 8 fields 4 5:\n", "set t s: the fields do not add up to the key"},
      {"vmap ip t v exact key 1:\n  0a : jump b\nchain ip t b hook input priority 0 policy drop:\n",
       "set t v: the chain to go to, b, is a base chain"},
  }));
  INFO(c.rows);
  REQUIRE(Verdict(MustParse(Wrap(c.rows))) == c.error);
}

// What the text form cannot say.
struct Damage {
  std::function<void(Program&)> apply;
  const char* error;
};

TEST_CASE("the verifier names damaged tables", "[ir][verifier]") {
  const std::string text = Wrap(
      "guard l4\n%0 = load? network+0, 4\ntest %0 & ffffffff == 00000000\nlookup %0 @s\n%1 = meta iif\n%2 = ct state\n"
      "count #0\nlimit #0\nlog #0\nverdict jump d");
  const std::vector<Damage> damages = {
      {[](Program& p) { p.origins.pop_back(); }, "10 rows but 9 origins"},
      {[](Program& p) { p.rows[1].length = 0; }, RULE "row 1 (load): a value is 1 to 64 bytes"},
      {[](Program& p) { p.rows[1].key = 9; }, RULE "row 1 (load): no such base"},
      {[](Program& p) { p.rows[1].flags = 2; }, RULE "row 1 (load): no such flag"},
      {[](Program& p) { p.rows[0].key = 99; }, RULE "row 0 (guard): no such guard"},
      {[](Program& p) { p.rows[0].a = 1; }, RULE "row 0 (guard): a guard without a number has one"},
      {[](Program& p) { p.rows[0].length = 1; }, RULE "row 0 (guard): a row that defines no value has a length"},
      {[](Program& p) { p.rows[0].op = static_cast<Op>(200); }, RULE "row 0: no such operation"},
      {[](Program& p) { p.rows[2].a = 2; }, RULE "row 2 (test): an operand is no value before it"},
      {[](Program& p) { p.rows[2].a = 0; }, RULE "row 2 (test): an operand is no value before it"},
      {[](Program& p) { p.rows[2].b = 1000; }, RULE "row 2 (test): constant 1000 does not exist"},
      {[](Program& p) { p.rows[2].c = 1000; }, RULE "row 2 (test): constant 1000 does not exist"},
      {[](Program& p) { p.rows[2].key = 8; }, RULE "row 2 (test): no such comparison"},
      {[](Program& p) { p.rows[3].b = 77; }, RULE "row 3 (lookup): set 77 does not exist"},
      {[](Program& p) { p.rows[4].key = 200; }, RULE "row 4 (meta): no such key"},
      {[](Program& p) { p.rows[4].length = 2; }, RULE "row 4 (meta): a value of 2 bytes, not 4"},
      {[](Program& p) { p.rows[5].flags = 3; }, RULE "row 5 (ct): no such direction"},
      {[](Program& p) { p.rows[6].a = 7; }, RULE "row 6 (count): counter 7 does not exist"},
      {[](Program& p) { p.rows[7].a = 7; }, RULE "row 7 (limit): limit 7 does not exist"},
      {[](Program& p) { p.rows[8].a = 7; }, RULE "row 8 (log): log 7 does not exist"},
      {[](Program& p) { p.rows[9].a = 7; }, RULE "row 9 (verdict): the chain to go to does not exist"},
      {[](Program& p) { p.rows[9].key = 0; }, RULE "row 9 (verdict): a verdict that goes nowhere has a chain"},
      {[](Program& p) {
         p.rows[9] = {Op::kUnsupported, 0, 0, 0, 3};
       },
       RULE "row 9 (unsupported): text 3 does not exist"},
      {[](Program& p) { p.items[0].row_count = 11; }, RULE "its rows do not exist"},
      {[](Program& p) { p.items[0].end = 2; }, RULE "it does not end inside of what is around it"},
      {[](Program& p) { p.items[0].end = 0; }, RULE "it does not end inside of what is around it"},
      {[](Program& p) { p.items[0].rule = {}; }, "chain ip t c: item 0: its rule does not exist"},
      {[](Program& p) { p.chains[2].item_count = 2; }, "chain ip t c: its items do not exist"},
      {[](Program& p) {
         p.items.push_back(p.items[0]);
         p.items[1].end = 2;
         p.chains[2].item_count = 2;
       },
       "chain ip t c: item 1, rule 1 (f:9): row 0 (guard): the row belongs to two items"},
      {[](Program& p) {
         p.items.push_back({ItemKind::kRule, 10, 0, 2, RuleId(0)});
         p.items[0].end = 2;
         p.chains[2].item_count = 2;
       },
       RULE "a rule has items"},
      {[](Program& p) { p.rules[0].chain = {}; }, "rule 1: its chain does not exist"},
      {[](Program& p) { p.counters[0].rule = RuleId(5); }, "counter #0: its rule does not exist"},
      {[](Program& p) { p.logs[0].rule = RuleId(5); }, "log #0: its rule does not exist"},
      {[](Program& p) {
         p.unsupported.push_back({RuleId(5), 0, "x"});
       },
       "an unsupported rule does not exist"},
      {[](Program& p) { p.origins[3].rule = 5; }, RULE "row 3 (lookup): the rule of an origin does not exist"},
      {[](Program& p) { p.origins[3].more = Origin::kList; },
       RULE "row 3 (lookup): the list of an origin does not exist"},
      {[](Program& p) { p.origins[3] = {.rule = 0, .expression = 2, .more = 4}; },
       RULE "row 3 (lookup): an expression of an origin does not exist"},
      {[](Program& p) {
         p.origin_lists.push_back({{5, 0}});
       },
       "the rule of an origin does not exist"},
      {[](Program& p) { p.sets[0].key_len = 0; }, "set t s: a key is 1 to 64 bytes"},
      {[](Program& p) { p.sets[1].data_len = 65; }, "set t m: wrong data length"},
      {[](Program& p) { p.sets[1].elements[0].data = "x"; }, "set t m: data of 1 bytes, not 2"},
      {[](Program& p) { p.sets[1].elements[0].counters = {CounterId(9)}; }, "set t m: counter #9 does not exist"},
      {[](Program& p) { p.sets[1].elements[0].limits = {LimitId(9)}; }, "set t m: limit #9 does not exist"},
      {[](Program& p) { p.sets[1].elements[0].chain = ChainId(0); },
       "set t m: a verdict that goes nowhere has a chain"},
      {[](Program& p) { p.sets[1].catchall.emplace().key = "abcd"; }, "set t m: a key of 4 bytes, not 0"},
  };
  const Program program = MustParse(text);
  REQUIRE(Verdict(program).empty());
  for (const Damage& damage : damages) {
    Program damaged = program;
    damage.apply(damaged);
    CHECK(Verdict(damaged) == damage.error);
  }
}

}  // namespace
}  // namespace nftjit::ir
