// Where rows went while a pass moves them, as far as the rows that follow can ask.
#ifndef NFTJIT_LIB_OPT_ROW_MAP_H_
#define NFTJIT_LIB_OPT_ROW_MAP_H_

#include <cstdint>
#include <vector>

#include "lib/ir/ir.h"

namespace nftjit::opt {

// Holds the rows of one item, and of the heads of the blocks around it. Items are entered in order.
class RowMap {
 public:
  // Item number `index`; rows are known by their old numbers.
  void Enter(const ir::Item& item, uint32_t index) {
    while (!open_.empty() && open_.back().end <= index) {
      moved_.resize(open_.back().base);
      open_.pop_back();
    }
    base_ = static_cast<uint32_t>(moved_.size());
    first_ = item.first_row;
    moved_.resize(base_ + item.row_count);
  }
  void Leave(const ir::Item& item) {
    if (item.kind == ir::ItemKind::kBlock) {
      open_.push_back({first_, base_, item.end});
    } else {
      moved_.resize(base_);
    }
  }

  void Set(uint32_t from, uint32_t to) { moved_[base_ + from - first_] = to; }
  [[nodiscard]] uint32_t operator[](uint32_t from) const {
    if (from >= first_) return moved_[base_ + from - first_];
    size_t block = open_.size() - 1;
    while (open_[block].first > from) --block;
    return moved_[open_[block].base + from - open_[block].first];
  }

 private:
  struct Open {
    uint32_t first, base, end;
  };
  std::vector<uint32_t> moved_;
  std::vector<Open> open_;
  uint32_t base_ = 0, first_ = 0;  // Of the item that was entered last.
};

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_ROW_MAP_H_
