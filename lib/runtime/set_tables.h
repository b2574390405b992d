// What the kinds of SetTable share. Private to lib/runtime/set_*.cpp.
#ifndef NFTJIT_LIB_RUNTIME_SET_TABLES_H_
#define NFTJIT_LIB_RUNTIME_SET_TABLES_H_

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
  // Expired elements never match; without any timeout in the set nothing is asked.
  [[nodiscard]] bool Alive(uint32_t element, uint64_t now_ns) const {
    return deadlines_.empty() || now_ns < deadlines_[element];
  }
  // What a lookup that found no element returns.
  [[nodiscard]] uint32_t CatchAll(uint64_t now_ns) const {
    return catchall_ != kMiss && Alive(catchall_, now_ns) ? catchall_ : kMiss;
  }
  [[nodiscard]] uint32_t FoundOrCatchAll(uint32_t element, uint64_t now_ns) const {
    return element != kMiss && Alive(element, now_ns) ? element : CatchAll(now_ns);
  }

 private:
  std::vector<uint64_t> deadlines_;  // By element; the catch-all's is last. Empty: none has a timeout.
  uint32_t catchall_ = kMiss;
};

// Big-endian integer of `length` bytes, at most sizeof(Key): compares as memcmp does.
template <class Key>
Key LoadBigKey(const uint8_t* bytes, size_t length) {
  if constexpr (sizeof(Key) == 4) {
    if (length == 4) return LoadBig32(bytes);
  } else if constexpr (sizeof(Key) == 8) {
    if (length == 8) return LoadBig64(bytes);
  } else {
    if (length == 16) return Key{LoadBig64(bytes)} << 64 | LoadBig64(bytes + 8);
  }
  Key key = 0;
  for (size_t i = 0; i < length; ++i) key = key << 8 | bytes[i];
  return key;
}

// Of how many of `count` sorted values `value` is at least as great, without a branch that depends on it.
// For generated code's sake nothing here allocates or throws.
template <class Key>
uint32_t CountNotAbove(const Key* sorted, uint32_t count, Key value) {
  if (count == 0) return 0;
  const Key* from = sorted;
  while (count > 1) {
    const uint32_t half = count / 2;
    from = from[half] <= value ? from + half : from;
    count -= half;
  }
  return static_cast<uint32_t>(from - sorted) + (*from <= value ? 1 : 0);
}

inline const uint8_t* Bytes(const std::string& text) { return reinterpret_cast<const uint8_t*>(text.data()); }

std::unique_ptr<const SetTable> BuildExact(const ir::SetInfo& info, uint64_t created_ns);
std::unique_ptr<const SetTable> BuildInterval(const ir::SetInfo& info, uint64_t created_ns);
std::unique_ptr<const SetTable> BuildConcatRanges(const ir::SetInfo& info, uint64_t created_ns);

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_SET_TABLES_H_
