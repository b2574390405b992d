#include "lib/ir/parser.h"

#include <algorithm>

#include "lib/ir/text.h"
#include "lib/ir/words.h"
#include "lib/support/bytes.h"

namespace nftjit::ir {

Parser::QualifiedName Parser::Qualify(nft::Family family, std::string_view table, std::string_view name) {
  std::string key(nft::Name(family));
  key.append(1, '\0').append(table).append(1, '\0').append(name);
  return key;
}

// Visits lines that are neither blank nor comments with their indentation.
template <class Visit>
bool Parser::ForEachLine(Visit&& visit) {
  uint32_t number = 0;
  for (size_t begin = 0; begin < text_.size();) {
    const size_t end = std::min(text_.find('\n', begin), text_.size());
    std::string_view line = text_.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const size_t indent = line.find_first_not_of(" \t");
    if (indent == std::string_view::npos || line[indent] == '#') continue;
    in_.Begin(line, number);
    if (!visit(line, indent)) return false;
  }
  return true;
}

absl::StatusOr<Program> Parser::Run() {
  if (!ForEachLine([this](std::string_view line, size_t indent) { return Declare(line, indent); }) ||
      !ForEachLine([this](std::string_view line, size_t indent) { return ReadLine(line, indent); })) {
    return in_.status();
  }
  FinishChain();
  return std::move(p_);
}

bool Parser::Declare(std::string_view, size_t indent) {
  if (indent != 0) return true;
  if (in_.AcceptWord("chain")) {
    p_.chains.emplace_back();
    return DeclareName(chains_, static_cast<uint32_t>(p_.chains.size() - 1), "chain");
  }
  if (in_.AcceptWord("set") || in_.AcceptWord("map") || in_.AcceptWord("vmap")) {
    p_.sets.emplace_back();
    return DeclareName(sets_, static_cast<uint32_t>(p_.sets.size() - 1), "set");
  }
  if (in_.AcceptWord("limit")) return ReadLimit();
  if (in_.AcceptWord("log")) return ReadLog();
  return true;
}

bool Parser::DeclareName(absl::flat_hash_map<QualifiedName, uint32_t>& names, uint32_t id, std::string_view what) {
  nft::Family family;
  std::string table, name;
  if (!ReadTableAndName(&family, &table, &name)) return false;
  if (!names.emplace(Qualify(family, table, name), id).second) {
    return in_.FailPlain(std::string(what) + " `" + name + "` is declared twice");
  }
  if (what == "chain") {
    p_.chains[id].family = family;
    p_.chains[id].table = table;
    p_.chains[id].name = name;
  } else {
    p_.sets[id].family = family;
    p_.sets[id].table = table;
    p_.sets[id].name = name;
  }
  return true;
}

bool Parser::ReadTableAndName(nft::Family* family, std::string* table, std::string* name) {
  std::string_view word;
  if (!in_.ReadWord(&word, "a family")) return false;
  const auto known = nft::FamilyFromName(word);
  if (!known) return in_.FailPlain("`" + std::string(word) + "` is no family");
  *family = *known;
  return in_.ReadName(table, "the name of a table") && in_.ReadName(name, "a name");
}

bool Parser::ReadLine(std::string_view, size_t indent) {
  const std::string word(in_.PeekWord());
  if (indent == 0) {
    if (in_.AcceptWord("chain")) return ReadChainHeader();
    if (word == "set" || word == "map" || word == "vmap") return in_.AcceptWord(word) && ReadSetHeader(word);
    if (in_.AcceptWord("counter")) return ReadCounter();
    if (word == "limit" || word == "log") return true;  // Of the first round.
  }
  if (context_ == Context::kSet && indent != 0) return ReadElement();
  if (context_ == Context::kChain) {
    if (word == "rule" || word == "block" || word == "omitted" || word == "absent") {
      return in_.AcceptWord(word) && ReadItem(word, indent);
    }
    return ReadRow(indent);
  }
  return in_.Fail("expected a declaration of a set, counter, limit, log or chain");
}

bool Parser::ReadSetHeader(std::string_view keyword) {
  FinishChain();
  context_ = Context::kSet;
  set_ = sets_begun_++;
  SetInfo& set = p_.sets[set_];
  set.verdict_map = keyword == "vmap";
  if (!ReadTableAndName(&set.family, &set.table, &set.name)) return false;
  if (in_.AcceptWord("handle") && !in_.ReadNumber(&set.handle, "a handle")) return false;
  if (!ReadEnum(&set.kind, 3, "exact, interval or ranges")) return false;
  if (!in_.AcceptWord("key")) return in_.Fail("expected `key` and its length");
  if (!ReadLength(&set.key_len)) return false;
  if (keyword == "map") {
    if (!in_.AcceptWord("data")) return in_.Fail("expected `data` and its length");
    if (!ReadLength(&set.data_len)) return false;
  }
  if (in_.AcceptWord("fields")) {
    while (in_.Peek() >= '0' && in_.Peek() <= '9') {
      uint8_t length = 0;
      if (!ReadLength(&length)) return false;
      set.field_lengths.push_back(length);
    }
  }
  set.constant = in_.AcceptWord("constant");
  return in_.ExpectPunctuation(":") && in_.ExpectEnd();
}

bool Parser::ReadElement() {
  SetInfo& set = p_.sets[set_];
  SetElement element;
  const bool catchall = in_.AcceptPunctuation("*");
  if (catchall && set.catchall) return in_.FailPlain("a second catch-all element");
  if (!catchall) {
    if (!in_.ReadBytes(&element.key, "a key")) return false;
    if (in_.AcceptPunctuation("-") && !in_.ReadBytes(&element.key_end, "the end of a key")) return false;
  }
  if (!ReadElementData(set, &element) || !ReadElementOptions(&element) || !in_.ExpectEnd()) return false;
  if (catchall) {
    set.catchall = std::move(element);
  } else {
    set.elements.push_back(std::move(element));
  }
  return true;
}

bool Parser::ReadElementData(const SetInfo& set, SetElement* element) {
  if (!set.verdict_map && set.data_len == 0) return true;
  if (!in_.ExpectPunctuation(":")) return false;
  if (!set.verdict_map) return in_.ReadBytes(&element->data, "data");
  std::string_view word;
  if (!in_.ReadWord(&word, "a verdict")) return false;
  const auto verdict = VerdictFromName(word);
  if (!verdict) return in_.FailPlain("`" + std::string(word) + "` is no verdict");
  element->verdict = *verdict;
  if (*verdict != nft::VerdictCode::kJump && *verdict != nft::VerdictCode::kGoto) return true;
  std::string name;
  if (!in_.ReadName(&name, "the name of a chain")) return false;
  const auto it = chains_.find(Qualify(set.family, set.table, name));
  if (it == chains_.end()) return in_.FailPlain("no chain `" + name + "` in the set's table");
  element->chain = ChainId(it->second);
  return true;
}

bool Parser::ReadElementOptions(SetElement* element) {
  if (in_.AcceptWord("timeout")) {
    uint64_t timeout = 0;
    if (!in_.ReadNumber(&timeout, "milliseconds")) return false;
    element->timeout_ms = timeout;
  }
  for (;;) {
    uint32_t id = 0;
    if (in_.AcceptWord("counter")) {
      if (!ReadId(&id, "a counter")) return false;
      CounterAt(id);
      element->counters_first = element->limits.empty();
      element->counters.emplace_back(id);
    } else if (in_.AcceptWord("limit")) {
      if (!ReadDeclaredId(&id, limit_declared_, "a limit")) return false;
      element->limits.emplace_back(id);
    } else {
      return true;
    }
  }
}

CounterInfo& Parser::CounterAt(uint32_t id) {
  if (id >= p_.counters.size()) p_.counters.resize(id + 1);
  return p_.counters[id];
}

bool Parser::ReadCounter() {
  uint32_t id = 0;
  if (!ReadId(&id, "a counter")) return false;
  CounterInfo& counter = CounterAt(id);
  if (in_.AcceptWord("rule") && !in_.ReadNumber(&counter.rule.index, "the number of a rule")) return false;
  if (in_.AcceptWord("expression") && !in_.ReadNumber(&counter.expression, "the number of an expression")) return false;
  if (in_.AcceptWord("packets") && !in_.ReadNumber(&counter.packets, "packets")) return false;
  if (in_.AcceptWord("bytes") && !in_.ReadNumber(&counter.bytes, "bytes")) return false;
  return in_.ExpectEnd();
}

bool Parser::ReadLimit() {
  uint32_t id = 0;
  if (!ReadId(&id, "a limit") || !DeclareId(id, limit_declared_)) return false;
  p_.limits.resize(limit_declared_.size());
  LimitInfo& limit = p_.limits[id];
  if (!in_.AcceptWord("rate")) return in_.Fail("expected `rate`");
  if (!in_.ReadNumber(&limit.rate, "a rate")) return false;
  if (!in_.AcceptWord("unit")) return in_.Fail("expected `unit`");
  if (!in_.ReadNumber(&limit.unit_s, "seconds")) return false;
  if (!in_.AcceptWord("burst")) return in_.Fail("expected `burst`");
  if (!in_.ReadNumber(&limit.burst, "a burst")) return false;
  if (in_.AcceptWord("bytes")) {
    limit.type = nft::LimitType::kBytes;
  } else if (!in_.AcceptWord("packets")) {
    return in_.Fail("expected `packets` or `bytes`");
  }
  limit.inverted = in_.AcceptWord("over");
  return in_.ExpectEnd();
}

bool Parser::ReadLog() {
  uint32_t id = 0;
  if (!ReadId(&id, "a log") || !DeclareId(id, log_declared_)) return false;
  p_.logs.resize(log_declared_.size());
  LogInfo& log = p_.logs[id];
  if (in_.AcceptWord("rule") && !in_.ReadNumber(&log.rule.index, "the number of a rule")) return false;
  return ReadLogOptions(&log.options) && in_.ExpectEnd();
}

bool Parser::ReadLogOptions(nft::Log* log) {
  if (in_.AcceptWord("group") && !in_.ReadNumber(&log->group.emplace(), "a group")) return false;
  if (in_.AcceptWord("prefix") && !in_.ReadQuoted(&log->prefix.emplace())) return false;
  if (in_.AcceptWord("snaplen") && !in_.ReadNumber(&log->snaplen.emplace(), "a length")) return false;
  if (in_.AcceptWord("qthreshold") && !in_.ReadNumber(&log->qthreshold.emplace(), "a threshold")) return false;
  if (in_.AcceptWord("level") && !in_.ReadNumber(&log->level.emplace(), "a level")) return false;
  return !in_.AcceptWord("flags") || in_.ReadNumber(&log->flags.emplace(), "flags");
}

bool Parser::ReadChainHeader() {
  FinishChain();
  context_ = Context::kChain;
  chain_ = chains_begun_++;
  Chain& chain = p_.chains[chain_];
  chain.first_item = static_cast<uint32_t>(p_.items.size());
  if (!ReadTableAndName(&chain.family, &chain.table, &chain.name) || !ReadBase(&chain)) return false;
  chain.dormant = in_.AcceptWord("dormant");
  return in_.ExpectPunctuation(":") && in_.ExpectEnd();
}

bool Parser::ReadBase(Chain* chain) {
  BaseChainInfo base;
  const bool typed = in_.AcceptWord("type");
  if (typed && !ReadEnum(&base.type, 3, "filter, nat or route")) return false;
  if (!in_.AcceptWord("hook")) return !typed || in_.Fail("expected `hook`");
  if (in_.Peek() >= '0' && in_.Peek() <= '9') {
    if (!in_.ReadNumber(&base.hook, "a hook")) return false;
  } else {
    std::string_view word;
    if (!in_.ReadWord(&word, "a hook")) return false;
    const auto hook = nft::HookFromName(chain->family, word);
    if (!hook) return in_.FailPlain("`" + std::string(word) + "` is no hook of the family");
    base.hook = *hook;
  }
  if (in_.AcceptWord("priority") && !in_.ReadNumber(&base.priority, "a priority")) return false;
  if (in_.AcceptWord("policy")) {
    std::string_view word;
    if (!in_.ReadWord(&word, "a policy")) return false;
    if (word != "accept" && word != "drop") return in_.FailPlain("a policy is accept or drop");
    base.policy = word == "drop" ? nft::VerdictCode::kDrop : nft::VerdictCode::kAccept;
  }
  if (in_.AcceptWord("registration") && !in_.ReadNumber(&base.registration, "a number")) return false;
  for (;;) {
    nft::Device device;
    device.prefix = in_.AcceptWord("prefix");
    if (!device.prefix && !in_.AcceptWord("device")) break;
    if (!in_.ReadName(&device.name, "the name of a device")) return false;
    base.devices.push_back(std::move(device));
  }
  if (in_.AcceptWord("counter")) {
    nft::Counter& counter = base.counters.emplace();
    if (in_.AcceptWord("packets") && !in_.ReadNumber(&counter.packets, "packets")) return false;
    if (in_.AcceptWord("bytes") && !in_.ReadNumber(&counter.bytes, "bytes")) return false;
  }
  chain->base = std::move(base);
  return true;
}

// Ends the open items that a line at `indent` is not inside of.
void Parser::CloseItems(size_t indent) {
  while (!open_.empty() && open_.back().indent >= indent) {
    p_.items[open_.back().item].end = static_cast<uint32_t>(p_.items.size());
    open_.pop_back();
  }
}

void Parser::FinishChain() {
  if (context_ == Context::kChain) {
    CloseItems(0);
    Chain& chain = p_.chains[chain_];
    chain.item_count = static_cast<uint32_t>(p_.items.size()) - chain.first_item;
  }
  values_.clear();
  context_ = Context::kNothing;
}

bool Parser::ReadItem(std::string_view keyword, size_t indent) {
  CloseItems(indent);
  if (!open_.empty() && p_.items[open_.back().item].kind == ItemKind::kRule) {
    return in_.FailPlain("a rule holds rows only: indent as much as the rule before");
  }
  Item item;
  item.first_row = static_cast<uint32_t>(p_.rows.size());
  if (keyword == "block") {
    item.kind = ItemKind::kBlock;
  } else {
    if (!ReadRuleHead(&item.rule)) return false;
    if (keyword == "absent") return in_.ExpectEnd();
    if (keyword == "omitted") return ReadOmitted(item.rule);
  }
  open_.push_back({static_cast<uint32_t>(p_.items.size()), indent});
  p_.items.push_back(item);
  return in_.ExpectPunctuation(":") && in_.ExpectEnd();
}

bool Parser::ReadOmitted(RuleId rule) {
  UnsupportedRule unsupported;
  unsupported.rule = rule;
  if (in_.AcceptWord("expression") && !in_.ReadNumber(&unsupported.expression, "the number of an expression")) {
    return false;
  }
  if (!in_.AcceptWord("unsupported")) return in_.Fail("expected `unsupported` and why");
  if (!in_.ReadQuoted(&unsupported.what)) return false;
  p_.unsupported.push_back(std::move(unsupported));
  return in_.ExpectEnd();
}

bool Parser::ReadRuleHead(RuleId* rule) {
  uint32_t number = UINT32_MAX;
  if (in_.AcceptPunctuation("[") && (!in_.ReadNumber(&number, "the number of a rule") || !in_.ExpectPunctuation("]"))) {
    return false;
  }
  RuleInfo info;
  info.chain = ChainId(chain_);
  if (!in_.ReadNumber(&info.handle, "the handle of a rule")) return false;
  if (!ReadRuleChain(&info.chain) || !ReadWhere(&info.where)) return false;
  if (in_.PeekQuote() && !in_.ReadQuoted(&info.comment)) return false;
  const auto [it, is_new] = rules_.emplace(std::pair(info.chain.index, info.handle), number);
  if (is_new && number == UINT32_MAX) it->second = static_cast<uint32_t>(p_.rules.size());
  *rule = RuleId(it->second);
  if (!is_new) {
    if (number != UINT32_MAX && number != it->second)
      return in_.FailPlain("the rule stands before with another number");
    return p_.rules[it->second] == info ||
           in_.FailPlain("a rule of this handle stands before with another place or comment");
  }
  if (it->second > kMaxId) return in_.FailPlain("the number of the rule is too big");
  if (it->second >= p_.rules.size()) p_.rules.resize(it->second + 1);
  if (p_.rules[it->second].chain.valid()) return in_.FailPlain("another rule has this number");
  p_.rules[it->second] = std::move(info);
  return true;
}

bool Parser::ReadRuleChain(ChainId* chain) {
  nft::Family family = this->chain().family;
  std::string table = this->chain().table, name;
  if (in_.AcceptWord("from")) {
    if (!ReadTableAndName(&family, &table, &name)) return false;
  } else if (in_.AcceptWord("of")) {
    if (!in_.ReadName(&name, "the name of a chain")) return false;
  } else {
    return true;
  }
  const auto it = chains_.find(Qualify(family, table, name));
  if (it == chains_.end()) return in_.FailPlain("no chain `" + name + "`");
  *chain = ChainId(it->second);
  return true;
}

// FILE, FILE:LINE or FILE:LINE:COLUMN; before a quoted FILE the word `at`. The colon at the end of a header is not
// ours.
bool Parser::ReadWhere(SourcePos* where) {
  const std::string_view word = in_.PeekWord();
  if (in_.AcceptWord("at")) {
    if (!in_.ReadQuoted(&where->file)) return false;
  } else if (word.empty() || word == "expression" || word == "unsupported") {
    return true;
  } else {
    where->file = word;
    in_.AcceptWord(word);
  }
  for (uint32_t* number : {&where->line, &where->column}) {
    if (!in_.AcceptBeforeDigit(':')) return true;
    if (!in_.ReadNumber(number, "a line or column")) return false;
  }
  return true;
}

absl::StatusOr<Program> Parse(std::string_view text, std::string_view file_name) {
  return Parser(text, file_name).Run();
}

}  // namespace nftjit::ir
