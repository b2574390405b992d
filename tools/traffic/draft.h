// The headers of a packet that is being aimed at a rule.
#ifndef NFTJIT_TOOLS_TRAFFIC_DRAFT_H_
#define NFTJIT_TOOLS_TRAFFIC_DRAFT_H_

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "lib/ir/ir.h"

namespace nftjit {

using RandomSource = std::function<uint64_t()>;

class Draft {
 public:
  // Random headers; TCP or UDP over IPv4, one in eight over IPv6 unless `family` says which.
  Draft(nft::Family family, const RandomSource& random);

  // Changes the headers so that every test of the rule that is about them passes.
  void Satisfy(const ir::Program& program, const ir::Item& rule);
  // A packet with consistent lengths.
  [[nodiscard]] std::vector<uint8_t> Build() const;

 private:
  void SetValue(const ir::Program& program, ir::ValueId value, const uint8_t* bytes);
  void SetLoad(const ir::Row& load, const uint8_t* bytes);
  void SatisfyTest(const ir::Program& program, const ir::Row& test);
  void SatisfyLookup(const ir::Program& program, const ir::Row& lookup);

  RandomSource random_;
  bool v6_ = false;
  uint8_t l4proto_ = 6;
  std::array<uint8_t, 40> network_{};
  std::array<uint8_t, 64> transport_{};
};

}  // namespace nftjit

#endif  // NFTJIT_TOOLS_TRAFFIC_DRAFT_H_
