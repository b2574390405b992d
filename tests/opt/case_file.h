// A test case of a pass: the IR before, and the IR after it.
#ifndef NFTJIT_TESTS_OPT_CASE_FILE_H_
#define NFTJIT_TESTS_OPT_CASE_FILE_H_

#include <filesystem>
#include <string>
#include <vector>

namespace nftjit::opt {

// The parts of a file: comment lines, then `-- ir` and its text, then `-- after` and its text.
struct CaseFile {
  std::filesystem::path path;
  std::string head, ir, after;
};
CaseFile ReadCase(const std::filesystem::path& path);
// Puts `after` in place of the file's own.
void BlessCase(const CaseFile& file, const std::string& after);

// The cases in the folder `cases/PASS`, sorted by name.
std::vector<CaseFile> ReadCases(const std::string& pass);

}  // namespace nftjit::opt

#endif  // NFTJIT_TESTS_OPT_CASE_FILE_H_
