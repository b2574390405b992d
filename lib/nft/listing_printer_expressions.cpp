// The bodies of expressions in the listing: what BodyGrammar writes to.
#include <absl/strings/str_cat.h>

#include "lib/nft/listing_grammar.h"
#include "lib/nft/listing_printer.h"
#include "lib/support/absl_view.h"

namespace nftjit::nft {
namespace {

class BodyWriter {
 public:
  template <class E>
  using Ref = const E&;

  BodyWriter(const Table& table, ListingDialect dialect, const ValueType& operand, std::string& out)
      : table_(table), dialect_(dialect), operand_(operand), out_(out) {}

  void Text(std::string_view text) { absl::StrAppend(&out_, View(text)); }
  template <class T>
  void Decimal(T number) {
    if constexpr (std::is_enum_v<T>) {
      absl::StrAppend(&out_, static_cast<int>(number));
    } else {
      absl::StrAppend(&out_, number);
    }
  }
  template <class T>
  void Hex(T number) {
    absl::StrAppend(&out_, absl::Hex(number));
  }
  void RegNumber(Register reg) { absl::StrAppend(&out_, reg.ToNetlink()); }
  bool OptionalReg(std::string_view before, const std::optional<Register>& reg) {
    if (reg) absl::StrAppend(&out_, View(before), reg->ToNetlink(), " ");
    return reg.has_value();
  }
  template <class T>
  void OptionalDecimal(std::string_view before, const std::optional<T>& number, std::string_view after) {
    if (number) absl::StrAppend(&out_, View(before), *number, View(after));
  }
  void NonZeroDecimal(std::string_view before, uint32_t number) {
    if (number != 0) absl::StrAppend(&out_, View(before), number, " ");
  }
  void NonZeroHex(std::string_view before, std::optional<uint32_t> number) {
    if (number.value_or(0) != 0) absl::StrAppend(&out_, View(before), absl::Hex(*number), " ");
  }
  template <class T>
  void Choice(WordList words, T value, std::string_view after = " ") {
    absl::StrAppend(&out_, View(Word(words, static_cast<size_t>(value))), View(after));
  }
  template <class T>
  void OptionalChoice(std::string_view before, WordList words, const std::optional<T>& value) {
    if (!value) return;
    Text(before);
    Choice(words, *value);
  }
  template <class Key>
  void Named(Key key, size_t /*count*/) {
    absl::StrAppend(&out_, View(Name(key)), " ");
  }
  template <class T>
  void FlagWord(std::string_view text, T flags, uint32_t flag = 1) {
    if ((flags & flag) != 0) Text(text);
  }
  void Token(std::string_view text) { absl::StrAppend(&out_, View(text), " "); }
  void FamilyWord(Family family) { Token(Name(family)); }
  void OptionalFamilyWord(Family family) {
    if (family == Family::kIp || family == Family::kIp6) FamilyWord(family);
  }

  void Constant(const Bytes16& bytes) { AppendValue(bytes.span(), dialect_, operand_.order, "0x", out_); }
  void ConstantPair(const Bytes16& first, const Bytes16& second) {
    Constant(first);
    Constant(second);
  }
  void VerdictWords(const Verdict& verdict) {
    Token(Name(verdict.code));
    if (verdict.chain != 0) NameOr("-> ", table_.FindChain(verdict.chain), verdict.chain);
  }
  void SetName(Handle handle) { NameOr("", table_.FindSet(handle), handle); }
  void ObjectName(ObjectType /*type*/, Handle handle) { NameOr("", table_.FindObject(handle), handle); }
  void FlowtableName(Handle handle) { NameOr("", table_.FindFlowtable(handle), handle); }

  void BitwiseSource(Register reg) { absl::StrAppend(&out_, "= ( reg ", reg.ToNetlink(), " "); }
  void MaskXor(const Bitwise& e) {
    Constant(e.mask);
    Text(") ^ ");
    Constant(e.xor_bits);
  }
  void Nested(const std::shared_ptr<const Expression>& expression) {
    Text("[ ");
    if (expression != nullptr) AppendExpression(table_, *expression, out_, dialect_);
    Text("] ");
  }
  void Expressions(const std::vector<Expression>& expressions, uint32_t /*flags*/) {
    for (const Expression& expression : expressions) {
      Text("expr [ ");
      AppendExpression(table_, expression, out_, dialect_);
      Text("] ");
    }
  }
  void LimitUnit(uint64_t seconds) {
    switch (seconds) {
      case 1:
        return Text("second");
      case 60:
        return Text("minute");
      case 3600:
        return Text("hour");
      case 86'400:
        return Text("day");
      case 604'800:
        return Text("week");
      default:
        absl::StrAppend(&out_, seconds, " second");
    }
  }
  void LastUse(const Last& e) {
    if (e.set) {
      absl::StrAppend(&out_, e.msecs, " ");
    } else {
      Text("never ");
    }
  }
  void LogWords(const Log& e) {
    if (e.prefix) absl::StrAppend(&out_, "prefix ", *e.prefix, " ");
    if (e.group) {
      absl::StrAppend(&out_, "group ", *e.group, " snaplen ", e.snaplen.value_or(0), " qthreshold ",
                      e.qthreshold.value_or(0), " ");
      return;
    }
    OptionalDecimal("level ", e.level, " ");
    for (size_t bit = 0; bit < std::size(kLogFlagWords); ++bit) {
      if ((e.flags.value_or(0) >> bit & 1) != 0) Token(kLogFlagWords[bit]);
    }
  }
  void ExthdrWord(ExthdrOp op) {
    const std::string_view word = Word(kExthdrWords, static_cast<size_t>(op));
    if (!word.empty()) Token(word);
  }
  void FibWords(const Fib& e) {
    std::string_view separator;
    for (size_t bit = 0; bit < std::size(kFibFlagWords); ++bit) {
      if ((e.flags >> bit & 1) == 0) continue;
      absl::StrAppend(&out_, View(separator), View(kFibFlagWords[bit]), " ");
      separator = ". ";
    }
    Choice(kFibResultWords, e.result);
    FlagWord("present ", e.flags, 32);
  }
  void HashFunction(const Hash& e) {
    constexpr uint32_t kSymhash = 1;
    if (e.type == kSymhash || !e.sreg) return Text("symhash()");
    absl::StrAppend(&out_, "jhash(reg ", e.sreg->ToNetlink(), ", ", e.len, ", 0x", absl::Hex(e.seed.value_or(0)), ")");
  }
  void QueueNumbers(const Queue& e) {
    absl::StrAppend(&out_, "num ", e.num.value_or(0));
    if (e.total > 1) absl::StrAppend(&out_, "-", e.num.value_or(0) + e.total - 1);
    Text(" ");
  }

 private:
  static std::string_view Word(WordList words, size_t index) { return index < words.size() ? words[index] : "unknown"; }
  template <class Item>
  void NameOr(std::string_view before, const Item* item, Handle handle) {
    absl::StrAppend(&out_, View(before), item != nullptr ? item->name : absl::StrCat(handle), " ");
  }

  const Table& table_;
  ListingDialect dialect_;
  const ValueType& operand_;
  std::string& out_;
};

}  // namespace

void AppendValue(ByteSpan bytes, ListingDialect dialect, ByteOrder order, std::string_view prefix, std::string& out) {
  for (size_t at = 0; at < bytes.size(); at += 4) {
    const size_t size = std::min<size_t>(4, bytes.size() - at);
    absl::StrAppend(&out, View(prefix));
    if (dialect == ListingDialect::kLegacy) {
      uint8_t word[4] = {};
      std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), size, word);
      absl::StrAppend(&out, absl::Hex(LoadNative<uint32_t>(word), absl::kZeroPad8));
    } else {
      for (size_t i = at; i < at + size; ++i) {
        const uint8_t byte = order == ByteOrder::kHost ? bytes[bytes.size() - 1 - i] : bytes[i];
        absl::StrAppend(&out, absl::Hex(byte, absl::kZeroPad2));
      }
    }
    out += ' ';
  }
}

void AppendExpression(const Table& table, const Expression& expression, std::string& out, ListingDialect dialect,
                      ValueType operand) {
  absl::StrAppend(&out, View(Name(expression.body)), " ");
  BodyWriter writer(table, dialect, operand, out);
  std::visit(BodyGrammar<BodyWriter>(writer), expression.body);
}

}  // namespace nftjit::nft
