// Sets at run time: from a normalised SetInfo to something that answers lookups.
#ifndef NFTJIT_LIB_RUNTIME_SET_H_
#define NFTJIT_LIB_RUNTIME_SET_H_

#include <cstdint>
#include <memory>

#include "lib/ir/ir.h"
#include "lib/runtime/frame.h"

namespace nftjit {

// Immutable after construction; lookups from any number of threads. Exact sets are open-addressing hashes, intervals a
// branch-free search over sorted bounds, concatenated ranges a bitmap per field (first inserted element wins).
class SetTable {
 public:
  static constexpr uint32_t kMiss = UINT32_MAX;

  static std::unique_ptr<const SetTable> Build(const ir::SetInfo& info, uint64_t created_ns);
  virtual ~SetTable() = default;

  // The element for key_len bytes at `key`, or the catch-all, or kMiss. Expired elements never match. Element numbers
  // index SetInfo::elements; the catch-all's number is SetInfo::elements.size().
  [[nodiscard]] virtual uint32_t Find(const uint8_t* key, uint64_t now_ns) const noexcept = 0;

  [[nodiscard]] const ir::SetInfo& info() const { return *info_; }
  [[nodiscard]] const ir::SetElement& element(uint32_t number) const {
    return number < info_->elements.size() ? info_->elements[number] : *info_->catchall;
  }
  // data_len bytes of a data map's element, zero padded to a multiple of four bytes.
  [[nodiscard]] const uint8_t* data(uint32_t number) const { return data_.get() + size_t{number} * data_stride_; }

 protected:
  const ir::SetInfo* info_ = nullptr;
  std::unique_ptr<uint8_t[]> data_;
  size_t data_stride_ = 0;
};

}  // namespace nftjit

#endif  // NFTJIT_LIB_RUNTIME_SET_H_
