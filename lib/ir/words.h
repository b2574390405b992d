// The words of the text form that are not names of ops: written by the printer, read by the parser.
#ifndef NFTJIT_LIB_IR_WORDS_H_
#define NFTJIT_LIB_IR_WORDS_H_

#include <optional>
#include <string>
#include <string_view>

#include "lib/ir/ir.h"

namespace nftjit::ir {

std::string_view Name(SetKind kind);            // "exact", "interval", "ranges"
std::string_view Name(nft::ExthdrOp op);        // "ipv6", "tcpopt" …
std::string_view Name(nft::RejectType type);    // "icmp", "tcp-reset", "icmpx"
std::string_view DirectionName(uint8_t flags);  // "original", "reply", "" for kNoDirection.

// The value of `Enum` among 0 to `count` - 1 whose Name() is `word`.
template <class Enum>
std::optional<Enum> FromName(std::string_view word, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (Name(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}
std::optional<nft::VerdictCode> VerdictFromName(std::string_view word);

// Whether `name` can stand without quotes: not empty, of letters, digits and _ . - / alone.
bool IsBareName(std::string_view name);

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_WORDS_H_
