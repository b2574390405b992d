// F: verdicts, chains, hooks.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/quirks/quirk.h"

namespace nftjit::testing {
namespace {

using nftjit::Verdict;

TEST_CASE("F1 an explicit continue goes on with the rule") {
  Quirk quirk;
  quirk.Matches({Count(), Give(VerdictCode::kContinue)});
  quirk.Run(PacketPU());
}

TEST_CASE("F2 an explicit break leaves the rule") {
  Quirk quirk;
  quirk.Breaks({Count(), Give(VerdictCode::kBreak)});
  quirk.Matches({});
  quirk.Run(PacketPU());
}

TEST_CASE("F3 what follows a jump in its rule never runs") {
  Quirk quirk;
  const nft::Handle target = quirk.rules().Chain("x");
  quirk.In(target, {Set(R1, "01"), Eq(R1, "01")}, 1);
  quirk.Breaks({Give(VerdictCode::kJump, target)});
  quirk.Matches({});
  quirk.Run(PacketPU());
}

TEST_CASE("F4 goto from a base chain ends in its policy") {
  Quirk quirk;
  quirk.rules().ruleset().tables[0].chains[0].base->policy = VerdictCode::kDrop;
  const nft::Handle target = quirk.rules().Chain("x");
  quirk.Plain(quirk.chain(), {Give(VerdictCode::kGoto, target)});
  quirk.Breaks({});
  quirk.In(target, {}, 1);
  quirk.Ends(Verdict::kDrop);
  quirk.Run(PacketPU());
}

TEST_CASE("F5 goto in a jumped chain returns to the jump") {
  for (const bool returns : {false, true}) {
    Quirk quirk;
    const nft::Handle x = quirk.rules().Chain("x"), y = quirk.rules().Chain("y");
    quirk.Plain(quirk.chain(), {Give(VerdictCode::kJump, x)});
    quirk.Matches({});
    quirk.Plain(x, {Give(VerdictCode::kGoto, y)});
    quirk.In(x, {}, 0);
    quirk.In(y, {}, 1);
    if (returns) quirk.Plain(y, {Give(VerdictCode::kReturn)});
    quirk.Run(PacketPU());
  }
}

TEST_CASE("F6 return in a base chain applies the policy") {
  for (const bool drops : {false, true}) {
    Quirk quirk;
    quirk.rules().ruleset().tables[0].chains[0].base->policy = drops ? VerdictCode::kDrop : VerdictCode::kAccept;
    quirk.Plain(quirk.chain(), {Give(VerdictCode::kReturn)});
    quirk.Breaks({});
    const nft::Handle later = quirk.rules().BaseChain("later", nft::kPrerouting, 0);
    quirk.In(later, {}, drops ? 0 : 1);
    quirk.Ends(drops ? Verdict::kDrop : Verdict::kAccept);
    quirk.Run(PacketPU());
  }
}

TEST_CASE("F7 accept goes on with the next base chain, drop does not") {
  for (const VerdictCode code : {VerdictCode::kAccept, VerdictCode::kDrop}) {
    Quirk quirk;
    quirk.Plain(quirk.chain(), {Give(code)});
    const nft::Handle later = quirk.rules().BaseChain("later", nft::kPrerouting, 10);
    quirk.In(later, {}, code == VerdictCode::kAccept ? 1 : 0);
    quirk.Run(PacketPU());
  }
}

TEST_CASE("F8 of equal priorities the chain registered later runs first, also between inet and ip") {
  for (const Family second : {Family::kIp, Family::kInet}) {
    Quirk quirk;
    quirk.Breaks({});
    quirk.rules().Table(second, "second");
    const nft::Handle later = quirk.rules().BaseChain("c2", nft::kPrerouting, -300);
    quirk.In(later, {}, 1);
    quirk.Plain(later, {Give(VerdictCode::kDrop)});
    quirk.Ends(Verdict::kDrop);
    quirk.Run(PacketPU());
  }
}

TEST_CASE("F9 fifteen chains may nest below a base chain, by jump or by goto") {
  for (const VerdictCode code : {VerdictCode::kJump, VerdictCode::kGoto}) {
    Quirk quirk;
    nft::Handle from = quirk.chain();
    for (int level = 1; level <= 15; ++level) {
      const nft::Handle to = quirk.rules().Chain("level" + std::to_string(level));
      quirk.Plain(from, {Give(code, to)});
      from = to;
    }
    quirk.In(from, {}, 1);
    quirk.Run(PacketPU());
  }
}

TEST_CASE("F12 verdict constants that are refused") {
  for (const int32_t code : {2, 3, 4, 5, -6, 0x10000, 0x10003}) RawRule().Verdict(code).Gives(EINVAL);
  for (const int32_t code : {0, 1, -1, -2, -5}) RawRule().Verdict(code).Gives(0);
}

TEST_CASE("F11 jumps to base chains and to nowhere are refused") {
  RawRule().Verdict(-3, "base").Gives(EOPNOTSUPP);
  RawRule().Verdict(-3, "nowhere").Gives(ENOENT);
  RawRule().Verdict(-3, "other").Gives(0);
  RawRule().Verdict(-4).Gives(EINVAL);
}

TEST_CASE("F13 verdict maps: continue, break, jump, return") {
  Quirk quirk;
  quirk.rules().ruleset().tables[0].chains[0].base->policy = VerdictCode::kDrop;
  const nft::Handle target = quirk.rules().Chain("target");
  SetShape shape;
  shape.key_len = 1;
  shape.verdict_map = true;
  const nft::Handle map =
      quirk.rules().Set("m", shape,
                        {VerdictElement("01", VerdictCode::kContinue), VerdictElement("02", VerdictCode::kBreak),
                         VerdictElement("03", VerdictCode::kJump, target), VerdictElement("04", VerdictCode::kReturn)});
  quirk.In(target, {}, 1);
  quirk.Matches({Set(R1, "01"), VerdictMap(map, R1)});
  quirk.Breaks({Set(R1, "02"), VerdictMap(map, R1)});
  quirk.Breaks({Set(R1, "09"), VerdictMap(map, R1)});
  quirk.Breaks({Set(R1, "03"), VerdictMap(map, R1)});
  quirk.Matches({});
  quirk.Breaks({Set(R1, "04"), VerdictMap(map, R1)});
  quirk.Breaks({});
  quirk.Ends(Verdict::kDrop);
  quirk.Run(PacketPU());
}

TEST_CASE("F20 a rule has at most 128 expressions and 4096 bytes of them") {
  const auto many = [](const std::string& name, int count) {
    RawRule rule;
    rule.Expression("immediate").U32(1, 1).Value(2, std::string(32, '0'));
    for (int i = 0; i < count; ++i) {
      rule.Expression(name);
      if (name == "cmp") rule.U32(1, 1).U32(2, 0).Value(3, std::string(32, '0'));
    }
    return rule;
  };
  many("counter", 127).Gives(0);
  many("counter", 128).Gives(EINVAL);
  many("cmp", 127).Gives(EFBIG);
}

TEST_CASE("F21 the chains of a dormant table are not run") {
  Quirk quirk;
  quirk.Matches({});
  quirk.rules().Table(Family::kIp, "asleep", 1);
  const nft::Handle chain = quirk.rules().BaseChain("c", nft::kPrerouting, -310);
  quirk.In(chain, {}, 0);
  quirk.Plain(chain, {Give(VerdictCode::kDrop)});
  quirk.Run(PacketPU());
}

TEST_CASE("K1 reject drops, whether or not an answer can be sent") {
  for (const nft::Expression& reject :
       {Reject(nft::RejectType::kIcmpx, 1), Reject(nft::RejectType::kTcpReset, 0), Reject(nft::RejectType::kIcmp, 3)}) {
    Quirk quirk;
    const nft::Handle rejecting = quirk.rules().Chain("rejecting");
    quirk.Plain(quirk.chain(), {Give(VerdictCode::kJump, rejecting)});
    quirk.Breaks({});
    quirk.In(rejecting, {}, 2);
    quirk.Plain(rejecting, {reject});
    const nft::Handle later = quirk.rules().BaseChain("later", nft::kPrerouting, 10);
    quirk.In(later, {}, 0);
    quirk.Ends(Verdict::kDrop);
    quirk.Run({PacketPU(), PacketPF()});
  }
}

}  // namespace
}  // namespace nftjit::testing
