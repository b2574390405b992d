// How long the passes take: `test_opt [time]`, in a release build. Hidden, because a shared machine makes it fail.
#include <catch2/catch.hpp>
#include <cstdio>
#include <map>

#include "lib/ir/verifier.h"
#include "lib/opt/pipeline.h"

namespace nftjit::opt {
namespace {

using ir::Op;
using ir::Row;

// Rules as nft writes `ip saddr PREFIX counter drop`, five expressions of which one is not always there, and with
// `udp dport PORT`, eleven expressions; in an inet table, lowered.
class RuleMaker {
 public:
  ir::Program Make(uint32_t rules, bool with_port) {
    with_port_ = with_port;
    ir::Chain chain{.family = nft::Family::kInet, .table = "t", .name = "c"};
    chain.base.emplace();
    p_.chains.push_back(chain);
    for (uint32_t i = 0; i < rules; ++i) AddRule(i);
    p_.chains[0].item_count = rules;
    return std::move(p_);
  }

 private:
  uint32_t Put(Row row) {
    p_.rows.push_back(row);
    p_.origins.push_back({.rule = rule_, .expression = expression_++});
    return static_cast<uint32_t>(p_.rows.size() - 1);
  }
  uint32_t Const(std::initializer_list<uint8_t> bytes) {
    return p_.constants.Intern(ByteSpan(std::data(bytes), bytes.size())).index;
  }
  void Guard(ir::GuardKind kind, uint32_t bytes) {
    Put({.op = Op::kGuard, .key = static_cast<uint8_t>(kind), .a = bytes});
  }
  void TestEqual(uint32_t value, uint32_t constant) { Put({.op = Op::kTest, .a = value, .b = constant}); }

  void AddRule(uint32_t i) {
    rule_ = i;
    expression_ = 0;
    const uint32_t first = static_cast<uint32_t>(p_.rows.size());
    const auto meta = [&](nft::MetaKey key) {
      return Put({.op = Op::kMeta, .length = 1, .key = static_cast<uint8_t>(key)});
    };
    if (with_port_) TestEqual(meta(nft::MetaKey::kNfproto), Const({2}));
    const uint8_t bits = static_cast<uint8_t>(8 + i % 25);
    const uint32_t mask = static_cast<uint32_t>(0xffffffff00000000U >> bits);
    const uint32_t address = (0x0a000000U + i * 0x01000193U) & mask;
    AddAddress(bits, address, mask);
    if (with_port_) {
      Guard(ir::GuardKind::kL4, 0);
      TestEqual(meta(nft::MetaKey::kL4proto), Const({17}));
      Guard(ir::GuardKind::kRoomTransport, 4);
      const uint32_t port = Put({.op = Op::kLoad, .length = 2, .key = 2, .a = 2});
      TestEqual(port, Const({static_cast<uint8_t>(i >> 8), static_cast<uint8_t>(i)}));
    }
    Put({.op = Op::kCount, .a = i});
    Put({.op = Op::kVerdict, .key = 0});
    p_.counters.push_back({ir::RuleId(i), 7, 0, 0});
    p_.rules.push_back({.chain = ir::ChainId(0), .handle = i + 1});
    p_.items.push_back({.first_row = first,
                        .row_count = static_cast<uint32_t>(p_.rows.size()) - first,
                        .end = i + 1,
                        .rule = ir::RuleId(i)});
  }

  // A load of whole bytes where the prefix ends at one, else a masked one.
  void AddAddress(uint8_t bits, uint32_t address, uint32_t mask) {
    uint8_t bytes[4], mask_bytes[4];
    StoreBig32(bytes, address);
    StoreBig32(mask_bytes, mask);
    const uint8_t length = bits % 8 == 0 ? static_cast<uint8_t>(bits / 8) : uint8_t{4};
    Guard(ir::GuardKind::kRoomNetwork, 12U + length);
    uint32_t value = Put({.op = Op::kLoad, .length = length, .key = 1, .a = 12});
    if (bits % 8 != 0) {
      value = Put({.op = Op::kAnd, .length = 4, .a = value, .b = p_.constants.Intern(ByteSpan(mask_bytes, 4)).index});
    }
    TestEqual(value, p_.constants.Intern(ByteSpan(bytes, length)).index);
  }

  ir::Program p_;
  bool with_port_ = false;
  uint32_t rule_ = 0;
  uint16_t expression_ = 0;
};

void Time(bool with_port) {
  const ir::Program lowered = RuleMaker().Make(10000, with_port);
  REQUIRE(ir::Verify(lowered).ok());
  std::map<std::string_view, double> best;
  double best_total = 1e9;
  for (int round = 0; round < 30; ++round) {
    ir::Program program = lowered;
    std::vector<PassStatistics> statistics;
    REQUIRE(Optimise(program, {.verify_each = false}, &statistics).ok());
    double total = 0;
    for (const PassStatistics& pass : statistics) {
      const auto [entry, added] = best.try_emplace(pass.name, pass.seconds);
      entry->second = std::min(entry->second, pass.seconds);
      total += pass.seconds;
    }
    best_total = std::min(best_total, total);
  }
  std::printf("%zu rows in %.2f ms\n", lowered.rows.size(), best_total * 1e3);
  for (const Pass& pass : Passes()) std::printf("  %-24s %.3f ms\n", pass.name.data(), best[pass.name] * 1e3);
}

TEST_CASE("ten thousand rules of five expressions", "[.][time]") { Time(false); }
TEST_CASE("ten thousand rules of eleven expressions", "[.][time]") { Time(true); }

}  // namespace
}  // namespace nftjit::opt
