// The x86 engine against the reference engine on random programs: everything that a run shows or changes, on packets
// that nearly match, cut at many lengths, each ending at a guard page.
//
// NFTJIT_X86_PROGRAMS and NFTJIT_X86_SEED set how many programs are made, and from where. What fails is shrunk to a
// case for tests/judge_engines/cases, if the engine tester shows it, too: it knows one register map, and programs as
// compiled.
#include <array>
#include <catch2/catch.hpp>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "jit/x86/registers.h"
#include "jit/x86/x86.h"
#include "lib/ir/text.h"
#include "lib/ir/verifier.h"
#include "machine.h"
#include "random_program.h"
#include "tests/support/engine_tester.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/packets.h"
#include "tests/support/random.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

struct Sample {
  Bytes bytes;
  nft::Family family = nft::Family::kIp;
  uint32_t network_offset = 0;
};

// The first one is what programs are made for.
std::vector<Sample> Samples() {
  const Bytes options = FromHex("020405b40402080a00000001000000000103030700");
  return {
      {Ipv4().Src("192.0.2.129").Dst("10.1.2.3").Tos(0x2e).Ttl(63) / Tcp().Dport(443).Options(options) / Raw("hello")},
      {Ipv4().Src("192.0.2.1").Dst("10.1.2.3") / Udp().Dport(53) / Raw("0123456789abcdef0123456789")},
      {Ipv4().Src("192.0.2.129").Dst("10.1.2.3").FragmentUnits(3) / Raw("a later fragment of something")},
      {Ipv4().Src("192.0.2.129").Options({7, 7, 4, 1, 2, 3, 4, 1}) / Icmp()},
      {Ether() / Ipv4().Src("192.0.2.129").Dst("10.1.2.3") / Tcp().Dport(443) / Raw("hello"), nft::Family::kIp, 14},
      {Ipv6().Src("c000:281::1") / Ipv6Extension(0) / Tcp().Dport(443) / Raw("hello"), nft::Family::kIp6},
      {Ipv6() / Ipv6Fragment().OffsetBytes(16) / Raw("later"), nft::Family::kIp6},
  };
}

struct RandomFacts {
  Interface iif = MakeInterface("eth0", 7), oif = MakeInterface("veth1", 9);
  Conntrack ct;
  explicit RandomFacts(Random& random) {
    iif.kind = {'v', 'e', 't', 'h'};
    iif.group = random.Below(3);
    ct.state = random.Pick({kCtNew, kCtEstablished, kCtRelated});
    ct.has_entry = !random.OneIn(4);
    ct.mark = random.Below(3);
    ct.status = random.Below(16);
    if (random.OneIn(2)) ct.helper = {'f', 't', 'p'};
    ct.label[0] = random.Byte();
    ct.original.src = {192, 0, 2, 129};
    ct.original.packets = random.Below(4);
    ct.reply.bytes = random.Below(4);
  }
};

Packet MakePacket(const Sample& sample, const GuardedBytes& bytes, const RandomFacts& facts, Random& random) {
  Packet packet;
  packet.data = bytes.data();
  packet.length = static_cast<uint32_t>(bytes.size());
  packet.network_offset = std::min(sample.network_offset, packet.length);
  if (sample.network_offset != 0) packet.link_offset = 0;
  packet.mark = random.Pick({0U, 1U, 0x80000000U, 0xff0180U});
  packet.priority = random.Below(3);
  packet.secmark = random.Below(2);
  packet.pkttype = static_cast<uint8_t>(random.Below(5));
  packet.iif = random.OneIn(4) ? nullptr : &facts.iif;
  packet.oif = random.OneIn(2) ? nullptr : &facts.oif;
  packet.ct = random.OneIn(4) ? nullptr : &facts.ct;
  packet.has_socket = random.OneIn(2);
  packet.skuid = random.Below(2);
  packet.has_rtclassid = random.OneIn(2);
  return packet;
}

struct Tally {
  uint64_t runs = 0, drops = 0, accepts = 0, rejects = 0, policies = 0, rules = 0;
  uint64_t rows = 0, called_rows = 0, column_rules = 0;
  std::array<uint64_t, static_cast<size_t>(ir::Op::kUnsupported) + 1> ops{};

  void Add(const Observed& observed) {
    ++runs;
    rejects += observed.reject != 0 ? 1 : 0;
    if (observed.outcome == 0) ++drops;
    if (observed.outcome == 1) ++accepts;
    if (observed.outcome < 0) ++policies;
  }
};

// Reference first, then the x86 engine on each register map, the last one without AVX2.
std::vector<std::unique_ptr<Machine>> MakeMachines(const ir::Program& program, Tally& tally) {
  std::vector<std::unique_ptr<Machine>> machines;
  const auto add = [&](absl::StatusOr<std::unique_ptr<const CompiledProgram>> code) {
    REQUIRE(code.status() == absl::OkStatus());
    machines.push_back(std::make_unique<Machine>(program, *std::move(code)));
  };
  add(ReferenceEngine().Compile(program, {}));
  for (unsigned map = 0; map < x86::kRegisterMaps; ++map) {
    add(x86::CompileX86(program, {.register_map = map, .avx2 = map + 1 < x86::kRegisterMaps}));
  }
  const x86::X86Report& report = x86::ReportOf(machines[1]->code());
  tally.rows += report.rows;
  tally.called_rows += report.called_rows;
  tally.column_rules += report.column_rules;
  for (const ir::Row& row : program.rows) ++tally.ops[static_cast<size_t>(row.op)];
  tally.rules += program.rules.size();
  return machines;
}

// The packet as the engine tester runs it.
PacketCase MakeCase(const Sample& sample, const Packet& packet) {
  PacketCase it;
  it.bytes.assign(packet.data, packet.data + packet.length);
  it.ethernet = packet.link_offset == 0;
  it.facts = packet;
  if (packet.iif != nullptr) it.iif = *packet.iif;
  if (packet.oif != nullptr) it.oif = *packet.oif;
  if (packet.ct != nullptr) it.ct = *packet.ct;
  it.path = {{static_cast<Family>(sample.family), Hook::kInput}};
  it.gap_ns = 1'000'000;
  return it;
}

// For the message of a failure: a case to keep, or what shows it again.
std::string Keep(const ir::Program& program, uint64_t seed, const std::vector<PacketCase>& ran) {
  const EngineCase failing{program, ran};
  if (Disagreement(failing)) {
    return KeepFound("tests/judge_engines/cases", "x86-" + std::to_string(seed), Print(Shrink(failing)));
  }
  return "the engine tester does not show it; NFTJIT_X86_SEED=" + std::to_string(seed) +
         " NFTJIT_X86_PROGRAMS=1 does, of this program:\n" + ir::Print(program);
}

// `ran` gets the packet.
void CompareRuns(const ir::Program& program, uint64_t seed, std::vector<std::unique_ptr<Machine>>& machines,
                 const Sample& sample, Random& random, Tally& tally, std::vector<PacketCase>& ran) {
  const RandomFacts facts(random);
  GuardedBytes bytes(sample.bytes);
  if (random.OneIn(2)) {  // Near misses.
    for (int i = 0; i < 3; ++i)
      bytes.data()[random.Below(static_cast<uint32_t>(bytes.size()))] ^= 1U << random.Below(8);
  }
  if (random.OneIn(2)) bytes.Truncate(random.Below(static_cast<uint32_t>(bytes.size()) + 1));
  const Packet packet = MakePacket(sample, bytes, facts, random);
  ran.push_back(MakeCase(sample, packet));
  const HookPoint point{sample.family, Hook::kInput};
  Packet reference_packet = packet;
  const Observed expected = machines[0]->Run(ir::ChainId(0), point, reference_packet);
  tally.Add(expected);
  for (size_t i = 1; i < machines.size(); ++i) {
    Packet own = packet;
    const Observed observed = machines[i]->Run(ir::ChainId(0), point, own);
    if (observed == expected) continue;
    FAIL("seed " << seed << ", packet " << ToHex({packet.data, packet.length}) << "\nx86 variant " << i << ": "
                 << ToString(observed) << "\nreference: " << ToString(expected) << '\n'
                 << Keep(program, seed, ran));
  }
}

void CompareProgram(uint64_t seed, const ProgramShape& shape, int runs, Tally& tally) {
  static const std::vector<Sample> samples = Samples();
  const ir::Program program = RandomProgram(seed, samples[0].bytes, shape);
  const absl::Status verified = ir::Verify(program);
  INFO("seed " << seed);
  REQUIRE(verified == absl::OkStatus());
  std::vector<std::unique_ptr<Machine>> machines = MakeMachines(program, tally);
  Random random(seed ^ 0x5eed);
  std::vector<PacketCase> ran;
  for (int run = 0; run < runs; ++run) {
    const Sample& sample = random.OneIn(2) ? samples[0] : random.PickFrom(samples);
    CompareRuns(program, seed, machines, sample, random, tally, ran);
  }
  const std::string expected = machines[0]->State();
  for (size_t i = 1; i < machines.size(); ++i) {
    if (machines[i]->State() == expected) continue;
    FAIL("seed " << seed << ", x86 variant " << i << " has the state\n"
                 << machines[i]->State() << "reference:\n"
                 << expected << Keep(program, seed, ran));
  }
}

void Report(const char* name, const Tally& tally) {
  std::cout << name << ": " << tally.runs << " runs, " << tally.rules << " rules, " << tally.rows << " rows of which "
            << tally.called_rows << " call the runtime, " << tally.column_rules << " rules in columns; drop "
            << tally.drops << " (reject " << tally.rejects << "), accept " << tally.accepts << ", policy "
            << tally.policies << "\n";
}

TEST_CASE("random programs run as on the reference engine", "[x86][random]") {
  const uint64_t programs = NumberFromEnvironment("NFTJIT_X86_PROGRAMS", 600);
  const uint64_t seed = NumberFromEnvironment("NFTJIT_X86_SEED", 1);
  Tally tally;
  for (uint64_t i = 0; i < programs; ++i) CompareProgram(seed + i, {.rules = 14}, 40, tally);
  Report("mixed programs", tally);
  for (size_t op = 0; op < static_cast<size_t>(ir::Op::kUnsupported); ++op) {
    INFO(ir::Info(static_cast<ir::Op>(op)).text);
    CHECK(tally.ops[op] > 0);
  }
  CHECK(tally.drops > 0);
  CHECK(tally.rejects > 0);
  CHECK(tally.accepts > 0);
  CHECK(tally.policies > 0);
}

TEST_CASE("random programs under register pressure", "[x86][random]") {
  const uint64_t programs = NumberFromEnvironment("NFTJIT_X86_PROGRAMS", 600) / 4 + 1;
  const uint64_t seed = NumberFromEnvironment("NFTJIT_X86_SEED", 1) + 1'000'000;
  Tally tally;
  for (uint64_t i = 0; i < programs; ++i) {
    CompareProgram(seed + i, {.rules = 30, .block_values = 14, .block_percent = 60}, 40, tally);
  }
  Report("pressure", tally);
  CHECK(tally.policies > 0);
}

TEST_CASE("random programs of columns", "[x86][random]") {
  const uint64_t programs = NumberFromEnvironment("NFTJIT_X86_PROGRAMS", 600) / 2 + 1;
  const uint64_t seed = NumberFromEnvironment("NFTJIT_X86_SEED", 1) + 2'000'000;
  Tally tally;
  for (uint64_t i = 0; i < programs; ++i) {
    CompareProgram(seed + i, {.rules = 90, .block_values = 2, .block_percent = 4, .columns = true}, 60, tally);
  }
  Report("columns", tally);
  CHECK(tally.column_rules > tally.rules / 10);  // Most programs mix what rules look at.
}

}  // namespace
}  // namespace nftjit::testing
