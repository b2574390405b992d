// Images: read or refused, and what is read is a ruleset like any other.
#include "tests/fuzz/model_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<nftjit::nft::Ruleset> ruleset = nftjit::netlink::ReadImage(bytes, "fuzz.nfb");
  if (ruleset.ok()) nftjit::fuzz::CheckModel(*ruleset);
  return 0;
}
