// Reading of sources while packets run: where bytes lie, and bytes, metadata and conntrack facts as integers.
#ifndef NFTJIT_INTERP_INTERPRETER_SOURCES_H_
#define NFTJIT_INTERP_INTERPRETER_SOURCES_H_

#include <cstring>

#include "interp/interpreter_code.h"
#include "lib/runtime/calls.h"
#include "lib/runtime/frame.h"

namespace nftjit::interp {

inline constexpr std::array<char, 16> kNoName{};

// Metadata that is read without a call, and reads as 0 where it is not there.
inline bool IsPlainMeta(nft::MetaKey key) {
  switch (key) {
    case nft::MetaKey::kLen:
    case nft::MetaKey::kProtocol:
    case nft::MetaKey::kPriority:
    case nft::MetaKey::kMark:
    case nft::MetaKey::kIif:
    case nft::MetaKey::kOif:
    case nft::MetaKey::kNfproto:
    case nft::MetaKey::kL4proto:
    case nft::MetaKey::kPkttype:
      return true;
    default:
      return false;
  }
}
// Metadata that rules change.
inline bool IsSettable(nft::MetaKey key) {
  return key == nft::MetaKey::kMark || key == nft::MetaKey::kPriority || key == nft::MetaKey::kPkttype ||
         key == nft::MetaKey::kSecmark;
}
// Conntrack facts that are read without a call, and read as their default where there is no entry.
inline bool IsPlainCt(nft::CtKey key) {
  return key == nft::CtKey::kState || key == nft::CtKey::kStatus || key == nft::CtKey::kMark;
}

// The first byte of an addressable source; `length` bytes may be read there, given that its guards passed.
inline const uint8_t* AddressOf(const Frame& frame, Place place, uint32_t offset) noexcept {
  switch (place) {
    case Place::kSlot:
      return frame.scratch + offset;
    case Place::kIifName:
    case Place::kOifName: {
      const Interface* device = place == Place::kIifName ? frame.iif : frame.oif;
      return reinterpret_cast<const uint8_t*>(device != nullptr ? device->name.data() : kNoName.data()) + offset;
    }
    default:  // A base. The mask tells the compiler what the encoder promises.
      static_assert(ir::kBaseCount == 4);
      return frame.base[static_cast<size_t>(place) % ir::kBaseCount] + offset;
  }
}

// One to eight bytes as an integer whose lowest byte is the first.
template <uint32_t length>
uint64_t ReadFixed(const uint8_t* p) noexcept {
  uint64_t x = 0;
  std::memcpy(&x, p, length);
  return x;
}
inline uint64_t ReadUpTo8(const uint8_t* p, uint32_t length) noexcept {
  switch (length) {
    case 1:
      return *p;
    case 2:
      return ReadFixed<2>(p);
    case 3:
      return ReadFixed<3>(p);
    case 4:
      return ReadFixed<4>(p);
    case 8:
      return ReadFixed<8>(p);
    default: {
      uint64_t x = 0;
      std::memcpy(&x, p, length);
      return x;
    }
  }
}
inline uint64_t LowBytes(uint32_t length) { return length >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * length)) - 1; }

// nft::MetaKey `key` as a load of `length` bytes would store it (nftjit_meta_load).
inline uint64_t MetaInteger(Frame& frame, uint8_t key, uint32_t length) noexcept {
  switch (static_cast<nft::MetaKey>(key)) {
    case nft::MetaKey::kLen:
      return frame.length & LowBytes(length);
    case nft::MetaKey::kProtocol:
      return __builtin_bswap16(frame.protocol) & LowBytes(length);
    case nft::MetaKey::kPriority:
      return frame.packet->priority & LowBytes(length);
    case nft::MetaKey::kMark:
      return frame.packet->mark & LowBytes(length);
    case nft::MetaKey::kIif:
      return (frame.iif != nullptr ? frame.iif->index : 0) & LowBytes(length);
    case nft::MetaKey::kOif:
      return (frame.oif != nullptr ? frame.oif->index : 0) & LowBytes(length);
    case nft::MetaKey::kNfproto:
      return frame.nfproto;
    case nft::MetaKey::kL4proto:
      return frame.l4proto;
    case nft::MetaKey::kPkttype:
      return frame.packet->pkttype;
    default: {
      uint8_t bytes[64] = {};
      calls::nftjit_meta_load(&frame, key, length, bytes);
      return ReadUpTo8(bytes, length);
    }
  }
}

// An undirected nft::CtKey for which IsPlainCt() holds.
inline uint64_t CtInteger(const Frame& frame, uint8_t key, uint32_t length) noexcept {
  const Conntrack& ct = *frame.ct;
  const auto which = static_cast<nft::CtKey>(key);
  const uint32_t value = which == nft::CtKey::kState ? ct.state : (which == nft::CtKey::kStatus ? ct.status : ct.mark);
  return value & LowBytes(length);
}

// The four lowest bytes of a table column's source; 0 where it lies outside the packet (the guard column tells).
inline uint32_t ReadColumn(Frame& frame, const Source& source) noexcept {
  if (source.in_packet()) {
    const auto base = static_cast<size_t>(source.place);
    if (frame.room[base] < source.offset + source.length) return 0;
    return static_cast<uint32_t>(ReadUpTo8(frame.base[base] + source.offset, source.length));
  }
  if (source.place == Place::kMeta) return static_cast<uint32_t>(MetaInteger(frame, source.key, source.length));
  if (source.place == Place::kCt) return static_cast<uint32_t>(CtInteger(frame, source.key, source.length));
  return static_cast<uint32_t>(ReadUpTo8(AddressOf(frame, source.place, source.offset), source.length));
}

}  // namespace nftjit::interp

#endif  // NFTJIT_INTERP_INTERPRETER_SOURCES_H_
