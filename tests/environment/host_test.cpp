#include "lib/environment/host.h"

#include <catch2/catch.hpp>

namespace nftjit {
namespace {

constexpr char kHost[] = R"(# a router
interface lo index 1
interface eth0 index 7 kind veth group 3
interface tun0 type none
address 192.0.2.1/24 dev eth0
address 2001:db8::1/64 dev eth0
route default via 192.0.2.254 dev eth0
route 10.0.0.0/8 dev tun0
user backup 34
group staff 50
)";

TEST_CASE("a host file gives interfaces, local addresses and routes") {
  const absl::StatusOr<Host> host = Host::FromText(kHost, "h");
  REQUIRE(host.ok());
  const Interface* eth0 = host->FindInterface("eth0");
  const Interface* tun0 = host->FindInterface("tun0");
  REQUIRE(eth0 != nullptr);
  REQUIRE(tun0 != nullptr);
  CHECK(eth0->index == 7);
  CHECK(eth0->group == 3);
  CHECK(std::string_view(eth0->kind.data()) == "veth");
  CHECK(tun0->type == 0xfffe);
  CHECK(tun0->index == 2);
  CHECK(host->FindInterface("eth1") == nullptr);

  const auto local = [&](std::array<uint8_t, 4> a) { return host->IsLocal(a.data(), 4); };
  CHECK(local({192, 0, 2, 1}));
  CHECK(local({192, 0, 2, 255}));
  CHECK(local({224, 0, 0, 1}));
  CHECK(local({127, 0, 0, 2}));
  CHECK_FALSE(local({192, 0, 2, 2}));
  const auto route = [&](std::array<uint8_t, 4> a) { return host->RouteTo(a.data(), 4); };
  CHECK(route({192, 0, 2, 9}) == eth0);
  CHECK(route({10, 1, 2, 3}) == tun0);
  CHECK(route({8, 8, 8, 8}) == eth0);
  const std::array<uint8_t, 16> six{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9};
  CHECK(host->RouteTo(six.data(), 16) == eth0);
  CHECK_FALSE(host->IsLocal(six.data(), 16));
  CHECK(host->users().at("backup") == 34);
  CHECK(host->groups().at("staff") == 50);
}

TEST_CASE("errors of a host file name line and expectation") {
  const auto message = [](std::string_view text) {
    const absl::StatusOr<Host> host = Host::FromText(text, "h");
    return host.ok() ? std::string("accepted") : std::string(host.status().message());
  };
  CHECK(message("interface eth0\ninterface eth0") == "h:2: interface 'eth0' is given twice");
  CHECK(message("interface abcdefghijklmnop") == "h:1: interface name 'abcdefghijklmnop': 1 to 15 bytes are expected");
  CHECK(message("interface a index 2\ninterface b index 2") ==
        "h:2: interface 'b': index 2 belongs to another interface");
  CHECK(message("address 10.0.0.1/33 dev a") == "h:1: '10.0.0.1/33': at most /32 is expected");
  CHECK(message("address 10.0.0.1/8 dev a") == "h:1: device 'a': a line 'interface a' is expected before it");
  CHECK(message("route x dev a") == "h:1: 'x': an IPv4 or IPv6 address, with or without /bits, is expected");
  CHECK(message("\nbridge b") == "h:2: 'bridge': interface, address, route, user or group is expected");
  CHECK(message("interface a type 70000") == "h:1: type 70000: a device type of 16 bits is expected");
  CHECK(message("user root") == "h:1: 'user NAME NUMBER' is expected");
}

}  // namespace
}  // namespace nftjit
