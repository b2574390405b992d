#include "lib/support/source.h"

namespace nftjit {

std::string ToString(const SourcePos& where) {
  std::string text = where.file;
  if (where.line == 0) return text;
  text += (text.empty() ? "line " : ":") + std::to_string(where.line);
  if (where.column != 0) text += ":" + std::to_string(where.column);
  return text;
}

absl::Status ErrorAt(const SourcePos& where, absl::StatusCode code, std::string_view what) {
  std::string message = ToString(where);
  if (!message.empty()) message += ": ";
  message.append(what);
  return {code, message};
}

}  // namespace nftjit
