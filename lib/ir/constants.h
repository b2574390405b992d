// Interned byte strings: the constants of a Program.
#ifndef NFTJIT_LIB_IR_CONSTANTS_H_
#define NFTJIT_LIB_IR_CONSTANTS_H_

#include <cstdint>
#include <vector>

#include "lib/support/bytes.h"
#include "lib/support/id.h"

namespace nftjit::ir {

using ConstId = Id<struct ConstTag>;

// Equal bytes have equal ids. Bytes live in one arena; spans are valid until
// the next Intern. At most 255 bytes each.
class ConstantPool {
 public:
  ConstId Intern(ByteSpan bytes);
  // Room for `count` constants without another allocation of the tables.
  void Reserve(size_t count);
  [[nodiscard]] ByteSpan operator[](ConstId id) const {
    const Entry& entry = entries_[id.index];
    return {arena_.data() + entry.offset, entry.size};
  }
  [[nodiscard]] size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    uint32_t offset;
    uint32_t size;
  };
  void Rehash(size_t slots);
  std::vector<uint8_t> arena_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // Open addressing, power of two; entry index + 1, 0 for free.
};

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_CONSTANTS_H_
