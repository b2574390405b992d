// Made-up traffic is what it says: distinct packets, which a rule decides or none does.
#include "tools/traffic/traffic.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

#include "lib/engine/program_data.h"
#include "nftjit/compile.h"
#include "nftjit/instance.h"
#include "nftjit/ruleset.h"

namespace nftjit {
namespace {

constexpr const char* kRules = R"(table inet t {
	chain c {
		type filter hook input priority 0; policy accept;
		ip saddr { 192.0.2.0/24, 198.51.100.7 } tcp dport 1000-2000 drop
		ip6 saddr 2001:db8::/32 udp dport 53 accept
		ip ttl < 5 drop
	}
}
)";
constexpr HookSite kSite{Family::kIp, Hook::kInput}, kSite6{Family::kIp6, Hook::kInput};
constexpr size_t kPackets = 65536;

// The program, and whether a rule of it decides a packet.
class Decider {
 public:
  Decider()
      : program_(*Compile(*Ruleset::FromText(kRules), {.engine = &InterpreterEngine()})),
        instance_(program_),
        worker_(instance_.NewWorker()) {}
  [[nodiscard]] const ir::Program& lowered() const { return program_->data().lowered; }
  bool Decides(Packet& packet) {
    return worker_.Run(packet.protocol == 0x86dd ? kSite6 : kSite, packet).decided_by == DecidedBy::kRule;
  }

 private:
  std::shared_ptr<const Program> program_;
  Instance instance_;
  Worker worker_;
};

TEST_CASE("packets of each kind are distinct, and what the kind says") {
  Decider decider;
  for (const TrafficKind kind : {TrafficKind::kMiss, TrafficKind::kHit, TrafficKind::kMixed}) {
    CAPTURE(kind);
    absl::StatusOr<Traffic> traffic = TrafficMaker(decider.lowered(), 3).Make(kind, kPackets, [&](Packet& packet) {
      return decider.Decides(packet);
    });
    INFO(traffic.status().ToString());
    REQUIRE(traffic.ok());
    REQUIRE(traffic->size() == kPackets);
    std::set<std::string> seen;
    size_t decided = 0, version6 = 0;
    for (size_t i = 0; i < kPackets; ++i) {
      Packet packet = traffic->At(i);
      seen.emplace(reinterpret_cast<const char*>(packet.data), packet.length);
      decided += decider.Decides(packet) ? 1 : 0;
      version6 += packet.protocol == 0x86dd ? 1 : 0;
    }
    CHECK(seen.size() == kPackets);
    CHECK(version6 > 1000);
    if (kind == TrafficKind::kMiss) CHECK(decided == 0);
    if (kind == TrafficKind::kHit) CHECK(decided == kPackets);
    if (kind == TrafficKind::kMixed) {
      CHECK(decided > kPackets / 4);
      CHECK(decided < kPackets * 3 / 4);
    }
  }
}

TEST_CASE("a ruleset that leaves no packet of a kind is an error that says how many there are") {
  Decider decider;
  const auto always = [](Packet&) { return true; };
  const absl::Status status = TrafficMaker(decider.lowered(), 3).Make(TrafficKind::kMiss, 10, always).status();
  CHECK(
      status.message() ==
      "traffic: the ruleset leaves too few distinct packets that no rule decides: 0 in 640 tries; give a capture with "
      "-r, or another --traffic");
}

}  // namespace
}  // namespace nftjit
