// Match tables of the interpreter: random runs of rules over few fields and small value pools, so that rules overlap,
// against the reference; and the two searches against each other.
#include <algorithm>
#include <catch2/catch.hpp>

#include "interp/interpreter_code.h"
#include "lib/support/bytes.h"
#include "tests/engine/running_program.h"
#include "tests/support/guarded_bytes.h"
#include "tests/support/random.h"
#include "tests/support/requirement.h"

namespace nftjit::testing {
namespace {

class RunGenerator {
 public:
  explicit RunGenerator(uint64_t seed) : random_(seed) {}

  int Below(int bound) { return static_cast<int>(random_.Below(static_cast<uint32_t>(bound))); }
  bool Chance(int percent) { return random_.Percent(static_cast<uint32_t>(percent)); }

  // A base chain of `rules` rules over a mix of fields, a jumped chain that changes the mark, and their counters.
  std::string Program(int rules) {
    // Few kinds of fields a program, so that runs are long; all of them now and then.
    fields_.clear();
    rule_ = 0;
    for (const int count = Chance(30) ? 8 : 1 + Below(3); static_cast<int>(fields_.size()) < count;) {
      fields_.push_back(Below(9));
    }
    text_ = "set inet t s exact key 4:\n  0a000001\n  0a000102\n  0a000203\n";
    text_ += "chain inet t in hook input priority 0 policy " + std::string(Chance(50) ? "accept" : "drop") + ":\n";
    if (Chance(30)) {
      text_ += "block:\n  guard room.network 20\n  %block0 = load network+12, 4\n  %block1 = meta mark\n";
      indent_ = "  ";
    } else {
      indent_.clear();
    }
    for (counters_ = 0; counters_ < rules;) Rule();
    indent_.clear();
    text_ += "chain inet t sub:\nrule 9000:\n  %0 = const 01000000\n  set mark %0\n  count #" + Counter() + "\n";
    return text_;
  }
  [[nodiscard]] int counters() const { return counters_; }

  Bytes Packet() {
    const auto last = std::to_string(Below(6));
    if (Chance(25)) {
      return Ipv6().Src("fd00::" + last).Dst("fd00::1") / Udp().Sport(Port()).Dport(Port()) / Raw("hello");
    }
    const Ipv4 ip = Ipv4()
                        .Src("10.0." + std::to_string(Below(3)) + "." + last)
                        .Dst("10.0.0." + last)
                        .FragmentUnits(Chance(10) ? 3 : 0);
    if (Chance(50)) return ip / Tcp().Sport(Port()).Dport(Port());
    return ip / Udp().Sport(Port()).Dport(Port()) / Raw("hello");
  }

 private:
  uint16_t Port() { return static_cast<uint16_t>(1 + Below(6)); }
  std::string Counter() { return std::to_string(counters_++); }
  void Line(const std::string& line) { text_ += indent_ + "  " + line + "\n"; }

  // Values have a name of their own in the whole chain.
  [[nodiscard]] std::string Value(int number) const {
    return "%r" + std::to_string(rule_) + "v" + std::to_string(number);
  }

  static std::string Hex(uint64_t value, int bytes) {
    Bytes out(static_cast<size_t>(bytes));
    for (int i = bytes; i-- > 0; value >>= 8) out[static_cast<size_t>(i)] = static_cast<uint8_t>(value);
    return ToHex(out);
  }

  // A comparison of `value` with bytes around `constant`.
  void Test(const std::string& value, uint64_t constant, int bytes, bool native = false) {
    const uint64_t all = bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
    const std::string name = (native ? "test native " : "test ") + value;
    switch (Below(native ? 7 : 9)) {
      case 0:
        return Line(name + " != " + Hex(constant, bytes));
      case 1:
        return Line(name + " < " + Hex(constant, bytes));
      case 2:
        return Line(name + " >= " + Hex(constant, bytes));
      case 3:
        return Line(name + (Chance(50) ? " in " : " not in ") + Hex(constant - (native ? 0 : 1), bytes) + "-" +
                    Hex(constant + (native ? 0 : Below(3)), bytes));
      case 4: {
        const uint64_t mask = all << Below(8 * bytes) & all;
        return Line(name + " & " + Hex(mask, bytes) + (Chance(70) ? " == " : " != ") + Hex(constant & mask, bytes));
      }
      case 7: {
        const uint64_t mask = random_.Next() & all;
        return Line(name + " & " + Hex(mask, bytes) + " == " + Hex(constant & mask, bytes));
      }
      default:
        return Line(name + " == " + Hex(constant, bytes));
    }
  }

  void Field(int kind, int number) {
    const std::string value = Value(number);
    const auto load = [&](const char* guard, const char* what) {
      Line("guard " + std::string(guard));
      Line(value + " = load " + what);
    };
    switch (kind) {
      case 0:
        load("room.network 20", "network+12, 4");
        return Test(value, 0x0a000000 + static_cast<uint64_t>(Below(3)) * 256 + static_cast<uint64_t>(Below(6)), 4);
      case 1:
        load("room.network 20", "network+16, 4");
        return Test(value, 0x0a000000 + static_cast<uint64_t>(Below(6)), 4);
      case 2:
        load("room.transport 4", "transport+2, 2");
        return Test(value, Port(), 2);
      case 3:
        load("room.transport 4", "transport+0, 4");
        return Test(value, uint64_t{Port()} << 16 | Port(), 4);
      case 4:
        Line(value + " = meta mark");
        return Test(value, uint64_t{static_cast<uint64_t>(Below(3))} << 24, 4, Chance(30));
      case 5:
        Line("guard l4");
        Line(value + " = meta l4proto");
        return Test(value, Chance(50) ? 6 : 17, 1);
      case 6:
        Line(value + " = meta iifname");
        return Line("test " + value + (Chance(80) ? " == " : " != ") + (Chance(50) ? "6574683000" : "6574683100") +
                    std::string(22, '0'));
      case 7:
        Line("guard unfragmented");
        load("room.network 40", "network+8, 16");
        return Line("test " + value + " == fd00000000000000000000000000000" + std::to_string(Below(6)));
      default:
        Line(value + " = ct state");
        return Test(value, uint64_t{2} << (24 + Below(3)), 4);
    }
  }

  void Rule() {
    text_ += indent_ + "rule " + std::to_string(++rule_) + ":\n";
    const int tests = Chance(5) ? 0 : 1 + Below(2);
    for (int i = 0; i < tests; ++i) Field(fields_[static_cast<size_t>(Below(static_cast<int>(fields_.size())))], i);
    if (!indent_.empty() && Chance(30)) Line("test %block0 & ffffff00 == 0a000" + std::to_string(Below(3)) + "00");
    if (!indent_.empty() && Chance(20)) Line("test %block1 == 00000000");
    if (Chance(10)) {
      Line("guard room.network 20");
      Line(Value(50) + " = load network+12, 4");
      Line("lookup " + Value(50) + " @s");
    }
    Line("count #" + Counter());
    if (Chance(10)) {
      Line(Value(60) + " = const 0" + std::to_string(Below(3)) + "000000");
      Line("set mark " + Value(60));
    }
    // Few rules end the walk, so that many rows of a table are seen.
    if (Chance(4)) return Line(Chance(50) ? "verdict accept" : "verdict drop");
    if (Chance(5)) return Line("verdict jump sub");
    if (Chance(1)) return Line("verdict return");
    if (Chance(2)) Line("reject icmpx 1");
  }

  Random random_;
  std::vector<int> fields_;
  std::string text_, indent_;
  int counters_ = 0, rule_ = 0;
};

// The number of tables, by the encoding's own listing.
int Tables(const std::string& listing) {
  int count = 0;
  for (size_t at = listing.find("\ntable "); at != std::string::npos; at = listing.find("\ntable ", at + 1)) ++count;
  return count;
}

TEST_CASE("runs of rules match in the interpreter as in the reference", "[engine][tables]") {
  const Interface eth0 = MakeInterface("eth0", 1), eth1 = MakeInterface("eth1", 2);
  Conntrack established{.state = kCtEstablished, .has_entry = true}, fresh{.state = kCtNew, .has_entry = true};
  int matches = 0, tables = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    RunGenerator generate(seed);
    const std::string text = generate.Program(seed % 3 == 0 ? 200 : 5 + generate.Below(60));
    Running reference(text, ReferenceEngine()), interpreter(text, InterpreterEngine());
    tables += Tables(interpreter.instance().program().Disassemble());
    for (int p = 0; p < 60; ++p) {
      Bytes bytes = generate.Packet();
      if (generate.Chance(10)) bytes.resize(static_cast<size_t>(generate.Below(static_cast<int>(bytes.size()))));
      const GuardedBytes guarded(bytes);
      Packet one = L3Packet(bytes);
      one.data = guarded.data();
      if (bytes.empty()) one.protocol = 0x0800;
      one.mark = static_cast<uint32_t>(generate.Below(3));
      one.iif = generate.Chance(20) ? nullptr : (generate.Chance(50) ? &eth0 : &eth1);
      one.ct = generate.Chance(30) ? nullptr : (generate.Chance(50) ? &established : &fresh);
      Packet two = one;
      const HookSite site{one.protocol == 0x86dd ? Family::kIp6 : Family::kIp, Hook::kInput};
      const Result expected = reference.Run(site, one);
      const Result result = interpreter.Run(site, two);
      INFO("seed " << seed << ", packet " << p << " " << ToHex(bytes) << "\n" << text);
      REQUIRE(result == expected);
      REQUIRE(two.mark == one.mark);
    }
    const std::vector<CounterSlot> expected = reference.instance().state().CounterSums();
    const std::vector<CounterSlot> counted = interpreter.instance().state().CounterSums();
    for (int c = 0; c < generate.counters(); ++c) {
      INFO("seed " << seed << ", counter " << c << "\n" << text);
      REQUIRE(counted[static_cast<size_t>(c)].packets == expected[static_cast<size_t>(c)].packets);
      REQUIRE(counted[static_cast<size_t>(c)].bytes == expected[static_cast<size_t>(c)].bytes);
      matches += counted[static_cast<size_t>(c)].packets != 0 ? 1 : 0;
    }
  }
  CAPTURE(matches, tables);
  REQUIRE(matches > 2000);
  REQUIRE(tables > 150);
}

TEST_CASE("both table searches find the first row, from any row on", "[engine][tables]") {
  if (!MayRun("avx2", interp::HasAvx2() ? absl::OkStatus() : absl::UnavailableError("this machine has no AVX2")))
    return;
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    interp::Table table;
    table.rows = random.Between(1, 100);
    const size_t columns = random.Below(interp::kMaxColumns + 1);
    for (size_t c = 0; c < columns; ++c) table.columns.push_back({.range = random.OneIn(2)});
    const size_t groups = (table.rows + interp::kLanes - 1) / interp::kLanes;
    const size_t words = std::max<size_t>(groups * columns * 2 * interp::kLanes, 1);
    std::unique_ptr<uint32_t[], interp::AlignedFree> data(
        static_cast<uint32_t*>(::operator new[](words * sizeof(uint32_t), std::align_val_t{64})));
    for (size_t i = 0; i < words; ++i) data[i] = random.OneIn(4) ? 0 : random.Below(8);
    table.data = data.get();
    uint32_t fields[interp::kMaxColumns];
    for (uint32_t& field : fields) field = random.Below(8);
    for (uint32_t from = 0; from < table.rows; ++from) {
      const uint32_t row = std::min(interp::FindRow(table, fields, from), table.rows);
      REQUIRE(std::min(interp::FindRowAvx2(table, fields, from), table.rows) == row);
      REQUIRE(row >= from);
    }
  }
}

}  // namespace
}  // namespace nftjit::testing
