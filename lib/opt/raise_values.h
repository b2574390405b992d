// The values of a raised rule: which registers hold them, and the expressions that put them there.
#ifndef NFTJIT_LIB_OPT_RAISE_VALUES_H_
#define NFTJIT_LIB_OPT_RAISE_VALUES_H_

#include <absl/status/statusor.h>

#include <map>
#include <optional>
#include <vector>

#include "lib/ir/guards.h"
#include "lib/ir/ir.h"
#include "lib/nft/expression.h"

namespace nftjit::opt {

inline constexpr size_t kConstantBytes = 16;  // At most, in one expression.
inline size_t WordsOf(size_t bytes) { return (bytes + 3) / 4; }

// The kernel's slow payload load, which later fragments have none of (vm-semantics 10.6).
bool IsSlowLoad(ir::Base base, uint32_t offset, uint32_t length);
// Unimplemented: no instruction for `what`.
absl::Status NoInstruction(absl::string_view what);

// Registers are taken when a value is first needed and freed with its last use.
class ValueWriter {
 public:
  // Values of `item` of a verified program, and of the blocks around it.
  ValueWriter(const ir::Program& program, const ir::Item& item);

  void Put(nft::ExpressionBody body) { out_.push_back({std::move(body), nullptr}); }
  std::vector<nft::Expression> TakeExpressions() { return std::move(out_); }

  // The first register word of the value, which is written now if it is not there yet.
  absl::StatusOr<uint8_t> Place(uint32_t value);
  // The same of a value that must be written where its row stands, whether or not somebody needs it.
  absl::Status PlaceHere(uint32_t value);
  // Loads of metadata `key` that row `before` and later rows must not see changed.
  absl::Status PlaceMeta(uint8_t key, uint32_t before);
  // One use of the value less is to come; with the last one its register is free.
  void Release(uint32_t value);
  // Whether the next use is the only one left, and the value is nowhere yet.
  [[nodiscard]] bool IsUnplacedLastUse(uint32_t value) const {
    return uses_.at(value) == 1 && !registers_.contains(value);
  }
  [[nodiscard]] bool IsLastUse(uint32_t value) const { return uses_.at(value) == 1; }

  // Free words in a row, from a 16-byte register's first one if that is possible.
  std::optional<uint8_t> Take(size_t words);
  void Free(uint8_t word, size_t words);

  void PutLoad(const ir::Row& load, nft::Register dreg, uint32_t offset, uint32_t length);
  // `lookup`, `map`, `vmap`; no `dreg`: a set.
  absl::Status PutLookup(const ir::Row& row, std::optional<nft::Register> dreg);
  // (v & mask) ^ xor, which all kernels know, in the meaning of kAnd, kOr or kXor with `constant`.
  void PutBitwise(ir::Op op, nft::Register sreg, nft::Register dreg, ByteSpan constant);

  // Guards that the loads written so far imply.
  [[nodiscard]] ir::GuardSet& implied() { return implied_; }
  // Whether a transport load was written that later fragments do not have.
  [[nodiscard]] bool has_slow_transport_load() const { return slow_transport_; }

 private:
  void CountUses(const ir::Item& item);
  absl::Status PlaceAt(uint32_t value, uint8_t word);
  absl::Status PlaceConstant(ByteSpan bytes, uint8_t word);
  absl::Status PlaceBitwise(const ir::Row& row, nft::Register dreg);
  absl::Status PlaceBitwiseOfValues(const ir::Row& row, nft::Register dreg);
  absl::Status PlaceSwap(const ir::Row& row, uint8_t word);
  absl::Status PlaceConcat(const ir::Row& row, uint8_t word);
  absl::Status PlaceZext(const ir::Row& row, uint8_t word);
  absl::Status PlaceSlice(const ir::Row& row, nft::Register dreg);
  absl::Status CopyTo(uint32_t value, uint8_t word);
  absl::Status Copy(nft::Register sreg, nft::Register dreg, uint8_t length);
  void Imply(const ir::Row& load);

  // Calls `put(register)` with the value in place, then gives the value back.
  template <class PutFunction>
  absl::Status WithOperand(uint32_t value, PutFunction&& put);

  const ir::Program& p_;
  std::vector<nft::Expression> out_;
  std::map<uint32_t, uint32_t> uses_;      // To come.
  std::map<uint32_t, uint8_t> registers_;  // First word of each value that is there.
  uint32_t taken_ = 0;                     // A bit per word.
  ir::GuardSet implied_;
  bool slow_transport_ = false;
};

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_RAISE_VALUES_H_
