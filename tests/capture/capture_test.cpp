// Reading and writing capture files.
#include "tools/capture/capture.h"

#include <catch2/catch.hpp>

#include "tests/capture/capture_file.h"

namespace nftjit {
namespace {

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
  CHECK(Message("") == "not a capture file: it is empty");
  CHECK(
      Message(FileHeader(105)) ==
      "link type 105 (IEEE802_11) is not read; Ethernet, raw IP, Linux cooked v1, Linux cooked v2, BSD loopback, PPP, "
      "PPPoE, Cisco HDLC, NFLOG and IP over InfiniBand are");
  const std::string good = FileHeader(101) + Record(kIp, 20);
  CHECK(Message(good) == "read");
  for (size_t size = good.size() + 1; size < good.size() + 36; ++size) {
    INFO("size " << size);
    CHECK(Message((good + Record(kIp, 20)).substr(0, size)).rfind("after packet 1: ", 0) == 0);
  }
  CHECK(Capture::FromFile("/tmp").status().message() == "/tmp: Is a directory");
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
  const absl::StatusOr<std::string> pcap = capture->Pcap({true, false, true});
  REQUIRE(pcap.ok());
  const TemporaryFile out(*pcap);
  absl::StatusOr<Capture> again = Capture::FromFile(out.path());
  REQUIRE(again.ok());
  REQUIRE(again->size() == 2);
  CHECK(again->wire_length(0) == 1500);
  CHECK(again->At(1).length == 22);
  CHECK(again->time_ns(1) == 1'000'000'005'000);
}

}  // namespace
}  // namespace nftjit
