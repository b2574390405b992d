// Every capture of the corpus is read with as many packets as its table says, or refused as expected.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "tests/support/requirement.h"
#include "tools/capture/capture.h"

namespace nftjit {
namespace {

// Files that hold no network packets, and a part of what is said of each.
const std::map<std::string, std::string> kRefused = {
    {"pp-microsecs_big_endian.pcap", "link type 253 (NETLINK) is not read; Ethernet, raw IP,"},
};

// IP packets of the files whose link type is neither Ethernet nor raw IP, as tcpdump counts them.
const std::map<std::string, size_t> kIpPackets = {
    {"td-ipoib.pcap", 26},         {"td-nflog.pcap", 4},
    {"td-truncated-aack.pcap", 0},  // PAP alone.
    {"td-mptcp-v1.pcap", 20},      {"td-tcp-handshake-nano.pcap", 3},
    {"zk-linux_dlt_sll2.pcap", 4}, {"zk-linuxsll-arp.pcap", 0},
};

// Its header states a snap length that its packets do not keep to; libpcap cuts them to it.
constexpr std::string_view kCutToSnapLength = "td-dccp_options-oobr.pcap";
constexpr size_t kCutPackets = 5;

struct Row {
  std::string file;
  size_t packets = 0, short_packets = 0;
};

// The table of the folder's README: | file | link type | format | packets | short | …
std::vector<Row> ReadTable(const std::string& folder) {
  std::vector<Row> rows;
  std::ifstream readme(folder + "/README.md");
  for (std::string line; std::getline(readme, line);) {
    std::vector<std::string> cells;
    for (size_t at = 0, next = 0; (next = line.find(" | ", at)) != std::string::npos; at = next + 3) {
      cells.push_back(line.substr(at, next - at));
    }
    if (cells.size() < 5 || cells[0].find(".pcap") == std::string::npos) continue;
    rows.push_back({cells[0].substr(2), std::stoul(cells[3]), std::stoul(cells[4])});
  }
  return rows;
}

TEST_CASE("the captures of the corpus") {
  std::string corpus;
  if (!testing::MayRun("corpus", testing::FindCorpus(&corpus))) return;
  const std::string folder = corpus + "/pcaps";
  const std::vector<Row> rows = ReadTable(folder);
  CHECK(rows.size() == 103);
  size_t refused = 0;
  for (const Row& row : rows) {
    INFO(row.file);
    absl::StatusOr<Capture> capture = Capture::FromFile(folder + "/" + row.file);
    if (const auto expected = kRefused.find(row.file); expected != kRefused.end()) {
      CHECK(std::string(capture.status().message()).find(expected->second) != std::string::npos);
      ++refused;
      continue;
    }
    INFO(capture.status().message());
    REQUIRE(capture.ok());
    CHECK(capture->size() == row.packets);
    CHECK(capture->short_packets() == (row.file == kCutToSnapLength ? kCutPackets : row.short_packets));
    size_t ip = 0;
    for (size_t i = 0; i < capture->size(); ++i) {
      const Packet packet = capture->At(i);
      const bool is_ip = packet.protocol == 0x0800 || packet.protocol == 0x86dd;
      if (is_ip && packet.network_offset < packet.length) ++ip;
    }
    if (const auto expected = kIpPackets.find(row.file); expected != kIpPackets.end()) CHECK(ip == expected->second);
  }
  CHECK(refused == kRefused.size());
  CHECK(std::count_if(rows.begin(), rows.end(), [](const Row& row) { return kIpPackets.count(row.file) != 0; }) ==
        static_cast<std::ptrdiff_t>(kIpPackets.size()));
}

}  // namespace
}  // namespace nftjit
