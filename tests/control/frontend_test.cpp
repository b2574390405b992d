// Text to model by the stock nft, and what comes of bad rulesets and bad clients.
#include "lib/control/frontend.h"

#include <catch2/catch.hpp>

namespace nftjit::control {
namespace {

TEST_CASE("a small ruleset becomes a model with places") {
  const absl::StatusOr<nft::Ruleset> ruleset = CompileNftText(
      "table inet fw {\n"
      "  chain input {\n"
      "    type filter hook input priority 0; policy drop;\n"
      "    iif lo accept\n"
      "    tcp dport { 22, 80 } counter accept comment \"web\"\n"
      "  }\n"
      "}\n");
  INFO(ruleset.status().message());
  REQUIRE(ruleset.ok());
  REQUIRE(ruleset->tables.size() == 1);
  const nft::Table& table = ruleset->tables[0];
  CHECK(table.family == nft::Family::kInet);
  CHECK(table.name == "fw");
  REQUIRE(table.chains.size() == 1);
  const nft::Chain& chain = table.chains[0];
  REQUIRE(chain.base.has_value());
  CHECK(chain.base->hook == nft::kInput);
  CHECK(chain.base->policy == nft::VerdictCode::kDrop);
  REQUIRE(chain.rules.size() == 2);
  CHECK(chain.rules[0].where == SourcePos{"/dev/stdin", 4, 5});
  CHECK(chain.rules[1].where == SourcePos{"/dev/stdin", 5, 5});
  CHECK(nft::Comment(chain.rules[1].userdata) == "web");
  REQUIRE(table.sets.size() == 1);
  CHECK(table.sets[0].name == "__set0");
  CHECK(table.sets[0].elements.size() == 2);
}

}  // namespace
}  // namespace nftjit::control
