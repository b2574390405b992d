// Where something stands in the user's input, and errors that say so.
#ifndef NFTJIT_LIB_SUPPORT_SOURCE_H_
#define NFTJIT_LIB_SUPPORT_SOURCE_H_

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace nftjit {

// A place in a text. Line and column count from 1; 0 means unknown.
struct SourcePos {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
  bool operator==(const SourcePos&) const = default;
};

// "fw.nft:31:3", "fw.nft:31", "fw.nft", or "" when nothing is known.
std::string ToString(const SourcePos& where);

// A status whose message is "<place>: <what>". Messages are lower case, name the thing and what was expected.
absl::Status ErrorAt(const SourcePos& where, absl::StatusCode code, std::string_view what);

}  // namespace nftjit

#endif  // NFTJIT_LIB_SUPPORT_SOURCE_H_
