// The wire protocol, fed in pieces.
#include "lib/control/connection.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "lib/control/wire.h"

namespace nftjit::control {
namespace {

class Echo final : public ClientHandler {
 public:
  std::vector<std::string> Request(const Caller& caller, uint16_t bus, ByteSpan messages) override {
    return {std::to_string(caller.pid) + caller.program, std::to_string(bus),
            std::string(messages.begin(), messages.end())};
  }
  Answer Lookup(uint32_t kind, uint32_t number, std::string_view key) override {
    return {.result = NFTJIT_FOUND, .number = kind * 1000 + number, .protocol = 6, .name = std::string(key)};
  }
  [[nodiscard]] bool allows_host_names() const override { return true; }
};

std::string Frame(uint16_t kind, uint16_t bus, const std::string& payload) {
  const nftjit_frame header{static_cast<uint32_t>(payload.size()), kind, bus};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + payload;
}

template <class T>
std::string Raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string Hello() { return Frame(NFTJIT_FRAME_HELLO, 0, Raw(nftjit_hello{NFTJIT_WIRE_VERSION, 77}) + "nft"); }

std::string Feed(Connection& connection, const std::string& bytes, size_t step) {
  std::string output;
  for (size_t i = 0; i < bytes.size(); i += step) {
    const std::string piece = bytes.substr(i, step);
    connection.Feed({reinterpret_cast<const uint8_t*>(piece.data()), piece.size()}, output);
  }
  return output;
}

TEST_CASE("a conversation is the same in pieces of any size") {
  const std::string bytes = Hello() + Frame(NFTJIT_FRAME_REQUEST, 12, "abc") +
                            Frame(NFTJIT_FRAME_LOOKUP, 0, Raw(nftjit_lookup{3, 5}) + "key");
  const std::string expected = Frame(NFTJIT_FRAME_WELCOME, 0, Raw(nftjit_welcome{NFTJIT_WIRE_VERSION, 1})) +
                               Frame(NFTJIT_FRAME_REPLY, 0, "77nft") + Frame(NFTJIT_FRAME_REPLY, 0, "12") +
                               Frame(NFTJIT_FRAME_REPLY, 0, "abc") + Frame(NFTJIT_FRAME_END, 0, "") +
                               Frame(NFTJIT_FRAME_ANSWER, 0, Raw(nftjit_answer{NFTJIT_FOUND, 3005, 6}) + "key");
  for (const size_t step : {size_t{1}, size_t{3}, size_t{8}, size_t{1000}}) {
    Echo handler;
    Connection connection(handler);
    CHECK(Feed(connection, bytes, step) == expected);
    CHECK(connection.greeted());
    CHECK_FALSE(connection.failed());
  }
}

TEST_CASE("frames that break the protocol end the connection") {
  struct Case {
    std::string bytes, reason;
  };
  const Case cases[] = {
      {Frame(NFTJIT_FRAME_REQUEST, 12, "abc"), "the first frame is not a hello"},
      {Frame(NFTJIT_FRAME_HELLO, 0, "abc"), "short hello"},
      {Frame(NFTJIT_FRAME_HELLO, 0, Raw(nftjit_hello{99, 1})), "the shim belongs to another version of nftjit"},
      {Hello() + Frame(77, 0, ""), "unknown kind of frame"},
      {Hello() + Frame(NFTJIT_FRAME_LOOKUP, 0, "x"), "short lookup"},
      {Hello() + Raw(nftjit_frame{NFTJIT_FRAME_LIMIT + 1U, NFTJIT_FRAME_REQUEST, 12}), "a frame is too long"},
  };
  for (const Case& c : cases) {
    Echo handler;
    Connection connection(handler);
    const std::string output = Feed(connection, c.bytes, 1000);
    const std::string fatal = Frame(NFTJIT_FRAME_FATAL, 0, c.reason);
    REQUIRE(output.size() >= fatal.size());
    CHECK(output.substr(output.size() - fatal.size()) == fatal);
    CHECK(connection.failed());
    CHECK(Feed(connection, Hello(), 1000).empty());
  }
}

}  // namespace
}  // namespace nftjit::control
