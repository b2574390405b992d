// The token bucket: vm-semantics 10.19; kernel-quirks J8-J13.
#include "lib/runtime/limit.h"

#include <catch2/catch.hpp>
#include <random>
#include <thread>
#include <vector>

namespace nftjit {
namespace {

constexpr uint64_t kMillisecond = 1'000'000, kSecond = 1'000'000'000, kDay = 86'400;
constexpr uint32_t kPacketBytes = 33;

// How many of `packets`, one every `gap_ns`, pass.
int Passes(const ir::LimitInfo& info, int packets, uint64_t gap_ns = 0) {
  LimitState limit;
  uint64_t now = 12345;
  limit.Start(info, now);
  int passed = 0;
  for (int i = 0; i < packets; ++i, now += gap_ns) passed += limit.Pass(now, kPacketBytes) ? 1 : 0;
  return passed;
}

TEST_CASE("J9 packets per day", "[runtime][limit]") {
  CHECK(Passes({.rate = 1, .unit_s = kDay, .burst = 5}, 10) == 5);
  CHECK(Passes({.rate = 1, .unit_s = kDay, .burst = 0}, 10) == 5);
  CHECK(Passes({.rate = 1, .unit_s = kDay, .burst = 5, .inverted = true}, 10) == 5);
  CHECK(Passes({.rate = 1, .unit_s = kDay, .burst = 7, .inverted = true}, 10) == 3);
}

TEST_CASE("J10 bytes per day", "[runtime][limit]") {
  const auto bytes = [](uint64_t rate, uint32_t burst) {
    return ir::LimitInfo{.rate = rate, .unit_s = kDay, .burst = burst, .type = nft::LimitType::kBytes};
  };
  CHECK(Passes(bytes(100, 0), 10) == 3);
  CHECK(Passes(bytes(100, 66), 10) == 5);
  CHECK(Passes(bytes(33, 0), 3) == 1);
  CHECK(Passes(bytes(32, 0), 3) == 0);
}

TEST_CASE("J11 ten per second, a packet every 50 ms", "[runtime][limit]") {
  LimitState limit;
  uint64_t now = 7 * kSecond;
  limit.Start({.rate = 10, .unit_s = 1, .burst = 1}, now);
  for (int i = 0; i < 20; ++i, now += 50 * kMillisecond) CHECK(limit.Pass(now, kPacketBytes) == (i % 2 == 0));
}

TEST_CASE("J12 rates that never limit", "[runtime][limit]") {
  CHECK(Passes({.rate = 2 * kSecond, .unit_s = 1, .burst = 5}, 1000) == 1000);
  CHECK(Passes({.rate = 1, .unit_s = 0, .burst = 5}, 1000) == 1000);
  CHECK(Passes({.rate = 1, .unit_s = 0, .burst = 5, .inverted = true}, 1000) == 0);
}

// The kernel's bookkeeping as vm-semantics tells it, with tokens and the time of the last evaluation apart.
struct Bucket {
  explicit Bucket(const ir::LimitInfo& limit, uint64_t now) : info(limit), last(now) {
    nsecs = info.unit_s * kSecond;
    max = info.type == nft::LimitType::kBytes ? nsecs * (info.rate + info.burst) / info.rate
                                              : nsecs / info.rate * (info.burst == 0 ? 5 : info.burst);
    tokens = max;
  }
  bool Pass(uint64_t now, uint32_t length) {
    const uint64_t cost = info.type == nft::LimitType::kBytes ? nsecs * length / info.rate : nsecs / info.rate;
    tokens = std::min(tokens + (now - last), max);
    last = now;
    if (tokens < cost) return info.inverted;
    tokens -= cost;
    return !info.inverted;
  }
  ir::LimitInfo info;
  uint64_t last, nsecs, max, tokens;
};

TEST_CASE("one word of state is as good as tokens and time", "[runtime][limit]") {
  std::mt19937_64 random(0x11);
  int passed = 0, broke = 0;
  for (int round = 0; round < 3000; ++round) {
    ir::LimitInfo info;
    info.rate = 1 + random() % (random() % 2 == 0 ? 100 : 3'000'000'000);
    info.unit_s = random() % 3 == 0 ? 1 : random() % (7 * kDay);
    info.burst = uint32_t(random() % (random() % 2 == 0 ? 8 : 100'000));
    info.type = random() % 2 == 0 ? nft::LimitType::kBytes : nft::LimitType::kPackets;
    info.inverted = random() % 4 == 0;
    uint64_t now = random() % 2 == 0 ? random() % kSecond : random() % (1000 * kDay * kSecond);
    LimitState limit;
    limit.Start(info, now);
    Bucket bucket(info, now);
    for (int i = 0; i < 40; ++i) {
      now += random() % 4 == 0 ? random() % (10 * kSecond) : random() % 1000;
      const auto length = uint32_t(20 + random() % 1500);
      const bool expected = bucket.Pass(now, length);
      REQUIRE(limit.Pass(now, length) == expected);
      ++(expected ? passed : broke);
    }
  }
  CHECK(passed > 10'000);
  CHECK(broke > 10'000);
}

TEST_CASE("a worker with an older clock neither refills nor drains a bucket", "[runtime][limit]") {
  LimitState limit;
  limit.Start({.rate = 1, .unit_s = kDay, .burst = 1}, 10 * kSecond);
  CHECK(limit.Pass(10 * kSecond, kPacketBytes));
  CHECK_FALSE(limit.Pass(10 * kSecond - 1, kPacketBytes));
  CHECK_FALSE(limit.Pass(10 * kSecond - kMillisecond, kPacketBytes));
  CHECK_FALSE(limit.Pass(10 * kSecond, kPacketBytes));
  CHECK(limit.Pass((10 + kDay) * kSecond, kPacketBytes));
}

TEST_CASE("workers share a bucket exactly", "[runtime][limit]") {
  LimitState limit;
  limit.Start({.rate = 1, .unit_s = kDay, .burst = 1000}, kSecond);
  std::atomic<int> passed{0};
  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&limit, &passed, worker] {
      for (int i = 0; i < 1000; ++i) passed += limit.Pass(kSecond + uint64_t(worker + i), kPacketBytes) ? 1 : 0;
    });
  }
  for (std::thread& worker : workers) worker.join();
  CHECK(passed == 1000);
}

}  // namespace
}  // namespace nftjit
