#include "tests/control/listing_text.h"

#include <algorithm>
#include <optional>
#include <regex>
#include <vector>

namespace nftjit::control {
namespace {

constexpr std::string_view kSpace = " \t\n";

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Splits "a, b }…" at top-level commas up to the closing brace. Empty: there is none on this line (`one_line`).
struct Items {
  std::vector<std::string> items;
  size_t end;  // Behind the brace.
};
std::optional<Items> ReadItems(std::string_view text, size_t start, bool one_line) {
  Items found{};
  int depth = 0;
  bool quoted = false;
  size_t item = start;
  for (size_t i = start; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '\n' && one_line) return std::nullopt;
    if (c == '{') ++depth;
    if (c == '}' && depth-- == 0) {
      found.items.emplace_back(Trim(text.substr(item, i - item)));
      found.end = i + 1;
      return found;
    }
    if (c == ',' && depth == 0) {
      found.items.emplace_back(Trim(text.substr(item, i - item)));
      item = i + 1;
    }
  }
  return std::nullopt;
}

std::string_view Line(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return line;
}

}  // namespace

std::string Comparable(std::string_view listing) {
  constexpr std::string_view kElements = "elements = ";
  std::string sorted;
  bool quoted = false;
  for (size_t i = 0; i < listing.size(); ++i) {
    sorted += listing[i];
    if (listing[i] == '"') quoted = !quoted;
    if (listing[i] != '{' || quoted) continue;
    const bool elements = i >= kElements.size() && listing.substr(i - kElements.size(), kElements.size()) == kElements;
    std::optional<Items> items = ReadItems(listing, i + 1, !elements);
    if (!items.has_value()) continue;  // A block of lines.
    std::sort(items->items.begin(), items->items.end());
    for (const std::string& item : items->items) sorted += " " + item + ",";
    sorted += " }";
    i = items->end - 1;
  }
  static const std::regex kExpires(" expires [0-9a-z]+");
  return std::regex_replace(sorted, kExpires, "");
}

std::string FirstDifference(std::string_view a, std::string_view b) {
  for (int line = 1; !a.empty() || !b.empty(); ++line) {
    const std::string_view in_a = Line(a);
    const std::string_view in_b = Line(b);
    if (in_a == in_b) continue;
    return "line " + std::to_string(line) + ":\n  " + std::string(in_a) + "\n  " + std::string(in_b);
  }
  return {};
}

}  // namespace nftjit::control
