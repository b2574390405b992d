#include "lib/ir/text.h"

#include "lib/ir/origin.h"
#include "lib/ir/words.h"
#include "lib/ir/writer.h"

namespace nftjit::ir {
namespace {

// Numbers the values of each chain from 0 in program order, and notes the chain of each row.
void NumberRows(const Program& program, std::vector<uint32_t>& numbers, std::vector<uint32_t>& chains) {
  numbers.assign(program.rows.size(), UINT32_MAX);
  chains.assign(program.rows.size(), UINT32_MAX);
  for (uint32_t c = 0; c < program.chains.size(); ++c) {
    uint32_t next = 0;
    for (const Item& item : program.ItemsOf(program.chains[c])) {
      for (uint32_t row = item.first_row; row < item.first_row + item.row_count; ++row) {
        chains[row] = c;
        if (Info(program.rows[row].op).kind == OpKind::kValue) numbers[row] = next++;
      }
    }
  }
}

}  // namespace

void AppendQuoted(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    } else {
      out += c;
    }
  }
  out += '"';
}

void AppendName(std::string& out, std::string_view name) {
  if (IsBareName(name)) {
    out.append(name);
  } else {
    AppendQuoted(out, name);
  }
}

void Writer::Declarations() {
  for (const SetInfo& set : p_.sets) PrintSet(set);
  for (uint32_t i = 0; i < p_.counters.size(); ++i) {
    const CounterInfo& counter = p_.counters[i];
    if (counter.packets == 0 && counter.bytes == 0 && !options_.origins) continue;
    Put("counter #", i);
    if (options_.origins && counter.rule.valid()) Put(" rule ", counter.rule.index);
    if (options_.origins && counter.expression != Origin::kNoExpression) Put(" expression ", counter.expression);
    Put(" packets ", counter.packets, " bytes ", counter.bytes, "\n");
  }
  for (uint32_t i = 0; i < p_.limits.size(); ++i) {
    const LimitInfo& limit = p_.limits[i];
    Put("limit #", i, " rate ", limit.rate, " unit ", limit.unit_s, " burst ", limit.burst,
        limit.type == nft::LimitType::kBytes ? " bytes" : " packets", limit.inverted ? " over\n" : "\n");
  }
  for (uint32_t i = 0; i < p_.logs.size(); ++i) {
    Put("log #", i);
    if (options_.origins && p_.logs[i].rule.valid()) Put(" rule ", p_.logs[i].rule.index);
    PrintLog(p_.logs[i].options);
    Put("\n");
  }
}

void Writer::PrintLog(const nft::Log& log) {
  if (log.group) Put(" group ", *log.group);
  if (log.prefix) {
    Put(" prefix ");
    AppendQuoted(out_, *log.prefix);
  }
  if (log.snaplen) Put(" snaplen ", *log.snaplen);
  if (log.qthreshold) Put(" qthreshold ", *log.qthreshold);
  if (log.level) Put(" level ", *log.level);
  if (log.flags) Put(" flags ", *log.flags);
}

void Writer::PrintSet(const SetInfo& set) {
  Put(set.verdict_map ? "vmap " : set.data_len != 0 ? "map " : "set ", nft::Name(set.family), " ");
  AppendName(out_, set.table);
  Put(" ");
  AppendName(out_, set.name);
  if (set.handle != 0) Put(" handle ", set.handle);
  Put(" ", Name(set.kind), " key ", uint64_t{set.key_len});
  if (set.data_len != 0) Put(" data ", uint64_t{set.data_len});
  if (!set.field_lengths.empty()) {
    Put(" fields");
    for (const uint8_t length : set.field_lengths) Put(" ", uint64_t{length});
  }
  Put(set.constant ? " constant:\n" : ":\n");
  for (const SetElement& element : set.elements) PrintElement(set, element, false);
  if (set.catchall) PrintElement(set, *set.catchall, true);
}

void Writer::PrintElement(const SetInfo& set, const SetElement& element, bool catchall) {
  Put("  ", catchall ? "*" : ToHex(AsBytes(element.key)));
  if (!element.key_end.empty()) Put("-", ToHex(AsBytes(element.key_end)));
  if (set.verdict_map) {
    Put(" : ", nft::Name(element.verdict));
    if (element.chain.valid()) {
      Put(" ");
      AppendName(out_, p_.chains[element.chain.index].name);
    }
  } else if (set.data_len != 0) {
    Put(" : ", ToHex(AsBytes(element.data)));
  }
  if (element.timeout_ms) Put(" timeout ", *element.timeout_ms);
  PrintStateful(element);
  Put("\n");
}

void Writer::PrintStateful(const SetElement& element) {
  for (const bool counters : {element.counters_first, !element.counters_first}) {
    if (counters) {
      for (const CounterId id : element.counters) Put(" counter #", id.index);
    } else {
      for (const LimitId id : element.limits) Put(" limit #", id.index);
    }
  }
}

void Writer::PrintChain(ChainId id) {
  const Chain& chain = p_.chains[id.index];
  Put("chain ", nft::Name(chain.family), " ");
  AppendName(out_, chain.table);
  Put(" ");
  AppendName(out_, chain.name);
  if (chain.base) PrintBase(chain);
  Put(chain.dormant ? " dormant:\n" : ":\n");
  std::vector<uint32_t> ends;  // Of the blocks around the item.
  size_t next_rule = 0;
  for (uint32_t i = chain.first_item; i < chain.first_item + chain.item_count; ++i) {
    const Item& item = p_.items[i];
    while (!ends.empty() && ends.back() <= i) ends.pop_back();
    if (ends.empty() && item.kind == ItemKind::kRule) PrintRulesWithoutItem(id, item.rule.index, next_rule);
    PrintItem(chain, item, ends.size());
    if (item.kind == ItemKind::kBlock) ends.push_back(item.end);
  }
  PrintRulesWithoutItem(id, static_cast<uint32_t>(p_.rules.size()), next_rule);
}

void Writer::FindRulesWithoutItem() {
  std::vector<bool> has_item(p_.rules.size());
  for (const Item& item : p_.items) {
    if (item.kind == ItemKind::kRule && item.rule.index < has_item.size()) has_item[item.rule.index] = true;
  }
  std::vector<const UnsupportedRule*> reasons(p_.rules.size());
  for (const UnsupportedRule& rule : p_.unsupported) {
    if (rule.rule.index < reasons.size()) reasons[rule.rule.index] = &rule;
  }
  for (uint32_t i = 0; i < p_.rules.size(); ++i) {
    if (!has_item[i]) without_item_.emplace_back(RuleId(i), reasons[i]);
  }
}

// Those of `chain` numbered below `before`, from `next` in without_item_ on.
void Writer::PrintRulesWithoutItem(ChainId chain, uint32_t before, size_t& next) {
  for (; next < without_item_.size() && without_item_[next].first.index < before; ++next) {
    const auto [rule, unsupported] = without_item_[next];
    if (p_.rules[rule.index].chain != chain || (unsupported == nullptr && !options_.origins)) continue;
    Put(unsupported != nullptr ? "omitted" : "absent");
    PrintRuleHead(chain, rule);
    if (unsupported != nullptr) {
      if (unsupported->expression != Origin::kNoExpression) Put(" expression ", unsupported->expression);
      Put(" unsupported ");
      AppendQuoted(out_, unsupported->what);
    }
    Put("\n");
  }
}

void Writer::PrintBase(const Chain& chain) {
  const BaseChainInfo& base = *chain.base;
  if (base.type != nft::ChainType::kFilter) Put(" type ", nft::Name(base.type));
  const std::string_view hook = nft::HookName(chain.family, base.hook);
  Put(" hook ");
  if (nft::HookFromName(chain.family, hook) == base.hook) {
    Put(hook);
  } else {
    Put(uint64_t{base.hook});
  }
  Put(" priority ", std::to_string(base.priority));
  Put(" policy ", nft::Name(base.policy));
  if (base.registration != 0) Put(" registration ", base.registration);
  for (const nft::Device& device : base.devices) {
    Put(device.prefix ? " prefix " : " device ");
    AppendName(out_, device.name);
  }
  if (base.counters) Put(" counter packets ", base.counters->packets, " bytes ", base.counters->bytes);
}

void Writer::PrintItem(const Chain& chain, const Item& item, size_t depth) {
  out_.append(depth * 2, ' ');
  if (item.kind == ItemKind::kBlock) {
    Put("block");
  } else {
    Put("rule");
    PrintRuleHead(ChainId(static_cast<uint32_t>(&chain - p_.chains.data())), item.rule);
  }
  Put(":\n");
  for (uint32_t i = item.first_row; i < item.first_row + item.row_count; ++i) {
    out_.append(depth * 2 + 2, ' ');
    PrintRow(chain, p_.rows[i]);
    if (options_.origins) PrintOrigins(p_.origins[i]);
    Put("\n");
  }
}

void Writer::PrintRuleHead(ChainId current, RuleId rule) {
  const RuleInfo& info = p_.rules[rule.index];
  if (options_.origins) Put(" [", rule.index, "]");
  Put(" ", info.handle);
  if (info.chain != current) {
    const Chain& here = p_.chains[current.index];
    const Chain& chain = p_.chains[info.chain.index];
    if (here.family == chain.family && here.table == chain.table) {
      Put(" of ");
    } else {
      Put(" from ", nft::Name(chain.family), " ");
      AppendName(out_, chain.table);
      Put(" ");
    }
    AppendName(out_, chain.name);
  }
  if (!info.where.file.empty() || info.where.line != 0) PrintWhere(info.where);
  if (!info.comment.empty()) {
    Put(" ");
    AppendQuoted(out_, info.comment);
  }
}

void Writer::PrintWhere(const SourcePos& where) {
  // A bare name must not read as one of the words that may stand here.
  if (IsBareName(where.file) && where.file != "at" && where.file != "of" && where.file != "from" &&
      where.file != "expression" && where.file != "unsupported") {
    Put(" ", where.file);
  } else {
    Put(" at ");
    AppendQuoted(out_, where.file);
  }
  if (where.line != 0) Put(":", where.line);
  if (where.line != 0 && where.column != 0) Put(":", where.column);
}

void Writer::PrintOrigins(const Origin& origin) {
  const auto put = [this](const Origin& one) {
    if (one.rule == UINT32_MAX) {
      Put(" -");
    } else {
      Put(" ", one.rule);
    }
    if (one.expression != Origin::kNoExpression) Put(".", one.expression);
  };
  Put(" ;");
  put(origin);
  bool first = true;
  ForEachOrigin(p_, origin, [&](uint32_t rule, uint16_t expression) {
    if (!first) put({.rule = rule, .expression = expression});
    first = false;
  });
}

std::string Print(const Program& program, const PrintOptions& options) {
  std::vector<uint32_t> numbers, chains;
  NumberRows(program, numbers, chains);
  Writer writer(program, numbers, options);
  writer.Declarations();
  writer.FindRulesWithoutItem();
  for (uint32_t i = 0; i < program.chains.size(); ++i) writer.PrintChain(ChainId(i));
  return writer.Take();
}

std::string PrintChain(const Program& program, ChainId chain, const PrintOptions& options) {
  std::vector<uint32_t> numbers, chains;
  NumberRows(program, numbers, chains);
  Writer writer(program, numbers, options);
  writer.FindRulesWithoutItem();
  writer.PrintChain(chain);
  return writer.Take();
}

std::string PrintRow(const Program& program, RowId row) { return RowPrinter(program)(row); }

RowPrinter::RowPrinter(const Program& program) : program_(program) { NumberRows(program, numbers_, chains_); }

std::string RowPrinter::operator()(RowId row) const {
  static const Chain kNowhere;
  Writer writer(program_, numbers_, {});
  const uint32_t chain = chains_[row.index];
  writer.PrintRow(chain == UINT32_MAX ? kNowhere : program_.chains[chain], program_.rows[row.index]);
  return writer.Take();
}

}  // namespace nftjit::ir
