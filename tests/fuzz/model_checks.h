// What must hold of every ruleset model, however it came about.
#ifndef NFTJIT_TESTS_FUZZ_MODEL_CHECKS_H_
#define NFTJIT_TESTS_FUZZ_MODEL_CHECKS_H_

#include <string>

#include "lib/ir/lower.h"
#include "lib/ir/verifier.h"
#include "lib/netlink/image.h"
#include "lib/nft/ruleset.h"
#include "tests/fuzz/check.h"

namespace nftjit::fuzz {

// It lowers to a verified program, and an image of it reads back to the same image.
inline void CheckModel(const nft::Ruleset& ruleset) {
  const absl::StatusOr<ir::Program> lowered = ir::Lower(ruleset, {.partial = true});
  Check(lowered.ok(), "a stored ruleset does not lower", lowered.status());
  const absl::Status verified = ir::Verify(*lowered);
  Check(verified.ok(), "a lowered program does not verify", verified);
  const std::string image = netlink::WriteImage(ruleset);
  const absl::StatusOr<nft::Ruleset> again = netlink::ReadImage(image, "written");
  Check(again.ok(), "an image does not read back", again.status());
  Check(netlink::WriteImage(*again) == image, "an image", "reads back different");
}

}  // namespace nftjit::fuzz

#endif  // NFTJIT_TESTS_FUZZ_MODEL_CHECKS_H_
