// A small generator: numbers from a seed, the same on every machine, so that a seed names a case; or first from bytes
// that a fuzzer writes.
#ifndef NFTJIT_TESTS_SUPPORT_RANDOM_H_
#define NFTJIT_TESTS_SUPPORT_RANDOM_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace nftjit::testing {

class Random {  // SplitMix64.
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // Two bytes of `script` decide the upper bits of a number, which are what choices look at; behind its end the seed
  // goes on. `script` must outlive this.
  Random(std::span<const uint8_t> script, uint64_t seed) : state_(seed), script_(script) {}
  uint64_t Next() {
    const uint64_t drawn = Draw();
    if (script_.size() < 2) return drawn;
    const uint64_t upper = uint64_t{script_[0]} << 8 | script_[1];
    script_ = script_.subspan(2);
    return upper << 48 | drawn >> 16;
  }
  // 0 to n - 1; n must not be 0.
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>((Next() >> 32) * n >> 32); }
  // `low` to `high`, both included.
  uint32_t Between(uint32_t low, uint32_t high) { return low + Below(high - low + 1); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }
  bool Percent(uint32_t percent) { return Below(100) < percent; }
  uint8_t Byte() { return static_cast<uint8_t>(Next() >> 56); }
  template <class T>
  T Pick(std::initializer_list<T> items) {
    return items.begin()[Below(static_cast<uint32_t>(items.size()))];
  }
  template <class Items>
  auto& PickFrom(Items& items) {
    return items[Below(static_cast<uint32_t>(items.size()))];
  }
  std::vector<uint8_t> Bytes(size_t n) {
    std::vector<uint8_t> bytes(n);
    for (uint8_t& byte : bytes) byte = Byte();
    return bytes;
  }
  // A generator of its own for a part, so that changes of one part do not shift the others.
  Random Fork() { return Random(Next()); }

 private:
  uint64_t Draw() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
  std::span<const uint8_t> script_;
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_RANDOM_H_
