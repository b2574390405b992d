// The fields of protocol headers: where canonical loads begin and end.
#ifndef NFTJIT_LIB_OPT_FIELDS_H_
#define NFTJIT_LIB_OPT_FIELDS_H_

#include <cstdint>
#include <optional>

#include "lib/ir/ir.h"

namespace nftjit::opt {

struct Field {
  uint16_t offset = 0;
  uint8_t length = 0;
};

enum class NetworkHeader : uint8_t { kUnknown, kIpv4, kIpv6, kArp };
enum class TransportHeader : uint8_t { kUnknown, kTcp, kUdp };

// What is known of a packet's headers on the way to a row.
struct HeaderContext {
  NetworkHeader network = NetworkHeader::kUnknown;
  TransportHeader transport = TransportHeader::kUnknown;

  static HeaderContext OfFamily(nft::Family family);
  // Learns from a test that passed: `meta nfproto`, `meta protocol`, `meta l4proto`, the ethertype, or the protocol
  // field of the L3 header, equal to a constant.
  void Learn(const ir::Program& program, const ir::Row& test);
};

// The fixed network header of which the hooks of a family's tables have all or nothing (lib/runtime/parse.h): 20 bytes
// for ip and inet, 40 for ip6. 0: no such promise. In an inet table it is 40 behind a passed IsIpv6Test.
uint32_t NetworkRoomOf(nft::Family family);
// `meta nfproto == 0a`.
bool IsIpv6Test(const ir::Program& program, const ir::Row& test);

// The one field in which [offset, offset + length) of `base` lies; empty if it lies in none or reaches over two.
std::optional<Field> FieldOf(const HeaderContext& context, ir::Base base, uint32_t offset, uint32_t length);

}  // namespace nftjit::opt

#endif  // NFTJIT_LIB_OPT_FIELDS_H_
