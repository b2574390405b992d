// Reads the words of one line of text, and makes errors that say where.
#ifndef NFTJIT_LIB_IR_LINE_CURSOR_H_
#define NFTJIT_LIB_IR_LINE_CURSOR_H_

#include <absl/status/status.h>

#include <charconv>
#include <string>
#include <string_view>

namespace nftjit::ir {

// Each Read… and Expect… skips blanks first; it returns false, having noted an error, where the text is not as wanted.
// Only the first error is kept. Accept… never fail: they say whether they took something.
class LineCursor {
 public:
  explicit LineCursor(std::string_view file_name) : file_name_(file_name) {}
  // Goes on with another line, without its end.
  void Begin(std::string_view line, uint32_t number);

  [[nodiscard]] const absl::Status& status() const { return status_; }
  [[nodiscard]] uint32_t line_number() const { return number_; }
  [[nodiscard]] bool AtEnd() {
    SkipBlanks();
    return rest_.empty();
  }
  // Notes "<what>, found `<rest>`" and returns false.
  bool Fail(std::string_view what);
  // Notes `what` as it is.
  bool FailPlain(std::string_view what);

  bool AcceptPunctuation(std::string_view text);
  bool AcceptWord(std::string_view word);
  // Only where a digit comes right after it.
  bool AcceptBeforeDigit(char c);
  // The word that ReadWord would read; empty if there is none.
  [[nodiscard]] std::string_view PeekWord();
  [[nodiscard]] bool PeekQuote() { return Peek() == '"'; }
  // The next character that is no blank; 0 at the end.
  [[nodiscard]] char Peek();

  bool ExpectPunctuation(std::string_view text);
  bool ExpectEnd();
  // Letters, digits and _ . - /.
  bool ReadWord(std::string_view* word, std::string_view what);
  // A word, or a quoted string.
  bool ReadName(std::string* name, std::string_view what);
  bool ReadQuoted(std::string* text);
  // Decimal, in the range of T.
  template <class T>
  bool ReadNumber(T* number, std::string_view what) {
    SkipBlanks();
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), *number);
    if (error == std::errc::result_out_of_range) return Fail(std::string(what) + " is out of range");
    if (error != std::errc()) return Fail("expected " + std::string(what));
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return true;
  }
  // Pairs of hex digits, at least one.
  bool ReadBytes(std::string* bytes, std::string_view what);

 private:
  void SkipBlanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t')) rest_.remove_prefix(1);
  }

  std::string_view file_name_, rest_;
  uint32_t number_ = 0;
  absl::Status status_;
};

}  // namespace nftjit::ir

#endif  // NFTJIT_LIB_IR_LINE_CURSOR_H_
