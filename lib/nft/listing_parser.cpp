#include "lib/nft/listing_parser.h"

#include <absl/strings/str_cat.h>

#include "lib/nft/listing_lines.h"
#include "lib/nft/listing_printer.h"

namespace nftjit::nft {
namespace {

// Calls `visit(line, number)` until it returns false. Quotes and blanks in front are taken off.
template <class Visit>
void ForEachLine(std::string_view text, Visit&& visit) {
  for (uint32_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of("> \t")));
    if (!visit(line, number)) return;
  }
}

bool HasConstants(std::string_view line) {
  for (const std::string_view name : {"immediate ", "cmp ", "range ", "bitwise "}) {
    if (line.starts_with(name)) return true;
  }
  return false;
}

// Whether a word of `line` has a length that only the current dialect writes.
bool HasShortWord(std::string_view line) {
  for (size_t at = line.find("0x"); at != std::string_view::npos; at = line.find("0x", at + 2)) {
    const std::string_view digits = line.substr(at + 2);
    if (std::min(digits.size(), digits.find_first_not_of("0123456789abcdef")) < 8) return true;
  }
  return false;
}

// The dialect that a line can only be of; empty if both write such lines.
std::optional<ListingDialect> DialectOf(std::string_view line) {
  if (line.starts_with('[')) {
    line.remove_prefix(1);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t")));
    if (!HasConstants(line)) return std::nullopt;
    if (line.find("(reg=") != std::string_view::npos) return ListingDialect::kLegacy;
    return HasShortWord(line) ? std::optional(ListingDialect::kCurrent) : std::nullopt;
  }
  if (line.starts_with("element ")) {
    return line.find("[end]") != std::string_view::npos ? ListingDialect::kLegacy : ListingDialect::kCurrent;
  }
  if (line.starts_with("userdata = ")) return ListingDialect::kLegacy;
  if (line.starts_with("userdata len ")) return ListingDialect::kCurrent;
  return std::nullopt;
}

struct Detected {
  std::optional<ListingDialect> dialect;
  uint32_t line = 0;
};

absl::StatusOr<Detected> Detect(std::string_view text, const ListingParseOptions& options) {
  constexpr std::string_view kNames[] = {"legacy", "current"};
  Detected detected;
  absl::Status status;
  ForEachLine(text, [&](std::string_view line, uint32_t number) {
    const std::optional<ListingDialect> dialect = DialectOf(line);
    if (!dialect || dialect == detected.dialect) return true;
    if (!detected.dialect) {
      detected = {dialect, number};
      return true;
    }
    status = ErrorAt(
        {options.file_name, number, 1}, absl::StatusCode::kInvalidArgument,
        absl::StrCat("this line is of the ", std::string(kNames[static_cast<size_t>(*dialect)]), " dialect, line ",
                     detected.line, " of the ", std::string(kNames[static_cast<size_t>(*detected.dialect)])));
    return false;
  });
  if (!status.ok()) return status;
  return detected;
}

struct Parsed {
  absl::StatusOr<Listing> listing;
  size_t misfits;
};
Parsed ParseAs(ListingDialect dialect, std::string_view text, const ListingParseOptions& options) {
  LineParser parser(options, dialect);
  absl::StatusOr<Listing> listing = parser.Run(text);
  return {std::move(listing), parser.misfits()};
}

// The first rule that the two readings of a text understand otherwise; empty if there is none.
std::optional<SourcePos> FirstDifference(const Ruleset& a, const Ruleset& b) {
  for (size_t t = 0; t < a.tables.size() && t < b.tables.size(); ++t) {
    for (size_t c = 0; c < a.tables[t].chains.size() && c < b.tables[t].chains.size(); ++c) {
      const std::vector<Rule>&rules = a.tables[t].chains[c].rules, &others = b.tables[t].chains[c].rules;
      for (size_t r = 0; r < rules.size() && r < others.size(); ++r) {
        if (rules[r].expressions != others[r].expressions) return rules[r].where;
      }
    }
  }
  return std::nullopt;
}

// A text without any line that shows its dialect: words of 8 digits alone.
absl::StatusOr<Listing> ParseEither(std::string_view text, const ListingParseOptions& options) {
  Parsed legacy = ParseAs(ListingDialect::kLegacy, text, options);
  if (!legacy.listing.ok()) return legacy.listing;
  const Parsed current = ParseAs(ListingDialect::kCurrent, text, options);
  // A constant longer than what it is compared with is one that was padded to a word.
  if (!current.listing.ok() || current.misfits != 0) return legacy.listing;
  const std::optional<SourcePos> differs = FirstDifference(legacy.listing->ruleset, current.listing->ruleset);
  if (!differs) return legacy.listing;
  return ErrorAt(*differs, absl::StatusCode::kInvalidArgument,
                 "the constants of this rule mean something else in the legacy and in the current dialect, and no line "
                 "of the text shows which it is: say so (--dialect legacy or current)");
}

}  // namespace

absl::StatusOr<Listing> ParseListing(std::string_view text, const ListingParseOptions& options) {
  if (options.dialect) return ParseAs(*options.dialect, text, options).listing;
  const absl::StatusOr<Detected> detected = Detect(text, options);
  if (!detected.ok()) return detected.status();
  return detected->dialect ? ParseAs(*detected->dialect, text, options).listing : ParseEither(text, options);
}

bool LooksLikeListing(std::string_view text) {
  bool found = false;
  ForEachLine(text, [&](std::string_view line, uint32_t) {
    if (!line.starts_with("[ ")) return true;
    const std::string_view name = line.substr(2, std::min(line.size(), line.find(' ', 2)) - 2);
    found = IsExpressionName(name) && line.find(']') != std::string_view::npos;
    return !found;
  });
  return found;
}

}  // namespace nftjit::nft
