#include "lib/ir/words.h"

#include <algorithm>

#include "lib/support/line_cursor.h"

namespace nftjit::ir {

std::string_view Name(SetKind kind) {
  switch (kind) {
    case SetKind::kExact:
      return "exact";
    case SetKind::kInterval:
      return "interval";
    case SetKind::kConcatRanges:
      return "ranges";
  }
  return "unknown";
}

std::string_view Name(nft::ExthdrOp op) {
  switch (op) {
    case nft::ExthdrOp::kIpv6:
      return "ipv6";
    case nft::ExthdrOp::kTcpOption:
      return "tcpopt";
    case nft::ExthdrOp::kIpv4:
      return "ipv4";
    case nft::ExthdrOp::kSctp:
      return "sctp";
    case nft::ExthdrOp::kDccp:
      return "dccp";
  }
  return "unknown";
}

std::string_view Name(nft::RejectType type) {
  switch (type) {
    case nft::RejectType::kIcmp:
      return "icmp";
    case nft::RejectType::kTcpReset:
      return "tcp-reset";
    case nft::RejectType::kIcmpx:
      return "icmpx";
  }
  return "unknown";
}

std::string_view DirectionName(uint8_t flags) {
  if (flags == kDirectionOriginal) return "original";
  if (flags == kDirectionReply) return "reply";
  return "";
}

std::optional<nft::VerdictCode> VerdictFromName(std::string_view word) {
  for (int code = static_cast<int>(nft::VerdictCode::kReturn); code <= static_cast<int>(nft::VerdictCode::kQueue);
       ++code) {
    if (nft::Name(static_cast<nft::VerdictCode>(code)) == word) return static_cast<nft::VerdictCode>(code);
  }
  return std::nullopt;
}

bool IsBareName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), IsNameCharacter);
}

}  // namespace nftjit::ir
