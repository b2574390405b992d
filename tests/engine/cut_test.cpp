// Packets with missing bytes: from how many bytes on each kind of row is known, and what follows from one that is not.
#include <catch2/catch.hpp>

#include "tests/engine/running_program.h"
#include "tests/support/guarded_bytes.h"

namespace nftjit::testing {
namespace {

constexpr HookSite kIpInput{Family::kIp, Hook::kInput}, kIp6Input{Family::kIp6, Hook::kInput},
    kIngress{Family::kNetdev, Hook::kIngress};
const Interface kDevice{.index = 1, .name = {'e', 't', 'h', '0'}};

std::string Chain(HookSite site) {
  if (site == kIngress) return "chain netdev t base hook ingress priority 0 policy accept device eth0:\n";
  const std::string family = site.family == Family::kIp6 ? "ip6" : "ip";
  return "chain " + family + " t base hook input priority 0 policy accept:\n";
}

// The packet's first `present` bytes, against a guard page; the rest is missing.
Result RunCut(Running& run, HookSite site, const Bytes& bytes, size_t present, bool ethernet, uint32_t mark = 0) {
  const GuardedBytes guarded(std::span(bytes.data(), present));
  Packet packet;
  packet.data = guarded.data();
  packet.length = static_cast<uint32_t>(present);
  packet.missing = static_cast<uint32_t>(bytes.size() - present);
  packet.mark = mark;
  packet.iif = &kDevice;
  if (ethernet) ParseEthernet(packet);
  return run.Run(site, packet);
}

struct Case {
  std::string_view rows;  // Of a rule that drops what they match.
  Bytes bytes;
  size_t need;  // So many bytes must be there for the verdict to be known.
  HookSite site = kIpInput;
  bool ethernet = false;
};

Bytes Udp4() { return Ipv4() / Udp().Dport(53) / Raw("hello"); }
Bytes Syn() { return Ipv4() / Tcp().Options(FromHex("0101020405b40402")) / Raw("payload"); }
Bytes Sctp() {
  return Ipv4().Protocol(132) / Raw(FromHex("0457162e0000000100000000")) /
         Raw(FromHex("0300001400000001000000000000000061626364")) / Raw(FromHex("0e000008aabbccdd"));
}
Bytes Routed6() { return Ipv6() / Ipv6Extension(0) / Ipv6Extension(60) / Udp().Dport(53) / Raw("hello"); }
Bytes RouterAlert() { return Ipv4().Options(FromHex("9404000001010101")) / Udp().Dport(53); }

std::vector<Case> Cases() {
  const Bytes udp = Udp4(), syn = Syn(), sctp = Sctp(), six = Routed6(), alert = RouterAlert();
  const Bytes padded = [&] {
    Bytes bytes = udp;
    bytes.insert(bytes.end(), 13, 0);
    return bytes;
  }();
  const Bytes later = Ipv4().FragmentUnits(1) / Raw("0123456789");
  const Bytes frame = Ether() / Ipv4() / Udp().Dport(53) / Raw("hello");
  const Bytes tagged = Ether() / Vlan().Vid(5) / Ipv4() / Udp().Dport(53);
  const Bytes gre = Ipv4().Protocol(47) / Raw(FromHex("2000080000000001")) / Raw("inner");
  // So many bytes of the L3 header are parsed for whatever is asked.
  constexpr size_t kHeader4 = 10, kHeader6 = 7;
  return {
      // Nothing of the packet.
      {"%0 = meta mark\n  test %0 == 00000000\n", udp, 0},
      {"%0 = meta nfproto\n  test %0 == 02\n", udp, 0},
      {"guard ct\n", udp, 0},
      // What the header tells.
      {"%0 = meta len\n  test %0 == 21000000\n", udp, kHeader4},
      {"%0 = meta len\n  test %0 == 21000000\n", padded, kHeader4},
      {"%0 = meta protocol\n  test %0 == 0800\n", udp, kHeader4},
      {"%0 = meta pkttype\n  test %0 == 00\n", udp, kHeader4},
      {"guard l4\n  %0 = meta l4proto\n  test %0 == 11\n", udp, kHeader4},
      {"guard unfragmented\n", udp, kHeader4},
      {"guard unfragmented\n", later, kHeader4},
      // Bounds count the missing bytes.
      {"guard room.network 33\n", udp, kHeader4},
      {"guard room.network 34\n", padded, kHeader4},
      {"guard room.transport 13\n", udp, kHeader4},
      {"guard room.transport 14\n", udp, kHeader4},
      {"guard room.inner 5\n", udp, kHeader4},
      // Loads.
      {"guard room.network 1\n  %0 = load network+0, 1\n  test %0 == 45\n", udp, kHeader4},
      {"guard room.network 16\n  %0 = load network+12, 4\n  test %0 == 0a000002\n", udp, 16},
      {"guard room.transport 4\n  %0 = load transport+2, 2\n  test %0 == 0035\n", udp, 24},
      {"guard room.transport 14\n  %0 = load transport+12, 2\n  test %0 == 0035\n", udp, kHeader4},
      {"guard room.inner 5\n  %0 = load inner+0, 5\n  test %0 == 68656c6c6f\n", udp, 33},
      {"%0 = load? network+31, 4\n  test %0 == 6c6f0000\n", udp, 33},
      {"%0 = load? network+40, 4\n  test %0 == 00000000\n", udp, kHeader4},
      {"guard room.inner 2\n  %0 = load inner+0, 2\n  test %0 == 7061\n", syn, 20 + 28 + 2},
      {"guard room.inner 8\n", syn, 20 + 13},
      {"guard room.inner 2\n  %0 = load inner+0, 2\n  test %0 == 696e\n", gre, 20 + 8 + 2},
      {"guard room.inner 6\n", gre, 20 + 2},
      {"guard room.link 1\n", udp, kHeader4},
      // Computed from one.
      {"guard room.network 16\n  %0 = load network+12, 4\n  %1 = and %0, ff000000\n  %2 = slice %1+0, 1\n  %3 = zext "
       "%2, 4\n  test %3 == 0a000000\n",
       udp, 16},
      // TCP options: found in what is there, or looked for to the header's end.
      {"%0 = exthdr present tcpopt 2+0, 1\n  test %0 == 01\n", syn, 20 + 24},
      {"%0 = exthdr tcpopt 2+2, 2\n  test %0 == 05b4\n", syn, 20 + 26},
      {"%0 = exthdr tcpopt 4+0, 1\n  test %0 == 04\n", syn, 20 + 28},
      {"%0 = exthdr present tcpopt 8+0, 1\n  test %0 == 01\n", syn, 20 + 28},
      {"%0 = exthdr present tcpopt 2+0, 1\n  test %0 == 01\n", udp, kHeader4},
      // IPv4 options are validated as a whole.
      {"%0 = exthdr present ipv4 148+0, 1\n  test %0 == 01\n", alert, 28},
      {"%0 = exthdr present ipv4 7+0, 1\n  test %0 == 00\n", alert, 28},
      {"%0 = exthdr present ipv4 148+0, 1\n  test %0 == 00\n", udp, kHeader4},
      {"%0 = exthdr ipv4 148+8, 2\n  test %0 == 04d2\n", alert, 30},
      // SCTP chunks.
      {"%0 = exthdr present sctp 3+0, 1\n  test %0 == 01\n", sctp, 20 + 12 + 4},
      {"%0 = exthdr sctp 3+16, 4\n  test %0 == 61626364\n", sctp, 20 + 12 + 20},
      {"%0 = exthdr present sctp 14+0, 1\n  test %0 == 01\n", sctp, 20 + 32 + 4},
      {"%0 = exthdr present sctp 9+0, 1\n  test %0 == 00\n", sctp, 20 + 32 + 4},
      // IPv6 extension headers; transport information takes the walk, addresses do not.
      {"guard room.network 40\n  %0 = load network+39, 1\n  test %0 == 01\n", six, 40, kIp6Input},
      {"%0 = meta len\n  test %0 == 00000000\n", six, kHeader6, kIp6Input},
      {"guard l4\n  %0 = meta l4proto\n  test %0 == 11\n", six, 40 + 8 + 2, kIp6Input},
      {"guard room.transport 4\n  %0 = load transport+2, 2\n  test %0 == 0035\n", six, 40 + 16 + 4, kIp6Input},
      {"%0 = exthdr present ipv6 0+0, 1\n  test %0 == 01\n", six, 40 + 2, kIp6Input},
      {"%0 = exthdr present ipv6 60+0, 1\n  test %0 == 01\n", six, 40 + 8 + 2, kIp6Input},
      {"%0 = exthdr present ipv6 43+0, 1\n  test %0 == 00\n", six, 40 + 8 + 2, kIp6Input},
      {"%0 = exthdr ipv6 60+4, 4\n  test %0 == 00000000\n", six, 40 + 16, kIp6Input},
      {"%0 = exthdr present ipv6 0+0, 1\n  test %0 == 00\n", udp, kHeader4},
      // Link headers: all or nothing, until the packet behind is parsed.
      {"guard room.link 6\n  %0 = load link+0, 1\n  test %0 == 02\n", frame, 14 + kHeader4, kIpInput, true},
      {"guard room.link 18\n  %0 = load link+14, 4\n  test %0 == 45000021\n", frame, 14 + kHeader4, kIngress, true},
      {"guard room.link 30\n  %0 = load link+26, 4\n  test %0 == 0a000002\n", tagged, 18 + 16, kIpInput, true},
      {"guard room.link 42\n", tagged, 18 + kHeader4, kIpInput, true},
      {"guard room.link 43\n", tagged, 18 + kHeader4, kIpInput, true},
      {"%0 = meta protocol\n  test %0 == 0800\n", frame, 14 + kHeader4, kIngress, true},
  };
}

TEST_CASE("each kind of row is known once the bytes it depends on are there", "[engine][cut]") {
  for (const Case& it : Cases()) {
    INFO(it.rows << " on " << ToHex(it.bytes));
    Running run(Chain(it.site) + "rule 1:\n  " + std::string(it.rows) + "  verdict drop\n", ReferenceEngine());
    const Result whole = RunCut(run, it.site, it.bytes, it.bytes.size(), it.ethernet);
    REQUIRE(whole.verdict != Verdict::kUnknown);
    for (size_t present = 0; present < it.bytes.size(); ++present) {
      INFO(present << " of " << it.bytes.size() << " bytes");
      const Result result = RunCut(run, it.site, it.bytes, present, it.ethernet);
      if (present >= it.need) {
        CHECK(result == whole);
      } else {
        CHECK(result.verdict == Verdict::kUnknown);
        CHECK(result.decided_by == DecidedBy::kMissing);
        CHECK(run.rule(result) == 1);
        CHECK(result.base_chain == 0);
      }
    }
  }
}

// A rule after the one in question, which counts, and drops what comes to it.
constexpr std::string_view kNext = "rule 2:\n  count #9\n  verdict drop\n";
constexpr std::string_view kLoadPort = "  guard room.transport 4\n  %0 = load transport+2, 2\n";

struct Walk {
  std::string_view what, rows;  // Of rule 1, behind the load of a port that is missing.
  uint64_t stays_at;            // The rule where the verdict becomes unknown, 0: the next one drops the packet.
  std::string_view sets = "";
};

TEST_CASE("a rule that certainly fails or does nothing does not matter", "[engine][cut]") {
  constexpr std::string_view kSet = "set ip t s handle 1 exact key 2:\n  0035\n";
  constexpr std::string_view kCounted = "set ip t s handle 1 exact key 2:\n  0035 counter #3\n";
  constexpr std::string_view kMap = "map ip t s handle 1 exact key 2 data 2:\n  0035 : 0001\n";
  constexpr std::string_view kVmap = "vmap ip t s handle 1 exact key 2:\n  0035 : accept\n  0036 : continue\n";
  const Walk walks[] = {
      {"only a value", "  verdict continue\n", 0},
      {"a value, and an end that does not read it", "  verdict drop\n", 0},
      {"a test alone", "  test %0 == 0035\n", 0},
      {"a test and continue", "  test %0 == 0035\n  verdict continue\n", 0},
      {"a test and an end", "  test %0 == 0035\n  verdict accept\n", 1},
      {"a test and a return", "  test %0 == 0035\n  verdict return\n", 1},
      {"a test and a count", "  test %0 == 0035\n  count #0\n", 1},
      {"a test and a log", "  test %0 == 0035\n  log #0\n", 1, "log #0 prefix \"a\"\n"},
      {"a test that fails before", "  %1 = meta mark\n  test %1 == 01000000\n  test %0 == 0035\n  verdict accept\n", 0},
      {"one that fails after", "  test %0 == 0035\n  %1 = meta mark\n  test %1 == 01000000\n  verdict accept\n", 0},
      {"one that fails after a count", "  test %0 == 0035\n  count #0\n  %1 = meta mark\n  test %1 == 01000000\n", 1},
      {"one that passes after", "  test %0 == 0035\n  %1 = meta mark\n  test %1 == 00000000\n  verdict accept\n", 1},
      {"the mark set to it", "  %1 = zext %0, 4\n  set mark %1\n", 1},
      {"the mark set behind it", "  test %0 == 0035\n  %1 = const 00000001\n  set mark %1\n", 1},
      {"a set", "  lookup %0 @s\n  verdict accept\n", 1, kSet},
      {"a set, and a test that fails", "  lookup %0 @s\n  %1 = meta mark\n  test %1 == 01000000\n  verdict accept\n", 0,
       kSet},
      {"a set that counts", "  lookup %0 @s\n  %1 = meta mark\n  test %1 == 01000000\n  verdict accept\n", 1, kCounted},
      {"a set that counts, negated", "  lookup %0 not @s\n  %1 = meta mark\n  test %1 == 01000000\n  verdict accept\n",
       0, kCounted},
      {"a set that counts and has another key",
       "  test %0 == 0035\n  %1 = const 0099\n  lookup %1 @s\n  verdict accept\n", 0, kCounted},
      {"a set that counts and has the key", "  test %0 == 0035\n  %1 = const 0035\n  lookup %1 @s\n", 1, kCounted},
      {"a map", "  %1 = map %0 @s\n  test %1 == 0001\n  verdict accept\n", 1, kMap},
      {"a map, and a test that fails", "  %1 = map %0 @s\n  %2 = meta mark\n  test %2 == 01000000\n  verdict accept\n",
       0, kMap},
      {"a verdict map", "  vmap %0 @s\n", 1, kVmap},
      {"a verdict map behind it", "  test %0 == 0035\n  %1 = const 0035\n  vmap %1 @s\n", 1, kVmap},
      {"a verdict map that misses", "  test %0 == 0035\n  %1 = const 0099\n  vmap %1 @s\n", 0, kVmap},
      {"a verdict map that goes on", "  test %0 == 0035\n  %1 = const 0036\n  vmap %1 @s\n", 0, kVmap},
      {"a random number", "  test %0 == 0035\n  %1 = meta prandom\n  test %1 == 00000000\n  verdict accept\n", 1},
  };
  const Bytes udp = Udp4();
  for (const Walk& it : walks) {
    INFO(it.what);
    const std::string text = std::string(it.sets) + Chain(kIpInput) + "rule 1:\n" + std::string(kLoadPort) +
                             std::string(it.rows) + std::string(kNext);
    Running run(text, ReferenceEngine());
    const Result result = RunCut(run, kIpInput, udp, 22, false);
    CHECK(result.verdict == (it.stays_at == 0 ? Verdict::kDrop : Verdict::kUnknown));
    CHECK(run.rule(result) == (it.stays_at != 0 ? 1 : run.packets(9) == 1 ? 2 : 1));
    CHECK(run.packets(0) == 0);
    CHECK(run.packets(3) == 0);
  }
}

TEST_CASE("what came before an unknown verdict has its effect, what comes after has none", "[engine][cut]") {
  Running run(Chain(kIpInput) +
                  "rule 1:\n  count #0\n  %0 = const 07000000\n  set mark %0\n  verdict jump x\nrule 2:\n  count #1\n"
                  "chain ip t x:\nrule 3:\n  count #2\n  guard room.transport 4\n  %0 = load transport+2, 2\n"
                  "  test %0 == 0035\n  count #3\n  verdict accept\nrule 4:\n  count #4\n",
              ReferenceEngine());
  const Bytes udp = Udp4();
  Bytes present(udp.begin(), udp.begin() + 22);
  Packet packet = L3Packet(present);
  packet.missing = static_cast<uint32_t>(udp.size() - present.size());
  const Result result = run.Run(kIpInput, packet);
  CHECK(result.verdict == Verdict::kUnknown);
  CHECK(run.rule(result) == 3);
  CHECK(run.chain(result) == "base");
  CHECK(packet.mark == 7);
  CHECK(run.packets(0) == 1);
  CHECK(run.packets(2) == 1);
  for (const uint32_t later : {1, 3, 4}) CHECK(run.packets(later) == 0);
  CHECK(run.instance().state().CounterSums()[0].bytes == udp.size());
}

TEST_CASE("rules inside a block that may not be entered", "[engine][cut]") {
  const std::string block =
      Chain(kIpInput) + "block:\n  guard room.transport 4\n  %0 = load transport+2, 2\n" + "  test %0 == 0035\n";
  const Bytes udp = Udp4();
  Running certain(
      block + "  rule 1:\n    %1 = meta mark\n    test %1 == 01000000\n    verdict accept\n" + std::string(kNext),
      ReferenceEngine());
  const Result drop = RunCut(certain, kIpInput, udp, 22, false);
  CHECK(drop.verdict == Verdict::kDrop);
  CHECK(certain.rule(drop) == 2);
  const Result unknown = RunCut(certain, kIpInput, udp, 22, false, 1);
  CHECK(unknown.verdict == Verdict::kUnknown);
  CHECK(certain.rule(unknown) == 1);
}

TEST_CASE("where not even the header was captured", "[engine][cut]") {
  const Bytes udp = Udp4();
  SECTION("chains run, and count nothing since the length is not known") {
    Running run(Chain(kIpInput) + "rule 1:\n  count #0\nrule 2:\n  count #1\n  verdict drop\n", ReferenceEngine());
    CHECK(RunCut(run, kIpInput, udp, 5, false).verdict == Verdict::kDrop);
    CHECK(run.packets(0) == 0);
    CHECK(RunCut(run, kIpInput, udp, 10, false).verdict == Verdict::kDrop);
    CHECK(run.packets(0) == 1);
  }
  SECTION("of either family") {
    Running run("chain inet t base hook input priority 0 policy accept:\nrule 1:\n  verdict drop\n", ReferenceEngine());
    Packet packet;
    packet.missing = 60;
    const Result result = run.Run({Family::kInet, Hook::kInput}, packet);
    CHECK(result.verdict == Verdict::kUnknown);
    CHECK(result.base_chain == Result::kNone);
    packet.protocol = 0x0800;
    CHECK(run.Run({Family::kInet, Hook::kInput}, packet).verdict == Verdict::kDrop);
    CHECK(run.Run({Family::kInet, Hook::kForward}, packet).decided_by == DecidedBy::kNoChain);
  }
  SECTION("inet ingress does not run the chain on a broken header, so it must be known") {
    Running run("chain inet t base hook ingress priority 0 policy accept device eth0:\nrule 1:\n  verdict drop\n",
                ReferenceEngine());
    const Bytes six = Routed6();
    for (size_t present = 0; present < six.size(); ++present) {
      INFO(present);
      const Result result = RunCut(run, kIngress, six, present, false);
      CHECK(result.verdict == (present < 50 ? Verdict::kUnknown : Verdict::kDrop));
      CHECK((result.rule == Result::kNone) == (present < 50));
    }
  }
}

TEST_CASE("the other engines take the bytes that are there for the packet", "[engine][cut]") {
  Running run(Chain(kIpInput) + "rule 1:\n  guard room.transport 4\n  verdict drop\n", InterpreterEngine());
  const Bytes udp = Udp4();
  CHECK(RunCut(run, kIpInput, udp, 22, false).verdict == Verdict::kAccept);
  CHECK(RunCut(run, kIpInput, udp, 24, false).verdict == Verdict::kDrop);
}

}  // namespace
}  // namespace nftjit::testing
