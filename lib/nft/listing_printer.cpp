#include "lib/nft/listing_printer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include "lib/nft/references.h"
#include "lib/support/absl_view.h"

namespace nftjit::nft {
namespace {

void AppendUserdata(const std::string& userdata, ListingDialect dialect, std::string& out) {
  if (dialect == ListingDialect::kCurrent) {
    uint32_t sum = 0;
    for (const char c : userdata) sum += static_cast<unsigned char>(c);
    absl::StrAppend(&out, "  userdata len ", userdata.size(), " sum 0x", absl::Hex(sum));
    return;
  }
  out += "  userdata = { ";
  for (const char c : userdata) {
    // The C locale's isprint, whatever the program's locale is.
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      absl::StrAppendFormat(&out, "\\x%02x", static_cast<unsigned char>(c));
    }
  }
  out += " }";
}

// Appends a key or a value field by field, each but the last padded to whole words in `bytes`, without a blank behind.
void AppendFields(ByteSpan bytes, const std::vector<ValueType>& types, std::string& out) {
  size_t words = 0;
  for (const ValueType& type : types) words += type.words();
  if (types.size() < 2 || words != (bytes.size() + 3) / 4) {
    AppendValue(bytes, ListingDialect::kCurrent, types.size() == 1 ? types[0].order : ByteOrder::kUnknown, "", out);
  } else {
    size_t at = 0;
    for (const ValueType& type : types) {
      if (at != 0) out += ". ";
      const size_t len = std::min<size_t>(type.len, bytes.size() - at);
      AppendValue(bytes.subspan(at, len), ListingDialect::kCurrent, type.order, "", out);
      at += type.words() * 4;
    }
  }
  if (!bytes.empty()) out.pop_back();
}

std::string VerdictText(const Table& table, const Verdict& verdict) {
  std::string text(Name(verdict.code));
  if (verdict.chain != 0) {
    const Chain* chain = table.FindChain(verdict.chain);
    absl::StrAppend(&text, " -> ", chain != nullptr ? chain->name : absl::StrCat(verdict.chain));
  }
  return text;
}

void AppendLegacyElement(const Table& table, const Element& element, std::string& out) {
  constexpr auto kWords = [](const std::string& bytes, std::string& to) {
    AppendValue(AsBytes(bytes), ListingDialect::kLegacy, ByteOrder::kUnknown, "", to);
  };
  out += "element ";
  kWords(element.key, out);
  if (!element.key_end.empty()) {
    out += " - ";
    kWords(element.key_end, out);
  }
  out += " : ";
  if (const auto* data = std::get_if<std::string>(&element.data)) {
    kWords(*data, out);
  } else if (const auto* verdict = std::get_if<Verdict>(&element.data)) {
    absl::StrAppend(&out, VerdictText(table, *verdict), " ");
  }
  absl::StrAppend(&out, element.flags, " [end]");
  if (!element.userdata.empty()) AppendUserdata(element.userdata, ListingDialect::kLegacy, out);
}

void AppendCurrentElement(const Table& table, const Element& element, const SetShape& shape, std::string& out) {
  out += "element ";
  AppendFields(AsBytes(element.key), shape.key, out);
  if (!element.key_end.empty()) {
    out += " - ";
    AppendFields(AsBytes(element.key_end), shape.key, out);
  }
  if (const auto* data = std::get_if<std::string>(&element.data)) {
    out += " : ";
    AppendFields(AsBytes(*data), shape.data, out);
  } else if (const auto* verdict = std::get_if<Verdict>(&element.data)) {
    absl::StrAppend(&out, " : ", VerdictText(table, *verdict));
  } else if (element.object != 0) {
    const Object* object = table.FindObject(element.object);
    absl::StrAppend(&out, " : ", object != nullptr ? object->name : absl::StrCat(element.object));
  }
  if (element.flags != 0) absl::StrAppend(&out, " flags ", element.flags);
  if (!element.userdata.empty()) AppendUserdata(element.userdata, ListingDialect::kCurrent, out);
}

class Printer {
 public:
  Printer(const Table& table, ListingDialect dialect) : table_(table), dialect_(dialect) {
    if (dialect == ListingDialect::kCurrent) shapes_ = ShapesOf(table);
  }

  void AppendSet(const Set& set, std::string& out) const {
    absl::StrAppend(&out, set.name, " ", table_.name, " ", absl::Hex(set.flags));
    if (set.timeout_ms) absl::StrAppend(&out, " timeout ", *set.timeout_ms, "ms");
    if (set.gc_interval_ms) absl::StrAppend(&out, " gc_interval ", *set.gc_interval_ms, "ms");
    if (set.policy != 0) absl::StrAppend(&out, " policy ", set.policy);
    if (set.size) absl::StrAppend(&out, " size ", *set.size);
    out += '\n';
    if (set.elements.empty()) return;
    const SetShape shape = ShapeOf(set);
    absl::StrAppend(&out, set.name, " ", table_.name, " 0\n");
    for (const Element& element : set.elements) {
      out += '\t';
      if (dialect_ == ListingDialect::kLegacy) {
        AppendLegacyElement(table_, element, out);
      } else {
        AppendCurrentElement(table_, element, shape, out);
      }
    }
    out += '\n';
  }

  void AppendAnonymousSets(const Rule& rule, std::string& out) const {
    for (const Expression& expression : rule.expressions) {
      ForEachReference(expression, [&](const Reference& reference) {
        if (reference.kind != ReferenceKind::kSet) return;
        const Set* set = table_.FindSet(reference.handle);
        if (set != nullptr && set->is(kSetAnonymous)) AppendSet(*set, out);
      });
    }
  }

  void AppendDeclarations(std::string& out) const {
    out += PrintTableLine(table_);
    for (const Chain& chain : table_.chains) out += PrintChainLine(table_, chain);
    for (const Object& object : table_.objects) out += PrintObjectLine(table_, object);
    for (const Flowtable& flowtable : table_.flowtables) out += PrintFlowtableLine(table_, flowtable);
  }

  void AppendTable(ListingStyle style, std::string& out) const {
    if (style.declarations) AppendDeclarations(out);
    for (const Set& set : table_.sets) {
      if (!set.is(kSetAnonymous)) AppendSet(set, out);
    }
    for (const Chain& chain : table_.chains) {
      for (const Rule& rule : chain.rules) {
        AppendAnonymousSets(rule, out);
        out += PrintRule(table_, chain, rule, dialect_);
      }
    }
  }

 private:
  // A set that no rule uses has the fields that it was declared with, if it was.
  [[nodiscard]] SetShape ShapeOf(const Set& set) const {
    if (const auto found = shapes_.find(set.handle); found != shapes_.end()) return found->second;
    SetShape shape;
    for (const uint8_t len : set.field_lengths) shape.key.push_back({len});
    return shape;
  }

  const Table& table_;
  ListingDialect dialect_;
  SetShapes shapes_;
};

// The expressions, each with the types that its constants have at that point.
void AppendExpressions(const Table& table, const Rule& rule, ListingDialect dialect, std::string& out) {
  ValueTypes values(table.family);
  const std::span<const Expression> all(rule.expressions);
  for (size_t i = 0; i < all.size(); ++i) {
    ValueType operand = OperandType(values, all, i, table.family);
    out += "  [ ";
    AppendExpression(table, all[i], out, dialect, operand);
    out += "]\n";
    std::vector<ValueType> data;
    if (const auto* lookup = std::get_if<Lookup>(&all[i].body); lookup != nullptr && lookup->dreg) {
      if (const Set* set = table.FindSet(lookup->set); set != nullptr && !lookup->dreg->is_verdict()) {
        data = WantedTypes(all.subspan(i + 1), *lookup->dreg, (set->data_len + 3) / 4, table.family);
      }
    } else if (const auto* immediate = std::get_if<Immediate>(&all[i].body)) {
      operand.len = static_cast<uint8_t>(immediate->data.size());
    }
    values.Apply(all[i], operand, data);
  }
}

}  // namespace

std::string PrintListing(const Ruleset& ruleset, ListingStyle style) {
  std::string out;
  for (const Table& table : ruleset.tables) Printer(table, style.dialect).AppendTable(style, out);
  return out;
}

std::string PrintListing(const Table& table, ListingStyle style) {
  std::string out;
  Printer(table, style.dialect).AppendTable(style, out);
  return out;
}

std::string PrintRule(const Table& table, const Chain& chain, const Rule& rule, ListingDialect dialect) {
  std::string out = absl::StrCat(View(Name(table.family)), " ", table.name, " ", chain.name, "\n");
  AppendExpressions(table, rule, dialect, out);
  if (!rule.userdata.empty()) {
    AppendUserdata(rule.userdata, dialect, out);
    out += '\n';
  } else if (dialect == ListingDialect::kLegacy) {
    out += '\n';
  }
  return out;
}

std::string PrintSet(const Table& table, const Set& set, ListingDialect dialect) {
  std::string out;
  Printer(table, dialect).AppendSet(set, out);
  return out;
}

std::string PrintAnonymousSets(const Table& table, const Rule& rule, ListingDialect dialect) {
  std::string out;
  Printer(table, dialect).AppendAnonymousSets(rule, out);
  return out;
}

}  // namespace nftjit::nft
