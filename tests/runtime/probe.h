// A packet at a hook, asked what the kernel's expressions would load: each answer is hex, or "break".
#ifndef NFTJIT_TESTS_RUNTIME_PROBE_H_
#define NFTJIT_TESTS_RUNTIME_PROBE_H_

#include <memory>
#include <string>
#include <string_view>

#include "lib/nft/types.h"
#include "lib/runtime/calls.h"
#include "lib/runtime/parse.h"
#include "lib/support/bytes.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/packets.h"

namespace nftjit::testing {

inline constexpr std::string_view kBreak = "break";

inline constexpr HookPoint kIpPrerouting{nft::Family::kIp, Hook::kPrerouting};
inline constexpr HookPoint kIp6Prerouting{nft::Family::kIp6, Hook::kPrerouting};
inline constexpr HookPoint kNetdevIngress{nft::Family::kNetdev, Hook::kIngress};
inline constexpr HookPoint kNetdevEgress{nft::Family::kNetdev, Hook::kEgress};
inline constexpr HookPoint kInetIngress{nft::Family::kInet, Hook::kIngress};
inline constexpr HookPoint kBridgePrerouting{nft::Family::kBridge, Hook::kPrerouting};

// The packets of kernel-quirks.md.
inline constexpr std::string_view kUdp = "4500002100010000401166c90a0000020a000001045708ae000d9afa68656c6c6f";  // PU
inline constexpr std::string_view kLaterFragment =                                                              // PF
    "4500004400012001401146a50a0000020a000001045708ae003060f5000102030405060708090a0b0c0d0e0f1011121314151617"
    "18191a1b1c1d1e1f2021222324252627";
inline constexpr std::string_view kLaterFragment6 =  // P6F
    "6000000000382c40fd000000000000000000000000000002fd0000000000000000000000000000011100000900000001"
    "045708ae003060f5000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021222324252627";
inline constexpr std::string_view kLongOptions6 =  // P6D
    "6000000000083c40fd000000000000000000000000000002fd0000000000000000000000000000011102010400000000";

class Probe {
 public:
  // The bytes end at a guard page. Those of an L3 packet begin at the network header.
  static Probe L3(const Bytes& bytes, const HookPoint& point) { return Probe(bytes, point, false); }
  static Probe Frame(const Bytes& bytes, const HookPoint& point) { return Probe(bytes, point, true); }

  // For facts beside the bytes; takes effect with Enter().
  nftjit::Packet& packet() { return state_->packet; }
  nftjit::Frame& frame() { return state_->frame; }
  EnterResult Enter() { return result_ = EnterChain(state_->point, state_->packet, state_->frame); }
  [[nodiscard]] EnterResult result() const { return result_; }

  // `payload load`, with the kernel's fast and slow path (vm-semantics 10.6) as lowering makes guards of them.
  std::string Load(ir::Base base, uint32_t offset, uint32_t length) {
    const bool fast = (length == 1 || length == 2 || length == 4) && offset % length == 0;
    nftjit::Frame& frame = state_->frame;
    if (base == ir::Base::kInner && calls::nftjit_room_inner(&frame, offset + length) == 0) return std::string(kBreak);
    if (base == ir::Base::kTransport && !fast && !frame.unfragmented) return std::string(kBreak);
    if (frame.room[size_t(base)] < offset + length) return std::string(kBreak);
    return ToHex({frame.base[size_t(base)] + offset, length});
  }
  std::string Link(uint32_t offset, uint32_t length) { return Load(ir::Base::kLink, offset, length); }
  std::string Network(uint32_t offset, uint32_t length) { return Load(ir::Base::kNetwork, offset, length); }
  std::string Transport(uint32_t offset, uint32_t length) { return Load(ir::Base::kTransport, offset, length); }
  std::string Inner(uint32_t offset, uint32_t length) { return Load(ir::Base::kInner, offset, length); }

  // As the kernel stores it in `length` bytes of register.
  std::string Meta(nft::MetaKey key, uint32_t length) {
    if (calls::nftjit_meta_known(&state_->frame, uint32_t(key)) == 0) return std::string(kBreak);
    uint8_t out[16];
    calls::nftjit_meta_load(&state_->frame, uint32_t(key), length, out);
    return ToHex({out, length});
  }
  std::string L4proto() { return Meta(nft::MetaKey::kL4proto, 1); }
  uint32_t Len() {
    uint32_t length = 0;
    calls::nftjit_meta_load(&state_->frame, uint32_t(nft::MetaKey::kLen), 4, reinterpret_cast<uint8_t*>(&length));
    return length;
  }
  std::string Ct(nft::CtKey key, uint32_t length, uint8_t direction = ir::kNoDirection) {
    if (calls::nftjit_ct_known(&state_->frame, uint32_t(key), direction) == 0) return std::string(kBreak);
    uint8_t out[16];
    calls::nftjit_ct_load(&state_->frame, uint32_t(key), direction, length, out);
    return ToHex({out, length});
  }
  std::string Exthdr(nft::ExthdrOp op, uint8_t type, uint32_t offset, uint32_t length) {
    return ExthdrLoad(op, type, offset, 0, length);
  }
  std::string Present(nft::ExthdrOp op, uint8_t type) { return ExthdrLoad(op, type, 0, ir::kPresent, 1); }

 private:
  struct State {
    State(const Bytes& b, const HookPoint& p) : bytes(b), point(p) {}
    GuardedBytes bytes;
    HookPoint point;
    nftjit::Packet packet;
    nftjit::Frame frame{};
  };

  Probe(const Bytes& bytes, const HookPoint& point, bool ethernet) : state_(std::make_unique<State>(bytes, point)) {
    state_->packet.data = state_->bytes.data();
    state_->packet.length = static_cast<uint32_t>(bytes.size());
    if (ethernet) ParseEthernet(state_->packet);
    Enter();
  }
  std::string ExthdrLoad(nft::ExthdrOp op, uint8_t type, uint32_t offset, uint32_t flags, uint32_t length) {
    uint8_t out[64];
    const uint32_t found = calls::nftjit_exthdr_load(&state_->frame, uint32_t(op), type, offset, flags, length, out);
    return found == 0 ? std::string(kBreak) : ToHex({out, length});
  }

  std::unique_ptr<State> state_;
  EnterResult result_ = EnterResult::kRun;
};

// `bytes` with `change` put in place of those at `offset`.
inline Bytes With(Bytes bytes, size_t offset, std::string_view change) {
  const Bytes with = FromHex(change);
  std::copy(with.begin(), with.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  return bytes;
}
inline Bytes Join(Bytes bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
  return bytes;
}
inline Bytes First(Bytes bytes, size_t size) {
  bytes.resize(size);
  return bytes;
}

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_RUNTIME_PROBE_H_
