// Packets of every length end at a guard page: whatever the headers claim, nothing reads behind them.
#include <catch2/catch.hpp>
#include <random>

#include "tests/runtime/probe.h"

namespace nftjit::testing {
namespace {

using nft::ExthdrOp;

constexpr HookPoint kPoints[] = {
    kIpPrerouting,
    {nft::Family::kIp, Hook::kOutput},
    {nft::Family::kIp, Hook::kPostrouting},
    kIp6Prerouting,
    kNetdevIngress,
    kNetdevEgress,
    kInetIngress,
    kBridgePrerouting,
    {nft::Family::kArp, Hook::kInput},
    {nft::Family::kArp, Hook::kOutput},
};

// Touches everything that the frame says may be read. Returns a sum, so that nothing is optimised away.
uint32_t ReadAll(Frame& frame) {
  uint32_t sum = 0;
  FindInner(frame);
  for (size_t base = 0; base < ir::kBaseCount; ++base) {
    for (uint32_t i = 0; i < frame.room[base]; ++i) sum += frame.base[base][i];
    uint8_t out[64];
    for (const uint32_t offset : {0U, frame.room[base] - 1, frame.room[base], 65535U}) {
      calls::nftjit_load_or_zero(&frame, uint32_t(base), offset, sizeof out, out);
      for (const uint8_t byte : out) sum += byte;
    }
  }
  for (const ExthdrOp op : {ExthdrOp::kIpv6, ExthdrOp::kTcpOption, ExthdrOp::kIpv4, ExthdrOp::kSctp}) {
    for (const uint32_t type : {0U, 1U, 2U, 7U, 17U, 43U, 44U, 51U, 59U, 60U, 131U, 148U}) {
      uint8_t out[64]{};
      sum += calls::nftjit_exthdr_load(&frame, uint32_t(op), type, 0, ir::kPresent, 1, out);
      for (const uint32_t length : {1U, 4U, 64U}) {
        sum += calls::nftjit_exthdr_load(&frame, uint32_t(op), type, 0, 0, length, out);
        sum += calls::nftjit_exthdr_load(&frame, uint32_t(op), type, 255, 0, length, out);
      }
      sum += out[0];
    }
  }
  return sum;
}

// What must hold of any frame, for any packet.
void CheckFrame(const GuardedBytes& bytes, Packet packet, const HookPoint& point) {
  Frame frame{};
  EnterChain(point, packet, frame);
  const uint8_t* view = frame.link_view;
  for (size_t base = 0; base < ir::kBaseCount; ++base) {
    if (base == size_t(ir::Base::kInner) || frame.room[base] == 0) continue;
    const uint8_t* first = frame.base[base];
    const uint8_t* last = first + frame.room[base];
    const bool in_packet = first >= bytes.data() && last <= bytes.data() + bytes.size();
    const bool in_view = first >= view && last <= view + Frame::kLinkViewBytes;
    if (!in_packet && !in_view) FAIL("base " << base << " lies outside the packet");
  }
  if (!frame.l4_valid && frame.room[size_t(ir::Base::kTransport)] != 0) FAIL("room without transport header");
  if (frame.data_end > bytes.size()) FAIL("the end lies outside the packet");
  volatile uint32_t sink = ReadAll(frame);
  (void)sink;
}

// The bytes cut at every length, at every hook, as a frame and as an L3 packet.
void CheckTruncations(const Bytes& bytes) {
  GuardedBytes guarded(bytes);
  for (size_t size = bytes.size();; --size) {
    guarded.Truncate(size);
    for (const HookPoint& point : kPoints) {
      Packet packet;
      packet.data = guarded.data();
      packet.length = uint32_t(size);
      CheckFrame(guarded, packet, point);
      ParseEthernet(packet);
      CheckFrame(guarded, packet, point);
    }
    if (size == 0) break;
  }
}

TEST_CASE("packets cut at every length", "[runtime][truncation]") {
  const Bytes tcp =
      Ether() / Ipv4().Options(FromHex("94040000")) / Tcp().Options(FromHex("020405b401030307")) / Raw("x");
  const Bytes udp6 = Ether() / Ipv6() / Ipv6Extension(0) / Ipv6Extension(43) / Ipv6Fragment() / Ipv6Extension(60) /
                     Udp() / Raw("hello");
  const Bytes tagged = Join(FromHex("020000000001020000000002810060050800"), FromHex(kUdp));
  const Bytes double_tagged = Join(FromHex("02000000000102000000000288a8000781000009"
                                           "0800"),
                                   FromHex(kUdp));
  const Bytes gre =
      Ether() / Ipv4().Protocol(47) / Raw(FromHex("b0000800000000010000000200000003")) / Raw(FromHex(kUdp));
  const Bytes sctp = Ether() / Ipv4().Protocol(132) /
                     Raw(FromHex("0457162e0000000100000000"
                                 "0003001400000001000000000000000061626364"));
  const Bytes later6 = Join(FromHex("02000000000102000000000286dd"), FromHex(kLaterFragment6));
  const Bytes tagged_later6 = Join(FromHex("020000000001020000000002810000000800"), FromHex(kLaterFragment6));
  for (const Bytes& bytes : {tcp, udp6, tagged, double_tagged, gre, sctp, later6, tagged_later6}) {
    CheckTruncations(bytes);
    CheckTruncations(Bytes(bytes.begin() + 14, bytes.end()));
  }
}

TEST_CASE("random changes to packets", "[runtime][truncation]") {
  std::mt19937 random(0x5eed17);
  const Bytes seeds[] = {
      Ether() / Ipv4().Options(FromHex("94040000")) / Tcp().Options(FromHex("020405b401030307")),
      Ether() / Ipv6() / Ipv6Extension(0) / Ipv6Fragment() / Ipv6Extension(60) / Udp() / Raw("hello"),
      Join(FromHex("020000000001020000000002810060050800"), FromHex(kUdp)),
  };
  for (int round = 0; round < 4000; ++round) {
    Bytes bytes = seeds[random() % 3];
    for (uint32_t changes = random() % 4 + 1; changes > 0; --changes)
      bytes[random() % bytes.size()] = uint8_t(random());
    bytes.resize(random() % 4 == 0 ? random() % bytes.size() : bytes.size());
    const GuardedBytes guarded(bytes);
    Packet packet;
    packet.data = guarded.data();
    packet.length = uint32_t(bytes.size());
    ParseEthernet(packet);
    CheckFrame(guarded, packet, kPoints[random() % std::size(kPoints)]);
  }
}

TEST_CASE("offsets of the caller that make no sense", "[runtime][truncation]") {
  const GuardedBytes guarded(FromHex(kUdp));
  constexpr uint32_t kOffsets[] = {0, 1, 13, 14, 18, 20, 32, 33, 34, 1000, 0x7fffffff, 0xfffffffe, 0xffffffff};
  for (const uint32_t link : kOffsets) {
    for (const uint32_t network : kOffsets) {
      for (const bool tagged : {false, true}) {
        for (const HookPoint& point : kPoints) {
          Packet packet;
          packet.data = guarded.data();
          packet.length = uint32_t(guarded.size());
          packet.link_offset = link;
          packet.network_offset = network;
          packet.vlan_tagged = tagged;
          CheckFrame(guarded, packet, point);
        }
      }
    }
  }
  for (const HookPoint& point : kPoints) {
    Packet null;
    null.length = 100;  // Of no bytes at all.
    Frame frame{};
    EnterChain(point, null, frame);
    CHECK(frame.length == 0);
    CHECK(ReadAll(frame) == ReadAll(frame));
  }
}

}  // namespace
}  // namespace nftjit::testing
