// Counters, clocks, logs, bursts and threads: what an Instance and its Workers promise.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/engine/running_program.h"

namespace nftjit::testing {
namespace {

constexpr std::string_view kCounting =
    "counter #0 rule 0 expression 3 packets 7 bytes 700\n"
    "counter #1 rule 1 expression 0\n"
    "chain inet fw in hook input priority 0 policy accept:\n"
    "rule 4 fw.nft:12 \"dns\":\n"
    "  guard room.transport 4\n"
    "  %0 = load transport+2, 2\n"
    "  test %0 == 0035\n"
    "  count #0\n"
    "  verdict drop\n"
    "rule 6:\n"
    "  count #1\n";

TEST_CASE("counters are named and begin with their initial values", "[engine][counters]") {
  Running run(kCounting, AnyEngine());
  run.Run(Hook::kInput, UdpPacket(53));
  run.Run(Hook::kInput, UdpPacket(54));
  const std::vector<CounterReading> counters = run.instance().counters();
  REQUIRE(counters.size() == 2);
  REQUIRE(counters[0].family == Family::kInet);
  REQUIRE(counters[0].table == "fw");
  REQUIRE(counters[0].chain == "in");
  REQUIRE(counters[0].rule_handle == 4);
  REQUIRE(counters[0].expression == 3);
  REQUIRE(counters[0].comment == "dns");
  REQUIRE(counters[0].packets == 8);
  REQUIRE(counters[0].bytes == 733);
  REQUIRE(counters[1].rule_handle == 6);
  REQUIRE(counters[1].packets == 1);
  REQUIRE(counters[1].bytes == 33);
  REQUIRE(run.instance().program().rules()[0].where == "fw.nft:12");
}

TEST_CASE("a counter is the sum over workers, also of those that are gone", "[engine][counters]") {
  Instance instance(CompileText(kCounting, AnyEngine()));
  Bytes bytes = UdpPacket(53);
  {
    Worker gone = instance.NewWorker();
    Packet packet = L3Packet(bytes);
    gone.Run({Family::kIp, Hook::kInput}, packet);
  }
  Worker first = instance.NewWorker();
  Worker second = instance.NewWorker();
  Packet packet = L3Packet(bytes);
  first.Run({Family::kIp, Hook::kInput}, packet);
  second.Run({Family::kIp, Hook::kInput}, packet);
  second = std::move(first);  // The one that is overwritten is gone, too.
  REQUIRE(instance.counters()[0].packets == 10);
}

TEST_CASE("workers of different threads count exactly, and can be read meanwhile", "[engine][counters]") {
  Instance instance(CompileText(kCounting, AnyEngine()));
  constexpr int kThreads = 4, kBursts = 500, kBurst = 32;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([worker = instance.NewWorker()]() mutable {
      Bytes bytes = UdpPacket(53);
      std::vector<Packet> packets(kBurst, L3Packet(bytes));
      std::vector<Result> results(kBurst);
      for (int i = 0; i < kBursts; ++i) worker.Run({Family::kIp, Hook::kInput}, packets, results);
    });
  }
  uint64_t last = 0;
  for (int i = 0; i < 100; ++i) {
    const uint64_t now = instance.counters()[0].packets;
    REQUIRE(now >= last);
    last = now;
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(instance.counters()[0].packets == 7 + kThreads * kBursts * kBurst);
  REQUIRE(instance.counters()[0].bytes == 700 + uint64_t{33} * kThreads * kBursts * kBurst);
}

TEST_CASE("F25 policy counters count packets that fall off or return, not those a rule ended", "[engine][counters]") {
  absl::StatusOr<ir::Program> program = ir::Parse(
      "chain ip t in hook input priority 0 policy accept:\n"
      "rule 1:\n  guard room.transport 4\n  %0 = load transport+2, 2\n  test %0 == 0001\n  verdict accept\n"
      "rule 2:\n  guard room.transport 4\n  %1 = load transport+2, 2\n  test %1 == 0002\n  verdict return\n",
      "test.ir");
  REQUIRE(program.ok());
  program->chains[0].base->counters = nft::Counter{.bytes = 100, .packets = 1};
  CompileIrOptions options;
  options.engine = &AnyEngine();
  options.optimise = false;
  Instance instance(*CompileIr(*std::move(program), options));
  Worker worker = instance.NewWorker();
  for (uint16_t port = 1; port <= 3; ++port) {
    Bytes bytes = UdpPacket(port);
    Packet packet = L3Packet(bytes);
    worker.Run({Family::kIp, Hook::kInput}, packet);
  }
  const std::vector<CounterReading> counters = instance.counters();
  REQUIRE(counters.size() == 1);
  REQUIRE(counters[0].chain == "in");
  REQUIRE(counters[0].rule_handle == 0);
  REQUIRE(counters[0].packets == 3);
  REQUIRE(counters[0].bytes == 166);
}

TEST_CASE("of spans of different length the shorter counts", "[engine]") {
  Running run("counter #0\nchain ip t in hook input priority 0 policy accept:\nrule 1:\n  count #0\n  verdict drop\n",
              AnyEngine());
  Worker worker = run.instance().NewWorker();
  Bytes bytes = UdpPacket(1);
  std::vector<Packet> packets(3, L3Packet(bytes));
  std::vector<Result> results(2);
  worker.Run({Family::kIp, Hook::kInput}, packets, results);
  CHECK(results[1].verdict == Verdict::kDrop);
  CHECK(run.instance().counters()[0].packets == 2);
  worker.Run({Family::kIp, Hook::kInput}, std::span(packets).first(1), results);
  CHECK(run.instance().counters()[0].packets == 3);
}

TEST_CASE("counters of set elements are listed by set and key", "[engine][counters]") {
  Running run(
      "set ip t s exact key 2:\n"
      "  0035 counter #0\n"
      "  * counter #1\n"
      "chain ip t in hook input priority 0 policy accept:\n"
      "rule 1:\n  guard room.transport 4\n  %0 = load transport+2, 2\n  lookup %0 @s\n",
      AnyEngine());
  run.Run(Hook::kInput, UdpPacket(53));
  run.Run(Hook::kInput, UdpPacket(54));
  run.Run(Hook::kInput, UdpPacket(55));
  const std::vector<CounterReading> counters = run.instance().counters();
  REQUIRE(counters.size() == 2);
  REQUIRE(counters[0].set == "s");
  REQUIRE(counters[0].element_key == std::string_view("\0\x35", 2));
  REQUIRE(counters[0].packets == 1);
  REQUIRE(counters[1].element_key.empty());
  REQUIRE(counters[1].packets == 2);
}

// A clock that a test sets, and that counts how often it is read.
struct TestClock {
  ClockTime now;
  int reads = 0;
  static ClockTime Read(void* context) noexcept {
    auto* clock = static_cast<TestClock*>(context);
    ++clock->reads;
    return clock->now;
  }
  [[nodiscard]] InstanceOptions Options() { return {.clock = &Read, .clock_context = this}; }
};

TEST_CASE("J11 limits go by the instance's clock, which is read once a burst", "[engine][clock]") {
  TestClock clock;
  clock.now.monotonic_ns = 1'000'000'000'000;
  Running run(
      "limit #0 rate 10 unit 1 burst 1 packets\n"
      "chain ip t in hook input priority 0 policy drop:\n"
      "rule 1:\n  limit #0\n  verdict accept\n"
      "chain ip t out hook output priority 0 policy accept:\n"
      "rule 2:\n  count #0\n",
      AnyEngine(), clock.Options());
  const int reads = clock.reads;
  std::vector<bool> accepted;
  for (int i = 0; i < 6; ++i) {
    accepted.push_back(run.Run(Hook::kInput, UdpPacket()).verdict == Verdict::kAccept);
    clock.now.monotonic_ns += 50'000'000;
  }
  REQUIRE(accepted == std::vector<bool>{true, false, true, false, true, false});
  REQUIRE(clock.reads == reads + 6);

  Bytes bytes = UdpPacket();
  std::vector<Packet> packets(8, L3Packet(bytes));
  std::vector<Result> results(8);
  run.worker().Run({Family::kIp, Hook::kInput}, packets, results);
  REQUIRE(clock.reads == reads + 7);
  run.worker().Run({Family::kIp, Hook::kOutput}, packets, results);  // No rule there depends on time.
  REQUIRE(clock.reads == reads + 7);
}

TEST_CASE("a limit is shared by all workers", "[engine][clock]") {
  TestClock clock;
  Instance instance(CompileText("limit #0 rate 1 unit 86400 burst 5 packets\n"
                                "chain ip t in hook input priority 0 policy drop:\n"
                                "rule 1:\n  limit #0\n  verdict accept\n",
                                AnyEngine()),
                    clock.Options());
  std::vector<Worker> workers;
  for (int i = 0; i < 3; ++i) workers.push_back(instance.NewWorker());
  int accepted = 0;
  for (int i = 0; i < 12; ++i) {
    Bytes bytes = UdpPacket();
    Packet packet = L3Packet(bytes);
    accepted += workers[i % 3].Run({Family::kIp, Hook::kInput}, packet).verdict == Verdict::kAccept ? 1 : 0;
  }
  REQUIRE(accepted == 5);
}

TEST_CASE("log entries say which statement and which packet, and the oldest are lost", "[engine][log]") {
  Running run(
      "log #0 rule 0 prefix \"hi\"\n"
      "log #1 rule 1 group 7\n"
      "chain ip t in hook input priority 0 policy accept:\n"
      "rule 1:\n  guard room.transport 4\n  %0 = load transport+2, 2\n  test %0 == 0035\n  log #0\n"
      "rule 2:\n  log #1\n",
      AnyEngine(), {.log_capacity = 4});
  REQUIRE(run.instance().program().logs()[0].prefix == "hi");
  REQUIRE(run.instance().program().logs()[0].group == -1);
  REQUIRE(run.instance().program().logs()[0].level == 4);
  REQUIRE(run.instance().program().logs()[1].group == 7);
  REQUIRE(run.instance().program().logs()[1].level == -1);
  Bytes dns = UdpPacket(53), other = UdpPacket(1);
  std::vector<Packet> packets = {L3Packet(other), L3Packet(dns)};
  std::vector<Result> results(2);
  run.worker().Run({Family::kIp, Hook::kInput}, packets, results);
  std::vector<LogEntry> entries(8);
  REQUIRE(run.worker().TakeLogs(std::span(entries).first(2)) == 2);
  REQUIRE(entries[0] == LogEntry{1, 0});
  REQUIRE(entries[1] == LogEntry{0, 1});
  REQUIRE(run.worker().TakeLogs(entries) == 1);
  REQUIRE(entries[0] == LogEntry{1, 1});
  REQUIRE(run.worker().lost_logs() == 0);
  for (int i = 0; i < 3; ++i) run.worker().Run({Family::kIp, Hook::kInput}, packets, results);
  REQUIRE(run.worker().lost_logs() == 5);
  REQUIRE(run.worker().TakeLogs(entries) == 4);
  REQUIRE(entries[3] == LogEntry{1, 1});
  REQUIRE(run.worker().lost_logs() == 5);
}

TEST_CASE("a burst gives what its packets give one by one", "[engine][burst]") {
  const EngineInterface& engine = AnyEngine();
  constexpr std::string_view kText =
      "limit #0 rate 1 unit 86400 burst 3 packets\n"
      "chain inet t in hook input priority 0 policy accept:\n"
      "rule 1:\n  guard room.transport 4\n  %0 = load transport+2, 2\n  test %0 == 0035\n  limit #0\n  count #0\n"
      "  %1 = const 2a000000\n  set mark %1\n  verdict drop\n"
      "rule 2:\n  guard room.transport 4\n  %2 = load transport+2, 2\n  test %2 in 0001-0010\n  count #1\n"
      "  reject icmpx 1\n";
  TestClock clock;
  std::vector<Bytes> bytes;
  for (int i = 0; i < 40; ++i) {
    const auto port = static_cast<uint16_t>(i % 3 == 0 ? 53 : i);
    bytes.push_back(i % 5 == 0 ? Bytes(Ipv6() / Udp().Dport(port)) : UdpPacket(port));
  }
  std::vector<Packet> singles, burst;
  for (Bytes& b : bytes) singles.push_back(L3Packet(b));
  burst = singles;
  Running one(kText, engine, clock.Options()), many(kText, engine, clock.Options());
  std::vector<Result> expected, results(bytes.size());
  for (Packet& packet : singles) expected.push_back(one.Run({Family::kInet, Hook::kInput}, packet));
  many.worker().Run({Family::kInet, Hook::kInput}, burst, results);
  REQUIRE(results == expected);
  for (size_t i = 0; i < bytes.size(); ++i) REQUIRE(burst[i].mark == singles[i].mark);
  for (uint32_t c = 0; c < 2; ++c) REQUIRE(one.packets(c) == many.packets(c));
  REQUIRE(one.packets(0) == 3);
  REQUIRE(one.packets(1) > 3);
  many.worker().Run({Family::kInet, Hook::kInput}, {}, {});
}

}  // namespace
}  // namespace nftjit::testing
