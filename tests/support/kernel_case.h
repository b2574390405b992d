// A ruleset, packets and the machine they meet, as one text: what the kernel judge prints when it fails, and what
// tests/judge_kernel/cases holds.
#ifndef NFTJIT_TESTS_SUPPORT_KERNEL_CASE_H_
#define NFTJIT_TESTS_SUPPORT_KERNEL_CASE_H_

#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/nft/ruleset.h"
#include "tests/support/kernel_judge.h"

namespace nftjit::testing {

struct KernelCase {
  LiveKernelOptions machine;
  nft::Ruleset ruleset;
  std::vector<Bytes> packets;
};

// The listing of the rules as comments for the reader, the ruleset as an image for the test.
std::string Print(const KernelCase& kernel_case);
// Errors: InvalidArgument "FILE:LINE: …".
absl::StatusOr<KernelCase> ParseKernelCase(std::string_view text, std::string_view file_name);

// What differs between the kernel and our engines; nothing also if the ruleset cannot be loaded or compiled.
std::optional<std::string> Disagreement(LiveKernel& kernel, const KernelCase& kernel_case);
// Drops rules and packets while there is a disagreement.
KernelCase Shrink(LiveKernel& kernel, KernelCase failing);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_KERNEL_CASE_H_
