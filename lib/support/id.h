// Typed 32-bit ids: an index into one of a Program's tables, of a type of its own.
#ifndef NFTJIT_LIB_SUPPORT_ID_H_
#define NFTJIT_LIB_SUPPORT_ID_H_

#include <compare>
#include <cstdint>

namespace nftjit {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t index = kNone;
  constexpr Id() = default;
  explicit constexpr Id(uint32_t i) : index(i) {}
  [[nodiscard]] constexpr bool valid() const { return index != kNone; }
  auto operator<=>(const Id&) const = default;
};

}  // namespace nftjit

#endif  // NFTJIT_LIB_SUPPORT_ID_H_
