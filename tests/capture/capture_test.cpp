#include "tools/capture/capture.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "lib/support/bytes.h"

namespace nftjit {
namespace {

// A file of this process's own that goes with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("nftjit-capture-" + std::to_string(getpid()) + "-" + std::to_string(count++));
    std::ofstream(path_, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string Little32(uint32_t value) { return {reinterpret_cast<const char*>(&value), 4}; }
std::string Swapped32(uint32_t value) { return Little32(__builtin_bswap32(value)); }

std::string FileHeader(uint32_t link_type) {
  return Little32(0xa1b2c3d4) + Little32(4 << 16 | 2) + Little32(0) + Little32(0) + Little32(65535) +
         Little32(link_type);
}
std::string Record(const std::string& bytes, uint32_t wire) {
  return Little32(1000) + Little32(5) + Little32(static_cast<uint32_t>(bytes.size())) + Little32(wire) + bytes;
}

const std::string kIp = std::string("\x45\0\0\x14\0\1\0\0\x40\x11\0\0\x0a\0\0\1\x0a\0\0\2", 20);
const std::string kMacs("\2\0\0\0\0\1\2\0\0\0\0\2", 12);

std::string Message(const std::string& file) {
  const TemporaryFile temporary(file);
  const absl::StatusOr<Capture> capture = Capture::FromFile(temporary.path());
  if (capture.ok()) return "read";
  const std::string message(capture.status().message());
  REQUIRE(message.rfind(temporary.path() + ": ", 0) == 0);
  return message.substr(temporary.path().size() + 2);
}

TEST_CASE("each link type gives packets with their headers found") {
  struct Case {
    uint32_t link;
    std::string frame;
    uint32_t link_offset, network_offset;
    uint16_t protocol;
    uint8_t pkttype;
  };
  const Case cases[] = {
      {1, kMacs + std::string("\x08\0", 2) + kIp, 0, 14, 0x0800, 0},
      {1, std::string(6, '\xff') + kMacs.substr(6) + std::string("\x08\x06", 2) + kIp, 0, 14, 0x0806, 1},
      {1, kMacs + std::string("\x81\0\0\5\x08\0", 6) + kIp, 0, 18, 0x0800, 0},
      {101, kIp, Packet::kNoOffset, 0, 0x0800, 0},
      {228, kIp, Packet::kNoOffset, 0, 0x0800, 0},
      {229, std::string(40, '\x60'), Packet::kNoOffset, 0, 0x86dd, 0},
      {113, std::string("\0\4\0\1\0\6", 6) + std::string(8, '\0') + std::string("\x08\0", 2) + kIp, Packet::kNoOffset,
       16, 0x0800, 4},
      {276, std::string("\x86\xdd\0\0\0\0\0\1\0\1\2\6", 12) + std::string(8, '\0') + kIp, Packet::kNoOffset, 20, 0x86dd,
       2},
  };
  for (const Case& it : cases) {
    INFO("link type " << it.link << ", protocol " << it.protocol);
    const TemporaryFile file(FileHeader(it.link) + Record(it.frame, static_cast<uint32_t>(it.frame.size())));
    absl::StatusOr<Capture> capture = Capture::FromFile(file.path());
    REQUIRE(capture.ok());
    REQUIRE(capture->size() == 1);
    const Packet packet = capture->At(0);
    CHECK(packet.length == it.frame.size());
    CHECK(std::string(reinterpret_cast<const char*>(packet.data), packet.length) == it.frame);
    CHECK(packet.link_offset == it.link_offset);
    CHECK(packet.network_offset == it.network_offset);
    CHECK(packet.protocol == it.protocol);
    CHECK(packet.pkttype == it.pkttype);
    CHECK(packet.time_ns == 1'000'000'005'000);
    CHECK(capture->short_packets() == 0);
  }
}

TEST_CASE("frames shorter than their link header have no network bytes") {
  for (const uint32_t link : {1U, 113U, 276U}) {
    for (size_t size = 0; size < 14; ++size) {
      const std::string frame(size, '\1');
      const TemporaryFile file(FileHeader(link) + Record(frame, static_cast<uint32_t>(size)));
      absl::StatusOr<Capture> capture = Capture::FromFile(file.path());
      REQUIRE(capture.ok());
      CHECK(capture->At(0).network_offset == size);
    }
  }
}

TEST_CASE("captures cut by a snap length are read and counted") {
  const TemporaryFile file(FileHeader(101) + Record(kIp, 1500) + Record(kIp, 20));
  const absl::StatusOr<Capture> capture = Capture::FromFile(file.path());
  REQUIRE(capture.ok());
  CHECK(capture->size() == 2);
  CHECK(capture->short_packets() == 1);
  CHECK(capture->wire_length(0) == 1500);
}

TEST_CASE("what is no capture, of another link type, or cut off is an error with its place") {
  CHECK(Message("table ip t {}").rfind("not a capture file: ", 0) == 0);
  CHECK(Message("").rfind("not a capture file: ", 0) == 0);
  CHECK(Message(FileHeader(105)) ==
        "link type 105 (IEEE802_11) is not read; Ethernet, raw IP and Linux cooked v1 and v2 are");
  const std::string good = FileHeader(101) + Record(kIp, 20);
  CHECK(Message(good) == "read");
  for (size_t size = good.size() + 1; size < good.size() + 36; ++size) {
    INFO("size " << size);
    CHECK(Message((good + Record(kIp, 20)).substr(0, size)).rfind("after packet 1: ", 0) == 0);
  }
  const absl::StatusOr<Capture> missing = Capture::FromFile("/nonexistent/x.pcap");
  CHECK(missing.status().message() == "/nonexistent/x.pcap: No such file or directory");
}

TEST_CASE("big-endian files and nanosecond files are read") {
  const std::string header =
      Swapped32(0xa1b23c4d) + std::string("\0\2\0\4", 4) + std::string(8, '\0') + Swapped32(65535) + Swapped32(101);
  const std::string record = Swapped32(7) + Swapped32(9) + Swapped32(20) + Swapped32(20) + kIp;
  const TemporaryFile file(header + record);
  absl::StatusOr<Capture> capture = Capture::FromFile(file.path());
  REQUIRE(capture.ok());
  CHECK(capture->At(0).time_ns == 7'000'000'009);
}

TEST_CASE("hex packets are checked digit by digit") {
  Capture capture;
  REQUIRE(capture.AppendHex("4500aB").ok());
  const Packet packet = capture.At(0);
  CHECK(packet.length == 3);
  CHECK(packet.data[2] == 0xab);
  CHECK(packet.protocol == 0x0800);
  CHECK(capture.AppendHex("").message() == "hex packet: an even number of hex digits, two or more, is expected; got 0");
  CHECK(capture.AppendHex("450").message() ==
        "hex packet: an even number of hex digits, two or more, is expected; got 3");
  CHECK(capture.AppendHex("45x0").message() == "hex packet: 'x0' at digit 3 is not hex");
  CHECK(capture.size() == 1);
}

TEST_CASE("what was kept is written and reads back") {
  const TemporaryFile file(FileHeader(101) + Record(kIp, 1500) + Record(kIp + "a", 21) + Record(kIp + "bc", 22));
  absl::StatusOr<Capture> capture = Capture::FromFile(file.path());
  REQUIRE(capture.ok());
  const TemporaryFile out("");
  REQUIRE(capture->Write(out.path(), {true, false, true}).ok());
  absl::StatusOr<Capture> again = Capture::FromFile(out.path());
  REQUIRE(again.ok());
  REQUIRE(again->size() == 2);
  CHECK(again->wire_length(0) == 1500);
  CHECK(again->At(1).length == 22);
  CHECK(again->time_ns(1) == 1'000'000'005'000);
  CHECK_FALSE(capture->Write("/nonexistent/out.pcap", {true, true, true}).ok());
}

}  // namespace
}  // namespace nftjit
