// Names of ports and IP protocols: our own small registry, so that a ruleset means the same on every machine.
#ifndef NFTJIT_LIB_CONTROL_SERVICE_NAMES_H_
#define NFTJIT_LIB_CONTROL_SERVICE_NAMES_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace nftjit::control {

struct Service {
  std::string_view name;
  uint16_t port;
  uint8_t protocol;  // IPPROTO_TCP …
};

// `protocol` 0: any, tcp preferred. Aliases are found by name only. By port the IANA name is given.
std::optional<Service> ServiceByName(std::string_view name, uint8_t protocol);
std::optional<Service> ServiceByPort(uint16_t port, uint8_t protocol);

struct Protocol {
  std::string_view name;
  uint16_t number;
};
std::optional<Protocol> ProtocolByName(std::string_view name);
std::optional<Protocol> ProtocolByNumber(uint32_t number);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_SERVICE_NAMES_H_
