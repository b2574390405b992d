// The pool of constants.
#include "lib/ir/constants.h"

#include <catch2/catch.hpp>
#include <vector>

namespace nftjit::ir {
namespace {

std::vector<uint8_t> Bytes(uint32_t number, size_t length) {
  std::vector<uint8_t> bytes(length);
  for (size_t i = 0; i < length; ++i) bytes[i] = static_cast<uint8_t>(number >> (i % 4 * 8));
  return bytes;
}

TEST_CASE("equal bytes have equal ids", "[ir][constants]") {
  ConstantPool pool;
  std::vector<ConstId> ids;
  for (uint32_t n = 0; n < 5000; ++n) ids.push_back(pool.Intern(Bytes(n, 1 + n % 40)));
  for (uint32_t n = 0; n < 5000; ++n) {
    const std::vector<uint8_t> bytes = Bytes(n, 1 + n % 40);
    const ByteSpan held = pool[ids[n]];
    REQUIRE(std::vector<uint8_t>(held.begin(), held.end()) == bytes);
    REQUIRE(pool.Intern(bytes) == ids[n]);
  }
  REQUIRE(pool.Intern(Bytes(0, 2)) != pool.Intern(Bytes(0, 3)));
  REQUIRE(pool[pool.Intern({})].empty());
}

TEST_CASE("bytes of the pool itself can be interned", "[ir][constants]") {
  ConstantPool pool;
  ConstId id = pool.Intern(Bytes(0x04030201, 64));
  for (size_t length = 63; length > 0; --length) {
    const std::vector<uint8_t> expected(pool[id].begin(), pool[id].begin() + length);
    id = pool.Intern(pool[id].first(length));
    REQUIRE(std::vector<uint8_t>(pool[id].begin(), pool[id].end()) == expected);
  }
}

TEST_CASE("reserving changes nothing", "[ir][constants]") {
  ConstantPool pool;
  const ConstId first = pool.Intern(Bytes(7, 4));
  pool.Reserve(1000);
  REQUIRE(pool.Intern(Bytes(7, 4)) == first);
  pool.Reserve(1);
  REQUIRE(pool.Intern(Bytes(8, 4)) != first);
  REQUIRE(pool.size() == 2);
}

}  // namespace
}  // namespace nftjit::ir
