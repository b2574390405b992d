// Each op and each width of it by hand: a rule of these rows drops the packet, or it does not. Every case runs on every
// register map, with AVX2 and without.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "jit/x86/registers.h"
#include "jit/x86/x86.h"
#include "lib/ir/text.h"
#include "lib/ir/verifier.h"
#include "machine.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/packets.h"

namespace nftjit::testing {
namespace {

const HookPoint kInputIp{nft::Family::kIp, Hook::kInput};

ir::Program MustParse(const std::string& text) {
  absl::StatusOr<ir::Program> program = ir::Parse(text, "test.ir");
  INFO(text);
  REQUIRE(program.status() == absl::OkStatus());
  REQUIRE(ir::Verify(*program) == absl::OkStatus());
  return *std::move(program);
}

Bytes SamplePacket() {
  return Ipv4().Src("192.0.2.129").Dst("10.1.2.3").Tos(0x2e).Ttl(63) / Tcp().Sport(0x1234).Dport(443) /
         Raw("0123456789abcdefghijklmnopqrstuvwxyz");
}

struct FixedFacts {
  Interface iif = MakeInterface("eth0", 7);
  Conntrack ct;
  FixedFacts() {
    ct.state = kCtEstablished;
    ct.has_entry = true;
    ct.mark = 0x11223344;
    ct.status = 0x0e;
    ct.zone = 0x0102;
    ct.original.src = {10, 9, 8, 7};
    ct.original.proto_dst = {0, 80};
    ct.original.packets = 5;
    ct.original.bytes = 6;
    ct.reply.packets = 7;
  }
};

// The outcome of the base chain `c` of `text` on the sample packet, which must be the same on every variant.
Observed RunText(const std::string& text, Bytes bytes = SamplePacket(), ir::ChainId chain = ir::ChainId(0)) {
  const ir::Program program = MustParse(text);
  const GuardedBytes guarded(bytes);
  const FixedFacts facts;
  Observed first;
  for (unsigned map = 0; map < x86::kRegisterMaps; ++map) {
    for (const bool avx2 : {true, false}) {
      auto code = x86::CompileX86(program, {.register_map = map, .avx2 = avx2});
      REQUIRE(code.status() == absl::OkStatus());
      Machine machine(program, *std::move(code));
      Packet packet;
      packet.data = guarded.data();
      packet.length = static_cast<uint32_t>(guarded.size());
      packet.mark = 0x01020304;
      packet.iif = &facts.iif;
      packet.ct = &facts.ct;
      const Observed observed = machine.Run(chain, kInputIp, packet);
      if (map == 0 && avx2) first = observed;
      INFO(text << ToString(observed) << " on map " << map << (avx2 ? " with" : " without") << " AVX2");
      REQUIRE(observed == first);
    }
  }
  return first;
}

bool Drops(std::string_view rows) {
  std::string text = "chain ip t c hook input priority 0 policy accept:\nrule 1:\n  guard room.network 40\n";
  text += "  guard room.transport 20\n";
  text += "  ";
  for (const char c : rows) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
  text += "\n  verdict drop\n";
  const Observed observed = RunText(text);
  REQUIRE((observed.outcome == 0 ? 0U : kNoRule) == observed.rule);
  return observed.outcome == 0;
}

TEST_CASE("a test compares the bytes of a load", "[x86]") {
  // 192.0.2.129 at network+12, ports 1234 01bb at transport+0.
  CHECK(Drops("%0 = load network+12, 4\ntest %0 == c0000281"));
  CHECK_FALSE(Drops("%0 = load network+12, 4\ntest %0 == c0000282"));
  CHECK(Drops("%0 = load network+12, 4\ntest %0 & ffffff80 == c0000280"));
  CHECK_FALSE(Drops("%0 = load network+12, 4\ntest %0 & ffffff80 != c0000280"));
  CHECK_FALSE(Drops("%0 = load network+12, 4\ntest %0 & ffffff00 == c0000281"));  // Bits outside the mask.
  CHECK(Drops("%0 = load network+12, 4\ntest %0 & ffffff00 != c0000281"));
  CHECK(Drops("%0 = load network+12, 4\ntest %0 & 00000000 == 00000000"));
  CHECK(Drops("%0 = load network+12, 1\ntest %0 == c0"));
  CHECK(Drops("%0 = load network+12, 3\ntest %0 == c00002"));
  CHECK_FALSE(Drops("%0 = load network+12, 3\ntest %0 == c00003"));
  CHECK(Drops("%0 = load transport+2, 2\ntest %0 == 01bb"));
  CHECK(Drops("%0 = load transport+2, 2\ntest %0 & 0f00 == 0100"));
  CHECK(Drops("%0 = load transport+2, 2\ntest %0 & 1000 == 0000"));
  CHECK(Drops("%0 = load network+12, 8\ntest %0 == c00002810a010203"));
  CHECK_FALSE(Drops("%0 = load network+12, 8\ntest %0 == c00002810a010202"));
  CHECK(Drops("%0 = load network+12, 8\ntest %0 & 0000000000ffff00 == 0000000000010200"));
  CHECK(Drops("%0 = load network+12, 5\ntest %0 == c00002810a"));
  CHECK(Drops("%0 = load network+12, 6\ntest %0 == c00002810a01"));
  CHECK(Drops("%0 = load network+12, 7\ntest %0 == c00002810a0102"));
  CHECK_FALSE(Drops("%0 = load network+12, 7\ntest %0 == c00002810a0103"));
}

TEST_CASE("a test compares long values", "[x86]") {
  // The payload begins at transport+20: "0123456789abcdefghij…".
  CHECK(Drops("guard room.transport 40\n%0 = load transport+20, 9\ntest %0 == 303132333435363738"));
  CHECK_FALSE(Drops("guard room.transport 40\n%0 = load transport+20, 9\ntest %0 == 303132333435363739"));
  CHECK_FALSE(Drops("guard room.transport 40\n%0 = load transport+20, 9\ntest %0 == 313132333435363738"));
  CHECK(Drops("guard room.transport 40\n%0 = load transport+20, 16\ntest %0 == 30313233343536373839616263646566"));
  CHECK(
      Drops("guard room.transport 40\n%0 = load transport+20, 16\n"
            "test %0 & ff0000000000000000000000000000f0 == 30000000000000000000000000000060"));
  CHECK(Drops("guard room.transport 40\n%0 = load transport+20, 16\ntest %0 != 30313233343536373839616263646567"));
  CHECK(
      Drops("guard room.transport 40\n%0 = load transport+20, 20\n"
            "test %0 == 303132333435363738396162636465666768696a"));
  CHECK(Drops("guard room.transport 40\n%0 = load transport+20, 12\ntest %0 >= 303132333435363738396162"));
  CHECK_FALSE(Drops("guard room.transport 40\n%0 = load transport+20, 12\ntest %0 > 303132333435363738396162"));
  CHECK(Drops("guard room.transport 40\n%0 = load transport+20, 12\ntest %0 > 303132333435363738396161"));
  CHECK(Drops("guard room.transport 40\n%0 = load transport+20, 12\ntest %0 < 303132333435363738396163"));
  CHECK_FALSE(Drops("guard room.transport 40\n%0 = load transport+20, 12\ntest %0 < 2fffffffffffffffffffffff"));
  CHECK(
      Drops("guard room.transport 40\n%0 = load transport+20, 12\n"
            "test %0 in 303132333435363738396162-303132333435363738396162"));
  CHECK(
      Drops("guard room.transport 40\n%0 = load transport+20, 12\n"
            "test %0 in 303132333435363738396100-ffffffffffffffffffffffff"));
  CHECK_FALSE(
      Drops("guard room.transport 40\n%0 = load transport+20, 12\n"
            "test %0 not in 303132333435363738396100-303132333435363738396200"));
  CHECK(
      Drops("guard room.transport 40\n%0 = load transport+20, 12\n"
            "test %0 & ffffffffffffffffffffff00 <= 303132333435363738396100"));
}

TEST_CASE("ordered tests compare as byte strings, native ones as integers", "[x86]") {
  CHECK(Drops("%0 = load transport+2, 2\ntest %0 < 01bc"));
  CHECK_FALSE(Drops("%0 = load transport+2, 2\ntest %0 < 01bb"));
  CHECK(Drops("%0 = load transport+2, 2\ntest %0 <= 01bb"));
  CHECK(Drops("%0 = load transport+2, 2\ntest %0 in 0100-01ff"));
  CHECK_FALSE(Drops("%0 = load transport+2, 2\ntest %0 not in 0100-01ff"));
  CHECK_FALSE(Drops("%0 = load transport+2, 2\ntest %0 in 01ff-0100"));
  CHECK(Drops("%0 = load transport+2, 2\ntest %0 not in 01ff-0100"));
  CHECK(Drops("%0 = load transport+2, 2\ntest native %0 > bb00"));  // 0xbb01 > 0x00bb
  CHECK_FALSE(Drops("%0 = load transport+2, 2\ntest %0 > bb00"));
  CHECK(Drops("%0 = load network+12, 4\ntest %0 in c0000200-c00002ff"));
  CHECK(Drops("%0 = load network+12, 4\ntest %0 & ffffff00 in c0000200-c0000200"));
  CHECK(Drops("%0 = load network+12, 3\ntest %0 > c00001"));
  CHECK(Drops("%0 = load network+12, 8\ntest %0 in c00002810a010203-c00002810a010203"));
  CHECK_FALSE(Drops("%0 = load network+12, 8\ntest %0 > c00002810a010203"));
  CHECK(Drops("%0 = load network+12, 7\ntest %0 <= c00002810a0102"));
  CHECK(Drops("%0 = load network+8, 1\ntest %0 >= 3f"));  // The time to live.
  CHECK(Drops("%0 = meta mark\ntest native %0 < 05030201"));
}

TEST_CASE("bits, byte order and pieces", "[x86]") {
  CHECK(Drops("%0 = load network+12, 4\n%1 = and %0, ff0000ff\ntest %1 == c0000081"));
  CHECK(Drops("%0 = load network+12, 4\n%1 = xor %0, 0000ff00\ntest %1 == c000fd81"));
  CHECK(Drops("%0 = load network+12, 4\n%1 = or %0, 00ff0000\ntest %1 == c0ff0281"));
  CHECK(Drops("%0 = load network+12, 4\n%1 = load network+16, 4\n%2 = xorv %0, %1\ntest %2 == ca010082"));
  CHECK(Drops("%0 = load network+12, 4\n%1 = shl %0, 8\ntest %1 == 00c00002"));
  CHECK(Drops("%0 = load network+12, 4\n%1 = shr %0, 8\ntest %1 == 00028100"));
  // Two words: the first is the more significant one, each of them little endian.
  CHECK(Drops("%0 = load network+12, 8\n%1 = shl %0, 8\ntest %1 == 03c00002000a0102"));
  CHECK(Drops("%0 = load network+12, 8\n%1 = shr %0, 8\ntest %1 == 00028100010203c0"));
  CHECK(Drops("%0 = load network+12, 4\n%1 = swap %0, 2\ntest %1 == 00c08102"));
  CHECK(Drops("%0 = load network+12, 4\n%1 = swap %0, 4\ntest %1 == 810200c0"));
  CHECK(Drops("%0 = load network+12, 8\n%1 = swap %0, 2\ntest %1 == 00c08102010a0302"));
  CHECK(Drops("%0 = load network+12, 8\n%1 = swap %0, 4\ntest %1 == 810200c00302010a"));
  CHECK(Drops("%0 = load network+12, 8\n%1 = swap %0, 8\ntest %1 == 0302010a810200c0"));
  CHECK(Drops("%0 = load network+12, 8\n%1 = slice %0+3, 2\ntest %1 == 810a"));
  CHECK(Drops("%0 = load network+12, 8\n%1 = xor %0, ffffffffffffffff\n%2 = slice %1+3, 3\ntest %2 == 7ef5fe"));
  CHECK(
      Drops("%0 = load network+12, 4\n%1 = load transport+2, 2\n%2 = concat %0, %1\n%3 = zext %2, 8\n"
            "test %3 == c000028101bb0000"));
  CHECK(
      Drops("%0 = load network+12, 4\n%1 = load network+12, 8\n%2 = concat %0, %1\n%3 = concat %2, %0\n"
            "test %3 == c0000281c00002810a010203c0000281"));
  CHECK(
      Drops("%0 = load network+12, 8\n%1 = concat %0, %0\n%2 = and %1, ff000000000000000000000000000001\n"
            "test %2 == c0000000000000000000000000000001"));
  CHECK(Drops("%0 = stale 4\ntest %0 == 00000000"));
  CHECK(Drops("%0 = const 0102030405\ntest %0 == 0102030405"));
}

TEST_CASE("facts beside the packet", "[x86]") {
  CHECK(Drops("%0 = meta mark\ntest %0 == 04030201"));
  CHECK(Drops("%0 = meta iif\ntest %0 == 07000000"));
  CHECK(Drops("%0 = meta oif\ntest %0 == 00000000"));
  CHECK(Drops("%0 = meta iifname\ntest %0 == 65746830000000000000000000000000"));
  CHECK(Drops("%0 = meta oifname\ntest %0 == 00000000000000000000000000000000"));
  CHECK(Drops("guard l4\n%0 = meta l4proto\ntest %0 == 06"));
  CHECK(Drops("%0 = meta protocol\ntest %0 == 0800"));
  CHECK(Drops("%0 = meta nfproto\ntest %0 == 02"));
  CHECK(Drops("%0 = meta len\ntest %0 == 4c000000"));
  CHECK(Drops("%0 = ct state\ntest %0 & 06000000 != 00000000"));
  CHECK(Drops("guard ct\n%0 = ct mark\ntest %0 == 44332211"));
  CHECK(Drops("guard ct\n%0 = ct zone\ntest %0 == 0201"));
  CHECK(Drops("guard ct\n%0 = ct src original, 4\ntest %0 == 0a090807"));
  CHECK(Drops("guard ct\n%0 = ct proto_dst original\ntest %0 == 0050"));
  CHECK(Drops("guard ct\n%0 = ct packets\ntest %0 == 0c00000000000000"));
  CHECK_FALSE(Drops("guard ct\nguard ct.known helper"));
  CHECK_FALSE(Drops("guard meta skuid"));
  CHECK_FALSE(Drops("guard oif"));
  CHECK(Drops("guard iif"));
  CHECK(Drops("guard unfragmented"));
  CHECK_FALSE(Drops("guard room.link 1"));
  CHECK_FALSE(Drops("guard room.network 77"));
  CHECK(Drops("guard room.network 76"));
  CHECK(Drops("guard room.inner 36"));
  CHECK_FALSE(Drops("guard room.inner 37"));
}

TEST_CASE("loads that read zeros outside the packet", "[x86]") {
  CHECK(Drops("%0 = load? network+74, 4\ntest %0 == 797a0000"));
  CHECK(Drops("%0 = load? network+12, 4\ntest %0 == c0000281"));
  CHECK(Drops("%0 = load? network+70, 16\ntest %0 == 75767778797a00000000000000000000"));
  CHECK(Drops("%0 = load? link+0, 6\ntest %0 == 000000000000"));
  CHECK(Drops("%0 = load? inner+0, 4\ntest %0 == 30313233"));
}

TEST_CASE("metadata is set, and values loaded before keep what they were", "[x86]") {
  const Observed observed = RunText(
      "chain ip t c hook input priority 0 policy accept:\n"
      "rule 1:\n"
      "  %0 = meta mark\n"
      "  %1 = const ddccbbaa\n"
      "  set mark %1\n"
      "  test %0 == 04030201\n"
      "  %2 = meta mark\n"
      "  test %2 == ddccbbaa\n"
      "  set priority %0\n"
      "  %3 = const 02\n"
      "  set pkttype %3\n"
      "  verdict accept\n");
  REQUIRE(observed.outcome == 1);
  REQUIRE(observed.mark == 0xaabbccdd);
  REQUIRE(observed.priority == 0x01020304);
  REQUIRE(observed.pkttype == 2);
}

// A constant set of `count` keys of the length of `keys`' elements, filled up in front with ones that are not there.
std::string ConstantSet(std::string_view kind, size_t length, size_t count, const std::vector<std::string>& last) {
  std::string text = std::string(kind) + " ip t s handle 2 exact key " + std::to_string(length) + " constant:\n";
  for (size_t i = 0; i + last.size() < count; ++i) {
    std::string key(length * 2, '0');
    key[length * 2 - 2] = "0123456789abcdef"[i / 16];
    key[length * 2 - 1] = "0123456789abcdef"[i % 16];
    text += "  " + key + (kind == "vmap" ? " : accept\n" : "\n");
  }
  for (const std::string& element : last) text += "  " + element + '\n';
  return text;
}

TEST_CASE("small constant sets are compared in place, long ones and the rest looked up", "[x86]") {
  struct Key {
    size_t length;
    const char *load, *there, *elsewhere;
  };
  const Key keys[] = {{1, "network+8, 1", "3f", "f1"},
                      {2, "transport+2, 2", "01bb", "bb01"},
                      {4, "network+12, 4", "c0000281", "810200c0"},
                      {6, "network+12, 6", "c00002810a01", "c00002810a02"}};
  for (const Key& key : keys) {
    for (const size_t count : {1, 2, 4, 5, 8, 9, 16, 17, 32, 33}) {
      for (const bool there : {true, false}) {
        for (const bool negated : {true, false}) {
          const std::string text = ConstantSet("set", key.length, count, {there ? key.there : key.elsewhere}) +
                                   "chain ip t c hook input priority 0 policy accept:\nrule 1:\n"
                                   "  guard room.network 20\n  guard room.transport 20\n  %0 = load " +
                                   key.load + "\n  lookup %0 " + (negated ? "not " : "") + "@s\n  verdict drop\n";
          INFO(text);
          CHECK((RunText(text).outcome == 0) == (there != negated));
        }
      }
    }
  }
}

TEST_CASE("verdict maps of a few constants branch, others are looked up", "[x86]") {
  struct Ending {
    const char* verdict;
    int32_t outcome;
    uint32_t rule;  // In order of the text: of the chain d, the map, the one behind it.
  };
  const Ending endings[] = {{"drop", 0, 1},     {"accept", 1, 1}, {"return", -1, kNoRule},
                            {"continue", 0, 2}, {"jump d", 1, 0}, {"goto d", 1, 0}};
  for (const size_t count : {1, 2, 8, 9}) {
    for (const Ending& ending : endings) {
      for (const bool there : {true, false}) {
        const std::string element = (there ? "01bb : " : "01bc : ") + std::string(ending.verdict);
        const std::string text = ConstantSet("vmap", 2, count, {element}) +
                                 "chain ip t d:\nrule 9:\n  verdict accept\n"
                                 "chain ip t c hook input priority 0 policy accept:\nrule 1:\n"
                                 "  guard room.transport 20\n  %0 = load transport+2, 2\n  vmap %0 @s\n"
                                 "rule 2:\n  verdict drop\n";
        INFO(text);
        const Observed observed = RunText(text, SamplePacket(), ir::ChainId(1));
        CHECK(observed.outcome == (there ? ending.outcome : 0));
        CHECK(observed.rule == (there ? ending.rule : 2));
      }
    }
  }
}

TEST_CASE("control between chains", "[x86]") {
  const auto run = [](std::string_view base, std::string_view sub) {
    return RunText("chain ip t c hook input priority 0 policy accept:\n" + std::string(base) + "chain ip t d:\n" +
                   std::string(sub));
  };
  // The rules are numbered from 0 in order of the text.
  CHECK(run("rule 1:\n  verdict jump d\nrule 2:\n  verdict drop\n", "rule 3:\n  verdict return\n").rule == 1);
  CHECK(run("rule 1:\n  verdict jump d\nrule 2:\n  verdict drop\n", "").rule == 1);
  CHECK(run("rule 1:\n  verdict jump d\nrule 2:\n  verdict drop\n", "rule 3:\n  verdict accept\n").rule == 2);
  CHECK(run("rule 1:\n  verdict goto d\nrule 2:\n  verdict drop\n", "").outcome == -1);
  CHECK(run("rule 1:\n  verdict goto d\nrule 2:\n  verdict drop\n", "rule 3:\n  verdict drop\n").rule == 2);
  CHECK(run("rule 1:\n  verdict return\nrule 2:\n  verdict drop\n", "").outcome == -1);
  CHECK(run("rule 1:\n  verdict continue\nrule 2:\n  reject icmpx 3\n", "").reject == (kRejected | 0x203));
}

}  // namespace
}  // namespace nftjit::testing
