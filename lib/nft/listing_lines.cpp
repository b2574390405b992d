#include "lib/nft/listing_lines.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <utility>

namespace nftjit::nft {
namespace {

std::string_view WithoutQuotes(std::string_view line) {
  while (!line.empty() && (line.front() == ' ' || line.front() == '\t' || line.front() == '>')) line.remove_prefix(1);
  return line;
}

}  // namespace

absl::StatusOr<Listing> LineParser::Run(std::string_view text) {
  table_ = nullptr;
  uint32_t number = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    in_.Begin(line, ++number);
    in_.Skip(line.size() - WithoutQuotes(line).size());
    if (!ReadLine()) return status_.ok() ? in_.status() : status_;
  }
  if (!FinishRule()) return status_;
  return builder_.Finish(dialect_, options_.family);
}

bool LineParser::Check(absl::Status status) {
  if (status.ok()) return true;
  status_ = std::move(status);
  return false;
}

bool LineParser::ReadLine() {
  const std::string_view line = in_.rest();
  if (line.starts_with('#')) return true;
  // What `nft --debug=netlink list ruleset` was asked for stands behind the listing, in nft's language.
  if (in_nft_text_ || (line.starts_with("table ") && line.ends_with('{'))) {
    depth_ += static_cast<int>(std::count(line.begin(), line.end(), '{')) -
              static_cast<int>(std::count(line.begin(), line.end(), '}'));
    in_nft_text_ = depth_ > 0;
    return FinishRule();
  }
  if (line.empty()) return FinishRule();
  if (line.starts_with('[')) return ReadExpressionLine();
  const std::string_view first = in_.PeekToken();
  if (first == "userdata") return ReadRuleUserdata();
  if (first == "element") return ReadElements();
  if (!FinishRule()) return false;
  if (first == "table") return ReadTableOrObjectLine();
  if (first == "flow") return ReadFlowtableLine();
  if (const std::optional<Family> family = FamilyFromName(first)) return ReadFamilyLine(*family);
  return ReadSetLine();
}

bool LineParser::ReadExpressionLine() {
  if (!rule_open_) {
    if (table_ == nullptr) table_ = &builder_.TableByName(options_.family, "");
    rule_open_ = true;
    rule_where_ = in_.here();
  }
  if (!ReadExpression(in_, builder_, table(), &rule_.emplace_back())) return false;
  return in_.ExpectEnd();
}

bool LineParser::FinishRule() {
  if (!rule_open_) return true;
  rule_open_ = false;
  Rule rule;
  rule.handle = ++table().last_handle;
  rule.where = rule_where_;
  if (!Check(ResolveRule(rule_, builder_, table(), dialect_, in_memory_order_, &misfits_))) return false;
  for (RawExpression& raw : rule_) rule.expressions.push_back(std::move(raw.expression));
  rule_.clear();
  builder_.EndRule();
  std::vector<Rule>& rules = table().ChainByName(chain_name_, rule_where_).rules;
  rules.push_back(std::move(rule));
  last_rule_ = &rules.back();
  return true;
}

bool LineParser::ReadRuleUserdata() {
  if (!rule_open_) return in_.Fail("expected a rule in front of its user data");
  if (!FinishRule()) return false;
  return ReadUserdata(&last_rule_->userdata) && in_.ExpectEnd();
}

// `userdata = { TEXT }`, where anything may stand in the text, or `userdata len N sum 0xN`, which keeps nothing of it.
bool LineParser::ReadUserdata(std::string* userdata) {
  in_.AcceptToken("userdata");
  if (in_.AcceptToken("len")) {
    uint32_t number = 0;
    return in_.ReadNumber(&number, "a length") && in_.ExpectPunctuation("sum") && in_.ExpectPunctuation("0x") &&
           in_.ReadNumber(&number, "a hex number", 16);
  }
  if (!in_.ExpectPunctuation("=") || !in_.ExpectPunctuation("{")) return false;
  std::string_view rest = in_.raw_rest();
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  // It ends at a brace behind which the line ends, or the next element begins.
  size_t end = rest.find(" }");
  while (end != std::string_view::npos) {
    std::string_view behind = rest.substr(end + 2);
    behind.remove_prefix(std::min(behind.size(), behind.find_first_not_of(" \t")));
    if (behind.find_first_not_of(" \t") == std::string_view::npos || behind.starts_with("element ")) break;
    end = rest.find(" }", end + 1);
  }
  if (end == std::string_view::npos) return in_.Fail("expected ` }` at the end of the user data");
  const std::string_view text = rest.substr(0, end);
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = i + 3 < text.size() && text[i] == '\\' && text[i + 1] == 'x' && HexDigit(text[i + 2]) >= 0 &&
                        HexDigit(text[i + 3]) >= 0;
    const char byte = escape ? static_cast<char>(HexDigit(text[i + 2]) << 4 | HexDigit(text[i + 3])) : text[i];
    // Printable bytes are never written as escapes: this one is text.
    const bool printable = byte >= 0x20 && byte < 0x7f;
    *userdata += escape && printable ? text[i] : byte;
    if (escape && !printable) i += 3;
  }
  in_.Skip(static_cast<size_t>(rest.data() - in_.raw_rest().data()) + end + 2);
  return true;
}

// A rule's header, a chain's line, or the name of the set whose elements follow.
bool LineParser::ReadFamilyLine(Family family) {
  const SourcePos where = in_.here();
  std::vector<std::string_view> words;
  std::string_view word;
  while (words.size() < 3 && !in_.AtEnd() && in_.ReadToken(&word, "")) words.push_back(word);
  if (words.size() == 3 && in_.PeekToken() == "use") return ReadChainLine(family, words[1], words[2]);
  if (words.size() == 3 && words[2].starts_with('@')) {
    set_table_name_ = words[1];
    last_set_ = builder_.LatestSet(words[1], words[2].substr(1));
    if (last_set_ != nullptr) return in_.ExpectEnd();
    return in_.FailAt(where, absl::StrCat("no line declares the set ", std::string(words[2].substr(1))));
  }
  // A header with a handle is of a rule that the kernel gave, without the byte orders of its constants.
  in_memory_order_ = false;
  uint64_t number = 0;
  while (!in_.AtEnd()) {
    if (!in_.ReadNumber(&number, "a rule's handle or position")) return false;
    in_memory_order_ = dialect_ == ListingDialect::kCurrent;
  }
  table_ = &builder_.TableByName(family, words.size() > 1 ? words[1] : "");
  chain_name_ = words.size() > 2 ? words[2] : "";
  rule_open_ = true;
  rule_where_ = where;
  return true;
}

bool LineParser::ReadSetLine() {
  if (in_.AcceptToken("family")) {
    uint32_t number = 0;
    if (!in_.ReadNumber(&number, "the number of a family")) return false;
  }
  const SourcePos where = in_.here();
  auto raw = std::make_unique<RawSet>();
  raw->where = where;
  std::string_view name, table;
  constexpr std::string_view kExpected = "a rule's header, an expression in [ ], a set or its elements";
  if (!in_.ReadToken(&name, kExpected)) return false;
  if (in_.PeekToken().empty()) return in_.FailAt(where, absl::StrCat("expected ", std::string(kExpected)));
  if (!in_.ReadToken(&table, "the table of the set")) return false;
  raw->set.name = name;
  const std::string_view flags = in_.PeekToken();
  if (flags.empty() || flags.find_first_not_of("0123456789abcdef") != std::string_view::npos ||
      !in_.ReadNumber(&raw->set.flags, "the flags of the set", 16)) {
    return in_.FailAt(where, absl::StrCat("expected ", std::string(kExpected), ", found `", std::string(name), " ",
                                          std::string(table), "`"));
  }
  set_table_name_ = table;
  const bool bare = in_.AtEnd();
  if (RawSet* latest = builder_.LatestSet(table, name); latest != nullptr && raw->set.flags == 0 && bare) {
    last_set_ = latest;  // The second line of a set, in front of its elements.
    return true;
  }
  if (!bare && !ReadSetAttributes(raw->set)) return false;
  last_set_ = builder_.AddPendingSet(std::move(raw), table);
  return true;
}

bool LineParser::ReadSetAttributes(Set& set) {
  while (!in_.AtEnd()) {
    bool ok = true;
    uint64_t ignored = 0;
    if (in_.AcceptToken("timeout")) {
      ok = in_.ReadNumber(&set.timeout_ms.emplace(), "a time") && in_.ExpectPunctuation("ms");
    } else if (in_.AcceptToken("gc_interval")) {
      ok = in_.ReadNumber(&set.gc_interval_ms.emplace(), "a time") && in_.ExpectPunctuation("ms");
    } else if (in_.AcceptToken("policy")) {
      ok = in_.ReadNumber(&set.policy, "a policy");
    } else if (in_.AcceptToken("size")) {
      ok = in_.ReadNumber(&set.size.emplace(), "a size");
    } else if (in_.AcceptToken("count")) {
      ok = in_.ReadNumber(&ignored, "a count");
    } else if (in_.AcceptToken("backend")) {
      std::string_view backend;
      ok = in_.ReadToken(&backend, "the name of a backend");
    } else {
      ok = in_.Fail("expected timeout, gc_interval, policy, size, backend or count");
    }
    if (!ok) return false;
  }
  return true;
}

}  // namespace nftjit::nft
