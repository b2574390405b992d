// What clients ask of the machine and get from the server.
#include <linux/rtnetlink.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "lib/control/links.h"
#include "lib/control/service_names.h"
#include "lib/netlink/attributes.h"

namespace nftjit::control {
namespace {

TEST_CASE("services") {
  CHECK(ServiceByName("ssh", 0)->port == 22);
  CHECK(ServiceByName("domain", 17)->protocol == 17);
  CHECK(ServiceByName("tftp", 0)->protocol == 17);
  CHECK(ServiceByName("www", 0)->port == 80);
  CHECK_FALSE(ServiceByName("tftp", 6).has_value());
  CHECK_FALSE(ServiceByName("nonesuch", 0).has_value());
  CHECK(ServiceByPort(80, 6)->name == "http");
  CHECK(ServiceByPort(51820, 17)->name == "wireguard");
  CHECK_FALSE(ServiceByPort(2, 6).has_value());
}

TEST_CASE("protocols") {
  CHECK(ProtocolByName("icmpv6")->number == 58);
  CHECK(ProtocolByNumber(58)->name == "ipv6-icmp");
  CHECK_FALSE(ProtocolByName("nonesuch").has_value());
  CHECK_FALSE(ProtocolByNumber(300).has_value());
}

TEST_CASE("interfaces get the lowest free index, 1 being lo's") {
  Links links;
  REQUIRE(links.Add("eth0").ok());
  REQUIRE(links.Add("eth1", 4).ok());
  REQUIRE(links.Add("eth2").ok());
  REQUIRE(links.Add("eth3").ok());
  REQUIRE(links.Add("lo").ok());
  REQUIRE(links.Add("eth0", 2).ok());
  std::vector<uint32_t> indexes;
  for (const nft::Interface& interface : links.interfaces()) indexes.push_back(interface.index);
  CHECK(indexes == std::vector<uint32_t>{2, 4, 3, 5, 1});
  CHECK(links.Add("eth0", 9).message() == "interface eth0: index 9 given, but it has index 2");
  CHECK(links.Add("eth9", 4).message() == "interface eth9: index 4 belongs to eth1");
  CHECK(links.Add("a/b").message() == "\"a/b\": not the name of an interface (1 to 15 bytes)");
  CHECK_FALSE(links.Add("").ok());
  CHECK_FALSE(links.Add("sixteen-bytes-xx").ok());
}

std::string LinkRequest(uint16_t flags, int index, const std::string& name) {
  std::string bytes(sizeof(nlmsghdr) + sizeof(ifinfomsg), '\0');
  auto* at = reinterpret_cast<uint8_t*>(bytes.data());
  StoreNative<uint16_t>(at + 4, RTM_GETLINK);
  StoreNative<uint16_t>(at + 6, flags);
  StoreNative<int32_t>(at + sizeof(nlmsghdr) + 4, index);
  if (!name.empty()) netlink::AttributeWriter(&bytes).String(IFLA_IFNAME, name);
  StoreNative<uint32_t>(reinterpret_cast<uint8_t*>(bytes.data()), static_cast<uint32_t>(bytes.size()));
  return bytes;
}

std::vector<std::string> Ask(const Links& links, const std::string& request) {
  ByteSpan bytes{reinterpret_cast<const uint8_t*>(request.data()), request.size()};
  return AnswerLinks(links, *NextMessage(bytes));
}

TEST_CASE("links are told in a dump, or one by index or name") {
  Links links;
  for (int i = 0; i < 200; ++i) REQUIRE(links.Add("eth" + std::to_string(i)).ok());
  const std::vector<std::string> dump = Ask(links, LinkRequest(kFlagDump, 0, ""));
  size_t messages = 0;
  for (const std::string& datagram : dump) {
    CHECK(datagram.size() < 4096);
    ByteSpan rest{reinterpret_cast<const uint8_t*>(datagram.data()), datagram.size()};
    while (NextMessage(rest).has_value()) ++messages;
  }
  CHECK(messages == 201);  // DONE included.

  for (const std::string& request : {LinkRequest(0, 7, ""), LinkRequest(0, 0, "eth5")}) {
    const std::vector<std::string> answer = Ask(links, request);
    REQUIRE(answer.size() == 1);
    CHECK(answer[0].find("eth5") != std::string::npos);
  }
  const std::vector<std::string> missing = Ask(links, LinkRequest(0, 0, "wlan0"));
  REQUIRE(missing.size() == 1);
  CHECK(LoadNative<int32_t>(reinterpret_cast<const uint8_t*>(missing[0].data()) + 16) == -ENODEV);
}

}  // namespace
}  // namespace nftjit::control
