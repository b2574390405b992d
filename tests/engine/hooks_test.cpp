// Which base chains a packet meets, in which order, and what ends the walk. F… are entries of the kernel's observed
// behaviour (kernel-quirks).
#include <catch2/catch.hpp>

#include "tests/engine/running_program.h"

namespace nftjit::testing {
namespace {

TEST_CASE("F7 accept goes on with the next base chain, drop does not", "[engine][hooks]") {
  const EngineInterface& engine = AnyEngine();
  const std::string_view first_verdict = GENERATE("accept", "drop");
  Running run(
      "chain inet t first hook input priority 0 policy accept:\n"
      "rule 1:\n  count #0\n  verdict " +
          std::string(first_verdict) +
          "\n"
          "chain inet t second hook input priority 10 policy accept:\n"
          "rule 2:\n  count #1\n  verdict drop\n",
      engine);
  const Result result = run.Run(Hook::kInput, UdpPacket());
  REQUIRE(result.verdict == Verdict::kDrop);
  REQUIRE(result.decided_by == DecidedBy::kRule);
  REQUIRE(run.packets(0) == 1);
  REQUIRE(run.packets(1) == (first_verdict == "accept" ? 1 : 0));
  REQUIRE(run.chain(result) == (first_verdict == "accept" ? "second" : "first"));
  REQUIRE(run.rule(result) == (first_verdict == "accept" ? 2 : 1));
}

TEST_CASE("F6 return in a base chain gives its policy", "[engine][hooks]") {
  const EngineInterface& engine = AnyEngine();
  const std::string policy = GENERATE("accept", "drop");
  Running run("chain inet t first hook input priority 0 policy " + policy +
                  ":\n"
                  "rule 1:\n  verdict return\n"
                  "rule 2:\n  count #0\n"
                  "chain inet t later hook input priority 10 policy accept:\n"
                  "rule 3:\n  count #1\n",
              engine);
  const Result result = run.Run(Hook::kInput, UdpPacket());
  REQUIRE(result.decided_by == DecidedBy::kPolicy);
  REQUIRE(result.rule == Result::kNone);
  REQUIRE(result.verdict == (policy == "accept" ? Verdict::kAccept : Verdict::kDrop));
  REQUIRE(run.packets(0) == 0);
  REQUIRE(run.packets(1) == (policy == "accept" ? 1 : 0));
  REQUIRE(run.chain(result) == (policy == "accept" ? "later" : "first"));
}

TEST_CASE("base chains run by ascending priority, whatever their order in the ruleset", "[engine][hooks]") {
  Running run(
      "chain ip t late hook forward priority 5 policy drop:\n"
      "chain ip t early hook forward priority -5 policy drop:\n"
      "rule 1:\n  count #0\n  verdict accept\n"
      "chain ip t middle hook forward priority 0 policy accept:\n"
      "rule 2:\n  count #1\n",
      AnyEngine());
  const Result result = run.Run(Hook::kForward, UdpPacket());
  REQUIRE(run.packets(0) == 1);
  REQUIRE(run.packets(1) == 1);
  REQUIRE(run.chain(result) == "late");
  REQUIRE(result.decided_by == DecidedBy::kPolicy);
}

TEST_CASE("F8 at equal priority the later-registered chain runs first, also between ip and inet", "[engine][hooks]") {
  const EngineInterface& engine = AnyEngine();
  const std::string family = GENERATE("ip", "inet");
  Running run(
      "chain ip t c1 hook input priority 0 policy accept registration 1:\n"
      "rule 1:\n  count #0\n"
      "chain " +
          family + " u c2 hook input priority 0 policy drop registration 2:\n",
      engine);
  const Result result = run.Run(Hook::kInput, UdpPacket());
  REQUIRE(run.chain(result) == "c2");
  REQUIRE(run.packets(0) == 0);
}

TEST_CASE("F26 a table that was dormant registers its chains anew", "[engine][hooks]") {
  // As the control plane numbers them: o's chains 1 and 2, then o2's 3; after waking o its chains are 4 and 5.
  const EngineInterface& engine = AnyEngine();
  const auto chains = [](int c1, int c2, int d) {
    return "chain ip o c1 hook input priority 0 policy accept registration " + std::to_string(c1) +
           ":\nrule 1:\n  count #0\n"
           "chain ip o c2 hook input priority 0 policy drop registration " +
           std::to_string(c2) +
           ":\nrule 2:\n  count #1\n"
           "chain ip o2 d hook input priority 0 policy accept registration " +
           std::to_string(d) + ":\nrule 3:\n  count #2\n";
  };
  Running before(chains(1, 2, 3), engine);
  before.Run(Hook::kInput, UdpPacket());
  REQUIRE(before.packets(2) == 1);
  REQUIRE(before.packets(1) == 1);
  REQUIRE(before.packets(0) == 0);
  Running after(chains(4, 5, 3), engine);
  after.Run(Hook::kInput, UdpPacket());
  REQUIRE(after.packets(1) == 1);
  REQUIRE(after.packets(0) == 0);
  REQUIRE(after.packets(2) == 0);
}

TEST_CASE("F21 dormant tables are not evaluated", "[engine][hooks]") {
  Running run(
      "chain ip t c hook input priority 0 policy drop dormant:\n"
      "rule 1:\n  count #0\n  verdict drop\n",
      AnyEngine());
  const Result result = run.Run(Hook::kInput, UdpPacket());
  REQUIRE(result == Result());
  REQUIRE(run.packets(0) == 0);
}

TEST_CASE("F16 nat chains are not run as ordinary hooks, route chains are", "[engine][hooks]") {
  const EngineInterface& engine = AnyEngine();
  Running nat("chain ip t c type nat hook prerouting priority -100 policy drop:\n", engine);
  REQUIRE(nat.Run(Hook::kPrerouting, UdpPacket()) == Result());
  Running route("chain ip t c type route hook output priority 0 policy drop:\n", engine);
  REQUIRE(route.Run(Hook::kOutput, UdpPacket()).verdict == Verdict::kDrop);
}

TEST_CASE("inet chains join the hooks of ip and ip6, each with its own rules", "[engine][hooks]") {
  Running run(
      "chain inet t both hook input priority 0 policy accept:\n"
      "rule 1:\n  count #0\n"
      "chain ip t four hook input priority 1 policy accept:\n"
      "rule 2:\n  count #1\n"
      "chain ip6 t six hook input priority 1 policy accept:\n"
      "rule 3:\n  count #2\n",
      AnyEngine());
  run.Run(Hook::kInput, UdpPacket());
  run.Run(Hook::kInput, Ipv6() / Udp());
  REQUIRE(run.packets(0) == 2);
  REQUIRE(run.packets(1) == 1);
  REQUIRE(run.packets(2) == 1);

  // A packet that is neither meets no chain.
  Bytes bytes = Ipv4().Version(5) / Udp();
  Packet packet = L3Packet(bytes);
  packet.protocol = 0;
  REQUIRE(run.Run({Family::kInet, Hook::kInput}, packet) == Result());
  packet.protocol = 0x0806;
  REQUIRE(run.Run({Family::kInet, Hook::kInput}, packet) == Result());
  packet.length = 0;
  packet.protocol = 0;
  REQUIRE(run.Run({Family::kInet, Hook::kInput}, packet) == Result());
  REQUIRE(run.packets(0) == 2);
}

TEST_CASE("hooks that do not exist have no chains", "[engine][hooks]") {
  Running run(
      "chain ip t c hook input priority 0 policy drop:\n"
      "chain arp t a hook output priority 0 policy drop:\n",
      AnyEngine());
  Bytes bytes = UdpPacket();
  Packet packet = L3Packet(bytes);
  for (const HookSite site : {HookSite{Family::kArp, Hook::kForward},
                              {Family::kIp, Hook::kIngress},
                              {Family::kNetdev, Hook::kInput},
                              {Family::kIp, Hook::kEgress},
                              {static_cast<Family>(0), Hook::kInput},
                              {Family::kIp, static_cast<Hook>(77)}}) {
    REQUIRE(run.Run(site, packet) == Result());
  }
  REQUIRE(run.Run({Family::kArp, Hook::kOutput}, packet).verdict == Verdict::kDrop);
}

TEST_CASE("F27 ingress chains run for their devices only", "[engine][hooks]") {
  const EngineInterface& engine = AnyEngine();
  Running run(
      "chain netdev t none hook ingress priority 0 policy accept:\n"
      "rule 1:\n  count #0\n"
      "chain netdev t exact hook ingress priority 1 policy accept device tun5 device eth1:\n"
      "rule 2:\n  count #1\n"
      "chain netdev t prefix hook ingress priority 2 policy accept prefix t:\n"
      "rule 3:\n  count #2\n"
      "chain inet i in hook ingress priority 3 policy accept device tun5:\n"
      "rule 4:\n  count #3\n"
      "chain netdev t out hook egress priority 0 policy accept device eth1:\n"
      "rule 5:\n  count #4\n",
      engine);
  const Interface tun5 = MakeInterface("tun5", 5), tun = MakeInterface("tun", 6), eth1 = MakeInterface("eth1", 7);
  Bytes bytes = Ether() / Ipv4() / Udp();
  const auto ingress = [&](const Interface* iif) {
    Packet packet = EthernetPacket(bytes);
    packet.iif = iif;
    return run.Run({Family::kNetdev, Hook::kIngress}, packet);
  };
  ingress(&tun5);
  REQUIRE(run.packets(1) == 1);
  REQUIRE(run.packets(2) == 1);
  REQUIRE(run.packets(3) == 1);
  ingress(&tun);
  REQUIRE(run.packets(1) == 1);
  REQUIRE(run.packets(2) == 2);
  ingress(&eth1);
  REQUIRE(run.packets(1) == 2);
  REQUIRE(run.packets(2) == 2);
  REQUIRE(run.packets(3) == 1);
  REQUIRE(ingress(nullptr) == Result());
  REQUIRE(run.packets(0) == 0);

  Packet packet = EthernetPacket(bytes);
  packet.iif = &eth1;
  packet.oif = &tun5;
  run.Run({Family::kNetdev, Hook::kEgress}, packet);
  REQUIRE(run.packets(4) == 0);
  packet.oif = &eth1;
  run.Run({Family::kNetdev, Hook::kEgress}, packet);
  REQUIRE(run.packets(4) == 1);
}

TEST_CASE("C19 a broken header at inet ingress drops before the chain, other protocols pass it by", "[engine][hooks]") {
  Running run(
      "chain netdev t first hook ingress priority -1 policy accept device tap0:\n"
      "rule 1:\n  count #0\n"
      "chain inet i in hook ingress priority 0 policy accept device tap0:\n"
      "rule 2:\n  count #1\n"
      "chain netdev t last hook ingress priority 1 policy accept device tap0:\n"
      "rule 3:\n  count #2\n",
      AnyEngine());
  const Interface tap = MakeInterface("tap0", 3);
  const auto ingress = [&](Bytes bytes) {
    Packet packet = EthernetPacket(bytes);
    packet.iif = &tap;
    return run.Run({Family::kInet, Hook::kIngress}, packet);
  };
  const Result dropped = ingress(Ether() / Ipv4().TotalLength(200) / Udp());
  REQUIRE(dropped.verdict == Verdict::kDrop);
  REQUIRE(dropped.decided_by == DecidedBy::kHeader);
  REQUIRE(run.chain(dropped) == "in");
  REQUIRE(run.packets(0) == 1);
  REQUIRE(run.packets(1) == 0);
  REQUIRE(run.packets(2) == 0);

  const Result arp = ingress(Ether() / Arp());
  REQUIRE(arp.verdict == Verdict::kAccept);
  REQUIRE(run.chain(arp) == "last");
  REQUIRE(run.packets(1) == 0);
  REQUIRE(run.packets(2) == 1);
  REQUIRE(ingress(Ether() / Ipv4().Checksum(0x1234) / Udp()).verdict == Verdict::kAccept);
  REQUIRE(run.packets(1) == 1);
}

}  // namespace
}  // namespace nftjit::testing
