// Netlink attributes: a bounds-checked reader that knows where in the message each attribute stands, and a writer.
//
// The reader does what the kernel's liberal parser does: unknown numbers are skipped, the last of two equal numbers
// counts, a truncated tail is ignored, the nested and byte-order bits of the type are masked off.
#ifndef NFTJIT_LIB_NETLINK_ATTRIBUTES_H_
#define NFTJIT_LIB_NETLINK_ATTRIBUTES_H_

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lib/support/bytes.h"

namespace nftjit::netlink {

inline constexpr size_t kAttributeHeaderSize = 4;
inline constexpr size_t kMessageHeaderSize = 16;  // nlmsghdr.
inline constexpr size_t kFamilyHeaderSize = 4;    // nfgenmsg.

// One attribute; a view into the message. Default: absent.
class Attribute {
 public:
  constexpr Attribute() = default;
  constexpr Attribute(const uint8_t* data, uint16_t size, uint32_t offset, uint16_t type)
      : data_(data), offset_(offset), size_(size), type_(type) {}
  explicit constexpr operator bool() const { return data_ != nullptr; }
  [[nodiscard]] uint16_t type() const { return type_; }
  // Of the attribute's header, from the start of the message.
  [[nodiscard]] size_t offset() const { return offset_; }
  [[nodiscard]] ByteSpan payload() const { return {data_, size_}; }
  [[nodiscard]] size_t size() const { return size_; }
  // Big-endian integers: the first bytes of the payload. A policy has made sure that they are there; else 0.
  [[nodiscard]] uint8_t U8() const { return size_ >= 1 ? data_[0] : 0; }
  [[nodiscard]] uint16_t U16() const { return size_ >= 2 ? LoadBig16(data_) : 0; }
  [[nodiscard]] uint32_t U32() const { return size_ >= 4 ? LoadBig32(data_) : 0; }
  [[nodiscard]] uint64_t U64() const { return size_ >= 8 ? LoadBig64(data_) : 0; }
  // Up to the first zero byte or the end: strings come with and without their terminator.
  [[nodiscard]] std::string_view String() const { return Raw().substr(0, Raw().find('\0')); }
  [[nodiscard]] std::string_view Raw() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const uint8_t* data_ = nullptr;
  uint32_t offset_ = 0;
  uint16_t size_ = 0;
  uint16_t type_ = 0;
};

// The attributes in a run of bytes, in order. Stops at the first that does not fit, as the kernel does.
//   for (AttributeCursor at(nest); at.Next();) Use(at.attribute());
class AttributeCursor {
 public:
  // Of a nest; an absent one is empty.
  explicit AttributeCursor(const Attribute& nest)
      : rest_(nest.payload()), offset_(static_cast<uint32_t>(nest.offset() + kAttributeHeaderSize)) {}
  // Of bytes that begin `offset` bytes into the message.
  AttributeCursor(ByteSpan bytes, size_t offset) : rest_(bytes), offset_(static_cast<uint32_t>(offset)) {}
  bool Next() {
    if (rest_.size() < kAttributeHeaderSize) return false;
    const auto length = LoadNative<uint16_t>(rest_.data());
    if (length < kAttributeHeaderSize || length > rest_.size()) return false;
    const uint16_t type = LoadNative<uint16_t>(rest_.data() + 2) & kTypeMask;
    current_ = Attribute(rest_.data() + kAttributeHeaderSize, length - kAttributeHeaderSize, offset_, type);
    const size_t step = std::min<size_t>((size_t{length} + 3) & ~size_t{3}, rest_.size());
    rest_ = rest_.subspan(step);
    offset_ += static_cast<uint32_t>(step);
    return true;
  }
  [[nodiscard]] const Attribute& attribute() const { return current_; }

 private:
  static constexpr uint16_t kTypeMask = 0x3fff;
  ByteSpan rest_;
  uint32_t offset_;
  Attribute current_;
};

// What the kernel demands of one attribute number before it looks at the value. Violations are ERANGE.
struct Policy {
  enum Kind : uint8_t { kAny, kU8, kU16, kU32, kU64, kString, kNest, kBinary } kind = kAny;
  // kString, kBinary: bytes at most, the terminator not counted. Integers: greatest value. 0: no limit.
  uint32_t limit = 0;
};

// 0, or the errno of `attribute` under `policy`.
int CheckPolicy(const Attribute& attribute, const Policy& policy);

// The attributes of a nest by number, 0 to `Max`.
template <size_t Max>
class AttributeTable {
 public:
  using Policies = std::array<Policy, Max + 1>;

  // Fills the table; on a violation returns its errno and sets bad() to the attribute. `unknown`, if given, collects
  // attributes with numbers above `Max`, verbatim and padded.
  int Parse(AttributeCursor cursor, const Policies& policies, std::string* unknown = nullptr) {
    while (cursor.Next()) {
      const Attribute& attribute = cursor.attribute();
      const uint16_t type = attribute.type();
      if (type == 0 || type > Max) {
        if (unknown != nullptr && type != 0) AppendVerbatim(attribute, unknown);
        continue;
      }
      if (const int error = CheckPolicy(attribute, policies[type]); error != 0) {
        bad_ = attribute;
        return error;
      }
      attributes_[type] = attribute;
    }
    return 0;
  }
  // Absent ones convert to false.
  const Attribute& operator[](size_t number) const { return attributes_[number]; }
  [[nodiscard]] const Attribute& bad() const { return bad_; }

 private:
  static void AppendVerbatim(const Attribute& attribute, std::string* out) {
    const auto* header = reinterpret_cast<const char*>(attribute.payload().data()) - kAttributeHeaderSize;
    out->append(header, attribute.size() + kAttributeHeaderSize);
    out->resize((out->size() + 3) & ~size_t{3});
  }

  std::array<Attribute, Max + 1> attributes_{};
  Attribute bad_;
};

// Appends attributes to a string that the caller owns. Integers are written big-endian.
class AttributeWriter {
 public:
  explicit AttributeWriter(std::string* out) : out_(out) {}
  void Bytes(uint16_t type, ByteSpan bytes) {
    uint8_t* payload = Extend(type, bytes.size());
    if (!bytes.empty()) std::memcpy(payload, bytes.data(), bytes.size());
  }
  void Raw(uint16_t type, std::string_view bytes) {
    Bytes(type, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  }
  // With its terminating zero.
  void String(uint16_t type, std::string_view text) {
    uint8_t* payload = Extend(type, text.size() + 1);
    if (!text.empty()) std::memcpy(payload, text.data(), text.size());
  }
  void U8(uint16_t type, uint8_t value) { *Extend(type, 1) = value; }
  void U16(uint16_t type, uint16_t value) { StoreBig16(Extend(type, 2), value); }
  void U32(uint16_t type, uint32_t value) { StoreBig32(Extend(type, 4), value); }
  void U64(uint16_t type, uint64_t value) { StoreBig64(Extend(type, 8), value); }
  // Attributes that were written before, with their padding.
  void Append(std::string_view attributes) { out_->append(attributes); }

  // A nest is open from BeginNest to EndNest(what BeginNest returned).
  [[nodiscard]] size_t BeginNest(uint16_t type) {
    const size_t start = out_->size();
    Extend(type, 0);
    return start;
  }
  // False if the nest is longer than the 65535 bytes that its header can say; its bytes are taken back then.
  bool EndNest(size_t start) {
    const size_t length = out_->size() - start;
    if (length > UINT16_MAX) {
      out_->resize(start);
      return false;
    }
    StoreNative(reinterpret_cast<uint8_t*>(out_->data()) + start, static_cast<uint16_t>(length));
    return true;
  }
  [[nodiscard]] size_t size() const { return out_->size(); }
  // Takes back everything after `size`, which size() returned before.
  void Rewind(size_t size) { out_->resize(size); }

 private:
  // Adds a header and `payload` zero bytes, padded to a multiple of four; returns where the payload begins. A payload
  // too long for a header is a broken invariant: everything in the model came out of an attribute.
  uint8_t* Extend(uint16_t type, size_t payload) {
    assert(payload + kAttributeHeaderSize <= UINT16_MAX);
    const size_t start = out_->size();
    out_->append(kAttributeHeaderSize + ((payload + 3) & ~size_t{3}), '\0');
    auto* header = reinterpret_cast<uint8_t*>(out_->data()) + start;
    StoreNative(header, static_cast<uint16_t>(payload + kAttributeHeaderSize));
    StoreNative(header + 2, type);
    return header + kAttributeHeaderSize;
  }

  std::string* out_;
};

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_ATTRIBUTES_H_
