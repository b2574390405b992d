#include "lib/support/fault.h"

#ifdef NFTJIT_FAULTS

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace nftjit {
namespace {

Fault ReadFault() {
  const char* name = std::getenv("NFTJIT_FAULT");
  const std::string_view text = name == nullptr ? "" : name;
  if (text.empty()) return Fault::kNone;
  if (text == "comparison") return Fault::kComparison;
  if (text == "bounds") return Fault::kBounds;
  if (text == "priority") return Fault::kPriority;
  if (text == "counter") return Fault::kCounter;
  std::cerr << "NFTJIT_FAULT: " << text << " is none of comparison, bounds, priority, counter\n";
  std::exit(2);
}

}  // namespace

Fault ChosenFault() {
  static const Fault fault = ReadFault();
  return fault;
}

}  // namespace nftjit

#endif
