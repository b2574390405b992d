// What registers hold while a rule runs: the length and byte order of each value, as nft's types have them.
//
// The listing prints constants by the type of what they are compared with, and says neither length (legacy) nor byte
// order (current). Both the printer and the parser take them from here, so that they agree.
#ifndef NFTJIT_LIB_NFT_VALUE_TYPES_H_
#define NFTJIT_LIB_NFT_VALUE_TYPES_H_

#include <absl/container/flat_hash_map.h>

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "lib/nft/ruleset.h"

namespace nftjit::nft {

enum class ByteOrder : uint8_t {
  kUnknown,
  kMemory,  // Packet bytes, addresses, names: as they lie in the register.
  kHost,    // Native integers.
};

// Values of which nft compares the first bytes alone, where a rule asks for a beginning: `eth*`, 192.168.1.0/24.
// (Packet bytes it loads fewer of instead.)
enum class Beginnings : uint8_t { kNever, kNames, kPrefixes };

struct ValueType {
  uint8_t len = 0;  // In bytes; 0: unknown.
  ByteOrder order = ByteOrder::kUnknown;
  Beginnings beginnings = Beginnings::kNever;
  bool operator==(const ValueType&) const = default;
  [[nodiscard]] size_t words() const { return (len + size_t{3}) / 4; }
};

// What a set's keys and data are made of, first field first.
struct SetShape {
  std::vector<ValueType> key, data;
};
using SetShapes = absl::flat_hash_map<Handle, SetShape>;

// The register file of one rule, expression by expression.
class ValueTypes {
 public:
  explicit ValueTypes(Family family) : family_(family) {}

  // The value that begins at `reg`; empty if none does.
  [[nodiscard]] std::optional<ValueType> At(Register reg) const;
  // Whether something was stored in the word that `reg` begins at.
  [[nodiscard]] bool IsLoaded(Register reg) const;
  // Values one behind the other, the first at `reg`, that fill at most `words` words.
  [[nodiscard]] std::vector<ValueType> From(Register reg, size_t words) const;
  // What `expression`, whose constants and lengths are complete, writes. An immediate gives its register `immediate`,
  // a map lookup `data`.
  void Apply(const Expression& expression, const ValueType& immediate, std::span<const ValueType> data);

 private:
  void Write(Register reg, const ValueType& type);

  Family family_;
  std::array<std::optional<ValueType>, 16> values_{};
};

// What the first of `rest` that reads `reg` takes it for; unknown if it says nothing, or none reads it before it is
// written again.
ValueType WantedType(std::span<const Expression> rest, Register reg, Family family);
// The same of `words` words that a map lookup writes at `reg`. Where nothing is wanted, fields end with `words`.
std::vector<ValueType> WantedTypes(std::span<const Expression> rest, Register reg, size_t words, Family family);

// What the constants of the expression at `at` are: compared with, masked by, stored.
ValueType OperandType(const ValueTypes& values, std::span<const Expression> rule, size_t at, Family family);

// The shapes of all sets that rules of `table` look up or fill; the first use counts.
SetShapes ShapesOf(const Table& table);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_VALUE_TYPES_H_
