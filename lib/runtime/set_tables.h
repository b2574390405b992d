// What the kinds of SetTable share. Private to lib/runtime/set_*.cpp.
#ifndef NFTJIT_LIB_RUNTIME_SET_TABLES_H_
#define NFTJIT_LIB_RUNTIME_SET_TABLES_H_

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "lib/runtime/set.h"
#include "lib/support/bytes.h"

namespace nftjit {

__extension__ using Uint128 = unsigned __int128;

// Elements with their deadlines and the catch-all.
class ElementTable : public SetTable {
 public:
  ElementTable(const ir::SetInfo& info, uint64_t created_ns);

 protected:
  [[nodiscard]] bool HasTimeouts() const { return !deadlines_.empty(); }
  // Expired elements never match; without any timeout in the set nothing is asked.
  [[nodiscard]] bool Alive(uint32_t element, uint64_t now_ns) const {
    return deadlines_.empty() || now_ns < deadlines_[element];
  }
  // What a lookup returns that found `element`, or kMiss. Without a branch on that: traffic of which half matches would
  // be predicted wrong each other time.
  [[nodiscard]] uint32_t FoundOrCatchAll(uint32_t element, uint64_t now_ns) const {
    if (!deadlines_.empty()) return FoundAliveOrCatchAll(element, now_ns);
    return std::min(element, catchall_);  // Elements < the catch-all < kMiss.
  }

 private:
  [[nodiscard]] uint32_t FoundAliveOrCatchAll(uint32_t element, uint64_t now_ns) const;

  std::vector<uint64_t> deadlines_;  // By element; the catch-all's is last. Empty: none has a timeout.
  uint32_t catchall_ = kMiss;
};

// Big-endian integer of `length` bytes, at most sizeof(Key): compares as memcmp does.
template <class Key>
Key LoadBigKey(const uint8_t* bytes, size_t length) {
  if (length == 1) return bytes[0];
  if (length == 2) return LoadBig16(bytes);
  if (length == 4) return LoadBig32(bytes);
  if constexpr (sizeof(Key) >= 8) {
    if (length == 8) return LoadBig64(bytes);
  }
  if constexpr (sizeof(Key) == 16) {
    if (length == 16) return Key{LoadBig64(bytes)} << 64 | LoadBig64(bytes + 8);
  }
  Key key = 0;
  for (size_t i = 0; i < length; ++i) key = key << 8 | bytes[i];
  return key;
}

// The index of the last of `count` sorted values that is not above `value`, 0 if all are; `count` is at least 1. The
// number of steps depends on `count` alone, and each is a conditional move.
template <class Key>
uint32_t LastNotAbove(const Key* sorted, uint32_t count, Key value) {
  const Key* from = sorted;
  while (count > 1) {
    const uint32_t half = count / 2;
    from = from[half] <= value ? from + half : from;
    count -= half;
  }
  return static_cast<uint32_t>(from - sorted);
}

inline const uint8_t* Bytes(const std::string& text) { return reinterpret_cast<const uint8_t*>(text.data()); }

std::unique_ptr<const SetTable> BuildExact(const ir::SetInfo& info, uint64_t created_ns);
std::unique_ptr<const SetTable> BuildInterval(const ir::SetInfo& info, uint64_t created_ns);
std::unique_ptr<const SetTable> BuildConcatRanges(const ir::SetInfo& info, uint64_t created_ns);

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_SET_TABLES_H_
