// Reading packet captures (pcap, pcapng) with libpcap, and packets given as hex.
//
// Which link types: tools/capture/link_types.h.
#ifndef NFTJIT_TOOLS_CAPTURE_CAPTURE_H_
#define NFTJIT_TOOLS_CAPTURE_CAPTURE_H_

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nftjit/packet.h"
#include "tools/capture/link_types.h"

namespace nftjit {

// All packets of one capture, their bytes end to end in one buffer.
class Capture {
 public:
  // Reads the whole file ("-" is standard input) before it returns anything, so that a file that breaks off in the
  // middle is an error and not half a result. Errors: NotFound, or InvalidArgument naming file, packet and reason.
  static absl::StatusOr<Capture> FromFile(const std::string& path);

  // Appends one raw IP packet. Errors: InvalidArgument for odd digits, non-hex or an empty string.
  absl::Status AppendHex(std::string_view hex);

  // Keeps the first `count` packets.
  void Truncate(size_t count);

  [[nodiscard]] size_t size() const { return records_.size(); }
  // Packets of which the capture holds fewer bytes than there were on the wire.
  [[nodiscard]] size_t short_packets() const;

  // Packet number `i` with its headers found: offsets, protocol, VLAN tag, packet type, time. The bytes stay in this
  // object. A frame too short for its link header, or without a packet in it, has network_offset == length.
  [[nodiscard]] Packet At(size_t i);
  [[nodiscard]] uint64_t time_ns(size_t i) const { return records_[i].time_ns; }
  [[nodiscard]] uint32_t wire_length(size_t i) const { return records_[i].wire_length; }

  // The packets whose `keep[i]` is true as a nanosecond pcap file. Errors: InvalidArgument if they are of several link
  // types, ResourceExhausted.
  [[nodiscard]] absl::StatusOr<std::string> Pcap(const std::vector<bool>& keep) const;

 private:
  struct Record {
    size_t offset;
    uint32_t captured, wire_length;
    uint64_t time_ns;
    const LinkType* link;
  };
  std::vector<uint8_t> bytes_;
  std::vector<Record> records_;
};

}  // namespace nftjit

#endif  // NFTJIT_TOOLS_CAPTURE_CAPTURE_H_
