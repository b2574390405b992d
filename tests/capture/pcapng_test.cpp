// Files of several interfaces.
#include <catch2/catch.hpp>

#include "tests/capture/capture_file.h"
#include "tools/capture/interfaces.h"

namespace nftjit {
namespace {

// Writes one byte order.
struct Blocks {
  bool swapped = false;

  [[nodiscard]] std::string Number(uint32_t value) const { return swapped ? Swapped32(value) : Little32(value); }
  [[nodiscard]] std::string Block(uint32_t type, const std::string& body) const {
    const std::string size = Number(static_cast<uint32_t>(12 + body.size()));
    return Number(type) + size + body + size;
  }
  [[nodiscard]] std::string Section() const {
    return Block(0x0a0d0d0a, Number(0x1a2b3c4d) + (swapped ? std::string("\0\1\0\0", 4) : std::string("\1\0\0\0", 4)) +
                                 std::string(8, '\xff'));
  }
  [[nodiscard]] std::string Interface(uint16_t link, uint32_t snap_length) const {
    const std::string type = Number(swapped ? uint32_t{link} << 16 : link);
    return Block(1, type + Number(snap_length));
  }
  [[nodiscard]] std::string Packet(uint32_t interface, const std::string& bytes, uint32_t wire) const {
    return Block(6, Number(interface) + Number(0) + Number(7) + Number(static_cast<uint32_t>(bytes.size())) +
                        Number(wire) + bytes);
  }
  [[nodiscard]] std::string SimplePacket(const std::string& bytes) const {
    return Block(3, Number(static_cast<uint32_t>(bytes.size())) + bytes);
  }
};

TEST_CASE("interfaces of one link type are read, whatever their snap lengths, in both byte orders") {
  struct Case {
    bool swapped;
    uint16_t link;
    uint32_t second_limit;
  };
  for (const Case it : {Case{false, 101, 65535},
                        {true, 101, 65535},
                        {false, 101, 24},
                        {true, 101, 24},
                        {false, 228, 65535},
                        {true, 228, 65535},
                        {false, 228, 0}}) {
    INFO("swapped " << it.swapped << ", link type " << it.link << ", second limit " << it.second_limit);
    const Blocks blocks{it.swapped};
    const TemporaryFile file(blocks.Section() + blocks.Interface(it.link, 24) + blocks.Packet(0, kIp, 1500) +
                             blocks.Interface(it.link, it.second_limit) + blocks.Packet(1, kIp + "abcd", 24) +
                             blocks.Packet(0, kIp, 20));
    absl::StatusOr<Capture> capture = Capture::FromFile(file.path());
    INFO(capture.status().message());
    REQUIRE(capture.ok());
    REQUIRE(capture->size() == 3);
    CHECK(capture->wire_length(0) == 1500);
    CHECK(capture->At(0).length == 20);
    CHECK(capture->At(1).length == 24);
    CHECK(capture->At(2).protocol == 0x0800);
    CHECK(capture->short_packets() == 1);
  }
}

TEST_CASE("interfaces of different link types are an error that says so") {
  const Blocks blocks;
  const std::string file = blocks.Section() + blocks.Interface(101, 100) + blocks.Packet(0, kIp, 20);
  CHECK(Message(file) == "read");
  CHECK(Message(file + blocks.Interface(1, 100)) ==
        "after packet 1: an interface has a type 1 different from the type of the first interface");
  CHECK(
      Message(file + blocks.Packet(1, kIp, 20)) ==
      "after packet 1: a packet arrived on interface 1, but there's no Interface Description Block for that interface");
}

TEST_CASE("what needs no change or cannot be changed is left as it is") {
  const Blocks blocks;
  const std::string mixed = blocks.Section() + blocks.Interface(1, 20) + blocks.Interface(1, 30);
  const auto changed = [](std::string file) {
    const std::string before = file;
    UniteInterfaces(file);
    return file != before;
  };
  CHECK(changed(mixed));
  CHECK_FALSE(changed(blocks.Section() + blocks.Interface(101, 20)));
  CHECK_FALSE(changed(blocks.Section() + blocks.Interface(1, 20) + blocks.Interface(1, 20)));
  CHECK_FALSE(changed(""));
  CHECK_FALSE(changed(FileHeader(101) + WholeRecord(kIp)));
  // The length of a simple packet is the smaller of the limit and its own.
  CHECK_FALSE(changed(mixed + blocks.SimplePacket(kIp)));
  CHECK(Message(mixed + blocks.SimplePacket(kIp)) ==
        "after packet 0: an interface has a snapshot length 30 different from the snapshot length of the first "
        "interface");
  // Cut anywhere, or with a block whose length is a lie.
  for (size_t size = 0; size < mixed.size(); ++size) changed(mixed.substr(0, size));
  for (const uint32_t lie : {0U, 3U, 11U, 0x7fffffffU, 0xffffffffU}) {
    CHECK_FALSE(changed(mixed + Little32(6) + Little32(lie) + std::string(40, '\0')));
  }
}

}  // namespace
}  // namespace nftjit
