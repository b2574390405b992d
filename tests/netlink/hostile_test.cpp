// Messages cut and changed at random: an answer comes, and no byte outside the message is read.
#include <catch2/catch.hpp>
#include <memory>
#include <random>

#include "tests/netlink/messages.h"
#include "tests/netlink/scratch_table.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/requirement.h"

namespace nftjit::netlink {
namespace {

testing::GuardedBytes Guarded(const std::string& bytes) {
  return testing::GuardedBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

// Applies `bytes`, behind which nothing may be read. Whatever was accepted can be encoded.
void Try(ScratchTable& table, MessageType type, const testing::GuardedBytes& bytes) {
  const auto error = table.Apply(type, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (error) {
    const bool sane = error->error > 0 && error->offset < std::max<size_t>(bytes.size(), 1);
    REQUIRE(sane);
    return;
  }
  for (const MessageType kind : {kNewChain, kNewRule, kNewSet, kNewObj, kNewFlowtable}) {
    for (const std::string& body : table.Dump(kind)) REQUIRE(body.size() < 100'000);
  }
  for (const nft::Set& set : table.table().sets) REQUIRE_FALSE(table.DumpElements(set).empty());
}

std::unique_ptr<ScratchTable> Prepared(const Case& item) {
  auto table = std::make_unique<ScratchTable>(item.last.family, KernelFeatures());
  for (const Message& message : item.setup) REQUIRE_FALSE(table->Apply(message));
  return table;
}

TEST_CASE("messages cut at every length are answered", "[netlink]") {
  for (const Case& item : AllCases()) {
    const std::string bytes = ToBytes(item.last);
    // Refused ones stop before they are read to the end, long ones repeat what short ones have.
    if (item.error != 0 || bytes.size() > 400) continue;
    INFO(item.name);
    testing::GuardedBytes guarded = Guarded(bytes);
    for (size_t size = bytes.size(); size-- > 0;) {
      guarded.Truncate(size);
      Try(*Prepared(item), item.last.type, guarded);
    }
  }
}

TEST_CASE("messages with changed bytes are answered", "[netlink]") {
  const uint64_t seed = testing::NumberFromEnvironment("NFTJIT_SEED", 20240601);
  INFO("NFTJIT_SEED=" << seed);
  std::mt19937_64 random(seed);
  const std::vector<Case> cases = AllCases();
  size_t accepted = 0;
  for (size_t round = 0; round < 10'000; ++round) {
    const Case& item = cases[random() % cases.size()];
    std::string bytes = ToBytes(item.last);
    for (uint64_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = kMessageHeaderSize + kFamilyHeaderSize + random() % (bytes.size() - kMessageHeaderSize - 3);
      if (at >= bytes.size()) continue;
      // Lengths and numbers near to what they were do more harm than any byte.
      bytes[at] = random() % 2 == 0 ? static_cast<char>(random()) : static_cast<char>(bytes[at] + random() % 9 - 4);
    }
    INFO(item.name << " round " << round);
    const auto table = Prepared(item);
    Try(*table, item.last.type, Guarded(bytes));
    accepted += table->table().chains[0].rules.empty() ? 0 : 1;
  }
  CHECK(accepted > 500);
}

}  // namespace
}  // namespace nftjit::netlink
