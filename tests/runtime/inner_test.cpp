// The inner header: vm-semantics 7.2; kernel-quirks C14-C16, C35.
#include <catch2/catch.hpp>

#include "tests/runtime/probe.h"

namespace nftjit::testing {
namespace {

Probe Carry(uint8_t protocol, std::string_view payload) {
  return Probe::L3(Ipv4().Protocol(protocol) / Raw(FromHex(payload)), kIpPrerouting);
}

TEST_CASE("C14 TCP: any data offset, but bytes must be there", "[runtime][inner]") {
  const std::string head = "9c4000500000000100000000", tail = "02faf000000000";
  CHECK(Carry(6, head + "30" + tail + "0102030405060708").Inner(0, 2) == "3002");
  CHECK(Carry(6, head + "50" + tail + "0102030405060708").Inner(0, 2) == "0102");
  CHECK(Carry(6, head + "f0" + tail).Inner(0, 2) == kBreak);
  CHECK(Carry(6, head + "50" + tail).Inner(0, 1) == kBreak);
  CHECK(Carry(6, head + "30" + "02faf000").Inner(0, 2) == kBreak);  // Not even a whole fixed header.
}

TEST_CASE("C15 no inner header", "[runtime][inner]") {
  CHECK(Carry(1, "0800000000010001aabbccdd").Inner(0, 2) == kBreak);
  CHECK(Carry(255, "aabbccddaabbccdd").Inner(0, 2) == kBreak);
  CHECK(Carry(47, "00010800aabbccdd").Inner(0, 2) == kBreak);  // GRE version 1.
  CHECK(Carry(47, "40000800aabbccdd").Inner(0, 2) == kBreak);  // Routing.
  CHECK(Carry(47, "0000").Inner(0, 1) == kBreak);
}

TEST_CASE("C16 GRE and IPIP", "[runtime][inner]") {
  const std::string options = "00000001000000020000000300000004", inner = "aabb";
  CHECK(Carry(47, "00000800" + inner).Inner(0, 2) == "aabb");
  CHECK(Carry(47, "80000800" + options.substr(0, 8) + inner).Inner(0, 2) == "aabb");
  CHECK(Carry(47, "a0000800" + options.substr(0, 16) + inner).Inner(0, 2) == "aabb");
  CHECK(Carry(47, "b0000800" + options.substr(0, 24) + inner).Inner(0, 2) == "aabb");
  CHECK(Carry(4, "45000014").Inner(0, 4) == "45000014");
}

TEST_CASE("C35 UDP behind IP options; protocols without inner header", "[runtime][inner]") {
  const Bytes udp = Ipv4().Options(FromHex("01010101")) / Udp() / Raw("hello");
  CHECK(Probe::L3(udp, kIpPrerouting).Inner(0, 2) == "6865");
  CHECK(Probe::L3(udp, kIpPrerouting).Inner(0, 5) == "68656c6c6f");
  CHECK(Probe::L3(udp, kIpPrerouting).Inner(0, 6) == kBreak);
  for (const uint8_t protocol : {41, 50, 132, 136}) {
    CHECK(Carry(protocol, "0102030405060708090a0b0c").Inner(0, 2) == kBreak);
  }
}

TEST_CASE("a UDP header cut short has nothing behind it", "[runtime][inner]") {
  CHECK(Carry(17, "045708ae000d").Inner(0, 1) == kBreak);
  CHECK(Carry(17, "045708ae000d9afa").Inner(0, 1) == kBreak);
}

TEST_CASE("the inner header of a packet is not that of the one before", "[runtime][inner]") {
  Probe probe = Carry(17, "045708ae000d9afaaabb");
  CHECK(probe.Inner(0, 2) == "aabb");
  probe.packet().length -= 1;
  probe.Enter();
  CHECK(probe.Inner(0, 2) == kBreak);
}

}  // namespace
}  // namespace nftjit::testing
