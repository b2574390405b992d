// One packet with all its facts and the hooks that it passes, as random tests make it and case files keep it.
#ifndef NFTJIT_TESTS_SUPPORT_PACKET_CASE_H_
#define NFTJIT_TESTS_SUPPORT_PACKET_CASE_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

#include "nftjit/packet.h"
#include "nftjit/worker.h"
#include "tests/support/craft_packet.h"
#include "tests/support/generate.h"

namespace nftjit::testing {

struct PacketCase {
  Bytes bytes;
  bool ethernet = false;  // The bytes begin with an Ethernet header; else with the network header.
  Packet facts;           // All but data, length and what ParseEthernet() finds; its pointers are not used.
  std::optional<Interface> iif, oif;
  std::optional<Conntrack> ct;
  std::vector<HookSite> path;
  uint64_t gap_ns = 0;  // The clock goes on by this before the packet.

  // A Packet over `data`, which holds `length` bytes that begin like `bytes`. Refers to this object.
  [[nodiscard]] Packet View(uint8_t* data, size_t length) const;
};

// A packet near one of `packets`, with random facts and a path that suits `options`.
PacketCase MakePacketCase(Random& random, const GenerateOptions& options, const CraftedPacket& packet, bool ethernet);

// One line of `key=value` words, and one of hex: what case files contain. Fields with their defaults are left out.
std::string Print(const PacketCase& packet);
// Errors: InvalidArgument naming the word.
absl::StatusOr<PacketCase> ParsePacketCase(std::string_view facts, std::string_view hex);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_PACKET_CASE_H_
