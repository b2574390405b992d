#include "lib/environment/host.h"

#include <algorithm>
#include <cstring>

namespace nftjit {
namespace {

bool IsMulticastOrLoopback(const uint8_t* address, uint8_t size) {
  if (size == 4) return address[0] >= 224 || address[0] == 127;
  if (address[0] == 0xff) return true;
  return std::all_of(address, address + 15, [](uint8_t byte) { return byte == 0; }) && address[15] == 1;
}

bool IsBroadcastOf(const Prefix& network, const uint8_t* address) {
  if (network.size != 4 || network.bits >= 31 || !network.Contains(address)) return false;
  for (unsigned bit = network.bits; bit < 32; ++bit) {
    if ((address[bit / 8] >> (7 - bit % 8) & 1) == 0) return false;
  }
  return true;
}

}  // namespace

bool Prefix::Contains(const uint8_t* address) const {
  const size_t whole = bits / 8;
  if (std::memcmp(bytes.data(), address, whole) != 0) return false;
  const unsigned rest = bits % 8;
  return rest == 0 || ((bytes[whole] ^ address[whole]) >> (8 - rest)) == 0;
}

const Interface* Host::FindInterface(std::string_view name) const {
  const auto found =
      std::find_if(interfaces_.begin(), interfaces_.end(), [&](const Interface& it) { return name == it.name.data(); });
  return found == interfaces_.end() ? nullptr : &*found;
}

absl::StatusOr<const Interface*> Host::AddInterface(std::string_view name, uint32_t index) {
  if (const Interface* known = FindInterface(name)) {
    if (index != 0 && known->index != index) {
      return absl::InvalidArgumentError("interface '" + std::string(name) + "' has index " +
                                        std::to_string(known->index) + " already, not " + std::to_string(index));
    }
    return known;
  }
  if (name.empty() || name.size() > 15) {
    return absl::InvalidArgumentError("interface name '" + std::string(name) + "': 1 to 15 bytes are expected");
  }
  const auto taken = [&](uint32_t wanted) {
    return std::any_of(interfaces_.begin(), interfaces_.end(), [&](const Interface& it) { return it.index == wanted; });
  };
  if (index != 0 && taken(index)) {
    return absl::InvalidArgumentError("interface '" + std::string(name) + "': index " + std::to_string(index) +
                                      " belongs to another interface");
  }
  // Index 1 is the loopback device's on every Linux machine.
  if (index == 0) index = name == "lo" && !taken(1) ? 1 : 2;
  while (taken(index)) ++index;
  Interface interface;
  interface.index = index;
  std::copy(name.begin(), name.end(), interface.name.begin());
  if (name == "lo") interface.type = 772;
  interfaces_.push_back(interface);
  return &interfaces_.back();
}

bool Host::IsLocal(const uint8_t* address, uint8_t size) const {
  if (IsMulticastOrLoopback(address, size)) return true;
  return std::any_of(addresses_.begin(), addresses_.end(), [&](const Address& it) {
    return it.prefix.size == size &&
           (std::memcmp(it.prefix.bytes.data(), address, size) == 0 || IsBroadcastOf(it.prefix, address));
  });
}

const Interface* Host::RouteTo(const uint8_t* address, uint8_t size) const {
  const Interface* best = nullptr;
  int best_bits = -1;
  const auto consider = [&](const Prefix& prefix, const Interface* device) {
    if (prefix.size != size || !prefix.Contains(address) || prefix.bits <= best_bits) return;
    best_bits = prefix.bits;
    best = device;
  };
  for (const Address& it : addresses_) consider(it.prefix, it.device);
  for (const Route& it : routes_) consider(it.prefix, it.device);
  return best;
}

}  // namespace nftjit
