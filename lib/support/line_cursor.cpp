#include "lib/support/line_cursor.h"

namespace nftjit {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void LineCursor::Begin(std::string_view line, uint32_t number) {
  line_ = rest_ = line;
  number_ = number;
}

char LineCursor::Peek() { return AtEnd() ? '\0' : rest_.front(); }

bool LineCursor::Fail(std::string_view what) {
  std::string message(what);
  message += AtEnd() ? ", found the end of the line" : ", found `" + std::string(rest_) + "`";
  return FailPlain(message);
}

bool LineCursor::FailAt(const SourcePos& where, std::string_view what) {
  if (status_.ok()) {
    status_ = ErrorAt(where, absl::StatusCode::kInvalidArgument, what);
  }
  return false;
}

bool LineCursor::AcceptPunctuation(std::string_view text) {
  SkipBlanks();
  if (rest_.substr(0, text.size()) != text) return false;
  rest_.remove_prefix(text.size());
  return true;
}

std::string_view LineCursor::PeekWord() {
  SkipBlanks();
  size_t size = 0;
  while (size < rest_.size() && IsNameCharacter(rest_[size])) ++size;
  return rest_.substr(0, size);
}

bool LineCursor::AcceptWord(std::string_view word) {
  if (PeekWord() != word) return false;
  rest_.remove_prefix(word.size());
  return true;
}

std::string_view LineCursor::PeekToken() {
  SkipBlanks();
  return rest_.substr(0, rest_.find_first_of(" \t"));
}

bool LineCursor::AcceptToken(std::string_view token) {
  if (PeekToken() != token) return false;
  rest_.remove_prefix(token.size());
  return true;
}

bool LineCursor::ReadToken(std::string_view* token, std::string_view what) {
  *token = PeekToken();
  if (token->empty()) return Fail("expected " + std::string(what));
  rest_.remove_prefix(token->size());
  return true;
}

bool LineCursor::AcceptBeforeDigit(char c) {
  if (rest_.size() < 2 || rest_[0] != c || rest_[1] < '0' || rest_[1] > '9') return false;
  rest_.remove_prefix(1);
  return true;
}

bool LineCursor::ExpectPunctuation(std::string_view text) {
  return AcceptPunctuation(text) || Fail("expected `" + std::string(text) + "`");
}

bool LineCursor::ExpectEnd() { return AtEnd() || Fail("expected the end of the line"); }

bool LineCursor::ReadWord(std::string_view* word, std::string_view what) {
  *word = PeekWord();
  if (word->empty()) return Fail("expected " + std::string(what));
  rest_.remove_prefix(word->size());
  return true;
}

bool LineCursor::ReadName(std::string* name, std::string_view what) {
  if (Peek() == '"') return ReadQuoted(name);
  std::string_view word;
  if (!ReadWord(&word, what)) return false;
  *name = word;
  return true;
}

bool LineCursor::ReadQuoted(std::string* text) {
  if (Peek() != '"') return Fail("expected a quoted text");
  text->clear();
  size_t i = 1;
  for (; i < rest_.size() && rest_[i] != '"'; ++i) {
    if (rest_[i] != '\\') {
      *text += rest_[i];
      continue;
    }
    const char escaped = ++i < rest_.size() ? rest_[i] : '\0';
    if (escaped == '"' || escaped == '\\') {
      *text += escaped;
    } else if (escaped == 'x' && i + 2 < rest_.size() && HexDigit(rest_[i + 1]) >= 0 && HexDigit(rest_[i + 2]) >= 0) {
      *text += static_cast<char>(HexDigit(rest_[i + 1]) << 4 | HexDigit(rest_[i + 2]));
      i += 2;
    } else {
      return Fail("expected \\\", \\\\ or \\xHH after a backslash");
    }
  }
  if (i >= rest_.size()) return Fail("expected a closing quote");
  rest_.remove_prefix(i + 1);
  return true;
}

bool LineCursor::ReadBytes(std::string* bytes, std::string_view what) {
  SkipBlanks();
  bytes->clear();
  size_t i = 0;
  for (; i + 1 < rest_.size() && HexDigit(rest_[i]) >= 0 && HexDigit(rest_[i + 1]) >= 0; i += 2) {
    *bytes += static_cast<char>(HexDigit(rest_[i]) << 4 | HexDigit(rest_[i + 1]));
  }
  if (i == 0 || (i < rest_.size() && HexDigit(rest_[i]) >= 0)) {
    return Fail("expected " + std::string(what) + " as pairs of hex digits");
  }
  rest_.remove_prefix(i);
  return true;
}

}  // namespace nftjit
