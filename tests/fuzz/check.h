// What a fuzz target does when something that must hold does not: says what, and ends the process so that the fuzzer
// keeps the input.
#ifndef NFTJIT_TESTS_FUZZ_CHECK_H_
#define NFTJIT_TESTS_FUZZ_CHECK_H_

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace nftjit::fuzz {

template <class Detail>
void Check(bool holds, std::string_view what, const Detail& detail) {
  if (holds) return;
  std::cerr << "fuzz: " << what << ": " << detail << '\n';
  std::abort();
}

}  // namespace nftjit::fuzz

#endif  // NFTJIT_TESTS_FUZZ_CHECK_H_
