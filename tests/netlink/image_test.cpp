// Ruleset images: equal after reading, and a clear error for anything else.
#include "lib/netlink/image.h"

#include <catch2/catch.hpp>
#include <random>

#include "lib/netlink/image_format.h"
#include "tests/netlink/messages.h"
#include "tests/netlink/scratch_table.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/requirement.h"

namespace nftjit::netlink {
namespace {

nft::Table Make(Family family, const std::vector<Message>& messages) {
  ScratchTable table(family, KernelFeatures());
  for (const Message& message : messages) {
    const auto error = table.Apply(message);
    INFO((error ? error->message : std::string()));
    REQUIRE_FALSE(error);
  }
  return table.table();
}

// A ruleset with one of everything that a message does not carry.
nft::Ruleset Sample() {
  const Family inet = Family::kInet;
  nft::Ruleset ruleset;
  ruleset.interfaces = {{"lo", 1}, {"eth0", 7}};
  ruleset.tables.push_back(Make(
      inet,
      {ChainMessage(inet,
                    {Str(kChainName, "in"), Nest(kChainHook, {U32(1, 1), U32(2, 0xfffffff6)}), U32(kChainPolicy, 0),
                     Nest(kChainCounters, {U64(1, 5), U64(2, 6)}), Attr(kChainUserdata, "note")}),
       ChainMessage(inet, {Str(kChainName, "dev"),
                           Nest(kChainHook, {U32(1, 5), U32(2, 0), Nest(4, {Str(1, "eth0"), Str(2, "w")})})}),
       ObjectMessage(inet, "o", 2, {U64(1, 1000), U32(2, 1), U64(4, 1000)}),
       SetMessage(inet, "__set%d", {U32(kSetKeyLen, 4), U32(kSetFlags, 3)}),
       ElementsMessage(inet, "__set0", {Element({Value(1, "abcd")}), Element({U32(3, 2)})}),
       SetMessage(inet, "grown", {U32(kSetKeyLen, 4)}),
       SetMessage(inet, "verdicts", {U32(kSetKeyLen, 4), U32(kSetFlags, 8), U32(kSetDataType, nft::kDataTypeVerdict)}),
       ElementsMessage(inet, "verdicts", {Element({Value(1, "abcd"), Verdict(2, -3, "c"), Attr(6, "user data")})}),
       SetMessage(inet, "timed", {U32(kSetKeyLen, 4), U32(kSetFlags, 0x10), U64(kSetTimeoutMs, 8000)}),
       ElementsMessage(inet, "timed",
                       {Element({Value(1, "abcd"), U64(4, 9000), U64(5, 1000)}), Element({Value(1, "efgh")})}),
       RuleMessage(inet, {Fill(), Expr("dynset", {Str(1, "grown"), U32(3, 0), U32(4, 1)}),
                          Expr("bitwise", {U32(1, 1), U32(2, 2), U32(3, 8), U32(6, 3), Value(7, Bytes(8, 'x'))}),
                          Expr("counter", {U64(1, 3), U32(30, 9)})}),
       {kNewRule, 0xc00, inet,
        Str(1, "t") + Str(2, "in") +
            Nest(4, {Fill(), Expr("lookup", {Str(1, "__set0"), U32(2, 1)}),
                     Expr("immediate", {U32(1, 0), Verdict(2, -3, "c")})}) +
            Attr(7, "comment")}}));
  nft::Table& table = ruleset.tables.back();
  table.handle = 4;
  table.last_handle = 77;
  ruleset.issued = {.generation = 9, .table = 6, .registration = 14, .binding_chain = 3};
  table.flags = 2;
  table.owner = 99;
  table.chains[1].base->registration = 12;
  table.chains[0].rules[0].where = {"fw.nft", 31, 3};
  table.chains[1].rules[0].where = {"other.nft", 7, 0};
  ruleset.tables.push_back(Make(Family::kArp, {RuleMessage(Family::kArp, {Expr("notrack", {})})}));
  return ruleset;
}

std::string WithChecksum(std::string image) {
  image.resize(image.size() - kChecksumSize);
  const uint32_t crc = Crc32c(image);
  image.append(reinterpret_cast<const char*>(&crc), sizeof crc);
  return image;
}

absl::StatusOr<nft::Ruleset> ReadGuarded(std::string_view image) {
  const testing::GuardedBytes guarded({reinterpret_cast<const uint8_t*>(image.data()), image.size()});
  return ReadImage({reinterpret_cast<const char*>(guarded.data()), image.size()}, "fw.nfb");
}

std::string ErrorOf(std::string_view image) {
  const auto read = ReadGuarded(image);
  return read.ok() ? "ok" : std::string(read.status().message());
}

TEST_CASE("an image gives the ruleset back", "[netlink][image]") {
  const nft::Ruleset ruleset = Sample();
  const std::string image = WriteImage(ruleset);
  REQUIRE(LooksLikeImage(image));
  const auto read = ReadGuarded(image);
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  CHECK(WriteImage(*read) == image);
  REQUIRE(read->interfaces.size() == 2);
  CHECK(read->interfaces[1].name == "eth0");
  CHECK(read->interfaces[1].index == 7);
  REQUIRE(read->tables.size() == 2);
  const nft::Table& was = ruleset.tables[0];
  const nft::Table& is = read->tables[0];
  CHECK(is.handle == 4);
  CHECK(is.last_handle == 77);
  CHECK(read->issued == ruleset.issued);
  CHECK(is.owner == 99);
  REQUIRE(is.chains.size() == was.chains.size());
  CHECK(is.chains[1].base->registration == 12);
  CHECK(is.chains[1].base->priority == -10);
  CHECK(is.chains[1].base->policy == nft::VerdictCode::kDrop);
  CHECK(is.chains[1].base->counters == was.chains[1].base->counters);
  CHECK(is.chains[1].userdata == "note");
  CHECK(is.chains[2].base->devices == was.chains[2].base->devices);
  for (size_t i = 0; i < was.chains.size(); ++i) {
    REQUIRE(is.chains[i].rules.size() == was.chains[i].rules.size());
    CHECK(is.chains[i].handle == was.chains[i].handle);
    for (size_t j = 0; j < was.chains[i].rules.size(); ++j) {
      CHECK(is.chains[i].rules[j].handle == was.chains[i].rules[j].handle);
      CHECK(is.chains[i].rules[j].where == was.chains[i].rules[j].where);
      CHECK(is.chains[i].rules[j].userdata == was.chains[i].rules[j].userdata);
      CHECK(is.chains[i].rules[j].expressions == was.chains[i].rules[j].expressions);
    }
  }
  REQUIRE(is.sets.size() == was.sets.size());
  CHECK(is.sets[0].name == "__set0");
  CHECK(is.FindSet("grown")->size == 65535U);
  REQUIRE(is.FindSet("timed")->elements.size() == 2);
  CHECK(is.FindSet("timed")->elements[0].expiration_ms == 1000U);
  CHECK(is.FindSet("timed")->elements[1].timeout_ms == std::nullopt);
  CHECK(is.FindSet("verdicts")->elements[0].userdata == "user data");
  CHECK(std::get<nft::Verdict>(is.FindSet("verdicts")->elements[0].data).chain == is.FindChain("c")->handle);
}

TEST_CASE("an image holds whatever messages store", "[netlink][image]") {
  for (const Case& item : AllCases()) {
    if (item.error != 0) continue;
    INFO(item.name);
    ScratchTable table(item.last.family, KernelFeatures());
    for (const Message& message : item.setup) REQUIRE_FALSE(table.Apply(message));
    REQUIRE_FALSE(table.Apply(item.last));
    const std::string image = WriteImage({.tables = {table.table()}, .interfaces = {}});
    const auto read = ReadGuarded(image);
    INFO(read.status().ToString());
    REQUIRE(read.ok());
    CHECK(WriteImage(*read) == image);
  }
}

TEST_CASE("many elements are cut into records", "[netlink][image]") {
  nft::Ruleset ruleset;
  ruleset.tables.push_back(Make(Family::kIp, {SetMessage(Family::kIp, "s", {U32(kSetKeyLen, 4)})}));
  for (uint32_t i = 0; i < 10'000; ++i) {
    nft::Element& element = ruleset.tables[0].sets[0].elements.emplace_back();
    element.key.assign(reinterpret_cast<const char*>(&i), 4);
    element.userdata = std::string(i % 100, 'u');
  }
  const auto read = ReadGuarded(WriteImage(ruleset));
  REQUIRE(read.ok());
  REQUIRE(read->tables[0].sets[0].elements.size() == 10'000);
  CHECK(read->tables[0].sets[0].elements[9'999].userdata == std::string(99, 'u'));
}

TEST_CASE("a file that is no good image says where and why", "[netlink][image]") {
  const std::string image = WriteImage(Sample());
  CHECK(ErrorOf("table ip t {}") == "fw.nfb: offset 0: not a ruleset image (it does not begin with its magic bytes)");
  CHECK(ErrorOf("") == "fw.nfb: offset 0: not a ruleset image (it does not begin with its magic bytes)");
  std::string version = image;
  version[12] = 3;
  CHECK(ErrorOf(WithChecksum(version)) == "fw.nfb: offset 12: version 3 of the format is not known (2 is)");
  std::string order = image;
  std::swap(order[8], order[11]);
  std::swap(order[9], order[10]);
  CHECK(ErrorOf(WithChecksum(order)) == "fw.nfb: offset 8: the image was written by a machine of another byte order");
  std::string damaged = image;
  damaged[100] ^= 1;
  CHECK(ErrorOf(damaged) ==
        "fw.nfb: offset " + std::to_string(image.size() - 4) + ": the image is damaged (its checksum differs)");
  CHECK(ErrorOf(image.substr(0, 20)) == "fw.nfb: offset 20: the image is truncated");
  // A rule that the kernel would refuse: the op of a bitwise at its own place.
  const nft::Ruleset refused = [] {
    nft::Ruleset ruleset = Sample();
    std::get<nft::Bitwise>(ruleset.tables[0].chains[0].rules[0].expressions[2].body).len = 65;
    return ruleset;
  }();
  CHECK(ErrorOf(WriteImage(refused)).find("bitwise: access runs past the last register") != std::string::npos);
}

TEST_CASE("images cut anywhere are refused", "[netlink][image]") {
  const std::string image = WriteImage(Sample());
  for (size_t size = 0; size < image.size(); ++size) {
    CHECK(ErrorOf(image.substr(0, size)).substr(0, 14) == "fw.nfb: offset");
    if (size >= kImageHeaderSize + kChecksumSize) {
      CHECK(ErrorOf(WithChecksum(image.substr(0, size))) != "ok");
    }
  }
}

TEST_CASE("every flipped bit of an image is noticed", "[netlink][image]") {
  const std::string image = WriteImage(Sample());
  for (size_t bit = 0; bit < image.size() * 8; ++bit) {
    std::string flipped = image;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    if (ReadImage(flipped, "fw.nfb").ok()) FAIL("bit " << bit);
  }
}

TEST_CASE("damage with a right checksum is survived", "[netlink][image]") {
  const uint64_t seed = testing::NumberFromEnvironment("NFTJIT_SEED", 7);
  INFO("NFTJIT_SEED=" << seed);
  std::mt19937_64 random(seed);
  const std::string image = WriteImage(Sample());
  size_t refused = 0;
  for (size_t round = 0; round < 10'000; ++round) {
    std::string damaged = image;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      char& byte = damaged[kImageHeaderSize + random() % (damaged.size() - kImageHeaderSize)];
      byte = random() % 2 == 0 ? static_cast<char>(random()) : static_cast<char>(byte + random() % 9 - 4);
    }
    const auto read = ReadGuarded(WithChecksum(damaged));
    if (read.ok()) {
      REQUIRE_FALSE(WriteImage(*read).empty());
    } else {
      ++refused;
    }
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace nftjit::netlink
