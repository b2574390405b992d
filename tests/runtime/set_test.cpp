// Sets as lookups see them: vm-semantics 11; kernel-quirks I.
#include "lib/runtime/set.h"

#include <catch2/catch.hpp>

#include "lib/support/bytes.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/packets.h"

namespace nftjit::testing {
namespace {

std::string Text(std::string_view hex) {
  const Bytes bytes = FromHex(hex);
  return std::string(bytes.begin(), bytes.end());
}

ir::SetInfo MakeSet(ir::SetKind kind, uint8_t key_len,
                    const std::vector<std::pair<std::string_view, std::string_view>>& elements) {
  ir::SetInfo info;
  info.kind = kind;
  info.key_len = key_len;
  for (const auto& [key, key_end] : elements) {
    ir::SetElement element;
    element.key = Text(key);
    element.key_end = Text(key_end);
    info.elements.push_back(element);
  }
  return info;
}

// The key ends at a guard page: lookups read key_len bytes of it and no more.
uint32_t Find(const ir::SetInfo& info, std::string_view key, uint64_t now_ns = 0) {
  const auto table = SetTable::Build(info, 0);
  const GuardedBytes bytes(FromHex(key));
  REQUIRE(bytes.size() == info.key_len);
  return table->Find(bytes.data(), now_ns);
}
constexpr uint32_t kMiss = SetTable::kMiss;

TEST_CASE("I1 I4 intervals are inclusive at both ends", "[runtime][set]") {
  const ir::SetInfo info = MakeSet(ir::SetKind::kInterval, 2, {{"0100", "01ff"}, {"0200", "0200"}, {"ff00", "ffff"}});
  CHECK(Find(info, "0100") == 0);
  CHECK(Find(info, "01ff") == 0);
  CHECK(Find(info, "00ff") == kMiss);
  CHECK(Find(info, "0200") == 1);
  CHECK(Find(info, "0201") == kMiss);
  CHECK(Find(info, "feff") == kMiss);
  CHECK(Find(info, "ff00") == 2);
  CHECK(Find(info, "ffff") == 2);
  CHECK(Find(info, "0000") == kMiss);
}

TEST_CASE("I2 I3 I23 an interval over all keys", "[runtime][set]") {
  const ir::SetInfo info = MakeSet(ir::SetKind::kInterval, 4, {{"00000000", "ffffffff"}});
  CHECK(Find(info, "00000000") == 0);
  CHECK(Find(info, "ffffffff") == 0);
}

TEST_CASE("I7 keys of odd lengths", "[runtime][set]") {
  for (const auto kind : {ir::SetKind::kExact, ir::SetKind::kInterval}) {
    const ir::SetInfo info = MakeSet(kind, 6, {{"0a0000010016", ""}, {"0a0000020016", ""}});
    CHECK(Find(info, "0a0000020016") == 1);
    CHECK(Find(info, "0a0000020017") == kMiss);
    CHECK(Find(info, "000000000000") == kMiss);
  }
}

TEST_CASE("I8 I9 I25 padding counts in exact sets, not in concatenated ranges", "[runtime][set]") {
  const ir::SetInfo exact = MakeSet(ir::SetKind::kExact, 8, {{"0a00000100160000", ""}});
  CHECK(Find(exact, "0a00000100160000") == 0);
  CHECK(Find(exact, "0a0000010016beef") == kMiss);

  ir::SetInfo ranges = MakeSet(ir::SetKind::kConcatRanges, 8, {{"0a0000010016dead", "0a00000100160000"}});
  ranges.field_lengths = {4, 2};
  CHECK(Find(ranges, "0a00000100160000") == 0);
  CHECK(Find(ranges, "0a0000010016beef") == 0);
  CHECK(Find(ranges, "0a0000010017beef") == kMiss);

  ir::SetInfo three =
      MakeSet(ir::SetKind::kConcatRanges, 12, {{"01aaaaaa0203bbbb04050607", "01cccccc0204dddd04050609"}});
  three.field_lengths = {1, 2, 4};
  CHECK(Find(three, "01ffffff0204ffff04050608") == 0);
  CHECK(Find(three, "02ffffff0204ffff04050608") == kMiss);
}

TEST_CASE("I10 of concatenated ranges that match the first wins", "[runtime][set]") {
  ir::SetInfo info = MakeSet(ir::SetKind::kConcatRanges, 8,
                             {{"0000000500000005", "0000000600000006"}, {"0000000000000000", "000000ff000000ff"}});
  info.field_lengths = {4, 4};
  CHECK(Find(info, "0000000500000006") == 0);
  CHECK(Find(info, "0000000500000007") == 1);
  CHECK(Find(info, "0000010000000007") == kMiss);
}

TEST_CASE("I11 a concatenated key without an end is a point", "[runtime][set]") {
  ir::SetInfo info = MakeSet(ir::SetKind::kConcatRanges, 8, {{"0000000500000005", ""}});
  info.field_lengths = {4, 4};
  CHECK(Find(info, "0000000500000005") == 0);
  CHECK(Find(info, "0000000500000006") == kMiss);
}

TEST_CASE("I12 I13 catch-all and empty sets", "[runtime][set]") {
  for (const auto kind : {ir::SetKind::kExact, ir::SetKind::kInterval, ir::SetKind::kConcatRanges}) {
    ir::SetInfo info = MakeSet(kind, 8, {});
    info.field_lengths = {4, 4};
    CHECK(Find(info, "0000000000000000") == kMiss);
    info.catchall.emplace();
    CHECK(Find(info, "0000000000000000") == 0);
    info.elements.push_back({.key = Text("0000000100000001"), .key_end = {}});
    CHECK(Find(info, "0000000100000001") == 0);
    CHECK(Find(info, "0000000000000000") == 1);
    CHECK(Find(info, "ffffffffffffffff") == 1);
  }
}

TEST_CASE("I16 keys compare as byte strings", "[runtime][set]") {
  const ir::SetInfo info = MakeSet(ir::SetKind::kInterval, 4, {{"00000001", "00000005"}});
  CHECK(Find(info, "00000003") == 0);
  CHECK(Find(info, "03000000") == kMiss);
}

TEST_CASE("I17 elements expire", "[runtime][set]") {
  constexpr uint64_t kMillisecond = 1'000'000;
  for (const auto kind : {ir::SetKind::kExact, ir::SetKind::kInterval, ir::SetKind::kConcatRanges}) {
    ir::SetInfo info = MakeSet(kind, 8, {{"0000000100000001", ""}, {"0000000200000002", ""}, {"0000000300000003", ""}});
    info.field_lengths = {4, 4};
    info.elements[0].timeout_ms = 100;
    info.elements[1].timeout_ms = 0;
    CHECK(Find(info, "0000000100000001", 0) == 0);
    CHECK(Find(info, "0000000100000001", 50 * kMillisecond) == 0);
    CHECK(Find(info, "0000000100000001", 100 * kMillisecond) == kMiss);
    CHECK(Find(info, "0000000200000002", 150 * kMillisecond) == 1);
    CHECK(Find(info, "0000000300000003", UINT64_MAX - 1) == 2);
    info.catchall.emplace();
    CHECK(Find(info, "0000000100000001", 150 * kMillisecond) == 3);
    info.catchall->timeout_ms = 200;
    CHECK(Find(info, "0000000100000001", 250 * kMillisecond) == kMiss);
  }
  // Behind an expired range there may be another.
  ir::SetInfo ranges =
      MakeSet(ir::SetKind::kConcatRanges, 8, {{"0000000100000001", ""}, {"0000000000000000", "0000000f0000000f"}});
  ranges.field_lengths = {4, 4};
  ranges.elements[0].timeout_ms = 100;
  CHECK(Find(ranges, "0000000100000001", 0) == 0);
  CHECK(Find(ranges, "0000000100000001", 150 * kMillisecond) == 1);
}

TEST_CASE("I26 data of maps, padded to words", "[runtime][set]") {
  ir::SetInfo info = MakeSet(ir::SetKind::kExact, 4, {{"00000001", ""}, {"00000002", ""}});
  info.data_len = 3;
  info.elements[0].data = Text("aabbcc");
  info.elements[1].data = Text("ddeeff");
  info.catchall.emplace();
  info.catchall->data = Text("010203");
  const auto table = SetTable::Build(info, 0);
  CHECK(ToHex({table->data(0), 4}) == "aabbcc00");
  CHECK(ToHex({table->data(1), 4}) == "ddeeff00");
  CHECK(ToHex({table->data(table->Find(FromHex("00000009").data(), 0)), 4}) == "01020300");
  CHECK(&table->element(2) == &*info.catchall);
}

}  // namespace
}  // namespace nftjit::testing
