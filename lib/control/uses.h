// How often the things of a table are referred to, as the kernel counts.
#ifndef NFTJIT_LIB_CONTROL_USES_H_
#define NFTJIT_LIB_CONTROL_USES_H_

#include <absl/container/flat_hash_map.h>

#include "lib/nft/references.h"
#include "lib/nft/ruleset.h"

namespace nftjit::control {

// By handle. Chains: jumps and gotos to them, from rules and elements, without their own rules. Things that nothing
// refers to are missing or 0.
class UseCounts {
 public:
  UseCounts() = default;
  explicit UseCounts(const nft::Table& table) {
    for (const nft::Chain& chain : table.chains) {
      for (const nft::Rule& rule : chain.rules) Add(rule);
    }
    for (const nft::Set& set : table.sets) {
      for (const nft::Element& element : set.elements) Add(element);
    }
  }
  [[nodiscard]] uint32_t of(nft::Handle handle) const {
    const auto found = counts_.find(handle);
    return found == counts_.end() ? 0 : found->second;
  }
  void Add(const nft::Rule& rule) {
    for (const nft::Expression& expression : rule.expressions) nft::ForEachReference(expression, Counter{*this, 1});
  }
  void Add(const nft::Element& element) { nft::ForEachReference(element, Counter{*this, 1}); }
  void Remove(const nft::Rule& rule) {
    for (const nft::Expression& expression : rule.expressions) nft::ForEachReference(expression, Counter{*this, -1});
  }
  void Remove(const nft::Element& element) { nft::ForEachReference(element, Counter{*this, -1}); }

 private:
  struct Counter {
    UseCounts& uses;
    int step;
    void operator()(const nft::Reference& reference) const {
      uses.counts_[reference.handle] += static_cast<uint32_t>(step);
    }
  };
  absl::flat_hash_map<nft::Handle, uint32_t> counts_;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_USES_H_
