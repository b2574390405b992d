// Capture files: read or refused, and every packet of what is read has its headers inside its bytes.
#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "tests/fuzz/check.h"
#include "tools/capture/capture.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = memfd_create("capture", 0);
  nftjit::fuzz::Check(file >= 0 && ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0, "memfd", file);
  nftjit::fuzz::Check(write(file, data, size) == static_cast<ssize_t>(size), "memfd: write", size);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  absl::StatusOr<nftjit::Capture> capture = nftjit::Capture::FromFile(path);
  if (!capture.ok()) return 0;
  for (size_t i = 0; i < capture->size(); ++i) {
    const nftjit::Packet packet = capture->At(i);
    nftjit::fuzz::Check(packet.network_offset <= packet.length, "headers outside of packet", i);
    volatile uint8_t seen = 0;
    for (uint32_t at = 0; at < packet.length; ++at) seen = seen ^ packet.data[at];
  }
  return 0;
}
