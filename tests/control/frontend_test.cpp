// Text to model by the stock nft, and what comes of bad rulesets and bad clients.
#include "lib/control/frontend.h"

#include <catch2/catch.hpp>

#include "tests/control/static_program.h"
#include "tests/support/files.h"

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

constexpr const char* kTable = "table ip t {\n  chain c {\n    tcp dport 22 accept\n  }\n}\n";

// What comes of loading a ruleset by a program of this text in place of nft.
absl::Status LoadBy(const std::string& script, std::chrono::milliseconds timeout = std::chrono::seconds(20)) {
  const testing::Folder folder;
  NftOptions options;
  options.nft_program = folder.WriteProgram("nft", "#!/bin/sh\n" + script);
  options.timeout = timeout;
  return CompileNftText(kTable, options).status();
}

bool Has(const absl::Status& status, std::string_view text) {
  return std::string_view(status.message().data(), status.message().size()).find(text) != std::string_view::npos;
}

TEST_CASE("an nft that crashes is an error with its output") {
  const absl::Status status = LoadBy("echo so far >&2; kill -SEGV $$");
  INFO(status.message());
  CHECK(status.code() == absl::StatusCode::kInternal);
  CHECK(Has(status, "/nft"));
  CHECK(Has(status, "signal 11"));
  CHECK(Has(status, "so far"));
}

TEST_CASE("an nft that is killed in the middle of its messages is an error, and nothing of them is kept") {
  // The real one has sent its batch when it goes.
  const absl::Status status = LoadBy("nft \"$@\"; kill -KILL $$");
  INFO(status.message());
  CHECK(status.code() == absl::StatusCode::kInternal);
  CHECK(Has(status, "signal 9"));
  CHECK(Has(status, "it printed nothing"));
}

TEST_CASE("an nft that hangs is ended, and is an error with its output") {
  const absl::Status status = LoadBy("echo waiting; sleep 1000", std::chrono::milliseconds(300));
  INFO(status.message());
  CHECK(status.code() == absl::StatusCode::kDeadlineExceeded);
  CHECK(Has(status, "waiting"));
}

TEST_CASE("an nft that the shim cannot reach is an error that says so") {
  const StaticProgram program;
  const testing::Folder folder;
  NftOptions options;
  options.nft_program = folder.WriteProgram("nft", "#!" + program.path() + "\n");
  const absl::Status status = CompileNftText(kTable, options).status();
  INFO(status.message());
  CHECK(status.code() == absl::StatusCode::kFailedPrecondition);
  CHECK(Has(status, "did not load the shim"));
}

TEST_CASE("an nft that refuses says nothing but its own messages") {
  CHECK(LoadBy("echo 'fw.nft:1:1-5: Error: no' >&2; exit 1") == absl::InvalidArgumentError("fw.nft:1:1-5: Error: no"));
  CHECK(LoadBy("exit 1") == absl::InvalidArgumentError("nft exited with status 1 and said nothing"));
  NftOptions options;
  options.nft_program = "/no/such/nft";
  CHECK(CompileNftText(kTable, options).status() == absl::NotFoundError("/no/such/nft: no such program"));
}

}  // namespace
}  // namespace nftjit::control
