// Sets as lookups see them.
#include <catch2/catch.hpp>

#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "tests/ir/lowered.h"
#include "tests/support/model_builder.h"

namespace nftjit::ir {
namespace {

using namespace nftjit::testing;

using nft::VerdictCode;

constexpr nft::PayloadBase kNetwork = nft::PayloadBase::kNetwork;

// The declaration of `set` in the text of a program that has it alone.
std::string Declared(nft::Set set) {
  nft::Ruleset ruleset = MakeRuleset({});
  ruleset.tables[0].sets = {std::move(set)};
  const std::string text = Print(MustLower(ruleset));
  return text.substr(0, text.find("chain "));
}

nft::Set Interval(std::vector<nft::Element> elements, uint32_t flags = 0) {
  nft::Set set = MakeSet("s", 7, nft::kSetInterval | flags, 1);
  set.elements = std::move(elements);
  return set;
}

TEST_CASE("exact sets keep their keys as they are", "[ir][sets]") {
  nft::Set set = MakeSet("s", 7, nft::kSetConcat, 8);
  set.field_lengths = {4, 2};
  set.elements = {Element("0a000001 0016ffff"), Catchall({}), Element("0a000001 00160000")};
  REQUIRE(Declared(set) ==
          "set inet t s handle 7 exact key 8:\n  "
          "0a0000010016ffff\n  0a00000100160000\n  *\n");
  set.flags |= nft::kSetConstant;
  REQUIRE(Declared(set).starts_with("set inet t s handle 7 exact key 8 constant:\n"));
  REQUIRE(Declared(MakeSet("__set0", 7, nft::kSetAnonymous, 4)) ==
          "set inet t __set0 handle 7 exact key 4 constant:\n");
}

TEST_CASE("boundaries become intervals", "[ir][sets]") {
  struct Case {
    std::vector<nft::Element> elements;
    const char* intervals;
  };
  const std::vector<Case> cases = {
      {{}, ""},
      // Order of insertion does not matter; the null end means nothing.
      {{IntervalEnd("30"), IntervalEnd("00"), Element("20")}, "  20-2f\n"},
      {{Element("00"), IntervalEnd("10")}, "  00-0f\n"},
      // Open to the top.
      {{Element("80")}, "  80-ff\n"},
      // Adjacent: the end of one is the start of the next.
      {{Element("10"), IntervalEnd("20"), Element("20"), IntervalEnd("30")}, "  10-1f\n  20-2f\n"},
      // A start ends the interval before it.
      {{Element("10"), Element("20"), IntervalEnd("30")}, "  10-1f\n  20-2f\n"},
      // Start and end at the same key: the start wins.
      {{Element("10"), IntervalEnd("10")}, "  10-ff\n"},
      {{IntervalEnd("10"), Element("10")}, "  10-ff\n"},
      // [3, 10) after [5, 10): boundaries alone count.
      {{Element("05"), IntervalEnd("0a"), Element("03"), IntervalEnd("0a")}, "  03-04\n  05-09\n"},
      {{Element("10"), IntervalEnd("11"), Catchall({})}, "  10-10\n  *\n"},
  };
  for (const Case& c : cases) {
    REQUIRE(Declared(Interval(c.elements)) == std::string("set inet t s handle 7 interval key 1:\n") + c.intervals);
  }
}

TEST_CASE("an end borrows across bytes", "[ir][sets]") {
  nft::Set set = MakeSet("s", 7, nft::kSetInterval, 4);
  set.elements = {Element("0a000000"), IntervalEnd("0b000000")};
  REQUIRE(Declared(set) == "set inet t s handle 7 interval key 4:\n  0a000000-0affffff\n");
}

TEST_CASE("concatenated ranges keep the order of insertion", "[ir][sets]") {
  nft::Set set = MakeSet("s", 7, nft::kSetInterval | nft::kSetConcat, 8);
  set.field_lengths = {4, 2};
  set.elements = {Element("0a000005 00500000"), Element("0a000000 00000000")};
  set.elements[1].key_end = RawBytes("0a0000ff ffff0000");
  REQUIRE(Declared(set) ==
          "set inet t s handle 7 ranges key 8 fields 4 2:\n"
          "  0a00000500500000-0a00000500500000\n"
          "  0a00000000000000-0a0000ffffff0000\n");
}

TEST_CASE("maps keep data and verdicts", "[ir][sets]") {
  nft::Set map = Interval({Element("10"), IntervalEnd("20")}, nft::kSetMap);
  map.data_len = 2;
  map.elements[0].data = RawBytes("0050");
  REQUIRE(Declared(map) == "map inet t s handle 7 interval key 1 data 2:\n  10-1f : 0050\n");

  nft::Set vmap = MakeSet("v", 7, nft::kSetMap, 1);
  vmap.data_type = nft::kDataTypeVerdict;
  vmap.data_len = 16;
  vmap.elements = {Element("01"), Element("02"), Catchall({})};
  vmap.elements[0].data = nft::Verdict{VerdictCode::kJump, 2};
  vmap.elements[1].data = nft::Verdict{VerdictCode::kContinue, 0};
  vmap.elements[2].data = nft::Verdict{VerdictCode::kDrop, 0};
  REQUIRE(Declared(vmap) ==
          "vmap inet t v handle 7 exact key 1:\n  01 : jump "
          "d\n  02 : continue\n  * : drop\n");
}

TEST_CASE("elements keep timeouts, counters and limits", "[ir][sets]") {
  nft::Set set = MakeSet("s", 7, nft::kSetTimeout, 1);
  set.timeout_ms = 5000;
  set.elements = {Element("01"), Element("02"), Element("03"), Element("04"), Element("05")};
  set.elements[1].timeout_ms = 9000;
  set.elements[1].expiration_ms = 100;
  set.elements[2].timeout_ms = 0;     // Forever.
  set.elements[3].expiration_ms = 0;  // Expired.
  set.elements[4].expressions = {Make(nft::Counter{60, 2})};
  REQUIRE(Declared(set) ==
          "set inet t s handle 7 exact key 1:\n"
          "  01 timeout 5000\n  02 timeout 100\n  03\n  05 "
          "timeout 5000 counter #0\n"
          "counter #0 packets 2 bytes 60\n");
  nft::Set both = MakeSet("s", 7, 0, 1);
  const nft::Expression limit = Make(nft::Limit{1, 1, 5, nft::LimitType::kPackets, 0});
  both.elements = {Element("01"), Element("02"), Element("03")};
  both.elements[0].expressions = {limit, Make(nft::Counter{})};
  both.elements[1].expressions = {Make(nft::Counter{}), limit};
  both.elements[2].expressions = {limit};
  REQUIRE(
      Declared(both).starts_with("set inet t s handle 7 exact key 1:\n"
                                 "  01 limit #0 counter #0\n  02 counter #1 limit #1\n  03 limit #2\n"));
}

TEST_CASE("lookups name their set", "[ir][sets]") {
  nft::Ruleset ruleset =
      MakeRuleset({{Load(kNetwork, 12, 4, R1), Lookup(7, R1), Lookup(7, R1, true), Map(8, R1, R32(9)),
                    Eq(R32(9), "0050"), VerdictMap(9, R1), Make(nft::Counter{}), Give(VerdictCode::kDrop)}});
  nft::Set map = MakeSet("m", 8, nft::kSetMap, 4);
  map.data_len = 2;
  nft::Set vmap = MakeSet("v", 9, nft::kSetMap, 4);
  vmap.data_type = nft::kDataTypeVerdict;
  ruleset.tables[0].sets = {MakeSet("s", 7, 0, 4), map, vmap};
  REQUIRE(RowsOf(MustLower(ruleset)) ==
          "guard room.network 16\n%0 = load network+12, 4\nlookup %0 "
          "@s\nlookup %0 not @s\n%1 = map %0 @m\n"
          "test %1 == 0050\nvmap %0 @v\ncount #0\nverdict drop\n");
}

TEST_CASE("sets that cannot be looked up say why", "[ir][sets]") {
  const Rule lookup = {Load(kNetwork, 12, 4, R1), Lookup(7, R1)};
  const auto why = [&](nft::Set set, Rule second = {}) {
    nft::Ruleset ruleset = MakeRuleset({lookup, std::move(second)});
    ruleset.tables[0].sets = {std::move(set)};
    const Program program = MustLower(ruleset);
    REQUIRE(program.sets.empty());
    return program.unsupported.at(0).what;
  };
  REQUIRE(why(MakeSet("o", 7, nft::kSetMap | nft::kSetObject, 4)) == "lookup in object map @o");
  nft::Set set = MakeSet("s", 7, nft::kSetEval, 4);
  nft::Dynset dynset{};
  dynset.set = 7;
  REQUIRE(why(set, {Make(dynset)}) == "lookup in @s, which dynset changes");
  set.elements = {Element("0a000001")};
  set.elements[0].expressions = {Make(nft::Counter{}), Make(nft::Quota{})};
  REQUIRE(why(set) == "lookup in @s, whose elements have quota");
  set.elements[0].expressions = {{nft::Counter{}, std::make_shared<const std::string>("?")}};
  REQUIRE(why(set) == "lookup in @s, whose elements have counter with attributes that are not known");
}

TEST_CASE("broken sets are errors", "[ir][sets]") {
  const auto error = [](nft::Set set) {
    nft::Ruleset ruleset = MakeRuleset({});
    ruleset.tables[0].sets = {std::move(set)};
    const absl::Status status = Lower(ruleset, {}).status();
    REQUIRE(status.code() == absl::StatusCode::kInternal);
    return std::string(status.message());
  };
  REQUIRE(error(MakeSet("s", 7, 0, 65)) == "set inet t s: a key is 1 to 64 bytes");
  nft::Set set = MakeSet("s", 7, 0, 4);
  set.elements = {Element("0a")};
  REQUIRE(error(set) == "set inet t s: an element's key is not as long as the set's");
  nft::Set vmap = MakeSet("v", 7, nft::kSetMap, 1);
  vmap.data_type = nft::kDataTypeVerdict;
  vmap.elements = {Element("01")};
  REQUIRE(error(vmap) == "set inet t v: an element of a verdict map has no verdict");
  vmap.elements[0].data = nft::Verdict{VerdictCode::kGoto, 99};
  REQUIRE(error(vmap) == "set inet t v: no chain with handle 99");
}

}  // namespace
}  // namespace nftjit::ir
