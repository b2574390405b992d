#include "lib/control/nft_messages.h"

#include <catch2/catch.hpp>

namespace nftjit::control {
namespace {

TEST_CASE("places, texts and quotes are read") {
  const std::string output =
      "In file included from a.nft:1:1-20:\n"
      "dir/b:c.nft:4:41-44: Error: Interface does not exist\n"
      "\tset s { type iface_index; elements = { eth8 } }\n"
      "\t                                       ^^^^\n"
      "a.nft:8:7-12: Error: Interface does not exist\n"
      "\t\tiif \"eth9\" drop\n"
      "\t\t    ^^^^^^\n"
      "/dev/stdin:1:24-34: Error: Could not process rule: Invalid argument\n"
      "x.nft:1:2-3: Error: in a comment\n"
      "                       ^^^^^^^^^^^\n";
  const std::vector<NftMessage> messages = ParseNftMessages(output);
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].where == SourcePos{"dir/b:c.nft", 4, 41});
  CHECK(messages[0].what == "Interface does not exist");
  CHECK(messages[0].quoted == "eth8");
  CHECK(messages[1].quoted == "\"eth9\"");
  CHECK(messages[2].where == SourcePos{"/dev/stdin", 1, 24});
  CHECK(messages[2].quoted == "a comment");
  CHECK(UnknownInterfaces(output) == std::vector<std::string>{"eth8", "eth9"});
}

TEST_CASE("what is no message is skipped") {
  CHECK(ParseNftMessages("").empty());
  CHECK(ParseNftMessages("Error: Could not open file\n").empty());
  CHECK(ParseNftMessages("a:b:c-d: Error: x\n1:2-: Error: y\n").empty());
  REQUIRE(ParseNftMessages("f:1:2-3: Error: cut off").size() == 1);
  CHECK(ParseNftMessages("f:1:2-3: Error: x\nno carets\nf:2:2-3: Error: y\n").size() == 2);
}

}  // namespace
}  // namespace nftjit::control
