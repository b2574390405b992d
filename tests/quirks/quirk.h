// Observed kernel behaviour as tests: one chain of rules, packets, and how often each rule's last counter counts. Every
// quirk runs on all engines, optimised and not, and where there is one on the live kernel, with the same expectation.
//
//   TEST_CASE("A9 cmp compares byte strings, not integers") {
//     Quirk quirk;
//     quirk.Breaks({Set(R1, "01000000"), Compare(R1, nft::CmpOp::kLt, "00000002")});
//     quirk.Run(PacketPU());
//   }
#ifndef NFTJIT_TESTS_QUIRKS_QUIRK_H_
#define NFTJIT_TESTS_QUIRKS_QUIRK_H_

#include <string>
#include <vector>

#include "tests/support/live_kernel.h"
#include "tests/support/model_builder.h"

namespace nftjit::testing {

using Base = nft::PayloadBase;
using nft::CmpOp;
using nft::ExthdrOp;
using nft::Family;
using nft::MetaKey;
using nft::RangeOp;
using nft::VerdictCode;

struct QuirkSite {
  nft::Family family = nft::Family::kIp;
  uint8_t hook = nft::kPrerouting;
  int32_t priority = -300;
  Topology topology = Topology::kRouted;
};
// IPv6, before conntrack puts fragments together.
inline const QuirkSite kIpv6Early{nft::Family::kIp6, nft::kPrerouting, -350};

class Quirk {
 public:
  explicit Quirk(const QuirkSite& site = {});

  // A rule, with a counter put at its end, that every packet passes, that none passes, or that `times` packets pass.
  void Matches(Expressions expressions) { Add(std::move(expressions), kEveryPacket); }
  void Breaks(Expressions expressions) { Add(std::move(expressions), 0); }
  void Counts(Expressions expressions, uint64_t times) { Add(std::move(expressions), times); }
  // After FILL and `expressions`, `reg` holds these bytes, 16 at most.
  void Holds(const Expressions& expressions, nft::Register reg, std::string_view hex);
  // A rule without a counter of its own at the end, in any chain: counters inside it are not looked at.
  void Plain(nft::Handle chain, Expressions expressions) { rules_.Rule(chain, std::move(expressions)); }
  // For chains, sets and tables of one's own. Counters of rules made here count as `expected` says, in this order.
  [[nodiscard]] RulesetBuilder& rules() { return rules_; }
  [[nodiscard]] nft::Handle chain() const { return chain_; }
  void In(nft::Handle chain, Expressions expressions, uint64_t times);

  // Engines only: facts that a caller would give.
  Packet facts;
  // Leave the live kernel out: the text says why, and is printed.
  void NotOnKernel(std::string why) { not_on_kernel_ = std::move(why); }
  // The verdict of the hook for every packet.
  void Ends(nftjit::Verdict verdict) { verdict_ = verdict; }

  // Packets begin where the topology's do: with the IP header, or with an Ethernet header.
  void Run(const Bytes& packet) { Run(std::vector<Bytes>{packet}); }
  void Run(const std::vector<Bytes>& packets);

 private:
  static constexpr uint64_t kEveryPacket = UINT64_MAX;
  void Add(Expressions expressions, uint64_t times) { In(chain_, std::move(expressions), times); }
  void RunEngines(const std::vector<Bytes>& packets);
  void RunKernel(const std::vector<Bytes>& packets);
  [[nodiscard]] uint64_t Expected(const std::string& table, nft::Handle rule, uint64_t packets) const;

  QuirkSite site_;
  RulesetBuilder rules_;
  nft::Handle chain_;
  struct Expectation {
    nft::Handle rule;
    uint64_t times;
  };
  std::vector<Expectation> expectations_;
  std::optional<nftjit::Verdict> verdict_;
  std::string not_on_kernel_;
};

// A rule of raw netlink attributes, for what the model cannot say. Both our codec and the live kernel refuse or take
// it.
class RawRule {
 public:
  explicit RawRule(nft::Family family = nft::Family::kIp) : family_(family) {}
  // Starts an expression; U32 and the like write its attributes.
  RawRule& Expression(std::string_view name);
  RawRule& U32(uint16_t type, uint32_t value);
  RawRule& U64(uint16_t type, uint64_t value);
  RawRule& U8(uint16_t type, uint8_t value);
  RawRule& Value(uint16_t type, std::string_view hex);  // A data nest.
  RawRule& Verdict(int32_t code, std::string_view chain = {});
  // `expected`: 0, or the errno.
  void Gives(int expected) const;

 private:
  struct Part {
    std::string name, attributes;
  };
  [[nodiscard]] std::string Attributes() const;
  nft::Family family_;
  std::vector<Part> parts_;
};

// FILL: R1 = a0..af, R2 = b0..bf, R3 = c0..cf, R4 = d0..df.
Expressions Fill();

// The packets of the notes.
Bytes PacketPU();   // UDP 10.0.0.2:1111 to 10.0.0.1:2222 "hello", 33 bytes.
Bytes PacketPF();   // A later fragment whose payload looks like UDP.
Bytes PacketP6F();  // The same of IPv6.
Bytes PacketP6D();  // IPv6, a destination-options header that claims 24 bytes of 8.
Bytes PacketFW();   // UDP 10.0.0.2 to 10.1.0.5, forwarded.
// `packet` as an Ethernet frame to the input device, with these tags (hex of TPID and TCI) between.
Bytes Frame(const Bytes& packet, std::string_view tags = {}, uint16_t type = 0);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_QUIRKS_QUIRK_H_
