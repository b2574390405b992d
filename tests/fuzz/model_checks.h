// What must hold of every ruleset model, however it came about.
#ifndef NFTJIT_TESTS_FUZZ_MODEL_CHECKS_H_
#define NFTJIT_TESTS_FUZZ_MODEL_CHECKS_H_

#include "lib/ir/lower.h"
#include "lib/ir/verifier.h"
#include "lib/netlink/image.h"
#include "lib/nft/ruleset.h"
#include "tests/fuzz/check.h"

namespace nftjit::fuzz {

// It lowers to a verified program, and an image of it reads back equal.
inline void CheckModel(const nft::Ruleset& ruleset) {
  const absl::StatusOr<ir::Program> lowered = ir::Lower(ruleset, {.partial = true});
  Check(lowered.ok(), "a stored ruleset does not lower", lowered.status());
  const absl::Status verified = ir::Verify(*lowered);
  Check(verified.ok(), "a lowered program does not verify", verified);
  const absl::StatusOr<nft::Ruleset> again = netlink::ReadImage(netlink::WriteImage(ruleset), "written");
  Check(again.ok(), "an image does not read back", again.status());
  Check(*again == ruleset, "an image", "reads back different");
}

}  // namespace nftjit::fuzz

#endif  // NFTJIT_TESTS_FUZZ_MODEL_CHECKS_H_
