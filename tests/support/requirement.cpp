#include "tests/support/requirement.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace nftjit::testing {

bool IsRequired(std::string_view what) {
  const char* list = std::getenv("NFTJIT_REQUIRE");
  if (list == nullptr) return false;
  for (const absl::string_view item : absl::StrSplit(list, ',')) {
    if (std::string_view(item.data(), item.size()) == what) return true;
  }
  return false;
}

bool MayRun(std::string_view what, const absl::Status& available) {
  if (available.ok()) return true;
  const std::string why(available.message().data(), available.message().size());
  if (IsRequired(what)) FAIL("NFTJIT_REQUIRE asks for " << what << ", but: " << why);
  std::cerr << "skipped, no " << what << ": " << Catch::getResultCapture().getCurrentTestName() << ": " << why << '\n';
  return false;
}

absl::Status FindCorpus(std::string* path) {
  const char* given = std::getenv("NFTJIT_CORPUS");
  *path = given != nullptr ? given : NFTJIT_SOURCE_DIR "/../shared/corpus";
  std::error_code error;
  if (std::filesystem::is_directory(*path + "/rulesets", error)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no folder ", *path, "/rulesets"));
}

std::string KeepFound(std::string_view folder, std::string_view name, const std::string& text) {
  const std::string file = absl::StrCat(std::string(name), ".txt");
  const char* found = std::getenv("NFTJIT_FOUND");
  if (found == nullptr || *found == '\0') {
    return absl::StrCat("save this as ", std::string(folder), "/", file, ":\n", text);
  }
  const std::filesystem::path path = std::filesystem::path(found) / file;
  std::ofstream(path, std::ios::binary) << text;
  return absl::StrCat("kept as ", path.string(), ", for ", std::string(folder));
}

uint64_t NumberFromEnvironment(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 0) : fallback;
}

}  // namespace nftjit::testing
