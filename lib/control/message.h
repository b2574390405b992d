// One netlink message in a request: its headers, read.
#ifndef NFTJIT_LIB_CONTROL_MESSAGE_H_
#define NFTJIT_LIB_CONTROL_MESSAGE_H_

#include <cstdint>
#include <optional>

#include "lib/netlink/attributes.h"
#include "lib/nft/types.h"
#include "lib/support/bytes.h"

namespace nftjit::control {

// Flags of nlmsghdr (linux/netlink.h). Their bits mean different things for requests that get, add and delete.
inline constexpr uint16_t kFlagMulti = 0x2, kFlagAck = 0x4, kFlagEcho = 0x8, kFlagDumpFiltered = 0x20;
inline constexpr uint16_t kFlagDump = 0x300;
inline constexpr uint16_t kFlagReplace = 0x100, kFlagExclusive = 0x200, kFlagCreate = 0x400, kFlagAppend = 0x800;
inline constexpr uint16_t kFlagNonRecursive = 0x100;
inline constexpr uint16_t kFlagCapped = 0x100, kFlagAckAttributes = 0x200;
// Message types of netlink itself.
inline constexpr uint16_t kTypeError = 2, kTypeDone = 3;

struct Message {
  ByteSpan bytes;  // From the nlmsghdr, nlmsg_len long.
  uint16_t type = 0;
  uint16_t flags = 0;
  uint32_t sequence = 0;
  uint8_t family = 0;     // Of nfgenmsg; 0 if the message is too short for one.
  uint16_t resource = 0;  // nfgenmsg's res_id, host order.

  [[nodiscard]] uint8_t subsystem() const { return static_cast<uint8_t>(type >> 8); }
  [[nodiscard]] uint8_t operation() const { return static_cast<uint8_t>(type); }
  [[nodiscard]] bool has_family_header() const {
    return bytes.size() >= netlink::kMessageHeaderSize + netlink::kFamilyHeaderSize;
  }
  [[nodiscard]] bool has(uint16_t flag) const { return (flags & flag) != 0; }
  [[nodiscard]] bool is_dump() const { return (flags & kFlagDump) == kFlagDump; }
  [[nodiscard]] nft::Family nft_family() const { return static_cast<nft::Family>(family); }
};

// Takes the first message off `rest`; empty at the end or where a length is impossible.
inline std::optional<Message> NextMessage(ByteSpan& rest) {
  if (rest.size() < netlink::kMessageHeaderSize) return std::nullopt;
  const auto length = LoadNative<uint32_t>(rest.data());
  if (length < netlink::kMessageHeaderSize || length > rest.size()) return std::nullopt;
  Message message{.bytes = rest.first(length),
                  .type = LoadNative<uint16_t>(rest.data() + 4),
                  .flags = LoadNative<uint16_t>(rest.data() + 6),
                  .sequence = LoadNative<uint32_t>(rest.data() + 8)};
  if (message.has_family_header()) {
    message.family = rest[netlink::kMessageHeaderSize];
    message.resource = LoadBig16(rest.data() + netlink::kMessageHeaderSize + 2);
  }
  rest = rest.subspan(std::min<size_t>((size_t{length} + 3) & ~size_t{3}, rest.size()));
  return message;
}

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_MESSAGE_H_
