// Reads nft's error messages: "FILE:LINE:COLUMN-COLUMN: Error: …", the line of the source, and a line of carets.
#ifndef NFTJIT_LIB_CONTROL_NFT_MESSAGES_H_
#define NFTJIT_LIB_CONTROL_NFT_MESSAGES_H_

#include <string>
#include <string_view>
#include <vector>

#include "lib/support/source.h"

namespace nftjit::control {

struct NftMessage {
  SourcePos where;
  std::string what;    // After "Error: ".
  std::string quoted;  // What stands above the carets.
};

// The errors in the output, in order. Lines that belong to none are skipped.
std::vector<NftMessage> ParseNftMessages(std::string_view output);

// The names in "Interface does not exist" errors, quotes removed, each once.
std::vector<std::string> UnknownInterfaces(std::string_view output);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_NFT_MESSAGES_H_
