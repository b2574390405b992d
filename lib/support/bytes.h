// Byte strings of bounded length, and the byte orders of the VM.
//
// Registers of the nf_tables VM hold raw bytes; constants are kept as the bytes that they put there, never as integers.
#ifndef NFTJIT_LIB_SUPPORT_BYTES_H_
#define NFTJIT_LIB_SUPPORT_BYTES_H_

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace nftjit {

using ByteSpan = std::span<const uint8_t>;
inline ByteSpan AsBytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// At most `Capacity` bytes, stored inline. Bytes after `size()` are zero, so that equality is that of the whole object.
template <size_t Capacity>
class InlineBytes {
 public:
  constexpr InlineBytes() = default;
  // `bytes` must not be longer than Capacity.
  explicit InlineBytes(ByteSpan bytes) : size_(static_cast<uint8_t>(bytes.size())) {
    assert(bytes.size() <= Capacity);
    std::copy(bytes.begin(), bytes.end(), bytes_.begin());
  }
  [[nodiscard]] size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const uint8_t* data() const { return bytes_.data(); }
  [[nodiscard]] uint8_t* data() { return bytes_.data(); }
  [[nodiscard]] ByteSpan span() const { return {bytes_.data(), size_}; }
  uint8_t operator[](size_t i) const { return bytes_[i]; }
  // Changes the length; new bytes are zero.
  void resize(size_t size) {
    assert(size <= Capacity);
    for (size_t i = size; i < size_; ++i) bytes_[i] = 0;
    size_ = static_cast<uint8_t>(size);
  }
  bool operator==(const InlineBytes&) const = default;

 private:
  std::array<uint8_t, Capacity> bytes_{};
  uint8_t size_ = 0;
};

// A constant operand of an expression: the kernel allows 1 to 16 bytes (vm-semantics 3).
using Bytes16 = InlineBytes<16>;

// At most eight bytes, the first of them the lowest.
inline uint64_t LoadLittle(ByteSpan bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | bytes[i];
  return value;
}
// The integer whose order is that of the byte strings, or of the native integers in them.
inline uint64_t LoadOrdered(ByteSpan bytes, bool native) {
  if (native) return LoadLittle(bytes);
  uint64_t value = 0;
  for (const uint8_t byte : bytes) value = value << 8 | byte;
  return value;
}
inline uint16_t LoadBig16(const uint8_t* p) { return static_cast<uint16_t>(p[0] << 8 | p[1]); }
inline uint32_t LoadBig32(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}
inline uint64_t LoadBig64(const uint8_t* p) { return uint64_t{LoadBig32(p)} << 32 | LoadBig32(p + 4); }
inline void StoreBig16(uint8_t* p, uint16_t v) {
  p[0] = static_cast<uint8_t>(v >> 8);
  p[1] = static_cast<uint8_t>(v);
}
inline void StoreBig32(uint8_t* p, uint32_t v) {
  StoreBig16(p, static_cast<uint16_t>(v >> 16));
  StoreBig16(p + 2, static_cast<uint16_t>(v));
}
inline void StoreBig64(uint8_t* p, uint64_t v) {
  StoreBig32(p, static_cast<uint32_t>(v >> 32));
  StoreBig32(p + 4, static_cast<uint32_t>(v));
}

// Native-order integers, as the kernel stores "host order" quantities in registers. Unaligned.
template <class T>
T LoadNative(const uint8_t* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void StoreNative(uint8_t* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

// Lower-case hex without separators.
std::string ToHex(ByteSpan bytes);

}  // namespace nftjit

#endif  // NFTJIT_LIB_SUPPORT_BYTES_H_
