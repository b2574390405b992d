#include "lib/nft/listing_printer.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include "lib/nft/references.h"

namespace nftjit::nft {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }
ByteSpan Bytes(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

void AppendUserdata(const std::string& userdata, std::string& out) {
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

void AppendElement(const Table& table, const Element& element, std::string& out) {
  out += "element ";
  AppendWords(Bytes(element.key), "", out);
  if (!element.key_end.empty()) {
    out += " - ";
    AppendWords(Bytes(element.key_end), "", out);
  }
  out += " : ";
  if (const auto* data = std::get_if<std::string>(&element.data)) {
    AppendWords(Bytes(*data), "", out);
  } else if (const auto* verdict = std::get_if<Verdict>(&element.data)) {
    absl::StrAppend(&out, View(Name(verdict->code)), " ");
    if (verdict->chain != 0) {
      const Chain* chain = table.FindChain(verdict->chain);
      absl::StrAppend(&out, "-> ", chain != nullptr ? chain->name : absl::StrCat(verdict->chain), " ");
    }
  }
  absl::StrAppend(&out, element.flags, " [end]");
  if (!element.userdata.empty()) AppendUserdata(element.userdata, out);
}

void AppendSet(const Table& table, const Set& set, std::string& out) {
  absl::StrAppend(&out, set.name, " ", table.name, " ", absl::Hex(set.flags));
  if (set.timeout_ms) absl::StrAppend(&out, " timeout ", *set.timeout_ms, "ms");
  if (set.gc_interval_ms) absl::StrAppend(&out, " gc_interval ", *set.gc_interval_ms, "ms");
  if (set.policy != 0) absl::StrAppend(&out, " policy ", set.policy);
  if (set.size) absl::StrAppend(&out, " size ", *set.size);
  out += '\n';
  if (set.elements.empty()) return;
  absl::StrAppend(&out, set.name, " ", table.name, " 0\n");
  for (const Element& element : set.elements) {
    out += '\t';
    AppendElement(table, element, out);
  }
  out += '\n';
}

void AppendRule(const Table& table, const Chain& chain, const Rule& rule, std::string& out) {
  absl::StrAppend(&out, View(Name(table.family)), " ", table.name, " ", chain.name, "\n");
  for (const Expression& expression : rule.expressions) {
    out += "  [ ";
    AppendExpression(table, expression, out);
    out += "]\n";
  }
  if (rule.userdata.empty()) {
    out += '\n';
  } else {
    AppendUserdata(rule.userdata, out);
    out += '\n';
  }
}

void AppendAnonymousSets(const Table& table, const Rule& rule, std::string& out) {
  for (const Expression& expression : rule.expressions) {
    ForEachReference(expression, [&](const Reference& reference) {
      if (reference.kind != ReferenceKind::kSet) return;
      const Set* set = table.FindSet(reference.handle);
      if (set != nullptr && set->is(kSetAnonymous)) AppendSet(table, *set, out);
    });
  }
}

void AppendTable(const Table& table, std::string& out) {
  for (const Set& set : table.sets) {
    if (!set.is(kSetAnonymous)) AppendSet(table, set, out);
  }
  for (const Chain& chain : table.chains) {
    for (const Rule& rule : chain.rules) {
      AppendAnonymousSets(table, rule, out);
      AppendRule(table, chain, rule, out);
    }
  }
}

}  // namespace

std::string PrintListing(const Ruleset& ruleset) {
  std::string out;
  for (const Table& table : ruleset.tables) AppendTable(table, out);
  return out;
}

std::string PrintListing(const Table& table) {
  std::string out;
  AppendTable(table, out);
  return out;
}

std::string PrintRule(const Table& table, const Chain& chain, const Rule& rule) {
  std::string out;
  AppendRule(table, chain, rule, out);
  return out;
}

std::string PrintSet(const Table& table, const Set& set) {
  std::string out;
  AppendSet(table, set, out);
  return out;
}

std::string PrintAnonymousSets(const Table& table, const Rule& rule) {
  std::string out;
  AppendAnonymousSets(table, rule, out);
  return out;
}

}  // namespace nftjit::nft
