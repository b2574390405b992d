// The packet builder against packets whose bytes are known.
#include "tests/support/packets.h"

#include <catch2/catch.hpp>

#include "lib/support/bytes.h"

namespace nftjit::testing {
namespace {

std::string Hex(const Bytes& bytes) { return ToHex(bytes); }

TEST_CASE("honest defaults give well-formed packets", "[packets]") {
  REQUIRE(Hex(Ipv4().Protocol(17) / Udp().Sport(1111).Dport(2222) / Raw("hello")) ==
          "4500002100010000401166c90a0000020a000001045708ae000d9afa68656c6c6f");
  const Bytes v6 = Ipv6() / Icmp();
  REQUIRE(Hex(v6) ==
          "6000000000083a40fd000000000000000000000000000002fd000000000000000000000000000001"
          "8000" +
              Hex({v6[42], v6[43]}) + "00010001");
  // A checksum over its own packet and pseudo-header is zero.
  Bytes pseudo(v6.begin() + 8, v6.begin() + 40);
  pseudo.insert(pseudo.end(), {0, 0, 0, 8, 0, 0, 0, 58});
  pseudo.insert(pseudo.end(), v6.begin() + 40, v6.end());
  REQUIRE(InternetChecksum(pseudo.data(), pseudo.size()) == 0);
}

TEST_CASE("layers name what follows them", "[packets]") {
  REQUIRE(Hex(Ether() / Vlan().Vid(5).Pcp(3) / Arp()).substr(24, 12) == "810060050806");
  REQUIRE(Hex(Ether() / Ipv4() / Tcp()).substr(24, 4) == "0800");
  const Bytes chain = Ipv6() / Ipv6Extension(0) / Ipv6Fragment().MoreFragments(true) / Tcp();
  REQUIRE(chain[6] == 0);
  REQUIRE(Hex(Bytes(chain.begin() + 40, chain.begin() + 56)) ==
          "2c00000000000000"
          "0600000100000001");
  REQUIRE((Ipv4() / Ipv6()).Build()[9] == 41);
}

TEST_CASE("lies are told as they were given", "[packets]") {
  REQUIRE(Hex(Ipv4().HeaderWords(3).TotalLength(10).Checksum(0) / Raw("")) ==
          "4300000a00010000"
          "40ff00000a0000020a000001");
  REQUIRE((Ipv6().PayloadLength(100) / Udp()).Build()[5] == 100);
  REQUIRE((Ipv4() / Tcp().HeaderWords(15)).Build()[32] == 0xf0);
  REQUIRE((Ipv4() / Tcp().Options({2, 4, 5, 0xb4, 1})).Build()[32] == 0x70);
  REQUIRE_THROWS(FromHex("0g"));
  REQUIRE_THROWS(FromHex("012"));
}

}  // namespace
}  // namespace nftjit::testing
