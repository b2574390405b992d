#include "tests/opt/case_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace nftjit::opt {
namespace {

constexpr char kIr[] = "-- ir\n", kAfter[] = "-- after\n";

}  // namespace

CaseFile ReadCase(const std::filesystem::path& path) {
  std::stringstream stream;
  stream << std::ifstream(path).rdbuf();
  const std::string text = stream.str();
  const size_t ir = text.find(kIr), after = text.find(kAfter);
  if (ir == std::string::npos || after == std::string::npos || after < ir) {
    throw std::runtime_error(path.string() + ": expected a line '-- ir' and behind it a line '-- after'");
  }
  const size_t ir_text = ir + sizeof kIr - 1;
  return {path, text.substr(0, ir), text.substr(ir_text, after - ir_text), text.substr(after + sizeof kAfter - 1)};
}

void BlessCase(const CaseFile& file, const std::string& after) {
  std::ofstream(file.path) << file.head << kIr << file.ir << kAfter << after;
}

std::vector<CaseFile> ReadCases(const std::string& pass) {
  std::vector<CaseFile> cases;
  const std::filesystem::path folder = std::filesystem::path(NFTJIT_TEST_DIR) / "cases" / pass;
  if (!std::filesystem::is_directory(folder)) return cases;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".txt") cases.push_back(ReadCase(entry.path()));
  }
  std::sort(cases.begin(), cases.end(), [](const CaseFile& a, const CaseFile& b) { return a.path < b.path; });
  return cases;
}

}  // namespace nftjit::opt
