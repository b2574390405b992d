// What a machine may lack: tests that need it skip and say so, unless the caller insists on it.
#ifndef NFTJIT_TESTS_SUPPORT_REQUIREMENT_H_
#define NFTJIT_TESTS_SUPPORT_REQUIREMENT_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace nftjit::testing {

// True if the environment's NFTJIT_REQUIRE, a comma-separated list, contains `what` ("kernel", "corpus",
// "clients", "faults", "avx2").
bool IsRequired(std::string_view what);

// True if `available` is OK. Else says on stderr that the running test skips and why, and returns false; where `what`
// is required, fails the test instead.
bool MayRun(std::string_view what, const absl::Status& available);

// The folder of upstream test data and real rulesets: NFTJIT_CORPUS, else the one beside the source tree. Not found
// where it is missing.
absl::Status FindCorpus(std::string* path);

// Where a shrunk failing case goes: with NFTJIT_FOUND, a folder, writes NAME.txt there and says so; without, tells to
// save `text` as FOLDER/NAME.txt (of the source tree) and gives it. For the message of a failure.
std::string KeepFound(std::string_view folder, std::string_view name, const std::string& text);

// A number from the environment variable `name` (decimal, or hex after 0x), else `fallback`. For seeds and counts.
uint64_t NumberFromEnvironment(const char* name, uint64_t fallback);

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_REQUIREMENT_H_
