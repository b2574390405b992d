#include "lib/ir/guards.h"

#include <algorithm>

namespace nftjit::ir {
namespace {

constexpr uint32_t Bit(GuardKind kind) { return 1U << static_cast<uint32_t>(kind); }

void AddMetaGuards(nft::MetaKey key, RequirementList& list) {
  const auto number = static_cast<uint32_t>(key);
  switch (key) {
    case nft::MetaKey::kL4proto:
      list.Add(GuardKind::kL4);
      return;
    case nft::MetaKey::kIifgroup:
      list.Add(GuardKind::kIif);
      return;
    case nft::MetaKey::kOiftype:
    case nft::MetaKey::kOifgroup:
      list.Add(GuardKind::kOif);
      return;
    case nft::MetaKey::kIifkind:
      list.Add(GuardKind::kIif);
      list.Add(GuardKind::kMetaKnown, number);
      return;
    case nft::MetaKey::kOifkind:
      list.Add(GuardKind::kOif);
      list.Add(GuardKind::kMetaKnown, number);
      return;
    case nft::MetaKey::kIiftype:  // Not kIif: it follows the device that the packet is at (vm-semantics 10.9).
    case nft::MetaKey::kSkuid:
    case nft::MetaKey::kSkgid:
    case nft::MetaKey::kCgroup:
    case nft::MetaKey::kRtclassid:
      list.Add(GuardKind::kMetaKnown, number);
      return;
    default:
      return;
  }
}

void AddCtGuards(nft::CtKey key, uint8_t direction, RequirementList& list) {
  if (key == nft::CtKey::kState) return;
  list.Add(GuardKind::kCtEntry);
  switch (key) {
    case nft::CtKey::kHelper:
    case nft::CtKey::kSrcIp:
    case nft::CtKey::kDstIp:
    case nft::CtKey::kSrcIp6:
    case nft::CtKey::kDstIp6:
      list.Add(GuardKind::kCtKnown, CtKnownNumber(key, direction));
      return;
    default:
      return;
  }
}

constexpr GuardKind kRoomKinds[] = {GuardKind::kRoomLink, GuardKind::kRoomNetwork, GuardKind::kRoomTransport,
                                    GuardKind::kRoomInner};

}  // namespace

RequirementList RequiredGuards(const Row& row) {
  RequirementList list;
  if (row.op == Op::kLoad) {
    if ((row.flags & kOrZero) == 0 && row.key < kBaseCount) list.Add(kRoomKinds[row.key], row.a + row.length);
  } else if (row.op == Op::kMeta) {
    if ((row.flags & kOrZero) == 0) AddMetaGuards(static_cast<nft::MetaKey>(row.key), list);
  } else if (row.op == Op::kCt) {
    AddCtGuards(static_cast<nft::CtKey>(row.key), row.flags, list);
  }
  return list;
}

void GuardSet::Add(GuardKind kind, uint32_t number) {
  switch (kind) {
    case GuardKind::kRoomLink:
    case GuardKind::kRoomNetwork:
    case GuardKind::kRoomTransport:
    case GuardKind::kRoomInner: {
      uint32_t& room = room_[static_cast<size_t>(kind)];
      room = std::max(room, number);
      if (number == 0) return;
      if (kind == GuardKind::kRoomInner) kinds_ |= Bit(GuardKind::kUnfragmented);
      if (kind == GuardKind::kRoomInner || kind == GuardKind::kRoomTransport) kinds_ |= Bit(GuardKind::kL4);
      return;
    }
    case GuardKind::kMetaKnown:
      if (number < 64) meta_ |= uint64_t{1} << number;
      if (number == static_cast<uint32_t>(nft::MetaKey::kIifkind)) kinds_ |= Bit(GuardKind::kIif);
      if (number == static_cast<uint32_t>(nft::MetaKey::kOifkind)) kinds_ |= Bit(GuardKind::kOif);
      return;
    case GuardKind::kCtKnown:
      kinds_ |= Bit(GuardKind::kCtEntry);
      if (number >> 8 < ct_known_.size() && (number & 0xff) < 32) ct_known_[number >> 8] |= 1U << (number & 0xff);
      return;
    case GuardKind::kUnfragmented:
    case GuardKind::kL4:
    case GuardKind::kIif:
    case GuardKind::kOif:
    case GuardKind::kCtEntry:
      kinds_ |= Bit(kind);
      return;
  }
}

bool GuardSet::Covers(GuardKind kind, uint32_t number) const {
  switch (kind) {
    case GuardKind::kRoomLink:
    case GuardKind::kRoomNetwork:
    case GuardKind::kRoomTransport:
    case GuardKind::kRoomInner:
      return room_[static_cast<size_t>(kind)] >= number;
    case GuardKind::kMetaKnown:
      return number < 64 && (meta_ >> number & 1) != 0;
    case GuardKind::kCtKnown:
      return number >> 8 < ct_known_.size() && (number & 0xff) < 32 &&
             (ct_known_[number >> 8] >> (number & 0xff) & 1) != 0;
    case GuardKind::kUnfragmented:
    case GuardKind::kL4:
    case GuardKind::kIif:
    case GuardKind::kOif:
    case GuardKind::kCtEntry:
      return (kinds_ & Bit(kind)) != 0;
  }
  return false;
}

}  // namespace nftjit::ir
