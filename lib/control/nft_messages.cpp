#include "lib/control/nft_messages.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace nftjit::control {
namespace {

class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  std::optional<std::string_view> Next() {
    if (rest_.empty()) return std::nullopt;
    const size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_ = end == std::string_view::npos ? std::string_view() : rest_.substr(end + 1);
    return line;
  }

 private:
  std::string_view rest_;
};

// Cuts ":NUMBER" (or "-NUMBER") off the end.
std::optional<uint32_t> CutNumber(std::string_view& text, char separator) {
  const size_t at = text.rfind(separator);
  if (at == std::string_view::npos) return std::nullopt;
  uint32_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at + 1, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  text = text.substr(0, at);
  return number;
}

std::optional<NftMessage> ParseHead(std::string_view line) {
  constexpr std::string_view kError = ": Error: ";
  const size_t at = line.find(kError);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view place = line.substr(0, at);
  const std::optional<uint32_t> last_column = CutNumber(place, '-');
  const std::optional<uint32_t> column = CutNumber(place, ':');
  const std::optional<uint32_t> number = CutNumber(place, ':');
  if (!last_column.has_value() || !column.has_value() || !number.has_value()) return std::nullopt;
  return NftMessage{.where = {std::string(place), *number, *column},
                    .what = std::string(line.substr(at + kError.size())),
                    .quoted = {}};
}

std::string Quoted(std::string_view source, std::string_view carets) {
  const size_t first = carets.find('^');
  if (first == std::string_view::npos || first >= source.size()) return {};
  return std::string(source.substr(first, carets.find_last_of('^') - first + 1));
}

bool IsCaretLine(std::string_view line) {
  return line.find('^') != std::string_view::npos && line.find_first_not_of(" \t^~") == std::string_view::npos;
}

}  // namespace

std::vector<NftMessage> ParseNftMessages(std::string_view output) {
  std::vector<NftMessage> messages;
  Lines lines(output);
  std::optional<std::string_view> line = lines.Next();
  while (line.has_value()) {
    std::optional<NftMessage> message = ParseHead(*line);
    line = lines.Next();
    if (!message.has_value()) continue;
    // The source line may look like anything, also like a message: it is known by the carets below it.
    if (line.has_value()) {
      const std::string_view source = *line;
      line = lines.Next();
      if (line.has_value() && IsCaretLine(*line)) {
        message->quoted = Quoted(source, *line);
        line = lines.Next();
      }
    }
    messages.push_back(*std::move(message));
  }
  return messages;
}

std::vector<std::string> UnknownInterfaces(std::string_view output) {
  std::vector<std::string> names;
  for (NftMessage& message : ParseNftMessages(output)) {
    if (message.what != "Interface does not exist") continue;
    std::string& name = message.quoted;
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') name = name.substr(1, name.size() - 2);
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace nftjit::control
