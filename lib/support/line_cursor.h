// Reads the words of one line of text, and makes errors that say where.
#ifndef NFTJIT_LIB_SUPPORT_LINE_CURSOR_H_
#define NFTJIT_LIB_SUPPORT_LINE_CURSOR_H_

#include <absl/status/status.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "lib/support/source.h"

namespace nftjit {

constexpr bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-' || c == '/';
}
// The value of a hex digit; -1 for every other character.
int HexDigit(char c);

// Each Read… and Expect… skips blanks first; it returns false, having noted an error, where the text is not as wanted.
// Only the first error is kept. Accept… never fail: they say whether they took something.
class LineCursor {
 public:
  // With `columns` errors name the column, too.
  explicit LineCursor(std::string_view file_name, bool columns = false) : file_name_(file_name), columns_(columns) {}
  // Goes on with another line, without its end.
  void Begin(std::string_view line, uint32_t number);

  [[nodiscard]] const absl::Status& status() const { return status_; }
  [[nodiscard]] uint32_t line_number() const { return number_; }
  // Of the next character, blanks included.
  [[nodiscard]] uint32_t column() const { return static_cast<uint32_t>(line_.size() - rest_.size()) + 1; }
  [[nodiscard]] SourcePos here() const { return {std::string(file_name_), number_, columns_ ? column() : 0}; }
  [[nodiscard]] bool AtEnd() {
    SkipBlanks();
    return rest_.empty();
  }
  // Notes "<what>, found `<rest>`" and returns false.
  bool Fail(std::string_view what);
  // Notes `what` as it is; at another place than the next character.
  bool FailPlain(std::string_view what) { return FailAt(here(), what); }
  bool FailAt(const SourcePos& where, std::string_view what);

  bool AcceptPunctuation(std::string_view text);
  bool AcceptWord(std::string_view word);
  // What stands up to the next blank; empty at the end.
  [[nodiscard]] std::string_view PeekToken();
  bool AcceptToken(std::string_view token);
  // Only where a digit comes right after it.
  bool AcceptBeforeDigit(char c);
  // The word that ReadWord would read; empty if there is none.
  [[nodiscard]] std::string_view PeekWord();
  [[nodiscard]] bool PeekQuote() { return Peek() == '"'; }
  // The next character that is no blank; 0 at the end.
  [[nodiscard]] char Peek();

  bool ExpectPunctuation(std::string_view text);
  bool ExpectEnd();
  void SkipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }
  // What is left of the line, without the blanks in front.
  [[nodiscard]] std::string_view rest() {
    SkipBlanks();
    return rest_;
  }
  [[nodiscard]] std::string_view raw_rest() const { return rest_; }
  // Passes over as many characters of rest().
  void Skip(size_t characters) { rest_.remove_prefix(std::min(characters, rest_.size())); }
  // Letters, digits and _ . - /.
  bool ReadWord(std::string_view* word, std::string_view what);
  bool ReadToken(std::string_view* token, std::string_view what);
  // A word, or a quoted string.
  bool ReadName(std::string* name, std::string_view what);
  bool ReadQuoted(std::string* text);
  // Decimal (or of another base, without a prefix), in the range of T.
  template <class T>
  bool ReadNumber(T* number, std::string_view what, int base = 10) {
    SkipBlanks();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *number, base);
    if (error == std::errc::result_out_of_range) return Fail(std::string(what) + " is out of range");
    if (error != std::errc()) return Fail("expected " + std::string(what));
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  // Pairs of hex digits, at least one.
  bool ReadBytes(std::string* bytes, std::string_view what);

 private:
  std::string_view file_name_, line_, rest_;
  bool columns_;
  uint32_t number_ = 0;
  absl::Status status_;
};

}  // namespace nftjit

#endif  // NFTJIT_LIB_SUPPORT_LINE_CURSOR_H_
