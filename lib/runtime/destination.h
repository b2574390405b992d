// Where a load of the reference functions puts its value.
#ifndef NFTJIT_LIB_RUNTIME_DESTINATION_H_
#define NFTJIT_LIB_RUNTIME_DESTINATION_H_

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nftjit {

// The bytes of one value: what the kernel stores of it goes first, the rest is zero (vm-semantics 1, sub-word stores).
class Destination {
 public:
  Destination(uint8_t* bytes, uint32_t length) : bytes_(bytes), length_(length) { std::memset(bytes, 0, length); }
  void Bytes(const void* bytes, size_t size) { std::memcpy(bytes_, bytes, std::min<size_t>(size, length_)); }
  // An integer in native order, as the kernel keeps "host order" quantities.
  template <class T>
  void Native(T value) {
    Bytes(&value, sizeof value);
  }

 private:
  uint8_t* bytes_;
  uint32_t length_;
};

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_DESTINATION_H_
