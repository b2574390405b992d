// A host as a small text file: interfaces, addresses, routes, users and groups. docs/host-file.md has the format.
//
// What rules and hooks ask of the machine is answered from it, so that an answer does not depend on where it is asked.
#ifndef NFTJIT_LIB_ENVIRONMENT_HOST_H_
#define NFTJIT_LIB_ENVIRONMENT_HOST_H_

#include <absl/status/statusor.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nftjit/packet.h"

namespace nftjit {

// An IPv4 (4 bytes) or IPv6 (16 bytes) prefix in network order; bits after `bits` are zero for routes.
struct Prefix {
  std::array<uint8_t, 16> bytes{};
  uint8_t size = 4;
  uint8_t bits = 0;

  // `address` has `size` bytes.
  [[nodiscard]] bool Contains(const uint8_t* address) const;
};

struct Address {
  Prefix prefix;  // The address itself, with the length of its network.
  const Interface* device = nullptr;
};
struct Route {
  Prefix prefix;
  const Interface* device = nullptr;
};

class Host {
 public:
  Host() = default;
  Host(Host&&) = default;
  Host& operator=(Host&&) = default;

  // Errors: NotFound, or InvalidArgument "file:line: what was expected".
  static absl::StatusOr<Host> FromFile(const std::string& path);
  static absl::StatusOr<Host> FromText(std::string_view text, const std::string& file_name);

  // Null where there is none. Pointers stay valid as long as the Host.
  [[nodiscard]] const Interface* FindInterface(std::string_view name) const;
  // Adds an interface if there is none of that name. `index` 0: the lowest free one. Errors: InvalidArgument for a name
  // that is empty or longer than 15 bytes, or an index that another one has.
  absl::StatusOr<const Interface*> AddInterface(std::string_view name, uint32_t index);

  // `size` is 4 or 16. Local: an address of an interface, its network's IPv4 broadcast, loopback, or multicast.
  [[nodiscard]] bool IsLocal(const uint8_t* address, uint8_t size) const;
  // The device of the longest matching route or connected network; null: no route.
  [[nodiscard]] const Interface* RouteTo(const uint8_t* address, uint8_t size) const;
  // Addresses or routes were given, so that "is it local" has an answer.
  [[nodiscard]] bool has_addresses() const { return !addresses_.empty(); }

  [[nodiscard]] const std::deque<Interface>& interfaces() const { return interfaces_; }
  [[nodiscard]] const std::map<std::string, uint32_t>& users() const { return users_; }
  [[nodiscard]] const std::map<std::string, uint32_t>& groups() const { return groups_; }

 private:
  friend class HostParser;
  std::deque<Interface> interfaces_;  // Addresses of elements are stable.
  std::vector<Address> addresses_;
  std::vector<Route> routes_;
  std::map<std::string, uint32_t> users_, groups_;
};

}  // namespace nftjit

#endif  // NFTJIT_LIB_ENVIRONMENT_HOST_H_
