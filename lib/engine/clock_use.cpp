#include "lib/engine/clock_use.h"

#include <vector>

namespace nftjit {
namespace {

bool DependsOnTime(const ir::SetElement& element) { return element.timeout_ms || !element.limits.empty(); }

bool DependsOnTime(const ir::SetInfo& set) {
  for (const ir::SetElement& element : set.elements) {
    if (DependsOnTime(element)) return true;
  }
  return set.catchall && DependsOnTime(*set.catchall);
}

bool IsTime(nft::MetaKey key) {
  return key == nft::MetaKey::kTime || key == nft::MetaKey::kDay || key == nft::MetaKey::kHour;
}

// A walk over the chains that a chain reaches.
class Walk {
 public:
  explicit Walk(const ir::Program& program) : program_(program), seen_(program.chains.size()) {}

  bool FindsTime(ir::ChainId from) {
    Reach(from);
    while (!pending_.empty()) {
      const ir::Chain& chain = program_.chains[pending_.back().index];
      pending_.pop_back();
      for (const ir::Item& item : program_.ItemsOf(chain)) {
        for (const ir::Row& row : program_.RowsOf(item)) {
          if (NeedsTime(row)) return true;
        }
      }
    }
    return false;
  }

 private:
  void Reach(ir::ChainId chain) {
    if (!chain.valid() || seen_[chain.index]) return;
    seen_[chain.index] = true;
    pending_.push_back(chain);
  }

  bool NeedsTime(const ir::Row& row) {
    switch (row.op) {
      case ir::Op::kLimit:
        return true;
      case ir::Op::kMeta:
        return IsTime(static_cast<nft::MetaKey>(row.key));
      case ir::Op::kMap:
      case ir::Op::kLookup:
        return DependsOnTime(program_.sets[row.b]);
      case ir::Op::kVerdictMap:
        for (const ir::SetElement& element : program_.sets[row.b].elements) Reach(element.chain);
        if (program_.sets[row.b].catchall) Reach(program_.sets[row.b].catchall->chain);
        return DependsOnTime(program_.sets[row.b]);
      case ir::Op::kVerdict:
        Reach(ir::ChainId(row.a));
        return false;
      default:  // Ops without kClock, kSet or a chain.
        return false;
    }
  }

  const ir::Program& program_;
  std::vector<bool> seen_;
  std::vector<ir::ChainId> pending_;
};

}  // namespace

bool DependsOnTime(const ir::Program& program, ir::ChainId chain) { return Walk(program).FindsTime(chain); }

}  // namespace nftjit
