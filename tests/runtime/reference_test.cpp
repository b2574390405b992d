// The reference engine: what each op means, and how chains are walked (vm-semantics 5; kernel-quirks A, B, F).
#include <catch2/catch.hpp>

#include "lib/engine/engine.h"
#include "lib/ir/text.h"
#include "lib/ir/verifier.h"
#include "lib/runtime/effects.h"
#include "lib/runtime/limit.h"
#include "lib/runtime/parse.h"
#include "lib/runtime/set.h"
#include "tests/runtime/probe.h"

namespace nftjit::testing {
namespace {

constexpr Outcome kAccept = 1, kDrop = 0, kContinue = -1;

// A program, compiled by the reference engine, with state of its own and a packet to run.
class Bench {
 public:
  explicit Bench(std::string_view text) : packet_bytes_(FromHex(kUdp)) {
    absl::StatusOr<ir::Program> program = ir::Parse(text, "test.ir");
    INFO(text);
    INFO(program.status());
    REQUIRE(program.ok());
    program_ = *std::move(program);
    REQUIRE(ir::Verify(program_) == absl::OkStatus());
    auto compiled = ReferenceEngine().Compile(program_, {});
    INFO(compiled.status());
    REQUIRE(compiled.ok());
    compiled_ = *std::move(compiled);

    counters_.resize(program_.counters.size());
    limits_.reset(new LimitState[program_.limits.size()]);
    for (size_t i = 0; i < program_.limits.size(); ++i) limits_[i].Start(program_.limits[i], 0);
    for (const ir::SetInfo& set : program_.sets) {
      sets_.push_back(SetTable::Build(set, 0));
      set_pointers_.push_back(sets_.back().get());
    }
    log_.records = records_;
    log_.mask = std::size(records_) - 1;
    frame_ = std::make_unique<Frame>();
    frame_->counters = counters_.data();
    frame_->limits = limits_.get();
    frame_->sets = set_pointers_.data();
    frame_->effects = &log_;
    packet_.data = packet_bytes_.data();
    packet_.length = static_cast<uint32_t>(packet_bytes_.size());
  }

  // Runs chain 0.
  Outcome Run() {
    REQUIRE(EnterChain(kIpPrerouting, packet_, *frame_) == EnterResult::kRun);
    frame_->rule = kNoRule;
    frame_->reject = 0;
    const ChainEntry entry = compiled_->Entry(ir::ChainId(0));
    return entry.run(entry.code, frame_.get());
  }
  // The handle of the rule whose verdict ended the chain, 0 for none.
  [[nodiscard]] uint64_t rule() const { return frame_->rule == kNoRule ? 0 : program_.rules[frame_->rule].handle; }
  [[nodiscard]] uint64_t packets(size_t counter) const { return counters_[counter].packets; }
  [[nodiscard]] uint64_t bytes(size_t counter) const { return counters_[counter].bytes; }
  [[nodiscard]] const EffectLog& log() const { return log_; }
  Frame& frame() { return *frame_; }
  Packet& packet() { return packet_; }

 private:
  Bytes packet_bytes_;
  Packet packet_;
  ir::Program program_;
  std::unique_ptr<const CompiledProgram> compiled_;
  std::vector<CounterSlot> counters_;
  std::unique_ptr<LimitState[]> limits_;
  std::vector<std::unique_ptr<const SetTable>> sets_;
  std::vector<const SetTable*> set_pointers_;
  LogRecord records_[4];
  EffectLog log_;
  std::unique_ptr<Frame> frame_;
};

constexpr std::string_view kBase = "chain ip t c hook prerouting priority 0 policy accept:\n";

// Does a rule of these rows reach its end?
bool Matches(const std::string& rows) {
  std::string text = std::string(kBase) + "rule 1:\n";
  for (size_t from = 0; from < rows.size();) {
    const size_t to = std::min(rows.find('\n', from), rows.size());
    text += "  " + rows.substr(from, to - from) + "\n";
    from = to + 1;
  }
  return Bench(text + "  verdict accept\n").Run() == kAccept;
}

TEST_CASE("loads", "[reference]") {
  CHECK(Matches("guard room.network 33\n%0 = load network+12, 8\ntest %0 == 0a0000020a000001"));
  CHECK(Matches("guard room.transport 13\n%0 = load transport+8, 5\ntest %0 == 68656c6c6f"));
  CHECK(Matches("guard room.inner 5\n%0 = load inner+0, 5\ntest %0 == 68656c6c6f"));
  CHECK(Matches("%0 = load? inner+4, 4\ntest %0 == 6f000000"));
  CHECK(Matches("%0 = load? link+0, 4\ntest %0 == 00000000"));
  CHECK(Matches("%0 = load? transport+65535, 2\ntest %0 == 0000"));
}

TEST_CASE("guards", "[reference]") {
  CHECK_FALSE(Matches("guard room.network 34"));
  CHECK_FALSE(Matches("guard room.link 1"));
  CHECK_FALSE(Matches("guard room.transport 14"));
  CHECK_FALSE(Matches("guard room.inner 6"));
  CHECK(Matches("guard unfragmented"));
  CHECK(Matches("guard l4"));
  CHECK_FALSE(Matches("guard iif"));
  CHECK_FALSE(Matches("guard oif"));
  CHECK_FALSE(Matches("guard ct"));
  CHECK_FALSE(Matches("guard meta skuid"));
  CHECK_FALSE(Matches("guard ct.known src_ip original"));
  CHECK(Matches("guard meta mark"));
}

TEST_CASE("facts", "[reference]") {
  CHECK(Matches("%0 = meta nfproto\ntest %0 == 02"));
  CHECK(Matches("%0 = meta len\ntest %0 == 21000000"));
  CHECK(Matches("%0 = ct state\ntest %0 == 01000000"));
  CHECK_FALSE(Matches("%0 = exthdr present ipv6 44+0, 1"));
  CHECK(Matches("%0 = exthdr present tcpopt 2+0, 1\ntest %0 == 00"));
}

TEST_CASE("A8 A9 A10 tests compare byte strings", "[reference]") {
  CHECK(Matches("%0 = const aabbccdd\n%1 = slice %0+0, 3\ntest %1 == aabbcc\ntest %1 <= aabbcc"));
  CHECK_FALSE(Matches("%0 = const 01000000\ntest %0 < 00000002"));
  CHECK(Matches("%0 = const 01000000\ntest %0 > 00000002"));
  CHECK_FALSE(Matches("%0 = const 0500\ntest %0 in 0a00-0100"));
  CHECK(Matches("%0 = const 0500\ntest %0 not in 0a00-0100"));
  CHECK(Matches("%0 = const 0500\ntest %0 in 0500-0500\ntest %0 != 0501\ntest %0 >= 0500\ntest %0 <= 0500"));
  CHECK_FALSE(Matches("%0 = const 0500\ntest %0 > 0500"));
  CHECK_FALSE(Matches("%0 = const 0500\ntest %0 not in 04ff-0501"));
}

TEST_CASE("native tests compare integers", "[reference]") {
  CHECK(Matches("%0 = const 0001\ntest native %0 > ff00"));
  CHECK(Matches("%0 = const 01000000\ntest native %0 < 00000002\ntest native %0 in 01000000-ff000000"));
  CHECK(Matches("%0 = const 0000000000000001\ntest native %0 > ffffffffffffff00"));
  CHECK(Matches("%0 = const 80\ntest native %0 > 7f"));
  CHECK_FALSE(Matches("%0 = const 0002\ntest native %0 in 0000-0001"));
}

TEST_CASE("masks go first", "[reference]") {
  CHECK(Matches("%0 = const 0a010203\ntest %0 & ffff0000 == 0a010000\ntest %0 == 0a010203"));
  CHECK(Matches("%0 = const 0a010203\ntest %0 & 000000ff in 00000002-00000004"));
}

TEST_CASE("B2 B3 B4 shifts are of native words, the first the most significant", "[reference]") {
  CHECK(Matches("%0 = const a0a1a2a3\n%1 = shl %0, 4\ntest %1 == 001a2a3a"));
  CHECK(Matches("%0 = const a0a1a2a3a4a5a6a7\n%1 = shl %0, 4\ntest %1 == 0a1a2a3a405a6a7a"));
  CHECK(Matches("%0 = const a0a1a2a3a4a5a6a7\n%1 = shr %0, 4\ntest %1 == 1a2a3a0a5a6a7a0a"));
}

TEST_CASE("B12 B13 swaps", "[reference]") {
  CHECK(Matches("%0 = const a0a1a2a3\n%1 = swap %0, 2\ntest %1 == a1a0a3a2"));
  CHECK(Matches("%0 = const a0a1a2a3a4a5a6a7\n%1 = swap %0, 4\ntest %1 == a3a2a1a0a7a6a5a4"));
  CHECK(Matches("%0 = const a0a1a2a3a4a5a6a7\n%1 = swap %0, 8\ntest %1 == a7a6a5a4a3a2a1a0"));
}

TEST_CASE("values from values", "[reference]") {
  CHECK(Matches("%0 = const f0f1f2\n%1 = and %0, 0fff00\ntest %1 == 00f100"));
  CHECK(Matches("%0 = const f0f1f2\n%1 = or %0, 0f0000\ntest %1 == fff1f2"));
  CHECK(Matches("%0 = const f0f1f2\n%1 = xor %0, ff0000\ntest %1 == 0ff1f2"));
  CHECK(
      Matches("%0 = const f0f1\n%1 = const 0fff\n%2 = andv %0, %1\n%3 = orv %0, %1\n%4 = xorv %0, %1\n"
              "test %2 == 00f1\ntest %3 == ffff\ntest %4 == ff0e"));
  CHECK(Matches("%0 = const 0102\n%1 = const 030405\n%2 = concat %0, %1\ntest %2 == 0102030405"));
  CHECK(Matches("%0 = const 0102030405\n%1 = slice %0+1, 3\ntest %1 == 020304"));
  CHECK(Matches("%0 = const 0102\n%1 = zext %0, 8\ntest %1 == 0102000000000000"));
  CHECK(Matches("%0 = stale 3\ntest %0 == 000000"));
}

TEST_CASE("C22 F1 F2 what a rule did before it broke stays done", "[reference]") {
  Bench bench(std::string("counter #0\ncounter #1\ncounter #2\n") + std::string(kBase) +
              "rule 1:\n  count #0\n  %0 = const 00\n  test %0 == 01\n  count #1\n"
              "rule 2:\n  count #2\n  verdict continue\n"
              "rule 3:\n  verdict break\n"
              "rule 4:\n"
              "rule 5:\n  count #2\n");
  CHECK(bench.Run() == kContinue);
  CHECK(bench.rule() == 0);
  CHECK(bench.packets(0) == 1);
  CHECK(bench.packets(1) == 0);
  CHECK(bench.packets(2) == 2);
  CHECK(bench.bytes(2) == 66);
}

TEST_CASE("F3 a jump comes back to the next rule", "[reference]") {
  Bench bench(std::string("counter #0\ncounter #1\n") + std::string(kBase) +
              "rule 1:\n  verdict jump x\nrule 2:\n  count #0\n  verdict drop\n"
              "chain ip t x:\nrule 3:\n  count #1\n");
  CHECK(bench.Run() == kDrop);
  CHECK(bench.rule() == 2);
  CHECK(bench.packets(0) == 1);
  CHECK(bench.packets(1) == 1);
}

TEST_CASE("F4 a goto does not come back", "[reference]") {
  Bench bench(std::string("counter #0\ncounter #1\n") + std::string(kBase) +
              "rule 1:\n  verdict goto x\nrule 2:\n  count #0\n  verdict drop\n"
              "chain ip t x:\nrule 3:\n  count #1\n");
  CHECK(bench.Run() == kContinue);
  CHECK(bench.packets(0) == 0);
  CHECK(bench.packets(1) == 1);
}

TEST_CASE("F5 a goto below a jump comes back after the jump", "[reference]") {
  for (const char* end : {"", "rule 6:\n  verdict return\nrule 7:\n  verdict accept\n"}) {
    Bench bench(std::string("counter #0\ncounter #1\n") + std::string(kBase) +
                "rule 1:\n  verdict jump x\nrule 2:\n  count #0\n  verdict drop\n"
                "chain ip t x:\nrule 3:\n  verdict goto y\nrule 4:\n  verdict accept\n"
                "chain ip t y:\nrule 5:\n  count #1\n" +
                end);
    CHECK(bench.Run() == kDrop);
    CHECK(bench.rule() == 2);
    CHECK(bench.packets(1) == 1);
  }
}

TEST_CASE("F6 a return in a base chain is the policy's turn", "[reference]") {
  Bench bench(std::string(kBase) + "rule 1:\n  verdict return\nrule 2:\n  verdict drop\n");
  CHECK(bench.Run() == kContinue);
  CHECK(bench.rule() == 0);
}

TEST_CASE("a verdict below jumps ends everything and names its rule", "[reference]") {
  Bench bench(std::string(kBase) +
              "rule 1:\n  verdict jump x\nrule 2:\n  verdict drop\n"
              "chain ip t x:\nrule 3:\n  verdict jump y\nchain ip t y:\nrule 4:\n  verdict accept\n");
  CHECK(bench.Run() == kAccept);
  CHECK(bench.rule() == 4);
}

TEST_CASE("F9 fifteen chains below the base", "[reference]") {
  std::string text(kBase);
  text += "rule 1:\n  verdict jump c1\nrule 99:\n  verdict drop\n";
  for (int i = 1; i <= 15; ++i) {
    text += "chain ip t c" + std::to_string(i) + ":\nrule " + std::to_string(i + 1) + ":\n";
    // Values of callers stay what they were.
    text += "  %v" + std::to_string(i) + " = const " + ToHex(Bytes(16, uint8_t(i))) + "\n";
    text += i < 15 ? "  verdict jump c" + std::to_string(i + 1) + "\n" : "  verdict accept\n";
  }
  CHECK(Bench(text).Run() == kAccept);
}

TEST_CASE("values of a block outlive jumps of its rules", "[reference]") {
  Bench bench(std::string(kBase) +
              "block:\n  %0 = const 0102030405060708\n"
              "  rule 1:\n    %1 = const aa\n    test %1 == aa\n    verdict jump x\n"
              "  rule 2:\n    test %0 == 0102030405060708\n    verdict accept\n"
              "rule 3:\n  verdict drop\n"
              "chain ip t x:\nrule 4:\n  %2 = const ffffffffffffffffffffffffffffffff\n  test %2 != "
              "00000000000000000000000000000000\n");
  CHECK(bench.Run() == kAccept);
  CHECK(bench.rule() == 2);
}

TEST_CASE("blocks are entered if their tests pass, and left at their end", "[reference]") {
  Bench bench(std::string("counter #0\ncounter #1\n") + std::string(kBase) +
              "block:\n  guard l4\n  %0 = meta l4proto\n  test %0 == 06\n"
              "  rule 1:\n    count #0\n    verdict drop\n"
              "  block:\n    rule 2:\n      verdict drop\n"
              "block:\n  guard l4\n  %1 = meta l4proto\n  test %1 == 11\n"
              "  block:\n    %2 = const 00\n    test %2 == 01\n    rule 3:\n      verdict drop\n"
              "  rule 4:\n    count #1\n"
              "rule 5:\n  verdict accept\n");
  CHECK(bench.Run() == kAccept);
  CHECK(bench.rule() == 5);
  CHECK(bench.packets(0) == 0);
  CHECK(bench.packets(1) == 1);
}

TEST_CASE("F13 verdict maps", "[reference]") {
  const auto run = [](const std::string& verdict) {
    Bench bench("counter #0\ncounter #1\nvmap ip t v exact key 1:\n  01 : " + verdict + "\n" + std::string(kBase) +
                "rule 1:\n  %0 = const 01\n  vmap %0 @v\n  count #0\nrule 2:\n  count #1\nrule 3:\n  verdict drop\n"
                "chain ip t x:\nrule 4:\n  count #0\n  count #0\n");
    const Outcome outcome = bench.Run();
    return std::vector<int64_t>{outcome, int64_t(bench.rule()), int64_t(bench.packets(0)), int64_t(bench.packets(1))};
  };
  CHECK(run("continue") == std::vector<int64_t>{kDrop, 3, 1, 1});
  CHECK(run("break") == std::vector<int64_t>{kDrop, 3, 0, 1});
  CHECK(run("accept") == std::vector<int64_t>{kAccept, 1, 0, 0});
  CHECK(run("drop") == std::vector<int64_t>{kDrop, 1, 0, 0});
  CHECK(run("jump x") == std::vector<int64_t>{kDrop, 3, 2, 1});
  CHECK(run("goto x") == std::vector<int64_t>{kContinue, 0, 2, 0});
  CHECK(run("return") == std::vector<int64_t>{kContinue, 0, 0, 0});
}

TEST_CASE("a verdict map without the key breaks", "[reference]") {
  Bench bench("counter #0\nvmap ip t v exact key 1:\n  02 : drop\n" + std::string(kBase) +
              "rule 1:\n  %0 = const 01\n  vmap %0 @v\n  count #0\nrule 2:\n  verdict accept\n");
  CHECK(bench.Run() == kAccept);
  CHECK(bench.packets(0) == 0);
}

TEST_CASE("I13 I14 lookups, inverted or not, and element counters", "[reference]") {
  Bench bench("set ip t s exact key 1:\n  01 counter #0\ncounter #0\ncounter #1\n" + std::string(kBase) +
              "rule 1:\n  %0 = const 01\n  lookup %0 @s\n  count #1\n"
              "rule 2:\n  %1 = const 01\n  lookup %1 not @s\n  verdict drop\n"
              "rule 3:\n  %2 = const 02\n  lookup %2 not @s\n  count #1\n"
              "rule 4:\n  %3 = const 02\n  lookup %3 @s\n  verdict drop\n");
  CHECK(bench.Run() == kContinue);
  CHECK(bench.packets(0) == 1);
  CHECK(bench.bytes(0) == 33);
  CHECK(bench.packets(1) == 2);
}

TEST_CASE("I15 I24 an element's exhausted limit breaks the rule", "[reference]") {
  Bench bench(
      "set ip t s exact key 1:\n  01 counter #0 limit #0\ncounter #0\ncounter #1\n"
      "limit #0 rate 1 unit 86400 burst 2 packets\n" +
      std::string(kBase) + "rule 1:\n  %0 = const 01\n  lookup %0 @s\n  count #1\n");
  for (int i = 0; i < 4; ++i) CHECK(bench.Run() == kContinue);
  CHECK(bench.packets(0) == 4);
  CHECK(bench.packets(1) == 2);
  // With the limit first its break keeps the counter from counting.
  Bench other(
      "set ip t s exact key 1:\n  01 limit #0 counter #0\ncounter #0\n"
      "limit #0 rate 1 unit 86400 burst 2 packets\n" +
      std::string(kBase) + "rule 1:\n  %0 = const 01\n  lookup %0 @s\n");
  for (int i = 0; i < 4; ++i) other.Run();
  CHECK(other.packets(0) == 2);
}

TEST_CASE("maps", "[reference]") {
  Bench bench("map ip t m exact key 1 data 4:\n  01 : 0a0b0c0d\n  * : 01020304\n" + std::string(kBase) +
              "rule 1:\n  %0 = const 01\n  %1 = map %0 @m\n  set mark %1\n"
              "rule 2:\n  %2 = const 07\n  %3 = map %2 @m\n  set priority %3\n");
  CHECK(bench.Run() == kContinue);
  CHECK(bench.packet().mark == 0x0d0c0b0a);
  CHECK(bench.packet().priority == 0x04030201);
  Bench miss("map ip t m exact key 1 data 4:\n" + std::string(kBase) +
             "rule 1:\n  %0 = const 01\n  %1 = map %0 @m\n  verdict drop\n");
  CHECK(miss.Run() == kContinue);
}

TEST_CASE("metadata set is read by later rules", "[reference]") {
  Bench bench(std::string(kBase) +
              "rule 1:\n  %0 = const 07000000\n  set mark %0\n"
              "rule 2:\n  %1 = meta mark\n  test %1 == 07000000\n  verdict accept\n");
  CHECK(bench.Run() == kAccept);
}

TEST_CASE("limits, logs and rejects", "[reference]") {
  Bench bench("limit #0 rate 1 unit 86400 burst 1 packets\nlog #0 prefix \"a\"\nlog #1 prefix \"b\"\n" +
              std::string(kBase) +
              "rule 1:\n  log #1\n  limit #0\n  log #0\n  reject icmpx 3\n"
              "rule 2:\n  verdict accept\n");
  CHECK(bench.Run() == kDrop);
  CHECK(bench.rule() == 1);
  CHECK(bench.frame().reject == (kRejected | 2 << 8 | 3));
  CHECK(bench.log().written == 2);
  CHECK(bench.log().records[0].log == 1);
  CHECK(bench.log().records[1].log == 0);
  CHECK(bench.Run() == kAccept);
  CHECK(bench.frame().reject == 0);
  CHECK(bench.log().written == 3);
}

TEST_CASE("programs of many values run on the stack", "[reference]") {
  std::string text(kBase);
  text += "block:\n";
  for (int i = 0; i < 400; ++i) text += "  %v" + std::to_string(i) + " = const " + ToHex(Bytes(16, uint8_t(i))) + "\n";
  text += "  rule 1:\n    test %v399 == " + ToHex(Bytes(16, 0x8f)) + "\n    test %v0 == " + ToHex(Bytes(16, 0)) +
          "\n    verdict accept\n";
  CHECK(Bench(text).Run() == kAccept);
}

std::string Refusal(std::string_view text) {
  absl::StatusOr<ir::Program> program = ir::Parse(text, "test.ir");
  INFO(program.status());
  REQUIRE(program.ok());
  const auto compiled = ReferenceEngine().Compile(*program, {});
  return std::string(compiled.status().message());
}

TEST_CASE("what cannot run is refused by name", "[reference]") {
  CHECK(Refusal(std::string(kBase) + "rule 7:\n  unsupported \"nat\"\n") == "row 0 of rule 7: nat is not supported");
  CHECK(Refusal(std::string(kBase) + "rule 7:\n  %0 = exthdr present dccp 1+0, 1\n") ==
        "row 0 of rule 7: exthdr of dccp is not supported");
  CHECK(Refusal(std::string(kBase) + "rule 1:\n  verdict jump x\nchain ip t x:\nrule 2:\n  verdict jump x\n") ==
        "chain c: jumps go round in a circle");
  CHECK(Refusal("chain ip t x:\nrule 2:\n  verdict jump x\n").empty());  // No base chain comes there.
  std::string deep(kBase);
  deep += "rule 1:\n  verdict jump c1\n";
  for (int i = 1; i <= 16; ++i) {
    deep += "chain ip t c" + std::to_string(i) + ":\n";
    if (i < 16) deep += "rule " + std::to_string(i + 1) + ":\n  verdict jump c" + std::to_string(i + 1) + "\n";
  }
  CHECK(Refusal(deep) == "chain c: jumps go deeper than 16");
  CHECK(Refusal("").empty());
}

}  // namespace
}  // namespace nftjit::testing
