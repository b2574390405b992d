#include "tests/support/packets.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

#include "lib/support/bytes.h"

namespace nftjit::testing {
namespace {

template <class Container>
void Append(Bytes& to, const Container& from) {
  to.insert(to.end(), from.begin(), from.end());
}
void AppendBig16(Bytes& to, uint32_t value) {
  to.push_back(static_cast<uint8_t>(value >> 8));
  to.push_back(static_cast<uint8_t>(value));
}
void Append32(Bytes& to, uint32_t value) {
  AppendBig16(to, value >> 16);
  AppendBig16(to, value & 0xffff);
}
Bytes PaddedTo(Bytes bytes, size_t unit) {
  bytes.resize((bytes.size() + unit - 1) / unit * unit);
  return bytes;
}

// What a header in front says of a layer.
struct Naming {
  uint16_t ethertype = 0;
  uint8_t protocol = 255;
};

Naming NameOf(const Layer& layer, bool under_ipv6) {
  struct Visitor {
    bool ipv6;
    Naming operator()(const Ether&) const { return {0x6558, 97}; }
    Naming operator()(const Vlan& vlan) const { return {vlan.tpid, 255}; }
    Naming operator()(const Arp&) const { return {0x0806, 255}; }
    Naming operator()(const Ipv4&) const { return {0x0800, 4}; }
    Naming operator()(const Ipv6&) const { return {0x86dd, 41}; }
    Naming operator()(const Ipv6Extension& header) const { return {0, header.kind}; }
    Naming operator()(const Ipv6Fragment&) const { return {0, 44}; }
    Naming operator()(const Tcp&) const { return {0, 6}; }
    Naming operator()(const Udp& udp) const { return {0, udp.protocol}; }
    Naming operator()(const Icmp&) const { return {0, static_cast<uint8_t>(ipv6 ? 58 : 1)}; }
    Naming operator()(const Raw& raw) const { return {0x88b5, raw.protocol}; }
  };
  return std::visit(Visitor{under_ipv6}, layer);
}

// The nearest IP header in front of a layer: for pseudo-headers.
struct IpAround {
  const Ipv4* v4 = nullptr;
  const Ipv6* v6 = nullptr;

  [[nodiscard]] uint32_t PseudoSum(size_t length, uint8_t protocol) const {
    Bytes bytes;
    if (v4 != nullptr) {
      Append(bytes, v4->src);
      Append(bytes, v4->dst);
    } else if (v6 != nullptr) {
      Append(bytes, v6->src);
      Append(bytes, v6->dst);
    }
    uint32_t sum = static_cast<uint32_t>(length) + protocol;
    for (size_t i = 0; i < bytes.size(); i += 2) sum += LoadBig16(&bytes[i]);
    return sum;
  }
};

// Makes the bytes of one layer, given those behind it.
struct Builder {
  const Bytes& payload;
  Naming next;
  IpAround ip;

  Bytes operator()(const Ether& layer) const {
    Bytes out;
    Append(out, layer.dst);
    Append(out, layer.src);
    AppendBig16(out, layer.type.value_or(next.ethertype));
    Append(out, payload);
    return out;
  }
  // Called with the tag in place: the layer in front wrote the TPID as its type.
  Bytes operator()(const Vlan& layer) const {
    Bytes out;
    AppendBig16(out, uint32_t{layer.pcp} << 13 | (layer.vid & 0xfffU));
    AppendBig16(out, layer.type.value_or(next.ethertype));
    Append(out, payload);
    return out;
  }
  Bytes operator()(const Arp& layer) const {
    Bytes out = {0, 1, 8, 0, 6, 4};
    AppendBig16(out, layer.operation);
    Append(out, layer.sender_mac);
    Append(out, layer.sender);
    Append(out, layer.target_mac);
    Append(out, layer.target);
    Append(out, payload);
    return out;
  }
  Bytes operator()(const Ipv4& layer) const {
    const Bytes options = PaddedTo(layer.options, 4);
    const size_t header = 20 + options.size();
    Bytes out = {static_cast<uint8_t>(layer.version << 4 | (layer.header_words.value_or(header / 4) & 15)), layer.tos};
    AppendBig16(out, layer.total_length.value_or(header + payload.size()));
    AppendBig16(out, layer.id);
    AppendBig16(out,
                (layer.dont_fragment ? 0x4000U : 0U) | (layer.more_fragments ? 0x2000U : 0U) | layer.fragment_units);
    out.push_back(layer.ttl);
    out.push_back(layer.protocol.value_or(next.protocol));
    AppendBig16(out, 0);
    Append(out, layer.src);
    Append(out, layer.dst);
    Append(out, options);
    StoreBig16(&out[10], layer.checksum.value_or(InternetChecksum(out.data(), out.size())));
    Append(out, payload);
    return out;
  }
  Bytes operator()(const Ipv6& layer) const {
    Bytes out;
    Append32(out, uint32_t{layer.version} << 28 | uint32_t{layer.traffic_class} << 20 | (layer.flow_label & 0xfffff));
    AppendBig16(out, layer.payload_length.value_or(payload.size()));
    out.push_back(layer.next_header.value_or(next.protocol));
    out.push_back(layer.hop_limit);
    Append(out, layer.src);
    Append(out, layer.dst);
    Append(out, payload);
    return out;
  }
  Bytes operator()(const Ipv6Extension& layer) const {
    // Lengths count units of eight bytes after the first eight; the authentication header's units of four after eight.
    const size_t unit = layer.kind == 51 ? 4 : 8;
    Bytes out = {layer.next_header.value_or(next.protocol), 0};
    Append(out, layer.body);
    out = PaddedTo(out, unit);
    out[1] = layer.length_field.value_or(layer.kind == 51 ? out.size() / 4 - 2 : out.size() / 8 - 1);
    Append(out, payload);
    return out;
  }
  Bytes operator()(const Ipv6Fragment& layer) const {
    Bytes out = {layer.next_header.value_or(next.protocol), 0};
    AppendBig16(out, layer.offset_bytes | (layer.more_fragments ? 1U : 0U));
    Append32(out, layer.id);
    Append(out, payload);
    return out;
  }
  Bytes operator()(const Tcp& layer) const {
    const Bytes options = PaddedTo(layer.options, 4);
    Bytes out;
    AppendBig16(out, layer.sport);
    AppendBig16(out, layer.dport);
    Append32(out, layer.seq);
    Append32(out, layer.ack);
    out.push_back(static_cast<uint8_t>(layer.header_words.value_or(5 + options.size() / 4) << 4));
    out.push_back(layer.flags);
    AppendBig16(out, layer.window);
    Append32(out, 0);
    Append(out, options);
    Append(out, payload);
    StoreBig16(&out[16], layer.checksum.value_or(Transport(out, 6)));
    return out;
  }
  Bytes operator()(const Udp& layer) const {
    Bytes out;
    AppendBig16(out, layer.sport);
    AppendBig16(out, layer.dport);
    AppendBig16(out, layer.length.value_or(8 + payload.size()));
    AppendBig16(out, 0);
    Append(out, payload);
    const uint16_t sum = Transport(out, layer.protocol);
    StoreBig16(&out[6], layer.checksum.value_or(sum == 0 ? 0xffff : sum));
    return out;
  }
  Bytes operator()(const Icmp& layer) const {
    const bool v6 = ip.v6 != nullptr;
    Bytes out = {layer.type.value_or(v6 ? 128 : 8), layer.code, 0, 0};
    Append32(out, layer.rest);
    Append(out, payload);
    StoreBig16(&out[2], layer.checksum.value_or(v6 ? Transport(out, 58) : InternetChecksum(out.data(), out.size())));
    return out;
  }
  Bytes operator()(const Raw& layer) const {
    Bytes out = layer.bytes;
    Append(out, payload);
    return out;
  }

 private:
  [[nodiscard]] uint16_t Transport(const Bytes& segment, uint8_t protocol) const {
    return InternetChecksum(segment.data(), segment.size(), ip.PseudoSum(segment.size(), protocol));
  }
};

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Bytes FromHex(std::string_view hex) {
  Bytes out;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ' || c == '\n') continue;
    const int digit = HexDigit(c);
    if (digit < 0) throw std::invalid_argument("not hex: " + std::string(hex));
    if (high < 0) {
      high = digit;
    } else {
      out.push_back(static_cast<uint8_t>(high << 4 | digit));
      high = -1;
    }
  }
  if (high >= 0) throw std::invalid_argument("odd number of hex digits: " + std::string(hex));
  return out;
}

std::array<uint8_t, 4> Ipv4Address(std::string_view text) {
  std::array<uint8_t, 4> out{};
  if (inet_pton(AF_INET, std::string(text).c_str(), out.data()) != 1) throw std::invalid_argument(std::string(text));
  return out;
}

std::array<uint8_t, 16> Ipv6Address(std::string_view text) {
  std::array<uint8_t, 16> out{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), out.data()) != 1) throw std::invalid_argument(std::string(text));
  return out;
}

std::array<uint8_t, 6> MacAddress(std::string_view text) {
  std::string hex(text);
  std::erase(hex, ':');
  const Bytes bytes = FromHex(hex);
  if (bytes.size() != 6) throw std::invalid_argument(std::string(text));
  std::array<uint8_t, 6> out{};
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

uint16_t InternetChecksum(const uint8_t* bytes, size_t size, uint32_t sum) {
  for (size_t i = 0; i + 1 < size; i += 2) sum += LoadBig16(bytes + i);
  if (size % 2 != 0) sum += uint32_t{bytes[size - 1]} << 8;
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

Bytes Stack::Build() const {
  Bytes bytes;
  for (size_t i = layers_.size(); i-- > 0;) {
    IpAround ip;
    for (size_t j = i; j-- > 0 && ip.v4 == nullptr && ip.v6 == nullptr;) {
      ip.v4 = std::get_if<Ipv4>(&layers_[j]);
      ip.v6 = std::get_if<Ipv6>(&layers_[j]);
    }
    const bool ipv6 = ip.v6 != nullptr || std::holds_alternative<Ipv6>(layers_[i]);
    const Naming next = i + 1 < layers_.size() ? NameOf(layers_[i + 1], ipv6) : Naming{0x88b5, 59};
    bytes = std::visit(Builder{bytes, next, ip}, layers_[i]);
  }
  return bytes;
}

Packet L3Packet(Bytes& bytes) {
  Packet packet;
  packet.data = bytes.data();
  packet.length = static_cast<uint32_t>(bytes.size());
  if (!bytes.empty()) packet.protocol = bytes[0] >> 4 == 6 ? 0x86dd : 0x0800;
  return packet;
}

Interface MakeInterface(std::string_view name, uint32_t index) {
  Interface interface;
  interface.index = index;
  std::copy_n(name.begin(), std::min<size_t>(name.size(), 15), interface.name.begin());
  return interface;
}

}  // namespace nftjit::testing
