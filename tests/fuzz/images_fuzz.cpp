// Images: read or refused, and what is read is a ruleset like any other. Each input twice, the second time with header
// and checksum put right: else hardly one would get past them.
#include <cstring>

#include "lib/netlink/image_format.h"
#include "tests/fuzz/model_checks.h"

namespace nftjit::fuzz {
namespace {

void CheckImage(std::string_view bytes) {
  const absl::StatusOr<nft::Ruleset> ruleset = netlink::ReadImage(bytes, "fuzz.nfb");
  if (ruleset.ok()) CheckModel(*ruleset);
}

// `image` with the records that stand where those of an image do.
std::string PutRight(std::string image) {
  using namespace netlink;  // NOLINT(google-build-using-namespace): its format.
  const uint64_t length = image.size() - kImageHeaderSize - kChecksumSize;
  std::memcpy(image.data(), kMagic.data(), kMagic.size());
  std::memcpy(image.data() + 8, &kByteOrderMark, 4);
  std::memcpy(image.data() + 12, &kImageVersion, 4);
  std::memcpy(image.data() + 16, &length, 8);
  image.resize(image.size() - kChecksumSize);
  const uint32_t checksum = Crc32c(image);
  image.append(reinterpret_cast<const char*>(&checksum), sizeof checksum);
  return image;
}

}  // namespace
}  // namespace nftjit::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nftjit;  // NOLINT(google-build-using-namespace): a function of five lines.
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  fuzz::CheckImage(bytes);
  if (size >= netlink::kImageHeaderSize + netlink::kChecksumSize) fuzz::CheckImage(fuzz::PutRight(bytes));
  return 0;
}
