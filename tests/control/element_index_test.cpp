// Which elements go into a set that holds others: the rows of validation.md 7 on intervals and concatenated ranges.
#include "lib/control/element_index.h"

#include <catch2/catch.hpp>

namespace nftjit::control {
namespace {

constexpr uint32_t kEnd = nft::kElementIntervalEnd;

nft::Set IntervalSet(uint32_t flags = nft::kSetInterval) {
  nft::Set set;
  set.flags = flags;
  set.key_len = 1;
  return set;
}

nft::Element Boundary(uint8_t key, uint32_t flags = 0) {
  nft::Element element;
  element.key = std::string(1, static_cast<char>(key));
  element.flags = flags;
  return element;
}

// Adds boundaries in order; stops at the first that does not go in.
class Adder {
 public:
  explicit Adder(nft::Set set) : set_(std::move(set)), index_(set_) {}
  bool Add(const nft::Element& element) {
    const ElementIndex::Conflict conflict = index_.Check(set_, element);
    if (conflict.kind == ElementIndex::Conflict::kNone) index_.Insert(set_, element);
    return conflict.kind != ElementIndex::Conflict::kOverlap;
  }
  // [low, high)
  bool AddInterval(uint8_t low, uint8_t high) { return Add(Boundary(low)) && Add(Boundary(high, kEnd)); }
  nft::Set& set() { return set_; }
  ElementIndex& index() { return index_; }

 private:
  nft::Set set_;
  ElementIndex index_;
};

TEST_CASE("intervals beside [5, 10)") {
  struct Case {
    uint8_t low, high;
    bool accepted;
  };
  const Case cases[] = {{5, 8, false},  {6, 8, false}, {6, 10, false}, {8, 12, false}, {3, 6, false},  {3, 12, false},
                        {5, 12, false}, {3, 10, true}, {5, 10, true},  {1, 5, true},   {10, 12, true}, {20, 30, true}};
  for (const Case& c : cases) {
    Adder adder(IntervalSet());
    REQUIRE(adder.AddInterval(5, 10));
    CAPTURE(int{c.low}, int{c.high});
    CHECK(adder.AddInterval(c.low, c.high) == c.accepted);
  }
}

TEST_CASE("a lone open start is closed by an interval below it") {
  Adder adder(IntervalSet());
  REQUIRE(adder.Add(Boundary(9)));
  CHECK(adder.AddInterval(5, 11));
}

TEST_CASE("two starts in a row: anonymous sets only") {
  Adder named(IntervalSet());
  REQUIRE(named.Add(Boundary(9)));
  CHECK_FALSE(named.Add(Boundary(20)));
  CHECK(named.AddInterval(2, 4));
  Adder anonymous(IntervalSet(nft::kSetInterval | nft::kSetAnonymous));
  REQUIRE(anonymous.Add(Boundary(9)));
  CHECK(anonymous.Add(Boundary(20)));
}

TEST_CASE("the null end has room of its own, and is ignored when it comes again") {
  Adder adder(IntervalSet());
  REQUIRE(adder.Add(Boundary(0, kEnd)));
  nft::Set sized = adder.set();
  sized.size = 3;
  CHECK(adder.index().Capacity(sized) == 7U);
  REQUIRE(adder.AddInterval(5, 10));
  CHECK(adder.index().counted() == 3);
  CHECK(adder.index().Check(adder.set(), Boundary(0, kEnd)).kind == ElementIndex::Conflict::kIgnored);
}

TEST_CASE("the boundary that covers a key") {
  Adder adder(IntervalSet());
  REQUIRE(adder.AddInterval(5, 10));
  REQUIRE(adder.AddInterval(10, 12));
  const auto covering = [&](uint8_t key) -> std::pair<int, uint32_t> {
    const std::optional<uint32_t> found = adder.index().FindCovering(adder.set(), Boundary(key));
    if (!found.has_value()) return {-1, 0};
    return {adder.set().elements[*found].key[0], adder.set().elements[*found].flags};
  };
  CHECK(covering(4).first == -1);
  CHECK(covering(5) == std::pair<int, uint32_t>(5, 0));
  CHECK(covering(9) == std::pair<int, uint32_t>(5, 0));
  CHECK(covering(10) == std::pair<int, uint32_t>(10, 0));  // The start wins over the end of the same key.
  CHECK(covering(12).first == -1);
  const auto end = [&](uint8_t key) {
    const std::optional<uint32_t> found = adder.index().FindCovering(adder.set(), Boundary(key, kEnd));
    return found.has_value() ? adder.set().elements[*found].key[0] : -1;
  };
  CHECK(end(7) == 10);
  CHECK(end(10) == 10);
  CHECK(end(11) == 12);
  CHECK(end(3) == -1);  // A start lies between.
  CHECK(end(13) == -1);
}

// Keys of two fields of one byte, padded to four.
nft::Element Ranges(uint8_t a, uint8_t a_end, uint8_t b, uint8_t b_end, char padding = 0) {
  nft::Element element;
  element.key = {static_cast<char>(a), padding, 0, 0, static_cast<char>(b), padding, 0, 0};
  element.key_end = {static_cast<char>(a_end), 0, padding, 0, static_cast<char>(b_end), 0, 0, 0};
  return element;
}

nft::Set RangeSet() {
  nft::Set set;
  set.flags = nft::kSetInterval | nft::kSetConcat;
  set.key_len = 8;
  set.field_lengths = {1, 1};
  return set;
}

TEST_CASE("concatenated ranges beside 10-20 . 30-40") {
  using Kind = ElementIndex::Conflict::Kind;
  struct Case {
    nft::Element element;
    Kind kind;
  };
  const Case cases[] = {
      {Ranges(10, 20, 30, 40), Kind::kSame},    {Ranges(10, 20, 30, 40, 7), Kind::kSame},
      {Ranges(10, 25, 30, 40), Kind::kOverlap}, {Ranges(15, 25, 35, 45), Kind::kOverlap},
      {Ranges(12, 18, 32, 38), Kind::kOverlap}, {Ranges(5, 15, 30, 35), Kind::kOverlap},
      {Ranges(5, 25, 25, 45), Kind::kNone},  // Contains it: the kernel looks at the ends only.
      {Ranges(10, 20, 41, 50), Kind::kNone},    {Ranges(21, 30, 30, 40), Kind::kNone},
  };
  for (const Case& c : cases) {
    Adder adder(RangeSet());
    REQUIRE(adder.Add(Ranges(10, 20, 30, 40)));
    CHECK(adder.index().Check(adder.set(), c.element).kind == c.kind);
  }
}

TEST_CASE("ranges with single values are found among thousands") {
  Adder adder(RangeSet());
  for (int a = 0; a < 250; ++a) {
    for (int b = 0; b < 40; ++b) {
      REQUIRE(adder.Add(Ranges(static_cast<uint8_t>(a), static_cast<uint8_t>(a), static_cast<uint8_t>(b * 4),
                               static_cast<uint8_t>(b * 4 + 2))));
    }
  }
  CHECK_FALSE(adder.Add(Ranges(17, 17, 3, 9)));
  CHECK(adder.Add(Ranges(17, 17, 3, 3)));
  CHECK(adder.index().counted() == 10'001);
}

TEST_CASE("removed elements are gone, before and after they are compacted") {
  for (const bool compact : {false, true}) {
    nft::Set exact;
    exact.key_len = 1;
    Adder adder(exact);
    for (int i = 0; i < 10; ++i) REQUIRE(adder.Add(Boundary(static_cast<uint8_t>(i))));
    adder.index().Remove(adder.set(), 3);
    if (compact) adder.index().Compact(adder.set());
    CHECK_FALSE(adder.index().Find(adder.set(), Boundary(3)).has_value());
    const std::optional<uint32_t> found = adder.index().Find(adder.set(), Boundary(7));
    REQUIRE(found.has_value());
    CHECK(adder.set().elements[*found].key == Boundary(7).key);
    CHECK(adder.index().counted() == 9);
    CHECK(adder.set().elements.size() == (compact ? 9 : 10));
    CHECK(adder.Add(Boundary(3)));
  }
}

}  // namespace
}  // namespace nftjit::control
