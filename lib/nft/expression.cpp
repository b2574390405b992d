#include "lib/nft/expression.h"

#include <algorithm>
#include <array>

namespace nftjit::nft {
namespace {

// In the order of ExpressionBody's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<ExpressionBody>> kNames = {
    "immediate", "cmp",    "range",    "bitwise",      "byteorder", "payload", "payload", "inner",   "meta",   "meta",
    "ct",        "ct",     "notrack",  "lookup",       "dynset",    "objref",  "objref",  "counter", "quota",  "limit",
    "connlimit", "last",   "log",      "reject",       "nat",       "masq",    "redir",   "dup",     "fwd",    "tproxy",
    "socket",    "exthdr", "exthdr",   "exthdr",       "rt",        "fib",     "osf",     "xfrm",    "tunnel", "numgen",
    "hash",      "queue",  "synproxy", "flow_offload", "match",     "target"};

}  // namespace

std::string_view Name(const ExpressionBody& body) { return kNames[body.index()]; }
bool IsExpressionName(std::string_view name) { return std::find(kNames.begin(), kNames.end(), name) != kNames.end(); }

}  // namespace nftjit::nft
