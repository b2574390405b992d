#include "lib/opt/fields.h"

#include <span>

#include "lib/opt/bytes_math.h"

namespace nftjit::opt {
namespace {

using ir::Op;
using ir::Row;

constexpr Field kEthernet[] = {{0, 6}, {6, 6}, {12, 2}};
constexpr Field kIpv4[] = {{0, 1}, {1, 1}, {2, 2}, {4, 2}, {6, 2}, {8, 1}, {9, 1}, {10, 2}, {12, 4}, {16, 4}};
constexpr Field kIpv6[] = {{0, 4}, {4, 2}, {6, 1}, {7, 1}, {8, 16}, {24, 16}};
constexpr Field kArp[] = {{0, 2}, {2, 2}, {4, 1}, {5, 1}, {6, 2}, {8, 6}, {14, 4}, {18, 6}, {24, 4}};
constexpr Field kTcp[] = {{0, 2}, {2, 2}, {4, 4}, {8, 4}, {12, 1}, {13, 1}, {14, 2}, {16, 2}, {18, 2}};
constexpr Field kUdp[] = {{0, 2}, {2, 2}, {4, 2}, {6, 2}};

std::span<const Field> FieldsOf(const HeaderContext& context, ir::Base base) {
  switch (base) {
    case ir::Base::kLink:
      return kEthernet;
    case ir::Base::kNetwork:
      switch (context.network) {
        case NetworkHeader::kIpv4:
          return kIpv4;
        case NetworkHeader::kIpv6:
          return kIpv6;
        case NetworkHeader::kArp:
          return kArp;
        case NetworkHeader::kUnknown:
          return {};
      }
      return {};
    case ir::Base::kTransport:
      switch (context.transport) {
        case TransportHeader::kTcp:
          return kTcp;
        case TransportHeader::kUdp:
          return kUdp;
        case TransportHeader::kUnknown:
          return {};
      }
      return {};
    case ir::Base::kInner:
      return {};
  }
  return {};
}

void LearnEtherType(uint16_t type, NetworkHeader& network) {
  if (type == 0x0800) network = NetworkHeader::kIpv4;
  if (type == 0x86dd) network = NetworkHeader::kIpv6;
  if (type == 0x0806) network = NetworkHeader::kArp;
}

void LearnProtocol(uint8_t protocol, TransportHeader& transport) {
  constexpr uint8_t kProtocolTcp = 6, kProtocolUdp = 17;
  if (protocol == kProtocolTcp) transport = TransportHeader::kTcp;
  if (protocol == kProtocolUdp) transport = TransportHeader::kUdp;
}

}  // namespace

HeaderContext HeaderContext::OfFamily(nft::Family family) {
  HeaderContext context;
  if (family == nft::Family::kIp) context.network = NetworkHeader::kIpv4;
  if (family == nft::Family::kIp6) context.network = NetworkHeader::kIpv6;
  if (family == nft::Family::kArp) context.network = NetworkHeader::kArp;
  return context;
}

void HeaderContext::Learn(const ir::Program& program, const Row& test) {
  if (test.comparison() != ir::Comparison::kEq || test.c != UINT32_MAX) return;
  const Row& value = program.rows[test.a];
  const ByteSpan constant = ConstantOf(program, test.b);
  if (value.op == Op::kMeta) {
    switch (static_cast<nft::MetaKey>(value.key)) {
      case nft::MetaKey::kNfproto:
        if (constant[0] == static_cast<uint8_t>(nft::Family::kIp)) network = NetworkHeader::kIpv4;
        if (constant[0] == static_cast<uint8_t>(nft::Family::kIp6)) network = NetworkHeader::kIpv6;
        return;
      case nft::MetaKey::kProtocol:
        return LearnEtherType(LoadBig16(constant.data()), network);
      case nft::MetaKey::kL4proto:
        return LearnProtocol(constant[0], transport);
      default:
        return;
    }
  }
  if (value.op != Op::kLoad) return;
  if (value.base() == ir::Base::kLink && value.a == 12 && value.length == 2) {
    LearnEtherType(LoadBig16(constant.data()), network);
  }
  const uint32_t protocol_offset = network == NetworkHeader::kIpv4   ? 9
                                   : network == NetworkHeader::kIpv6 ? 6
                                                                     : UINT32_MAX;
  if (value.base() == ir::Base::kNetwork && value.a == protocol_offset && value.length == 1) {
    LearnProtocol(constant[0], transport);
  }
}

uint32_t NetworkRoomOf(nft::Family family) {
  switch (family) {
    case nft::Family::kIp:
    case nft::Family::kInet:
      return 20;
    case nft::Family::kIp6:
      return 40;
    default:
      return 0;
  }
}

bool IsIpv6Test(const ir::Program& program, const Row& test) {
  const Row& value = program.rows[test.a];
  return value.op == Op::kMeta && static_cast<nft::MetaKey>(value.key) == nft::MetaKey::kNfproto &&
         test.comparison() == ir::Comparison::kEq && test.c == UINT32_MAX &&
         ConstantOf(program, test.b)[0] == static_cast<uint8_t>(nft::Family::kIp6);
}

std::optional<Field> FieldOf(const HeaderContext& context, ir::Base base, uint32_t offset, uint32_t length) {
  for (const Field& field : FieldsOf(context, base)) {
    if (offset >= field.offset && offset + length <= uint32_t{field.offset} + field.length) return field;
  }
  return std::nullopt;
}

}  // namespace nftjit::opt
