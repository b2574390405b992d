// J: limits.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/quirks/quirk.h"

namespace nftjit::testing {
namespace {

constexpr uint64_t kDay = 86400;

std::vector<Bytes> Times(size_t count) { return std::vector<Bytes>(count, PacketPU()); }

TEST_CASE("J9 a packet limit lets its burst through; burst 0 is 5") {
  Quirk quirk;
  quirk.Counts({Limit(1, kDay, 5)}, 5);
  quirk.Counts({Limit(1, kDay, 0)}, 5);
  quirk.Counts({Limit(1, kDay, 5, nft::LimitType::kPackets, true)}, 5);
  quirk.Run(Times(10));
}

TEST_CASE("J10 a byte limit counts packet lengths") {
  Quirk ten;
  ten.Counts({Limit(100, kDay, 0, nft::LimitType::kBytes)}, 3);
  ten.Counts({Limit(100, kDay, 66, nft::LimitType::kBytes)}, 5);
  ten.Run(Times(10));
  Quirk three;
  three.Counts({Limit(33, kDay, 0, nft::LimitType::kBytes)}, 1);
  three.Counts({Limit(32, kDay, 0, nft::LimitType::kBytes)}, 0);
  three.Run(Times(3));
}

TEST_CASE("J12 a rate above one a nanosecond, and unit 0, never limit") {
  Quirk quirk;
  quirk.Matches({Limit(2000000000, 1, 5)});
  quirk.Matches({Limit(1, 0, 5)});
  quirk.Run(Times(20));
}

TEST_CASE("J13 limits that are refused") {
  const auto limit = [](uint64_t rate, uint64_t unit, uint32_t type, uint32_t flags) {
    RawRule rule;
    rule.Expression("limit").U64(1, rate).U64(2, unit).U32(3, 5).U32(4, type).U32(5, flags);
    return rule;
  };
  limit(1, 1, 0, 0).Gives(0);
  limit(0, 1, 0, 0).Gives(EINVAL);
  limit(1, uint64_t{1} << 40, 0, 0).Gives(EOVERFLOW);
  limit(UINT64_MAX, 1, 1, 0).Gives(EOVERFLOW);
  limit(1, 1, 2, 0).Gives(EOPNOTSUPP);
  limit(1, 1, 0, 2).Gives(EOPNOTSUPP);
}

}  // namespace
}  // namespace nftjit::testing
