// Rules that no engine runs, as text or JSON.
#ifndef NFTJIT_TOOLS_NFTJIT_UNSUPPORTED_H_
#define NFTJIT_TOOLS_NFTJIT_UNSUPPORTED_H_

#include <iosfwd>
#include <string>

#include "lib/ir/ir.h"

namespace nftjit::cli {

// "inet fw input", the way nft's own listing names a chain.
std::string ChainText(const ir::Program& program, ir::ChainId chain);
// "fw.nft:31: inet fw input handle 7: nat is not supported".
std::string UnsupportedText(const ir::Program& program, const ir::UnsupportedRule& rule);
void PrintUnsupported(std::ostream& out, const ir::Program& program, bool json);

}  // namespace nftjit::cli

#endif  // NFTJIT_TOOLS_NFTJIT_UNSUPPORTED_H_
