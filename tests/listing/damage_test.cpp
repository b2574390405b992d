// Damaged listings: whatever stands in the text, the parser answers with an error or with a meaning that prints.
#include <catch2/catch.hpp>
#include <iostream>

#include "lib/control/listing.h"
#include "lib/ir/lower.h"
#include "lib/netlink/image.h"
#include "lib/nft/listing_parser.h"
#include "lib/nft/listing_printer.h"
#include "tests/support/random.h"

namespace nftjit {
namespace {

// Every kind of line and every expression, in both dialects.
constexpr std::string_view kLegacy = R"(table t inet flags 0 use 3 handle 1
inet t c use 2 type filter hook input prio 0 policy drop packets 1 bytes 2 dev { eth0 wlan* }
inet t x use 1
table t name q use 1 [ quota bytes 1000 flags 1 ]
table t name e use 0 [ ct_timeout family 2 protocol 6 policy = { 0 : 60 4 : 7 } ]
flow table t f use 1 size 0 flags 0 hook ingress prio 0 dev { eth0 }
s t 0 timeout 10ms gc_interval 5ms policy 1 size 7
s t 0
	element 0100000a  : 0 [end]	element 0200000a  : 0 [end]  userdata = { \x00\x03hi\x00 }
vm t 8
vm t 0
	element 00001600  : accept 0 [end]	element 00001700  : jump -> x 0 [end]	element  : drop 2 [end]
__set%d t 87
__set%d t 0
	element 0000000a 00005000  - ff00000a 00005a00  : 0 [end]
inet t c 4 3
  [ payload load 4b @ network header + 12 => reg 1 ]
  [ payload load 2b @ transport header + 2 => reg 9 ]
  [ lookup reg 1 set __set%d 0x1 ]
  [ bitwise reg 1 = ( reg 1 & 0x0000c0ff ) ^ 0x00000000 ]
  [ cmp neq reg 1 0x0000000a ]
  [ meta load iifname => reg 1 ]
  [ cmp eq reg 1 0x30687465 0x00000000 0x00000000 0x00000000 ]
  [ ct load src_ip => reg 1 , dir original ]
  [ range neq reg 1 0x0000000a 0x0100000a ]
  [ counter pkts 1 bytes 2 ]
  [ quota bytes 100 consumed 5 flags 0 ]
  [ limit rate 5/2 second burst 7 type packets flags 0x0 ]
  [ log prefix hello level 5 ]
  [ immediate reg 0 goto -> x ]
  userdata = { \x00\x08note 47\x00 }

inet t x
  [ payload load 2b @ transport header + 2 => reg 1 ]
  [ lookup reg 1 set vm dreg 0 ]
  [ dynset add reg_key 1 set s timeout 10ms expr [ limit rate 1/second burst 5 type packets flags 0x0 ] ]
  [ objref type 2 name q ]
  [ exthdr load tcpopt 2b @ 2 + 2 => reg 1 ]
  [ byteorder reg 1 = hton(reg 1, 2, 2) ]
  [ inner type 1 hdrsize 8 flags f [ meta load l4proto => reg 1 ] ]
  [ hash reg 1 = jhash(reg 1, 4, 0xdead) % mod 7 offset 2 ]
  [ fib saddr . iif oif present => reg 1 ]
  [ queue num 3-5 bypass ]
  [ reject type 2 code 1 ]
  [ notrack ]
  [ last never ]
  [ xfrm load in 0 reqid => reg 1 ]
  [ flow_offload flowtable f ]
)";
constexpr std::string_view kCurrent = R"(__map%d t b size 2
__map%d t 0
	element 0050 : 01020304 . 0016	element  : 01020304 . 0017 flags 2  userdata len 6 sum 0x6
ip t c
  [ meta load l4proto => reg 1 ]
  [ cmp eq reg 1 0x06 ]
  [ payload load 2b @ transport header + 2 => reg 1 ]
  [ lookup reg 1 set __map%d dreg 1 ]
  [ nat dnat ip addr_min reg 1 proto_min reg 9 flags 0x2 ]
  userdata len 6 sum 0x6
ip t d
  [ immediate reg 1 0x0001 ]
  [ ct set zone with reg 1 ]
  [ numgen reg 1 = inc mod 3 offset 5 ]
  [ bitwise reg 1 = ( reg 1 >> 0x00000002 ) ]
  [ bitwise reg 1 = ( reg 1 | reg 1 ) ]
  [ redir proto_min reg 1 flags 0x2 ]
  [ tproxy ip port reg 1 ]
  [ payload write reg 1 => 2b @ network header + 0 csum_type 1 csum_off 10 csum_flags 0x0 ]
)";

// Short texts that load as they are, so that many of their damaged forms do, too.
constexpr std::string_view kShort[] = {
    "ip filter INPUT 2\n  [ payload load 1b @ network header + 12 => reg 1 ]\n  [ cmp neq reg 1 0x0000000a ]\n"
    "  [ counter pkts 0 bytes 0 ]\n  [ immediate reg 0 drop ]\n",
    "s t 0\ns t 0\n\telement 0100000a  : 0 [end]\telement 0200000a  : 0 [end]\n"
    "inet t input\n  [ meta load nfproto => reg 1 ]\n  [ cmp eq reg 1 0x00000002 ]\n"
    "  [ payload load 4b @ network header + 12 => reg 1 ]\n  [ lookup reg 1 set s ]\n  [ immediate reg 0 accept ]\n",
    "__map%d t b\n__map%d t 0\n\telement 0016 : accept\telement 0017 : jump -> x\telement  : drop flags 2\n"
    "inet t input\n  [ meta load l4proto => reg 1 ]\n  [ cmp eq reg 1 0x06 ]\n"
    "  [ payload load 2b @ transport header + 2 => reg 1 ]\n  [ lookup reg 1 set __map%d dreg 0 ]\n"
    "inet t x\n  [ limit rate 5/second burst 7 type packets flags 0x0 ]\n  [ log prefix hello level 5 ]\n",
    "  [ meta load l4proto => reg 1 ]\n  [ cmp eq reg 1 0x00000006 ]\n"
    "  [ meta load mark => reg 1 ]\n  [ byteorder reg 1 = hton(reg 1, 4, 4) ]\n"
    "  [ range neq reg 1 0x0000000a 0x0100000a ]\n  [ immediate reg 1 0x00000007 ]\n  [ meta set mark with reg 1 ]\n",
};

std::string Damage(std::string text, testing::Random& random) {
  constexpr std::string_view kPieces[] = {"0x", "element", "reg ", "4294967296", "-1",       "[ ",     "]",
                                          "\n", " : ",     "%d",   "\\x00",      "jump -> ", "flags ", "[end]",
                                          "0",  "__set%d", ". ",   "(",          "\t",       "255"};
  const size_t count = 1 + random.Below(3);
  for (size_t i = 0; i < count && !text.empty(); ++i) {
    const size_t at = random.Below(text.size());
    const size_t length = std::min<size_t>(1 + random.Below(12), text.size() - at);
    switch (random.Below(7)) {
      case 5:
      case 6:  // A digit becomes another.
        for (size_t n = at; n < text.size(); ++n) {
          if (text[n] < '0' || text[n] > '9') continue;
          text[n] = static_cast<char>('0' + static_cast<int>(random.Below(10)));
          break;
        }
        break;
      case 0:
        text[at] = static_cast<char>(random.Below(256));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, kPieces[random.Below(std::size(kPieces))]);
        break;
      case 3:
        text.insert(at, text.substr(random.Below(text.size()), length * 8));
        break;
      default:
        text.replace(at, length, kPieces[random.Below(std::size(kPieces))]);
    }
  }
  return text;
}

TEST_CASE("the undamaged texts have a meaning") {
  for (const std::string_view text : {kLegacy, kCurrent}) {
    const absl::StatusOr<nft::Listing> listing = nft::ParseListing(text);
    INFO(listing.status().message());
    CHECK(listing.ok());
  }
  for (const std::string_view text : kShort) {
    const absl::StatusOr<nft::Ruleset> ruleset = control::CompileListing(text);
    INFO(ruleset.status().message());
    CHECK(ruleset.ok());
  }
}

TEST_CASE("damaged texts are errors or have a meaning") {
  testing::Random random(20260301);
  size_t parsed = 0, refused = 0, compiled = 0;
  const int rounds = 6000;
  for (int i = 0; i < rounds; ++i) {
    const std::string_view whole = i % 8 == 0 ? kLegacy : i % 8 == 1 ? kCurrent : kShort[i % std::size(kShort)];
    const std::string text = Damage(std::string(whole), random);
    nft::ListingParseOptions options;
    if (i % 16 >= 13) options.dialect = nft::ListingDialect::kLegacy;
    const absl::StatusOr<nft::Listing> listing = nft::ParseListing(text, options);
    if (!listing.ok()) {
      ++refused;
      INFO(text);
      CHECK(listing.status().code() == absl::StatusCode::kInvalidArgument);
      CHECK(std::string(listing.status().message()).starts_with("listing:"));
      continue;
    }
    ++parsed;
    for (const nft::ListingDialect dialect : {nft::ListingDialect::kLegacy, nft::ListingDialect::kCurrent}) {
      CHECK_FALSE(nft::PrintListing(listing->ruleset, {.dialect = dialect, .declarations = true}).empty());
    }
    const absl::StatusOr<nft::Ruleset> ruleset =
        control::CompileListing(text, {.dialect = listing->dialect, .assume_lost = true});
    if (!ruleset.ok()) continue;
    ++compiled;
    CHECK(ir::Lower(*ruleset, {.partial = true}).ok());
    const std::string image = netlink::WriteImage(*ruleset);
    const absl::StatusOr<nft::Ruleset> again = netlink::ReadImage(image, "image");
    INFO(text << again.status().message());
    REQUIRE(again.ok());
    CHECK(netlink::WriteImage(*again) == image);
  }
  std::cerr << parsed << " damaged listings have a meaning, of which " << compiled << " would load; " << refused
            << " are refused\n";
  CHECK(parsed > rounds / 20);
  CHECK(compiled > rounds / 40);
  CHECK(refused > rounds / 10);
}

// Texts of nothing but pieces: no line makes sense, or nearly.
TEST_CASE("random pieces") {
  testing::Random random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text;
    const size_t pieces = 1 + random.Below(30);
    for (size_t n = 0; n < pieces; ++n) {
      const std::string_view from = random.Below(2) == 0 ? kLegacy : kCurrent;
      const size_t at = random.Below(from.size());
      text += from.substr(at, 1 + random.Below(60));
      if (random.Below(3) == 0) text += '\n';
    }
    (void)nft::ParseListing(text).ok();
    (void)nft::LooksLikeListing(text);
  }
}

}  // namespace
}  // namespace nftjit
