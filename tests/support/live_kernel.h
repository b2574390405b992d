// The live kernel as a judge: a network namespace with two devices, probe chains at both ends of every hook, and a
// ruleset under test between them. One packet at a time goes in; what the counters say comes out.
//
// The first probe of a hook (priority INT_MIN) tells that the packet reached it, the last one (INT_MAX) that the rules
// let it pass. What the namespace itself sends is dropped at output before any other chain, so nothing else moves a
// counter. Packets for this host end at input, packets that leave end at egress: nobody answers.
#ifndef NFTJIT_TESTS_SUPPORT_LIVE_KERNEL_H_
#define NFTJIT_TESTS_SUPPORT_LIVE_KERNEL_H_

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nftjit/packet.h"
#include "nftjit/worker.h"
#include "tests/support/kernel_ruleset.h"
#include "tests/support/network_namespace.h"

namespace nftjit::testing {

enum class Topology : uint8_t {
  kRouted,          // Raw IP packets into a TUN device; everything but 192.0.2.1 and 2001:db8:1::1 goes to another TUN.
  kRoutedEthernet,  // The same with TAP devices: Ethernet frames. The input device has the address 02:00:00:00:00:01.
  kBridged,         // Ethernet frames into a port of a bridge; the bridge has the address 02:00:00:00:00:0b.
};

// The places that packets pass, in their order. With kBridged the L3 ones are the bridge family's.
enum class Station : uint8_t { kIngress, kArpInput, kPrerouting, kInput, kForward, kPostrouting, kEgress };
inline constexpr size_t kStationCount = 7;
std::string_view Name(Station station);

struct LiveKernelOptions {
  Topology topology = Topology::kRouted;
  // Devices; index 0: the kernel chooses. Further devices are dummies that no packet passes.
  std::string input_name = "in0", output_name = "out0";
  uint32_t input_index = 0, output_index = 0;
  std::vector<std::pair<std::string, uint32_t>> further;
  // Track connections, and observe what conntrack says of each packet at the L3 hooks. Fragments are then put together
  // before every chain with a priority above -400.
  bool conntrack = false;
};

struct Observation {
  bool accepted_by_device = true;  // False: the device refused the bytes; nothing was run.
  std::array<uint32_t, kStationCount> entered{}, left{};
  std::vector<CounterValue> counters;  // How far each counter moved, in the order of places().
  // LiveKernelOptions::conntrack: state, entry, direction and status of the packet where it entered prerouting (as
  // chains see it after conntrack), input, forward and postrouting.
  std::array<std::optional<Conntrack>, kStationCount> conntrack{};
};

class LiveKernel {
 public:
  // Errors: Unavailable where NetworkNamespace::Available() is.
  static absl::StatusOr<std::unique_ptr<LiveKernel>> Start(const LiveKernelOptions& options);

  // Replaces the ruleset under test.
  absl::Status Load(const nft::Ruleset& ruleset);
  absl::Status Unload();
  [[nodiscard]] const std::vector<CounterPlace>& places() const { return places_; }

  absl::StatusOr<Observation> Inject(ByteSpan packet);

  [[nodiscard]] Topology topology() const { return options_.topology; }
  [[nodiscard]] const Interface& input() const { return input_; }
  [[nodiscard]] const Interface& output() const { return output_; }
  [[nodiscard]] NetlinkSocket& socket() { return *socket_; }
  [[nodiscard]] NetworkNamespace& network() { return *namespace_; }

 private:
  explicit LiveKernel(const LiveKernelOptions& options) : options_(options) {}
  absl::Status SetUp();
  absl::Status OpenDevices(bool ethernet);
  absl::Status LoadProbes();
  void ReadFact(size_t number, Observation& seen) const;
  absl::Status Baseline();

  LiveKernelOptions options_;
  std::unique_ptr<NetworkNamespace> namespace_;
  std::unique_ptr<NetlinkSocket> socket_;
  TunDevice input_device_, output_device_;
  Interface input_, output_;
  nft::Ruleset loaded_;
  std::vector<CounterPlace> places_;
  // For every counter of the dump: its index into places_, or for a probe -1 less its number: the first probes of all
  // stations, the last ones, the conntrack facts of all stations.
  std::vector<int> slots_;
  std::vector<CounterValue> before_, now_;
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_LIVE_KERNEL_H_
