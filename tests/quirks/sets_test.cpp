// I: sets and maps.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/quirks/quirk.h"

namespace nftjit::testing {
namespace {

constexpr uint32_t kInterval = nft::kSetInterval, kRanges = nft::kSetInterval | nft::kSetConcat;

// Whether `key`, put into R1, is found in a set.
void Finds(Quirk& quirk, nft::Handle set, std::string_view key, bool found) {
  Expressions rule = {Set(R1, key), Lookup(set, R1)};
  found ? quirk.Matches(std::move(rule)) : quirk.Breaks(std::move(rule));
}

TEST_CASE("I1 an interval has an inclusive start and an exclusive end") {
  for (const bool reversed : {false, true}) {
    Quirk quirk;
    std::vector<nft::Element> elements = {Element("0100"), IntervalEnd("0200")};
    if (reversed) std::swap(elements[0], elements[1]);
    const nft::Handle set = quirk.rules().Set("s", {.flags = kInterval, .key_len = 2}, elements);
    Finds(quirk, set, "0100", true);
    Finds(quirk, set, "01ff", true);
    Finds(quirk, set, "00ff", false);
    Finds(quirk, set, "0200", false);
    quirk.Run(PacketPU());
  }
}

TEST_CASE("I2 a start without an end is open to the top") {
  Quirk quirk;
  const nft::Handle set = quirk.rules().Set("s", {.flags = kInterval, .key_len = 2}, {Element("0100")});
  Finds(quirk, set, "ffff", true);
  Finds(quirk, set, "0100", true);
  Finds(quirk, set, "00ff", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I3 a null end element does nothing") {
  Quirk quirk;
  const nft::Handle set = quirk.rules().Set("s", {.flags = kInterval, .key_len = 2},
                                            {IntervalEnd("0000"), Element("0100"), IntervalEnd("0200")});
  Finds(quirk, set, "0000", false);
  Finds(quirk, set, "0180", true);
  Finds(quirk, set, "0200", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I4 adjacent intervals share a boundary") {
  Quirk quirk;
  const nft::Handle set = quirk.rules().Set("s", {.flags = kInterval, .key_len = 1},
                                            {Element("01"), IntervalEnd("02"), Element("02"), IntervalEnd("03")});
  Finds(quirk, set, "01", true);
  Finds(quirk, set, "02", true);
  Finds(quirk, set, "03", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I6 in an anonymous set a start ends the interval before it") {
  Quirk quirk;
  quirk.NotOnKernel("anonymous sets are loaded as named ones");
  const nft::Handle set =
      quirk.rules().Set("__set0", {.flags = kInterval | nft::kSetAnonymous | nft::kSetConstant, .key_len = 1},
                        {Element("10"), Element("20"), IntervalEnd("30")});
  Finds(quirk, set, "0f", false);
  for (const char* key : {"10", "1f", "20", "2f"}) Finds(quirk, set, key, true);
  Finds(quirk, set, "30", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I7 bytes of the registers behind the key do not matter") {
  Quirk quirk;
  const nft::Handle set = quirk.rules().Set("s", {.key_len = 6}, {Element("a0a1a2a3a4a5")});
  quirk.Matches(Fill() + Expressions{Lookup(set, R1)});
  quirk.Run(PacketPU());
}

TEST_CASE("I8 in an exact concatenation the padding counts") {
  Quirk quirk;
  const nft::Handle set =
      quirk.rules().Set("s", {.flags = nft::kSetConcat, .key_len = 8, .fields = {4, 2}}, {Element("0102030405060000")});
  Finds(quirk, set, "0102030405060000", true);
  Finds(quirk, set, "0102030405060001", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I9 in a concatenation of ranges the padding does not count") {
  Quirk quirk;
  const nft::Handle set = quirk.rules().Set("s", {.flags = kRanges, .key_len = 8, .fields = {4, 2}},
                                            {RangeElement("0102030405060000", "0102030505080000")});
  Finds(quirk, set, "0102030405060000", true);
  Finds(quirk, set, "0102030505080077", true);
  Finds(quirk, set, "0102030605070000", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I10 of nested ranges the one inserted first is found") {
  Quirk quirk;
  const nft::Handle map = quirk.rules().Set("m", {.flags = kRanges, .key_len = 8, .fields = {4, 4}, .data_len = 1},
                                            {RangeElement("0000001000000010", "0000002000000020", "11"),
                                             RangeElement("0000000100000001", "0000003000000030", "22")});
  quirk.Matches({Set(R1, "0000001500000015"), Map(map, R1, R2), Eq(R2, "11")});
  quirk.Matches({Set(R1, "0000000500000015"), Map(map, R1, R2), Eq(R2, "22")});
  quirk.Run(PacketPU());
}

TEST_CASE("I11 a concatenation without an end is one point") {
  Quirk quirk;
  const nft::Handle set =
      quirk.rules().Set("s", {.flags = kRanges, .key_len = 8, .fields = {4, 4}}, {Element("0000001000000010")});
  Finds(quirk, set, "0000001000000010", true);
  Finds(quirk, set, "0000001000000011", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I12 an inverted lookup never matches in a set with a catch-all") {
  Quirk quirk;
  const nft::Handle set = quirk.rules().Set("s", {.key_len = 4}, {Element("00000001"), Catchall({})});
  for (const char* key : {"00000001", "00000002"}) {
    Finds(quirk, set, key, true);
    quirk.Breaks({Set(R1, key), Lookup(set, R1, true)});
  }
  quirk.Run(PacketPU());
}

TEST_CASE("I13 an inverted lookup in an empty set matches") {
  Quirk quirk;
  const nft::Handle set = quirk.rules().Set("s", {.key_len = 4}, {});
  quirk.Matches({Set(R1, "00000001"), Lookup(set, R1, true)});
  Finds(quirk, set, "00000001", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I15 an element whose limit is used up makes the lookup break") {
  Quirk quirk;
  nft::Element element = Element("00000001");
  element.expressions = {Limit(1, 86400, 2)};
  const nft::Handle set = quirk.rules().Set("s", {.flags = nft::kSetEval, .key_len = 4, .size = 8}, {element});
  quirk.Counts({Set(R1, "00000001"), Lookup(set, R1)}, 2);
  quirk.Run({PacketPU(), PacketPU(), PacketPU()});
}

TEST_CASE("I16 intervals are in byte order: native integers miss") {
  Quirk quirk;
  const nft::Handle set =
      quirk.rules().Set("s", {.flags = kInterval, .key_len = 4}, {Element("00000001"), IntervalEnd("00000006")});
  Finds(quirk, set, "03000000", false);
  Finds(quirk, set, "00000003", true);
  quirk.Run(PacketPU());
}

TEST_CASE("I23 a start and an end at one key: the start wins") {
  Quirk quirk;
  const nft::Handle set =
      quirk.rules().Set("s", {.flags = kInterval, .key_len = 1}, {Element("05"), IntervalEnd("05")});
  Finds(quirk, set, "04", false);
  Finds(quirk, set, "05", true);
  Finds(quirk, set, "ff", true);
  quirk.Run(PacketPU());
}

TEST_CASE("I24 a declared limit is every element's own") {
  Quirk quirk;
  nft::Element element = Element("00000001");
  element.expressions = {Count(), Limit(1, 86400, 2)};
  nft::Handle set = quirk.rules().Set("s", {.flags = nft::kSetExpr, .key_len = 4}, {element});
  quirk.rules().ruleset().tables[0].sets[0].expressions = element.expressions;
  quirk.Counts({Set(R1, "00000001"), Lookup(set, R1)}, 2);
  quirk.Run({PacketPU(), PacketPU(), PacketPU(), PacketPU()});
}

TEST_CASE("I25 junk in the padding of keys of ranges does not matter") {
  Quirk quirk;
  const nft::Handle set = quirk.rules().Set("s", {.flags = kRanges, .key_len = 12, .fields = {1, 2, 4}},
                                            {RangeElement("01eeeeee0002dddd00000003", "02cccccc0004bbbb00000005")});
  Finds(quirk, set, "011111110003222200000004", true);
  Finds(quirk, set, "031111110003222200000004", false);
  quirk.Run(PacketPU());
}

TEST_CASE("I26 the data of a catch-all, and what it leaves of the register") {
  Quirk quirk;
  const nft::Handle map = quirk.rules().Set("m", {.flags = kRanges, .key_len = 8, .fields = {4, 4}, .data_len = 3},
                                            {RangeElement("0000000100000001", "0000000200000002", "111213"), [] {
                                               nft::Element element = Catchall({});
                                               element.data = std::string("\x21\x22\x23");
                                               return element;
                                             }()});
  quirk.Matches(
      {Set(R2, "eeeeeeeeeeeeeeee"), Set(R1, "0000000900000009"), Map(map, R1, R2), Eq(R2, "21222300eeeeeeee")});
  quirk.Run(PacketPU());
}

TEST_CASE("I19 lookups that do not fit their set are refused") {
  // The table of a raw rule has no sets: the name is refused first.
  RawRule().Expression("immediate").U32(1, 1).Value(2, "00000000").Expression("lookup").U32(2, 1).Gives(EINVAL);
}

}  // namespace
}  // namespace nftjit::testing
