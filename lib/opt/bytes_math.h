// Arithmetic on constants: byte strings as the values of the IR, in the meaning of each op.
#ifndef NFTJIT_LIB_OPT_BYTES_MATH_H_
#define NFTJIT_LIB_OPT_BYTES_MATH_H_

#include "lib/ir/ir.h"
#include "lib/support/bytes.h"

namespace nftjit::opt {

// A constant while it is computed: at most 128 bytes, two bounds of the longest value. Unlike InlineBytes it does not
// keep the bytes after its size zero, which costs more than all arithmetic on the short ones that there mostly are.
class Bytes {
 public:
  Bytes() {}  // NOLINT(modernize-use-equals-default): leaves bytes_ as they are.
  explicit Bytes(ByteSpan bytes) : size_(bytes.size()) { std::copy(bytes.begin(), bytes.end(), bytes_); }
  Bytes(const Bytes& other) : Bytes(other.span()) {}
  Bytes& operator=(const Bytes& other) {  // NOLINT(bugprone-unhandled-self-assignment): copies onto itself, unharmed.
    size_ = other.size_;
    std::copy_n(other.bytes_, size_, bytes_);
    return *this;
  }
  static Bytes Filled(size_t size, uint8_t byte) {
    Bytes bytes;
    bytes.size_ = size;
    std::fill_n(bytes.bytes_, size, byte);
    return bytes;
  }

  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const uint8_t* data() const { return bytes_; }
  [[nodiscard]] uint8_t* data() { return bytes_; }
  [[nodiscard]] ByteSpan span() const { return {bytes_, size_}; }
  uint8_t operator[](size_t i) const { return bytes_[i]; }
  // New bytes are zero.
  void resize(size_t size) {
    for (size_t i = size_; i < size; ++i) bytes_[i] = 0;
    size_ = size;
  }
  bool operator==(const Bytes& other) const {
    return std::equal(bytes_, bytes_ + size_, other.bytes_, other.bytes_ + other.size_);
  }

 private:
  size_t size_ = 0;
  uint8_t bytes_[128];
};

inline ByteSpan ConstantOf(const ir::Program& program, uint32_t id) { return program.constants[ir::ConstId(id)]; }
inline uint32_t Intern(ir::Program& program, ByteSpan bytes) { return program.constants.Intern(bytes).index; }

Bytes And(ByteSpan a, ByteSpan b);
Bytes Or(ByteSpan a, ByteSpan b);
Bytes Xor(ByteSpan a, ByteSpan b);
Bytes AndNot(ByteSpan a, ByteSpan b);  // Bits of a that are not in b.
bool AllZero(ByteSpan a);
bool AllOnes(ByteSpan a);
uint32_t CountBits(ByteSpan a);
// Reverses the bytes of each element of `size` bytes.
Bytes Swap(ByteSpan a, size_t size);
// Shifts of native 32-bit words, word 0 most significant (vm-semantics 10.4).
Bytes ShiftLeft(ByteSpan a, uint32_t count);
Bytes ShiftRight(ByteSpan a, uint32_t count);

// Three-way comparison as byte strings, or as native integers: lengths 1, 2, 4 or 8.
int Compare(ByteSpan a, ByteSpan b, bool native);
// a + 1, a - 1 in the same order of significance; false if there is no such value.
bool Increment(Bytes& a, bool native);
bool Decrement(Bytes& a, bool native);

bool IsRange(ir::Comparison comparison);     // kIn, kNotIn
bool IsEquality(ir::Comparison comparison);  // kEq, kNeq
// Whether a test passes for `value` (before its mask).
bool Passes(const ir::Program& program, const ir::Row& test, ByteSpan value);

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_BYTES_MATH_H_
