#include "jit/x86/native.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "jit/x86/small_set.h"
#include "lib/runtime/frame.h"

namespace nftjit::x86 {
namespace {

using Holder = Fact::Holder;
using ir::Op;
using nft::CtKey;
using nft::MetaKey;

constexpr Fact FrameFact(size_t offset, uint8_t width) {
  return {Holder::kFrame, static_cast<uint16_t>(offset), width};
}
constexpr Fact PacketFact(size_t offset, uint8_t width) {
  return {Holder::kPacket, static_cast<uint16_t>(offset), width};
}
constexpr Fact DeviceFact(Holder holder, size_t offset, uint8_t width) {
  return {.holder = holder, .offset = static_cast<uint16_t>(offset), .width = width, .may_lack = true};
}
constexpr Fact CtFact(size_t offset, uint8_t width) {
  return {Holder::kConntrack, static_cast<uint16_t>(offset), width};
}

std::optional<Fact> MetaFact(MetaKey key) {
  Fact fact{};
  switch (key) {
    case MetaKey::kLen:
      return FrameFact(offsetof(Frame, length), 4);
    case MetaKey::kProtocol:
      fact = FrameFact(offsetof(Frame, protocol), 2);
      fact.swapped = true;
      return fact;
    case MetaKey::kNfproto:
      return FrameFact(offsetof(Frame, nfproto), 1);
    case MetaKey::kL4proto:
      return FrameFact(offsetof(Frame, l4proto), 1);
    case MetaKey::kCpu:
      return FrameFact(offsetof(Frame, cpu), 4);
    case MetaKey::kPriority:
      fact = PacketFact(offsetof(Packet, priority), 4);
      fact.changeable = true;
      return fact;
    case MetaKey::kMark:
      fact = PacketFact(offsetof(Packet, mark), 4);
      fact.changeable = true;
      return fact;
    case MetaKey::kSecmark:
      fact = PacketFact(offsetof(Packet, secmark), 4);
      fact.changeable = true;
      return fact;
    case MetaKey::kPkttype:
      fact = PacketFact(offsetof(Packet, pkttype), 1);
      fact.changeable = true;
      return fact;
    case MetaKey::kSkuid:
      return PacketFact(offsetof(Packet, skuid), 4);
    case MetaKey::kSkgid:
      return PacketFact(offsetof(Packet, skgid), 4);
    case MetaKey::kIif:
      return DeviceFact(Holder::kInputDevice, offsetof(Interface, index), 4);
    case MetaKey::kOif:
      return DeviceFact(Holder::kOutputDevice, offsetof(Interface, index), 4);
    case MetaKey::kIifname:
      return DeviceFact(Holder::kInputDevice, offsetof(Interface, name), 16);
    case MetaKey::kOifname:
      return DeviceFact(Holder::kOutputDevice, offsetof(Interface, name), 16);
    case MetaKey::kIifgroup:
      return DeviceFact(Holder::kInputDevice, offsetof(Interface, group), 4);
    case MetaKey::kOifgroup:
      return DeviceFact(Holder::kOutputDevice, offsetof(Interface, group), 4);
    default:
      return std::nullopt;
  }
}

std::optional<Fact> ConntrackFact(CtKey key, uint8_t direction) {
  const size_t tuple = direction == ir::kDirectionReply ? offsetof(Conntrack, reply) : offsetof(Conntrack, original);
  switch (key) {
    case CtKey::kState:
      return CtFact(offsetof(Conntrack, state), 4);
    case CtKey::kDirection:
      return CtFact(offsetof(Conntrack, direction), 1);
    case CtKey::kStatus:
      return CtFact(offsetof(Conntrack, status), 4);
    case CtKey::kMark:
      return CtFact(offsetof(Conntrack, mark), 4);
    case CtKey::kExpiration:
      return CtFact(offsetof(Conntrack, expiration_ms), 4);
    case CtKey::kL3protocol:
      return CtFact(offsetof(Conntrack, l3protocol), 1);
    case CtKey::kProtocol:
      return CtFact(offsetof(Conntrack, protocol), 1);
    case CtKey::kZone:
      return CtFact(offsetof(Conntrack, zone), 2);
    case CtKey::kLabel:
      return CtFact(offsetof(Conntrack, label), 16);
    case CtKey::kSrcIp:
      return CtFact(tuple + offsetof(ConntrackTuple, src), 4);
    case CtKey::kDstIp:
      return CtFact(tuple + offsetof(ConntrackTuple, dst), 4);
    case CtKey::kSrcIp6:
      return CtFact(tuple + offsetof(ConntrackTuple, src), 16);
    case CtKey::kDstIp6:
      return CtFact(tuple + offsetof(ConntrackTuple, dst), 16);
    case CtKey::kProtoSrc:
      return CtFact(tuple + offsetof(ConntrackTuple, proto_src), 2);
    case CtKey::kProtoDst:
      return CtFact(tuple + offsetof(ConntrackTuple, proto_dst), 2);
    default:  // Sums, strings that may be missing, and src and dst, whose length depends on the family.
      return std::nullopt;
  }
}

bool CallsChain(nft::VerdictCode code) { return code == nft::VerdictCode::kJump || code == nft::VerdictCode::kGoto; }

}  // namespace

std::optional<Fact> FactOf(const ir::Row& row) {
  std::optional<Fact> fact;
  if (row.op == Op::kMeta) fact = MetaFact(static_cast<MetaKey>(row.key));
  if (row.op == Op::kCt) fact = ConntrackFact(static_cast<CtKey>(row.key), row.flags);
  if (fact && fact->width != row.length) fact.reset();
  return fact;
}

bool CallsRuntime(const ir::Program& program, const ir::Row& row) {
  switch (row.op) {
    case Op::kMeta:
    case Op::kCt:
      return !FactOf(row).has_value();
    case Op::kGuard:
      return row.guard() == ir::GuardKind::kRoomInner || row.guard() == ir::GuardKind::kMetaKnown ||
             row.guard() == ir::GuardKind::kCtKnown;
    case Op::kSetMeta: {
      const auto key = static_cast<MetaKey>(row.key);
      return key != MetaKey::kMark && key != MetaKey::kPriority;
    }
    case Op::kLookup:
    case Op::kVerdictMap:
      return SmallSetOf(program, row) == nullptr;
    case Op::kExthdr:
    case Op::kMap:
    case Op::kLimit:
    case Op::kLog:
      return true;
    case Op::kConst:
    case Op::kStale:
    case Op::kLoad:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
    case Op::kShl:
    case Op::kShr:
    case Op::kSwap:
    case Op::kConcat:
    case Op::kSlice:
    case Op::kZext:
    case Op::kTest:
    case Op::kCount:
    case Op::kVerdict:
    case Op::kReject:
    case Op::kUnsupported:
      return false;
  }
  return true;
}

bool MayCall(const ir::Program& program, const ir::Row& row) {
  if (row.op == Op::kLoad) return (row.flags & ir::kOrZero) != 0;
  if (row.op == Op::kVerdict) return CallsChain(row.verdict());
  if (CallsRuntime(program, row)) return true;
  if (row.op != Op::kVerdictMap) return false;
  const std::vector<ir::SetElement>& elements = program.sets[row.b].elements;
  return std::any_of(elements.begin(), elements.end(), [](const auto& element) { return CallsChain(element.verdict); });
}

}  // namespace nftjit::x86
