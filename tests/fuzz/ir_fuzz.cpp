// IR texts: read or refused; what is read prints to a text that reads back the same.
#include "lib/ir/text.h"
#include "lib/ir/verifier.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nftjit;  // NOLINT(google-build-using-namespace): a function of ten lines.
  const absl::StatusOr<ir::Program> program = ir::Parse({reinterpret_cast<const char*>(data), size}, "fuzz.ir");
  if (!program.ok() || !ir::Verify(*program).ok()) return 0;
  const std::string text = ir::Print(*program);
  const absl::StatusOr<ir::Program> again = ir::Parse(text, "printed");
  fuzz::Check(again.ok(), "a printed program does not read back", again.status());
  fuzz::Check(ir::Print(*again) == text, "a printed program reads back different", text);
  return 0;
}
