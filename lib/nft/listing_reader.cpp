#include "lib/nft/listing_reader.h"

#include <absl/strings/str_cat.h>

#include <array>

#include "lib/nft/listing_grammar.h"

namespace nftjit::nft {
namespace {

// How texts of one name are told apart: by the word behind it. In the order of ExpressionBody's alternatives.
constexpr std::array<std::string_view, std::variant_size_v<ExpressionBody>> kFirstWords = {
    "", "", "", "", "", "load", "write", "", "load", "set", "load", "set", "", "", "", "type", "sreg"};
// exthdr's three are load, write, reset.

bool Matches(size_t alternative, std::string_view word) {
  static const size_t kLoad = ExpressionBody(ExthdrLoad{}).index();
  if (alternative == kLoad) return word == "load";
  if (alternative == kLoad + 1) return word == "write";
  if (alternative == kLoad + 2) return word == "reset";
  return kFirstWords[alternative].empty() || kFirstWords[alternative] == word;
}

template <size_t... I>
ExpressionBody BlankBody(size_t alternative, std::index_sequence<I...>) {
  ExpressionBody body;
  ((alternative == I ? static_cast<void>(body.emplace<I>()) : static_cast<void>(0)), ...);
  return body;
}
constexpr auto kAlternatives = std::make_index_sequence<std::variant_size_v<ExpressionBody>>();

// Reads what BodyGrammar asks for. After an error nothing more is taken: `in` keeps the first.
class BodyReader {
 public:
  template <class E>
  using Ref = E&;

  BodyReader(LineCursor& in, ListingBuilder& builder, RawTable& table, RawExpression& raw, unsigned depth)
      : in_(in), builder_(builder), table_(table), raw_(raw), depth_(depth) {}

  // Blanks in `text` stand for any number of blanks.
  void Text(std::string_view text) {
    while (!text.empty() && ok()) {
      const size_t first = text.find_first_not_of(' ');
      if (first == std::string_view::npos) return;
      text.remove_prefix(first);
      const std::string_view word = text.substr(0, text.find(' '));
      in_.ExpectPunctuation(word);
      text.remove_prefix(word.size());
    }
  }
  template <class T>
  void Decimal(T& number) {
    if (!ok()) return;
    if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> value{};
      if (in_.ReadNumber(&value, "a number")) number = static_cast<T>(value);
    } else {
      in_.ReadNumber(&number, "a number");
    }
  }
  template <class T>
  void Hex(T& number) {
    if (ok()) in_.ReadNumber(&number, "a hex number", 16);
  }
  void RegNumber(Register& reg) {
    if (!ok()) return;
    in_.SkipBlanks();
    const SourcePos where = in_.here();
    uint32_t number = 0;
    if (!in_.ReadNumber(&number, "a register")) return;
    const std::optional<Register> known = Register::FromNetlink(number);
    if (!known) {
      in_.FailAt(where, absl::StrCat("register ", number, " does not exist (0 to 4 and 8 to 23 do)"));
      return;
    }
    reg = *known;
  }
  bool OptionalReg(std::string_view before, std::optional<Register>& reg) {
    if (!AcceptWords(before)) return false;
    RegNumber(reg.emplace());
    return true;
  }
  template <class T>
  void OptionalDecimal(std::string_view before, std::optional<T>& number, std::string_view after) {
    if (!AcceptWords(before)) return;
    Decimal(number.emplace());
    Text(after);
  }
  void NonZeroDecimal(std::string_view before, uint32_t& number) {
    if (AcceptWords(before)) Decimal(number);
  }
  template <class T>
  void NonZeroHex(std::string_view before, T& number) {
    if (!AcceptWords(before)) return;
    uint32_t value = 0;
    Hex(value);
    number = value;
  }
  template <class T>
  void Choice(WordList words, T& value, std::string_view after = " ") {
    if (!ok()) return;
    size_t best = words.size();
    const std::string_view rest = in_.rest();
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i].empty() || !rest.starts_with(words[i])) continue;
      if (best == words.size() || words[i].size() > words[best].size()) best = i;
    }
    if (best == words.size()) {
      std::string list;
      for (const std::string_view word : words) absl::StrAppend(&list, list.empty() ? "" : ", ", std::string(word));
      in_.Fail("expected one of " + list);
      return;
    }
    in_.AcceptPunctuation(words[best]);
    value = static_cast<T>(best);
    Text(after);
  }
  template <class T>
  void OptionalChoice(std::string_view before, WordList words, std::optional<T>& value) {
    if (AcceptWords(before)) Choice(words, value.emplace());
  }
  template <class Key>
  void Named(Key& key, size_t count) {
    in_.SkipBlanks();
    const SourcePos where = in_.here();
    std::string_view word;
    if (!ok() || !in_.ReadWord(&word, "the name of a key")) return;
    for (size_t i = 0; i < count; ++i) {
      if (Name(static_cast<Key>(i)) != word) continue;
      key = static_cast<Key>(i);
      return;
    }
    in_.FailAt(where, absl::StrCat("`", std::string(word), "` is no key of ", std::string(Name(raw_.expression.body))));
  }
  template <class T>
  void FlagWord(std::string_view text, T& flags, uint32_t flag = 1) {
    if (AcceptWords(text)) flags = static_cast<T>(flags | flag);
  }
  void Token(std::string& text) {
    std::string_view token;
    if (ok() && in_.ReadToken(&token, "a name")) text = token;
  }
  void FamilyWord(Family& family) {
    in_.SkipBlanks();
    const SourcePos where = in_.here();
    std::string_view word;
    if (!ok() || !in_.ReadWord(&word, "a family")) return;
    const std::optional<Family> known = FamilyFromName(word);
    if (!known) {
      in_.FailAt(where, absl::StrCat("`", std::string(word), "` is no family"));
      return;
    }
    family = *known;
  }
  void OptionalFamilyWord(Family& family) {
    if (ok() && FamilyFromName(in_.PeekWord())) FamilyWord(family);
  }

  void Constant(Bytes16& /*bytes*/) { AddConstant(); }
  void ConstantPair(Bytes16& /*first*/, Bytes16& /*second*/) {
    RawValue* both = AddConstant();
    if (both == nullptr) return;
    const size_t half = both->words.size() / 2;
    if (both->words.size() % 2 != 0) {
      in_.FailAt(both->where,
                 absl::StrCat("expected two bounds of equally many words, found ", both->words.size(), " words"));
      return;
    }
    RawValue second{.where = both->where};
    second.words.assign(both->words.begin() + static_cast<ptrdiff_t>(half), both->words.end());
    both->words.resize(half);
    raw_.constants.push_back(std::move(second));
  }
  void VerdictWords(Verdict& verdict) {
    std::string_view chain;
    if (!ok() || !ReadVerdict(in_, &verdict.code, &chain)) return;
    if (!chain.empty()) verdict.chain = table_.ChainByName(chain, raw_.where).handle;
  }
  void SetName(Handle& handle) {
    std::string_view name;
    if (!ok() || !in_.ReadToken(&name, "a set")) return;
    handle = builder_.UseSet(table_, name, raw_.where)->set.handle;
  }
  void ObjectName(ObjectType type, Handle& handle) {
    std::string_view name;
    if (!ok() || !in_.ReadToken(&name, "an object")) return;
    if (type < ObjectType::kCounter || type > ObjectType::kSynproxy) {
      in_.Fail(absl::StrCat("there are no objects of type ", static_cast<int>(type)));
      return;
    }
    handle = table_.ObjectByName(type, name, raw_.where);
  }
  void FlowtableName(Handle& handle) {
    std::string_view name;
    if (ok() && in_.ReadToken(&name, "a flowtable")) handle = table_.FlowtableByName(name, raw_.where);
  }

  // libnftnl up to 1.1.8 writes `(reg=1`.
  void BitwiseSource(Register& reg) {
    Text("= (");
    Text("reg");
    if (ok()) in_.AcceptPunctuation("=");
    RegNumber(reg);
  }
  void MaskXor(Bitwise& e) {
    const bool of_registers = OptionalReg("reg ", e.sreg2);
    if (!of_registers) AddConstant();
    Text(")");
    if (!ok()) return;
    if (of_registers || !in_.AcceptPunctuation("^")) {
      e.op = BitwiseOp::kAnd;
      return;
    }
    AddConstant();
  }
  void Nested(std::shared_ptr<const Expression>& expression) {
    RawExpression nested;
    if (ReadNested(&nested)) expression = std::make_shared<const Expression>(std::move(nested.expression));
  }
  void Expressions(std::vector<Expression>& expressions, uint32_t& flags) {
    while (AcceptWords("expr ")) {
      RawExpression nested;
      if (!ReadNested(&nested)) return;
      expressions.push_back(std::move(nested.expression));
      constexpr uint32_t kHasExpressions = 2;
      flags |= kHasExpressions;
    }
  }
  void LimitUnit(uint64_t& seconds) {
    constexpr std::string_view kUnits[] = {"second", "minute", "hour", "day", "week"};
    constexpr uint64_t kSeconds[] = {1, 60, 3600, 86'400, 604'800};
    uint64_t count = 1;
    const char next = ok() ? in_.Peek() : '\0';
    if (next >= '0' && next <= '9') Decimal(count);
    size_t unit = 0;
    Choice(kUnits, unit);
    if (!ok()) return;
    if (count > UINT64_MAX / kSeconds[unit]) {
      in_.Fail("the unit of the limit is out of range");
      return;
    }
    seconds = count * kSeconds[unit];
  }
  void LastUse(Last& e) {
    if (AcceptWords("never")) return;
    e.set = true;
    Decimal(e.msecs);
  }
  // The prefix has no quotes: what follows it is looked for from the end.
  void LogWords(Log& e) {
    if (AcceptWords("prefix")) {
      const std::string_view text = in_.rest();
      const size_t end = text.rfind(']');
      const size_t size = PrefixSize(text.substr(0, end == std::string_view::npos ? text.size() : end));
      e.prefix = std::string(text.substr(0, size));
      in_.Skip(size);
    }
    if (AcceptWords("group ")) {
      Decimal(e.group.emplace());
      Text("snaplen ");
      Decimal(e.snaplen.emplace());
      Text("qthreshold ");
      Decimal(e.qthreshold.emplace());
      return;
    }
    OptionalDecimal("level ", e.level, "");
    for (size_t bit = 0; bit < std::size(kLogFlagWords); ++bit) {
      if (AcceptWords(kLogFlagWords[bit])) e.flags = e.flags.value_or(0) | 1U << bit;
    }
  }
  void ExthdrWord(ExthdrOp& op) {
    if (!ok()) return;
    op = ExthdrOp::kSctp;  // Without a word it is this or DCCP.
    const std::string_view word = in_.PeekWord();
    for (size_t i = 0; i < std::size(kExthdrWords); ++i) {
      if (!kExthdrWords[i].empty() && word == kExthdrWords[i]) Choice(kExthdrWords, op);
    }
  }
  void FibWords(Fib& e) {
    do {
      uint32_t bit = 0;
      Choice(kFibFlagWords, bit);
      e.flags |= 1U << bit;
    } while (ok() && in_.AcceptPunctuation("."));
    Choice(kFibResultWords, e.result);
    FlagWord("present ", e.flags, 32);
  }
  void HashFunction(Hash& e) {
    if (AcceptWords("symhash()")) {
      e.type = 1;
      return;
    }
    Text("jhash(reg ");
    RegNumber(e.sreg.emplace());
    Text(", ");
    Decimal(e.len);
    Text(", 0x");
    Hex(e.seed.emplace());
    Text(")");
  }
  void QueueNumbers(Queue& e) {
    Text("num ");
    Decimal(e.num.emplace());
    e.total = 1;
    if (!ok() || !in_.AcceptPunctuation("-")) return;
    uint16_t last = 0;
    Decimal(last);
    if (!ok()) return;
    if (last < *e.num || last - *e.num == 0xffff) {
      in_.Fail("expected a last queue that is not below the first");
      return;
    }
    e.total = static_cast<uint16_t>(last - *e.num + 1);
  }

 private:
  [[nodiscard]] bool ok() const { return in_.status().ok(); }

  bool AcceptWords(std::string_view words) {
    if (!ok()) return false;
    while (!words.empty() && words.back() == ' ') words.remove_suffix(1);
    while (!words.empty() && words.front() == ' ') words.remove_prefix(1);
    return in_.AcceptPunctuation(words);
  }

  RawValue* AddConstant() {
    if (!ok()) return nullptr;
    RawValue& value = raw_.constants.emplace_back();
    if (!ReadWords(in_, "0x", false, &value)) return nullptr;
    constexpr size_t kMostWords = 8;  // Both bounds of a range of 16 bytes.
    if (value.words.size() <= kMostWords) return &value;
    in_.FailAt(value.where, absl::StrCat("expected at most 16 bytes, found ", value.words.size(), " words"));
    return nullptr;
  }

  bool ReadNested(RawExpression* nested);

  // How much of `text` is the prefix: up to the ` group N …` or ` level N …` that ends it.
  static size_t PrefixSize(std::string_view text) {
    size_t end = text.find_last_not_of(' ');
    end = end == std::string_view::npos ? 0 : end + 1;
    // What printers put behind the prefix is one blank.
    size_t whole = text.size();
    if (whole > 0 && text[whole - 1] == ' ') --whole;
    const std::string_view known = text.substr(0, end);
    for (const std::string_view word : {" group ", " level "}) {
      const size_t at = known.rfind(word);
      if (at != std::string_view::npos && IsLogTail(known.substr(at + 1))) return at;
    }
    for (const std::string_view flag : kLogFlagWords) {
      const size_t at = known.rfind(absl::StrCat(" ", std::string(flag)));
      if (at != std::string_view::npos && IsLogTail(known.substr(at + 1))) return FlagsBegin(known);
    }
    return whole;
  }
  // Whether `text` could be all that stands behind a prefix.
  static bool IsLogTail(std::string_view text) {
    LineCursor in("");
    in.Begin(text, 1);
    uint32_t number = 0;
    if (in.AcceptToken("group")) {
      return in.ReadNumber(&number, "") && in.AcceptToken("snaplen") && in.ReadNumber(&number, "") &&
             in.AcceptToken("qthreshold") && in.ReadNumber(&number, "") && in.AtEnd();
    }
    if (in.AcceptToken("level") && !in.ReadNumber(&number, "")) return false;
    for (const std::string_view flag : kLogFlagWords) in.AcceptToken(flag);
    return in.AtEnd();
  }
  // The first place from which on `text` has nothing but flags.
  static size_t FlagsBegin(std::string_view text) {
    size_t at = text.size();
    for (size_t blank = text.rfind(' ');
         blank != std::string_view::npos && text[blank + 1] != ' ' && IsLogTail(text.substr(blank + 1));
         blank = blank == 0 ? std::string_view::npos : text.rfind(' ', blank - 1)) {
      at = blank;
    }
    return at;
  }

  LineCursor& in_;
  ListingBuilder& builder_;
  RawTable& table_;
  RawExpression& raw_;
  unsigned depth_;
};

bool ReadAtDepth(LineCursor& in, ListingBuilder& builder, RawTable& table, RawExpression* raw, unsigned depth) {
  if (!in.ExpectPunctuation("[")) return false;
  in.SkipBlanks();
  raw->where = in.here();
  std::string_view name;
  if (!in.ReadWord(&name, "an expression")) return false;
  const std::string_view first = in.PeekWord();
  size_t alternative = 0;
  bool known = false;
  for (; alternative < kFirstWords.size(); ++alternative) {
    if (Name(BlankBody(alternative, kAlternatives)) != name) continue;
    known = true;
    if (Matches(alternative, first)) break;
  }
  if (alternative == kFirstWords.size()) {
    return known ? in.Fail(absl::StrCat("expected what ", std::string(name), " does"))
                 : in.FailAt(raw->where, absl::StrCat("`", std::string(name), "` is no expression"));
  }
  raw->expression.body = BlankBody(alternative, kAlternatives);
  BodyReader reader(in, builder, table, *raw, depth);
  BodyGrammar<BodyReader> grammar(reader);
  // The alternatives with a first word of their own read it again: it is part of their text.
  std::visit([&](auto& body) { grammar(body); }, raw->expression.body);
  return in.status().ok() && in.ExpectPunctuation("]");
}

bool BodyReader::ReadNested(RawExpression* nested) {
  if (!ok()) return false;
  if (depth_ != 0) return in_.Fail("expected no third level of expressions");
  if (!ReadAtDepth(in_, builder_, table_, nested, depth_ + 1)) return false;
  return nested->constants.empty() || in_.FailAt(nested->where, "expected an expression without constants");
}

}  // namespace

bool ReadExpression(LineCursor& in, ListingBuilder& builder, RawTable& table, RawExpression* raw) {
  return ReadAtDepth(in, builder, table, raw, 0);
}

bool ReadWords(LineCursor& in, std::string_view prefix, bool fields, RawValue* value) {
  const auto is_word = [&](std::string_view token) {
    if (!token.starts_with(prefix)) return false;
    token.remove_prefix(prefix.size());
    if (token.empty() || token.size() > 8) return false;
    return token.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  };
  in.SkipBlanks();
  value->where = in.here();
  std::vector<size_t> field_words = {0};
  for (;;) {
    std::string_view token = in.PeekToken();
    if (fields && token == "." && field_words.back() != 0) {
      in.AcceptToken(token);
      field_words.push_back(0);
      continue;
    }
    if (!is_word(token)) break;
    in.AcceptToken(token);
    token.remove_prefix(prefix.size());
    value->words.push_back(token);
    ++field_words.back();
  }
  if (value->words.empty() || field_words.back() == 0) {
    return in.Fail(absl::StrCat("expected a value: words of hex digits", prefix.empty() ? "" : " that begin with 0x"));
  }
  if (field_words.size() > 1) value->field_words = std::move(field_words);
  return true;
}

std::optional<VerdictCode> VerdictFromName(std::string_view name) {
  for (int code = static_cast<int>(VerdictCode::kReturn); code <= static_cast<int>(VerdictCode::kQueue); ++code) {
    if (Name(static_cast<VerdictCode>(code)) == name) return static_cast<VerdictCode>(code);
  }
  return std::nullopt;
}

bool ReadVerdict(LineCursor& in, VerdictCode* code, std::string_view* chain) {
  std::string_view word;
  if (!in.ReadWord(&word, "a verdict")) return false;
  const std::optional<VerdictCode> known = VerdictFromName(word);
  if (!known) return in.Fail(absl::StrCat("`", std::string(word), "` is no verdict"));
  *code = *known;
  if (in.AcceptPunctuation("->")) return in.ReadToken(chain, "a chain");
  const bool needs_chain = *code == VerdictCode::kJump || *code == VerdictCode::kGoto;
  return !needs_chain || in.Fail(absl::StrCat("expected `-> CHAIN` behind ", std::string(word)));
}

}  // namespace nftjit::nft
