#include "tools/capture/capture.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "lib/support/read_file.h"
#include "tools/capture/interfaces.h"

namespace nftjit {
namespace {

struct PcapCloser {
  void operator()(pcap_t* pcap) const { pcap_close(pcap); }
};
using PcapHandle = std::unique_ptr<pcap_t, PcapCloser>;

absl::Status Error(const std::string& path, std::string_view what) {
  return absl::InvalidArgumentError(path + ": " + std::string(what));
}

// `bytes` must live as long as the handle.
absl::StatusOr<PcapHandle> Open(const std::string& shown, std::string& bytes) {
  if (bytes.empty()) return Error(shown, "not a capture file: it is empty");
  FILE* file = fmemopen(bytes.data(), bytes.size(), "rb");
  if (file == nullptr) return absl::InternalError(shown + ": " + std::strerror(errno));
  char message[PCAP_ERRBUF_SIZE] = "";
  PcapHandle handle(pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, message));
  if (!handle) {
    std::fclose(file);
    return Error(shown, std::string("not a capture file: ") + message);
  }
  return handle;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

absl::StatusOr<Capture> Capture::FromFile(const std::string& path) {
  const std::string shown = path == "-" ? "standard input" : path;
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  UniteInterfaces(*bytes);
  absl::StatusOr<PcapHandle> handle = Open(shown, *bytes);
  if (!handle.ok()) return handle.status();
  pcap_t* pcap = handle->get();
  const LinkType* link = FindLinkType(pcap_datalink(pcap));
  if (link == nullptr) {
    const char* name = pcap_datalink_val_to_name(pcap_datalink(pcap));
    return Error(shown, "link type " + std::to_string(pcap_datalink(pcap)) +
                            (name != nullptr ? std::string(" (") + name + ")" : "") + " is not read; " +
                            LinkTypeNames() + " are");
  }
  Capture capture;
  pcap_pkthdr* header = nullptr;
  const uint8_t* data = nullptr;
  int status = 0;
  while ((status = pcap_next_ex(pcap, &header, &data)) == 1) {
    capture.records_.push_back(
        {capture.bytes_.size(), header->caplen, header->len,
         static_cast<uint64_t>(header->ts.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(header->ts.tv_usec), link});
    capture.bytes_.insert(capture.bytes_.end(), data, data + header->caplen);
  }
  if (status != PCAP_ERROR_BREAK) {  // -2: the end of the file.
    return Error(shown, "after packet " + std::to_string(capture.size()) + ": " + pcap_geterr(pcap));
  }
  return capture;
}

absl::Status Capture::AppendHex(std::string_view hex) {
  if (hex.empty() || hex.size() % 2 != 0) {
    return absl::InvalidArgumentError("hex packet: an even number of hex digits, two or more, is expected; got " +
                                      std::to_string(hex.size()));
  }
  std::vector<uint8_t> packet;
  packet.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = HexDigit(hex[i]), low = HexDigit(hex[i + 1]);
    if (high < 0 || low < 0) {
      return absl::InvalidArgumentError("hex packet: '" + std::string(hex.substr(i, 2)) + "' at digit " +
                                        std::to_string(i + 1) + " is not hex");
    }
    packet.push_back(static_cast<uint8_t>(high << 4 | low));
  }
  const auto size = static_cast<uint32_t>(packet.size());
  records_.push_back({bytes_.size(), size, size, 0, FindLinkType(DLT_RAW)});
  bytes_.insert(bytes_.end(), packet.begin(), packet.end());
  return absl::OkStatus();
}

void Capture::Truncate(size_t count) {
  if (count < records_.size()) records_.resize(count);
}

size_t Capture::short_packets() const {
  return static_cast<size_t>(std::count_if(records_.begin(), records_.end(),
                                           [](const Record& record) { return record.captured < record.wire_length; }));
}

Packet Capture::At(size_t i) {
  const Record& record = records_[i];
  Packet packet;
  packet.data = bytes_.data() + record.offset;
  packet.length = record.captured;
  packet.missing = record.wire_length - std::min(record.wire_length, record.captured);
  packet.time_ns = record.time_ns;
  record.link->find_packet(packet);
  return packet;
}

absl::StatusOr<std::string> Capture::Pcap(const std::vector<bool>& keep) const {
  const LinkType* link = nullptr;
  for (size_t i = 0; i < size(); ++i) {
    if (!keep[i]) continue;
    if (link != nullptr && link != records_[i].link) {
      return absl::InvalidArgumentError("packets of several link types cannot be written to one file");
    }
    link = records_[i].link;
  }
  constexpr int kSnapLength = 262144;
  const PcapHandle pcap(pcap_open_dead_with_tstamp_precision(link != nullptr ? link->number : DLT_RAW, kSnapLength,
                                                             PCAP_TSTAMP_PRECISION_NANO));
  char* bytes = nullptr;
  size_t size_of_bytes = 0;
  FILE* memory = open_memstream(&bytes, &size_of_bytes);
  if (memory == nullptr) return absl::ResourceExhaustedError(std::strerror(errno));
  pcap_dumper_t* dumper = pcap_dump_fopen(pcap.get(), memory);
  if (dumper == nullptr) {
    std::fclose(memory);
    std::free(bytes);
    return absl::InternalError(pcap_geterr(pcap.get()));
  }
  for (size_t i = 0; i < size(); ++i) {
    if (!keep[i]) continue;
    const Record& record = records_[i];
    pcap_pkthdr header{};
    header.ts.tv_sec = static_cast<time_t>(record.time_ns / 1'000'000'000);
    header.ts.tv_usec = static_cast<suseconds_t>(record.time_ns % 1'000'000'000);
    header.caplen = record.captured;
    header.len = record.wire_length;
    pcap_dump(reinterpret_cast<u_char*>(dumper), &header, bytes_.data() + record.offset);
  }
  const bool failed = pcap_dump_flush(dumper) != 0;
  pcap_dump_close(dumper);
  const std::unique_ptr<char, void (*)(void*)> owner(bytes, std::free);
  if (failed) return absl::ResourceExhaustedError("no memory for a capture of this size");
  return std::string(bytes, size_of_bytes);
}

}  // namespace nftjit
