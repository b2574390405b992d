// The yardstick: an interpreter with a register file in memory and a `switch` over one op per expression, the way the
// kernel's own loop works with its calls taken out. It knows the expressions of the linear benchmarks, no more.
#ifndef NFTJIT_BENCHMARKS_SWITCH_INTERPRETER_H_
#define NFTJIT_BENCHMARKS_SWITCH_INTERPRETER_H_

#include <cstdint>
#include <vector>

#include "lib/nft/ruleset.h"

namespace nftjit::bench {

class SwitchInterpreter {
 public:
  // The rules of one chain. Aborts on an expression that the benchmarks do not use.
  explicit SwitchInterpreter(const nft::Chain& chain);

  // An IPv4 packet; true: accepted. Bounds are checked as the kernel does, per load.
  bool Run(const uint8_t* packet, uint32_t length);

 private:
  enum class Op : uint8_t {
    kLoadNetwork,
    kLoadTransport,
    kMetaL4proto,
    kAnd,
    kCmpEq,
    kCmpNeq,
    kCount,
    kDrop,
    kAccept,
    kNextRule
  };
  struct Instruction {
    Op op;
    uint8_t reg, len;
    uint16_t offset;
    uint32_t skip;  // Instructions to the next rule.
    uint8_t data[16];
  };
  std::vector<Instruction> code_;
  std::vector<uint64_t> counters_;
};

}  // namespace nftjit::bench

#endif  // NFTJIT_BENCHMARKS_SWITCH_INTERPRETER_H_
