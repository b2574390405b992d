// Constants and elements of the listing: from words to register bytes, as far as the text tells.
#include <absl/strings/str_cat.h>

#include <algorithm>

#include "lib/nft/listing_builder.h"
#include "lib/support/line_cursor.h"

namespace nftjit::nft {
namespace {

void AppendHex(std::string_view digits, std::string& bytes) {
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(HexDigit(digits[i]) << 4 | HexDigit(digits[i + 1]));
  }
}

bool IsZero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

// How long a name or the prefix of one is that fills `bytes` up to the last word.
std::string CutName(std::string bytes, std::string* lost) {
  const size_t zeros = bytes.size() - 1 - std::min(bytes.size() - 1, bytes.find_last_not_of('\0'));
  const size_t end = bytes.find_last_not_of('\0') + 1;
  if (zeros == 0 || bytes.empty()) return bytes;
  if (zeros >= 4) {  // The zero that ends the name was compared, too.
    if (bytes.size() < 16) bytes.resize(bytes.size() - 3);
    return bytes;
  }
  std::string name = bytes.substr(0, end);
  *lost = absl::StrCat("the length of the name, so that it may be `", name, "` or all that begin like it; ");
  if (bytes.size() == 16) {
    absl::StrAppend(lost, "the name itself is assumed");
    return bytes;
  }
  absl::StrAppend(lost, "all that begin like it are assumed");
  return name;
}

// The bytes of an address that are not zero, of which the text does not tell whether more were compared.
std::string CutAddress(std::string bytes, const ValueType& type, std::string* lost) {
  const size_t end = bytes.find_last_not_of('\0') + 1;
  if (bytes.size() - end == 0 && bytes.size() <= type.len) return bytes;
  *lost = absl::StrCat("whether the whole address was compared, or the first bytes of it; ");
  const size_t shortest = bytes.size() - 3;
  if (end == 0) {
    absl::StrAppend(lost, "the whole is assumed");
    return bytes;
  }
  bytes.resize(std::max(end, shortest));
  absl::StrAppend(lost, "the first ", bytes.size(), " bytes are assumed");
  return bytes;
}

// One field of the legacy dialect: its words are padded to four bytes each.
std::string DecodeLegacy(std::span<const std::string_view> words, const ValueType& type, std::string* lost) {
  std::string bytes;
  for (const std::string_view word : words) {
    uint8_t native[4];
    uint32_t value = 0;
    for (const char digit : word) value = value << 4 | static_cast<uint32_t>(HexDigit(digit));
    StoreNative(native, value);
    bytes.append(reinterpret_cast<const char*>(native), 4);
  }
  if (type.beginnings == Beginnings::kNames) return CutName(std::move(bytes), lost);
  if (type.beginnings == Beginnings::kPrefixes) return CutAddress(std::move(bytes), type, lost);
  if (type.len == 0 || type.words() != words.size()) {
    *lost = absl::StrCat("the length of the constant; ", bytes.size(), " bytes are assumed");
    return bytes;
  }
  if (IsZero(std::string_view(bytes).substr(type.len))) bytes.resize(type.len);
  return bytes;
}

std::string DecodeCurrent(std::span<const std::string_view> words, const ValueType& type, std::string* lost) {
  std::string bytes;
  for (const std::string_view word : words) AppendHex(word, bytes);
  std::string reversed(bytes.rbegin(), bytes.rend());
  if (type.order == ByteOrder::kHost) return reversed;
  if (type.order == ByteOrder::kUnknown && reversed != bytes) {
    *lost = "the byte order of the constant; that of packets is assumed";
  }
  return bytes;
}

// Digits as the dialect writes them.
absl::Status CheckWords(const RawValue& raw, std::span<const std::string_view> words, ListingDialect dialect) {
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t digits = words[i].size();
    const bool last = i + 1 == words.size();
    if (digits == 8 || (dialect == ListingDialect::kCurrent && last && digits > 0 && digits < 8 && digits % 2 == 0)) {
      continue;
    }
    return ErrorAt(raw.where, absl::StatusCode::kInvalidArgument,
                   absl::StrCat("expected words of 8 hex digits",
                                dialect == ListingDialect::kCurrent ? " (2, 4, 6 or 8 in the last)" : "", ", found `",
                                std::string(words[i]), "`"));
  }
  return absl::OkStatus();
}

void Pad(std::string& bytes) { bytes.resize((bytes.size() + 3) / 4 * 4); }

// The types of the fields of a key or of data of which `raw` is the first. They are never mere beginnings of values.
std::vector<ValueType> FieldsOf(const RawValue& raw, std::vector<ValueType> known) {
  for (ValueType& type : known) type.beginnings = Beginnings::kNever;
  if (raw.field_words.empty()) return known;
  std::vector<ValueType> fields;
  size_t word = 0;
  for (size_t i = 0; i < raw.field_words.size(); ++i) {
    ValueType type = i < known.size() ? known[i] : ValueType{};
    size_t digits = 0;
    for (size_t n = 0; n < raw.field_words[i]; ++n) digits += raw.words[word++].size();
    type.len = static_cast<uint8_t>(std::min<size_t>(digits / 2, 64));
    fields.push_back(type);
  }
  return fields;
}

}  // namespace

absl::StatusOr<std::string> DecodeValue(const RawValue& raw, std::span<const ValueType> types, ListingDialect dialect,
                                        std::string* lost) {
  std::span<const std::string_view> words(raw.words);
  std::vector<size_t> field_words = raw.field_words;
  if (field_words.empty() && types.size() > 1) {
    for (const ValueType& type : types) field_words.push_back(type.words());
  }
  size_t total = 0;
  for (const size_t count : field_words) total += count;
  if (total != words.size()) field_words = {words.size()};
  std::string bytes;
  for (size_t i = 0; i < field_words.size(); ++i) {
    const auto field = words.subspan(0, field_words[i]);
    words = words.subspan(field_words[i]);
    if (absl::Status status = CheckWords(raw, field, dialect); !status.ok()) return status;
    const ValueType type =
        field_words.size() > 1 || types.size() == 1 ? (i < types.size() ? types[i] : ValueType{}) : ValueType{};
    if (field_words.size() > 1) Pad(bytes);
    bytes += dialect == ListingDialect::kLegacy ? DecodeLegacy(field, type, lost) : DecodeCurrent(field, type, lost);
  }
  if (field_words.size() > 1) Pad(bytes);
  return bytes;
}

namespace {

// Decodes the elements of one set.
class SetFinisher {
 public:
  SetFinisher(RawTable& table, RawSet& raw, ListingDialect dialect, std::vector<ListingLoss>& losses)
      : table_(table), raw_(raw), set_(raw.set), dialect_(dialect), losses_(losses) {}

  absl::Status Run() {
    for (RawElement& element : raw_.elements) {
      if (absl::Status status = AddElement(element); !status.ok()) return status;
    }
    if (set_.key_len == 0) GuessKeyLength();
    if (set_.data_len == 0 && set_.is(kSetMap) && set_.data_type != kDataTypeVerdict) GuessDataLength();
    if (set_.is(kSetObject)) FinishObjects();
    if (set_.is(kSetTimeout) && !set_.elements.empty()) {
      Lose(raw_.where, "the listing does not print the timeouts of elements; those of the set are assumed");
    }
    if (set_.is(kSetConcat)) SetFieldLengths();
    raw_.elements.clear();
    return absl::OkStatus();
  }

 private:
  void Lose(const SourcePos& where, std::string what) { losses_.push_back({where, std::move(what)}); }
  void LoseOf(const RawValue& raw, const std::string& lost) {
    if (!lost.empty() && !reported_) Lose(raw.where, absl::StrCat("the listing does not print ", lost));
    reported_ = reported_ || !lost.empty();
  }

  absl::Status AddElement(RawElement& raw) {
    Element element;
    element.flags = raw.flags;
    element.userdata = std::move(raw.userdata);
    if (!raw.key.words.empty()) {
      absl::StatusOr<std::string> key = Key(raw.key);
      if (!key.ok()) return key.status();
      element.key = *std::move(key);
    }
    if (raw.has_key_end) {
      absl::StatusOr<std::string> end = Key(raw.key_end);
      if (!end.ok()) return end.status();
      element.key_end = *std::move(end);
    }
    if (absl::Status status = AddData(raw, element); !status.ok()) return status;
    set_.elements.push_back(std::move(element));
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> Key(const RawValue& raw) {
    if (key_types_.empty()) key_types_ = FieldsOf(raw, raw_.shape.key);
    std::string lost;
    absl::StatusOr<std::string> key = DecodeValue(raw, key_types_, dialect_, &lost);
    if (!key.ok()) return key;
    LoseOf(raw, lost);
    if (set_.key_len == 0) set_.key_len = static_cast<uint32_t>(key->size());
    if (key->size() != set_.key_len) {
      return ErrorAt(
          raw.where, absl::StatusCode::kInvalidArgument,
          absl::StrCat("the key has ", key->size(), " bytes, that of the set's first element ", set_.key_len));
    }
    return key;
  }

  absl::Status AddData(RawElement& raw, Element& element) {
    if (raw.verdict) {
      set_.data_type = kDataTypeVerdict;
      set_.data_len = 16;
      element.data = Verdict{*raw.verdict, raw.chain.empty() ? 0 : table_.ChainByName(raw.chain, raw_.where).handle};
      return absl::OkStatus();
    }
    if (!raw.object.empty()) {
      object_names_.emplace_back(set_.elements.size(), raw.object);
      return absl::OkStatus();
    }
    if (raw.data.words.empty()) return absl::OkStatus();
    if (data_types_.empty()) data_types_ = FieldsOf(raw.data, raw_.shape.data);
    std::string lost;
    absl::StatusOr<std::string> data = DecodeValue(raw.data, data_types_, dialect_, &lost);
    if (!data.ok()) return data.status();
    LoseOf(raw.data, lost);
    if (set_.data_len == 0) set_.data_len = static_cast<uint32_t>(data->size());
    if (data->size() != set_.data_len) {
      return ErrorAt(
          raw.data.where, absl::StatusCode::kInvalidArgument,
          absl::StrCat("the data has ", data->size(), " bytes, that of the set's first element ", set_.data_len));
    }
    element.data = *std::move(data);
    return absl::OkStatus();
  }

  // The length of fields behind each other in registers.
  static uint32_t LengthOf(const std::vector<ValueType>& fields) {
    if (fields.size() == 1) return fields[0].len;
    size_t words = 0;
    for (const ValueType& field : fields) words += field.words();
    return static_cast<uint32_t>(words * 4);
  }

  // A set without elements: from the registers of whoever looks it up.
  void GuessKeyLength() {
    key_types_ = raw_.shape.key;
    set_.key_len = LengthOf(key_types_);
    const bool in_use = raw_.declared && !raw_.shape.key.empty();
    if (set_.key_len == 0) set_.key_len = 4;
    if (in_use && !raw_.key_is_certain) {
      Lose(raw_.where, absl::StrCat("the listing does not print how long the keys of set ", set_.name, " are; ",
                                    set_.key_len, " bytes are assumed"));
    }
  }

  void GuessDataLength() {
    if (raw_.gives_verdicts) {
      set_.data_type = kDataTypeVerdict;
      set_.data_len = 16;
      return;
    }
    set_.data_len = LengthOf(raw_.shape.data);
    if (set_.data_len != 0) return;
    set_.data_len = 4;
    if (raw_.declared) {
      Lose(raw_.where, absl::StrCat("the listing does not print how long the data of map ", set_.name,
                                    " are; 4 bytes are assumed"));
    }
  }

  // Elements name objects, if at all, without their type: that of one that a line declares is taken.
  void FinishObjects() {
    ObjectType type = ObjectType::kCounter;
    bool known = !object_names_.empty();
    for (int candidate = 1; known && candidate <= static_cast<int>(ObjectType::kSynproxy); ++candidate) {
      if (!table_.object_index.contains({candidate, std::string(object_names_.front().second)})) continue;
      type = static_cast<ObjectType>(candidate);
      break;
    }
    for (const auto& [at, name] : object_names_) {
      known = known && table_.object_index.contains({static_cast<int>(type), std::string(name)});
      set_.elements[at].object = table_.ObjectByName(type, name, raw_.where);
    }
    set_.object_type = static_cast<uint32_t>(type);
    if (known && object_names_.size() == set_.elements.size()) return;
    Lose(raw_.where, absl::StrCat("the listing does not print which objects the elements of ", set_.name,
                                  " stand for; counters, or none, are assumed"));
  }

  void SetFieldLengths() {
    for (const ValueType& type : key_types_) set_.field_lengths.push_back(type.len);
    if (key_types_.size() >= 2) return;
    Lose(raw_.where, absl::StrCat("the listing does not print the fields of set ", set_.name, "; words are assumed"));
    set_.field_lengths.assign(std::max<size_t>((set_.key_len + 3) / 4, 2), 4);
    set_.key_len = static_cast<uint32_t>(set_.field_lengths.size() * 4);
  }

  RawTable& table_;
  RawSet& raw_;
  Set& set_;
  ListingDialect dialect_;
  std::vector<ListingLoss>& losses_;
  std::vector<ValueType> key_types_, data_types_;
  std::vector<std::pair<size_t, std::string_view>> object_names_;
  bool reported_ = false;
};

}  // namespace

absl::Status FinishSet(RawTable& table, RawSet& raw, ListingDialect dialect, std::vector<ListingLoss>& losses) {
  return SetFinisher(table, raw, dialect, losses).Run();
}

}  // namespace nftjit::nft
