// From a pasted listing to rules that run: hooks, names, refusals, and that the same rule is the same, wherever its
// bytecode comes from.
#include "lib/control/listing.h"

#include <catch2/catch.hpp>
#include <sstream>

#include "lib/control/frontend.h"
#include "lib/ir/lower.h"
#include "lib/ir/text.h"
#include "lib/nft/listing_printer.h"
#include "lib/opt/pipeline.h"
#include "nftjit/ruleset.h"
#include "tests/support/requirement.h"

namespace nftjit::control {
namespace {

nft::Ruleset Compile(const std::string& text, const ListingContext& context = {}) {
  absl::StatusOr<nft::Ruleset> ruleset = CompileListing(text, context);
  INFO(text);
  INFO(ruleset.status().message());
  REQUIRE(ruleset.ok());
  return *std::move(ruleset);
}
std::string Error(const std::string& text, const ListingContext& context = {}) {
  return std::string(CompileListing(text, context).status().message());
}

// The optimised rules, without what only says where they come from: heads of rules, names of the chain.
std::string OptimisedRows(const nft::Ruleset& ruleset) {
  absl::StatusOr<ir::Program> program = ir::Lower(ruleset, {});
  REQUIRE(program.ok());
  REQUIRE(opt::Optimise(*program, {}).ok());
  std::istringstream lines(ir::Print(*program));
  std::string rows;
  for (std::string line; std::getline(lines, line);) {
    const size_t first = line.find_first_not_of(' ');
    const std::string_view text = std::string_view(line).substr(first == std::string::npos ? line.size() : first);
    if (text.starts_with("rule") || text.starts_with("chain") || text.starts_with("counter")) continue;
    rows += std::string(text) + '\n';
  }
  return rows;
}

TEST_CASE("chains get a hook from the caller, their name, or the family") {
  const std::string rules = " [ counter pkts 0 bytes 0 ]\n";
  const auto hook = [](const nft::Ruleset& ruleset) { return ruleset.tables.at(0).chains.at(0).base->hook; };
  CHECK(hook(Compile("ip filter OUTPUT\n" + rules)) == nft::kOutput);
  CHECK(hook(Compile("ip filter c\n" + rules)) == nft::kInput);
  CHECK(hook(Compile("ip filter OUTPUT\n" + rules, {.hook = "forward"})) == nft::kForward);
  CHECK(hook(Compile("netdev t c\n" + rules)) == nft::kNetdevIngress);
  CHECK(hook(Compile("arp t c\n" + rules)) == nft::kArpInput);
  CHECK(Error("arp t c\n" + rules, {.hook = "forward"}) == "listing: family arp of table t has no hook forward");
  CHECK(hook(Compile("ip t c use 0 type filter hook postrouting prio 7 packets 0 bytes 0\nip t c\n" + rules,
                     {.hook = "input"})) == nft::kPostrouting);
}

TEST_CASE("what no line names gets a name") {
  const nft::Table table =
      Compile(
          "__set%d t 3\n__set%d t 0\n\telement 00000006  : 0 [end]\n [ meta load l4proto => reg 1 ]\n [ lookup reg 1 "
          "set __set%d ]\n",
          {.hook = "forward", .family = nft::Family::kIp})
          .tables.at(0);
  CHECK(table.family == nft::Family::kIp);
  CHECK(table.name == "listing");
  CHECK(table.chains.at(0).name == "forward");
  CHECK(table.sets.at(0).name == "__set0");
}

TEST_CASE("a chain that is jumped to is no base chain; one that translates is a nat chain") {
  const nft::Table table = Compile(
                               "ip t postrouting\n [ immediate reg 0 jump -> x ]\nip t x\n [ masq ]\n"
                               "ip t forward\n [ counter pkts 0 bytes 0 ]\n")
                               .tables.at(0);
  REQUIRE(table.FindChain("postrouting")->base);
  CHECK(table.FindChain("postrouting")->base->type == nft::ChainType::kNat);
  CHECK(table.FindChain("forward")->base->type == nft::ChainType::kFilter);
  CHECK_FALSE(table.FindChain("x")->base);
}

TEST_CASE("what the kernel would refuse is refused, at the rule's place") {
  CHECK(Error("ip t input\n [ counter pkts 0 bytes 0 ]\n\nip t input\n [ masq ]\n") ==
        "listing:4:1: rule 3 of chain input: masq is not allowed at hook input of nat chain input");
  CHECK_THAT(Error("ip t c\n [ reject type 7 code 0 ]\n"), Catch::StartsWith("listing:1:1: "));
  std::string many = "ip t c\n";
  for (int i = 0; i < 129; ++i) many += " [ counter pkts 0 bytes 0 ]\n";
  CHECK(Error(many) == "listing:1:1: expected at most 128 expressions in a rule, found 129");
  CHECK_THAT(Error("ip t " + std::string(300, 'c') + "\n [ counter pkts 0 bytes 0 ]\n"),
             Catch::Contains("expected at most 255 bytes"));
  CHECK(Error("") == "listing: the listing holds nothing");
}

TEST_CASE("what the text lost is an error until the caller accepts it") {
  const std::string text =
      "ip t prerouting\n [ osf dreg 1 ]\n [ cmp eq reg 1 0x756e694c 0x00000078 0x00000000 0x00000000 ]\n";
  CHECK_THAT(Error(text, {.dialect = nft::ListingDialect::kLegacy}),
             Catch::StartsWith("listing:2:4: what this means depends on something that the text lost: the listing does "
                               "not print ttl and flags of osf; 0 is assumed only where that is asked for"));
  Compile(text, {.dialect = nft::ListingDialect::kLegacy, .assume_lost = true});
}

// `! -s 10.0.0.0/N -j DROP`.
struct Prefix {
  std::string length, legacy, current;
};
const Prefix kPrefixes[] = {
    {"8", "  [ payload load 1b @ network header + 12 => reg 1 ]\n  [ cmp neq reg 1 0x0000000a ]\n",
     "  [ payload load 1b @ network header + 12 => reg 1 ]\n  [ cmp neq reg 1 0x0a ]\n"},
    {"10",
     "  [ payload load 4b @ network header + 12 => reg 1 ]\n"
     "  [ bitwise reg 1 = ( reg 1 & 0x0000c0ff ) ^ 0x00000000 ]\n  [ cmp neq reg 1 0x0000000a ]\n",
     "  [ payload load 4b @ network header + 12 => reg 1 ]\n"
     "  [ bitwise reg 1 = ( reg 1 & 0xffc00000 ) ^ 0x00000000 ]\n  [ cmp neq reg 1 0x0a000000 ]\n"},
    {"24", "  [ payload load 3b @ network header + 12 => reg 1 ]\n  [ cmp neq reg 1 0x0000000a ]\n",
     "  [ payload load 3b @ network header + 12 => reg 1 ]\n  [ cmp neq reg 1 0x0a0000 ]\n"},
};
const std::string kTail = "  [ counter pkts 0 bytes 0 ]\n  [ immediate reg 0 drop ]\n";

TEST_CASE("one rule from nft, from iptables-nft and pasted is one rule after the passes") {
  for (const Prefix& prefix : kPrefixes) {
    CAPTURE(prefix.length);
    const absl::StatusOr<nft::Ruleset> text = CompileNftText(
        "table ip filter {\n chain INPUT {\n  type filter hook input priority 0;\n  ip saddr != 10.0.0.0/" +
        prefix.length + " counter drop\n }\n}\n");
    REQUIRE(text.ok());
    const std::string expected = OptimisedRows(*text);
    CHECK_THAT(expected, Catch::Contains("test ") && Catch::Contains("count ") && Catch::Contains("verdict drop"));

    Server server;
    const absl::StatusOr<ChildOutcome> outcome =
        RunClient(server, {"iptables-nft", "-A", "INPUT", "!", "-s", "10.0.0.0/" + prefix.length, "-j", "DROP"});
    if (testing::MayRun("clients", outcome.status())) {
      INFO(outcome->errors);
      REQUIRE(outcome->succeeded());
      CHECK(OptimisedRows(server.ruleset()) == expected);
      // What was loaded, listed in either dialect and pasted again.
      for (const nft::ListingDialect dialect : {nft::ListingDialect::kLegacy, nft::ListingDialect::kCurrent}) {
        const std::string listing = nft::PrintListing(server.ruleset(), {.dialect = dialect});
        CHECK(OptimisedRows(Compile(listing, {.dialect = dialect})) == expected);
      }
    }
    const nft::ListingDialect legacy = nft::ListingDialect::kLegacy;
    CHECK(OptimisedRows(Compile("ip filter INPUT\n" + prefix.legacy + kTail, {.dialect = legacy})) == expected);
    CHECK(OptimisedRows(Compile("ip filter INPUT\n" + prefix.current + kTail,
                                {.dialect = nft::ListingDialect::kCurrent})) == expected);
    // Without a header, as in a post.
    CHECK(OptimisedRows(Compile(prefix.legacy + kTail, {.family = nft::Family::kIp, .dialect = legacy})) == expected);
  }
}

TEST_CASE("the public interface takes a listing, and recognises one") {
  const std::string text = "ip filter INPUT\n  [ counter pkts 0 bytes 0 ]\n";
  CHECK(Ruleset::FromListing(text).ok());
  CHECK(Ruleset::FromText("> " + text).ok());
  ListingOptions options;
  options.family = "ipx";
  CHECK(Ruleset::FromListing(text, options).status().message() ==
        "family ipx: ip, ip6, inet, arp, bridge or netdev is expected");
}

}  // namespace
}  // namespace nftjit::control
