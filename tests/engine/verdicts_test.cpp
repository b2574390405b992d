// Verdicts inside a base chain: rules, jumps, verdict maps, blocks. F… are entries of kernel-quirks.
#include <catch2/catch.hpp>

#include "tests/engine/running_program.h"

namespace nftjit::testing {
namespace {

constexpr std::string_view kNeverPasses = "  guard room.network 60000\n";

std::string Base(std::string_view policy = "accept") {
  return "chain ip t base hook input priority 0 policy " + std::string(policy) + ":\n";
}

TEST_CASE("F1 an empty rule and one without verdict go on", "[engine][verdicts]") {
  Running run(Base() + "rule 1:\nrule 2:\n  count #0\n  count #1\nrule 3:\n  count #2\n", AnyEngine());
  run.Run(Hook::kInput, UdpPacket());
  REQUIRE(run.packets(0) == 1);
  REQUIRE(run.packets(1) == 1);
  REQUIRE(run.packets(2) == 1);
}

TEST_CASE("F2 C22 a break ends the rule, and what ran before it keeps its effect", "[engine][verdicts]") {
  Running run(Base() + "rule 1:\n  count #0\n" + std::string(kNeverPasses) + "  count #1\nrule 2:\n  count #2\n",
              AnyEngine());
  run.Run(Hook::kInput, UdpPacket());
  REQUIRE(run.packets(0) == 1);
  REQUIRE(run.packets(1) == 0);
  REQUIRE(run.packets(2) == 1);
}

TEST_CASE("F3 a jumped chain that falls off goes on at the next rule", "[engine][verdicts]") {
  Running run(Base() +
                  "rule 1:\n  count #0\n  verdict jump x\nrule 2:\n  count #1\n"
                  "chain ip t x:\nrule 3:\n  count #2\n",
              AnyEngine());
  const Result result = run.Run(Hook::kInput, UdpPacket());
  REQUIRE(result.decided_by == DecidedBy::kPolicy);
  for (uint32_t i = 0; i < 3; ++i) REQUIRE(run.packets(i) == 1);
}

TEST_CASE("F4 a goto from the base chain ends in the policy", "[engine][verdicts]") {
  const std::string end = GENERATE("", "  verdict return\n");
  Running run(Base("drop") +
                  "rule 1:\n  verdict goto x\nrule 2:\n  count #0\n  verdict accept\n"
                  "chain ip t x:\nrule 3:\n  count #1\n" +
                  end,
              AnyEngine());
  const Result result = run.Run(Hook::kInput, UdpPacket());
  REQUIRE(result.verdict == Verdict::kDrop);
  REQUIRE(result.decided_by == DecidedBy::kPolicy);
  REQUIRE(run.packets(0) == 0);
  REQUIRE(run.packets(1) == 1);
}

TEST_CASE("F5 the end of a chain gone to from a jumped one leads back to the jump's caller", "[engine][verdicts]") {
  const std::string end = GENERATE("", "  verdict return\n");
  Running run(Base() +
                  "rule 1:\n  verdict jump x\nrule 2:\n  count #0\n"
                  "chain ip t x:\nrule 3:\n  verdict goto y\nrule 4:\n  count #1\n"
                  "chain ip t y:\nrule 5:\n  count #2\n" +
                  end,
              AnyEngine());
  run.Run(Hook::kInput, UdpPacket());
  REQUIRE(run.packets(0) == 1);
  REQUIRE(run.packets(1) == 0);
  REQUIRE(run.packets(2) == 1);
}

TEST_CASE("the rule that decided is named where it stands", "[engine][verdicts]") {
  Running run(Base() + "rule 1:\n  verdict jump x\nchain ip t x:\nrule 9 \"in x\":\n  verdict drop\n", AnyEngine());
  const Result result = run.Run(Hook::kInput, UdpPacket());
  REQUIRE(run.chain(result) == "base");
  REQUIRE(run.rule(result) == 9);
  const RuleDescription& rule = run.instance().program().rules()[result.rule];
  REQUIRE(rule.comment == "in x");
  REQUIRE(run.instance().program().chains()[rule.chain].name == "x");
}

// c1 jumps to c2 … to c`count`, the last of which counts.
std::string Nested(int count, std::string_view how) {
  std::string text = Base() + "rule 1:\n  verdict " + std::string(how) + " c1\n";
  for (int i = 1; i <= count; ++i) {
    const std::string name = "c" + std::to_string(i);
    text += "chain ip t " + name + ":\nrule " + std::to_string(i + 1) + ":\n";
    text += i == count ? "  count #0\n" : "  verdict " + std::string(how) + " c" + std::to_string(i + 1) + "\n";
  }
  return text;
}

TEST_CASE("F9 fifteen chains nest below the base chain, by jump or goto", "[engine][verdicts]") {
  const EngineInterface& engine = AnyEngine();
  const std::string how = GENERATE("jump", "goto");
  Running run(Nested(15, how), engine);
  run.Run(Hook::kInput, UdpPacket());
  REQUIRE(run.packets(0) == 1);
}

TEST_CASE("F9 F10 the interpreter refuses deeper nesting and circles that a base chain reaches", "[engine][verdicts]") {
  const auto status = [](std::string_view text) {
    auto program = ir::Parse(text, "test.ir");
    REQUIRE(program.ok());
    CompileIrOptions options;
    options.optimise = false;
    return CompileIr(*std::move(program), options).status();
  };
  REQUIRE(status(Nested(16, "jump")).code() == absl::StatusCode::kInternal);
  REQUIRE(status(Base() + "rule 1:\n  verdict jump x\nchain ip t x:\nrule 2:\n  verdict jump x\n").code() ==
          absl::StatusCode::kInternal);
  REQUIRE(status(Base() + "chain ip t x:\nrule 2:\n  verdict jump x\n").ok());
}

TEST_CASE("F13 verdict maps: continue, break, jump, goto, return, accept, drop and a miss", "[engine][verdicts]") {
  Running run(
      "vmap ip t v exact key 2:\n"
      "  0001 : continue\n"
      "  0002 : break\n"
      "  0003 : jump x\n"
      "  0004 : return\n"
      "  0005 : accept\n"
      "  0006 : drop\n"
      "  0007 : goto x\n" +
          Base("drop") +
          "rule 1:\n"
          "  guard room.transport 4\n"
          "  %0 = load transport+2, 2\n"
          "  vmap %0 @v\n"
          "  count #0\n"
          "rule 2:\n  count #1\n"
          "chain ip t x:\nrule 3:\n  count #2\n",
      AnyEngine());
  struct Case {
    uint16_t dport;
    uint64_t rest, next, target;
    Verdict verdict;
    DecidedBy by;
  };
  const Case cases[] = {
      {1, 1, 1, 0, Verdict::kDrop, DecidedBy::kPolicy}, {2, 0, 1, 0, Verdict::kDrop, DecidedBy::kPolicy},
      {3, 0, 1, 1, Verdict::kDrop, DecidedBy::kPolicy}, {4, 0, 0, 0, Verdict::kDrop, DecidedBy::kPolicy},
      {5, 0, 0, 0, Verdict::kAccept, DecidedBy::kRule}, {6, 0, 0, 0, Verdict::kDrop, DecidedBy::kRule},
      {7, 0, 0, 1, Verdict::kDrop, DecidedBy::kPolicy}, {8, 0, 1, 0, Verdict::kDrop, DecidedBy::kPolicy},
  };
  for (const Case& c : cases) {
    CAPTURE(c.dport);
    const uint64_t before[] = {run.packets(0), run.packets(1), run.packets(2)};
    const Result result = run.Run(Hook::kInput, UdpPacket(c.dport));
    REQUIRE(run.packets(0) - before[0] == c.rest);
    REQUIRE(run.packets(1) - before[1] == c.next);
    REQUIRE(run.packets(2) - before[2] == c.target);
    REQUIRE(result.verdict == c.verdict);
    REQUIRE(result.decided_by == c.by);
  }
}

TEST_CASE("reject drops and says how", "[engine][verdicts]") {
  Running run(
      "chain inet t base hook input priority 0 policy accept:\n"
      "rule 1:\n"
      "  guard room.transport 4\n"
      "  %0 = load transport+2, 2\n"
      "  test %0 == 0001\n"
      "  reject icmpx 3\n"
      "rule 2:\n"
      "  guard room.transport 4\n"
      "  %1 = load transport+2, 2\n"
      "  test %1 == 0002\n"
      "  reject tcp-reset\n"
      "rule 3:\n"
      "  guard room.transport 4\n"
      "  %2 = load transport+2, 2\n"
      "  test %2 == 0003\n"
      "  reject icmp 13\n",
      AnyEngine());
  const auto result = [&](uint16_t port) { return run.Run(Hook::kInput, UdpPacket(port)); };
  REQUIRE(result(1).verdict == Verdict::kDrop);
  REQUIRE(result(1).reject == RejectKind::kIcmpx);
  REQUIRE(result(1).reject_code == 3);
  REQUIRE(run.rule(result(1)) == 1);
  REQUIRE(result(2).reject == RejectKind::kTcpReset);
  REQUIRE(result(3).reject == RejectKind::kIcmp);
  REQUIRE(result(3).reject_code == 13);
  REQUIRE(result(4).reject == RejectKind::kNone);
  REQUIRE(result(4).verdict == Verdict::kAccept);
}

TEST_CASE("blocks guard their items, and a jump out of one comes back into it", "[engine][verdicts]") {
  Running run(Base() +
                  "block:\n"
                  "  guard l4\n"
                  "  %0 = meta l4proto\n"
                  "  test %0 == 11\n"
                  "  %1 = meta mark\n"
                  "  rule 1:\n"
                  "    count #0\n"
                  "    verdict jump x\n"
                  "  block:\n"
                  "    guard room.transport 4\n"
                  "    %2 = load transport+2, 2\n"
                  "    rule 2:\n"
                  "      test %1 == 05000000\n"  // As it was when the block was entered.
                  "      test %2 == 0035\n"
                  "      count #1\n"
                  "rule 3:\n  count #2\n"
                  "chain ip t x:\n"
                  "rule 4:\n"
                  "  %0 = const 09000000\n"
                  "  set mark %0\n",
              AnyEngine());
  Bytes bytes = UdpPacket(53);
  Packet packet = L3Packet(bytes);
  packet.mark = 5;
  run.Run({Family::kIp, Hook::kInput}, packet);
  REQUIRE(packet.mark == 9);
  REQUIRE(run.packets(0) == 1);
  REQUIRE(run.packets(1) == 1);
  REQUIRE(run.packets(2) == 1);
  run.Run(Hook::kInput, Ipv4() / Tcp());
  REQUIRE(run.packets(0) == 1);
  REQUIRE(run.packets(1) == 1);
  REQUIRE(run.packets(2) == 2);
}

}  // namespace
}  // namespace nftjit::testing
