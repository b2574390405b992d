// Text for abseil, whose string_view is a type of its own where the distribution built it for C++14.
#ifndef NFTJIT_LIB_SUPPORT_ABSL_VIEW_H_
#define NFTJIT_LIB_SUPPORT_ABSL_VIEW_H_

#include <absl/strings/string_view.h>

#include <string_view>

namespace nftjit {

inline absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace nftjit

#endif  // NFTJIT_LIB_SUPPORT_ABSL_VIEW_H_
