// Rows from text.
#include <array>

#include "lib/ir/origin.h"
#include "lib/ir/parser.h"
#include "lib/ir/words.h"
#include "lib/support/bytes.h"

namespace nftjit::ir {
namespace {

constexpr size_t kOpCount = static_cast<size_t>(Op::kUnsupported) + 1;
constexpr size_t kComparisonCount = static_cast<size_t>(Comparison::kNotIn) + 1;

}  // namespace

template <class Enum>
bool Parser::ReadEnum(Enum* value, size_t count, std::string_view what) {
  const std::string_view word = in_.PeekWord();
  const std::optional<Enum> known = FromName<Enum>(word, count);
  if (!known) return in_.Fail("expected " + std::string(what));
  *value = *known;
  return in_.AcceptWord(word);
}
template bool Parser::ReadEnum(SetKind*, size_t, std::string_view);
template bool Parser::ReadEnum(nft::ChainType*, size_t, std::string_view);

bool Parser::ReadRow(size_t indent) {
  CloseItems(indent);
  if (open_.empty() || open_.back().item + 1 != p_.items.size()) {
    return in_.FailPlain("a row must stand below its rule or block, indented more, before the block's items");
  }
  Item& item = p_.items[open_.back().item];
  std::string name;
  if (in_.AcceptPunctuation("%")) {
    std::string_view word;
    if (!in_.ReadWord(&word, "the name of a value") || !in_.ExpectPunctuation("=")) return false;
    name = word;
  }
  Row row;
  Origin origin{item.rule.index};
  if (!ReadOp(&row)) return false;
  const bool is_value = Info(row.op).kind == OpKind::kValue;
  if (is_value == name.empty()) {
    return in_.FailPlain("`" + std::string(Info(row.op).text) +
                         (is_value ? "` needs a value: `%name = …`" : "` defines no value"));
  }
  if (!ReadOperation(&row) || !ReadOrigins(&origin) || !in_.ExpectEnd()) return false;
  const auto id = static_cast<uint32_t>(p_.rows.size());
  if (is_value && !values_.emplace(name, id).second) return in_.FailPlain("%" + name + " is defined twice");
  if (row.op == Op::kUnsupported && (p_.unsupported.empty() || p_.unsupported.back().rule != item.rule)) {
    p_.unsupported.push_back({item.rule, origin.expression, p_.texts[row.a]});
  }
  p_.rows.push_back(row);
  p_.origins.push_back(origin);
  ++item.row_count;
  return true;
}

bool Parser::ReadOp(Row* row) {
  std::string_view word;
  if (!in_.ReadWord(&word, "an operation")) return false;
  for (size_t i = 0; i < kOpCount; ++i) {
    if (Info(static_cast<Op>(i)).text != word) continue;
    row->op = static_cast<Op>(i);
    return true;
  }
  return in_.FailPlain("`" + std::string(word) + "` is no operation");
}

// `; 5.2 7.0`: rule and expression, the first one being the row's own.
bool Parser::ReadOrigins(Origin* origin) {
  if (!in_.AcceptPunctuation(";")) return true;
  if (!ReadOrigin(origin)) return false;
  while (!in_.AtEnd()) {
    Origin more;
    if (!ReadOrigin(&more)) return false;
    AddOrigin(p_, *origin, more);
  }
  return true;
}

bool Parser::ReadOrigin(Origin* origin) {
  *origin = {};
  if (!in_.AcceptPunctuation("-") && !in_.ReadNumber(&origin->rule, "the number of a rule")) return false;
  return !in_.AcceptBeforeDigit('.') || in_.ReadNumber(&origin->expression, "the number of an expression");
}

bool Parser::ReadOperation(Row* row) {
  switch (row->op) {
    case Op::kConst:
      if (!ReadConstant(&row->a)) return false;
      row->length = static_cast<uint8_t>(p_.constants[ConstId(row->a)].size());
      return true;
    case Op::kStale:
      return ReadLength(&row->length);
    case Op::kLoad:
      return ReadLoad(row);
    case Op::kMeta:
      return ReadMeta(row);
    case Op::kCt:
      return ReadCt(row);
    case Op::kExthdr:
      return ReadExthdr(row);
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      if (!ReadValue(&row->a) || !in_.ExpectPunctuation(",") || !ReadConstant(&row->b)) return false;
      row->length = LengthOf(row->a);
      return true;
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
      if (!ReadTwoValues(row)) return false;
      row->length = LengthOf(row->a);
      return true;
    case Op::kConcat:
      if (!ReadTwoValues(row)) return false;
      row->length = static_cast<uint8_t>(LengthOf(row->a) + LengthOf(row->b));
      return true;
    case Op::kShl:
    case Op::kShr:
      if (!ReadValue(&row->a) || !in_.ExpectPunctuation(",") || !in_.ReadNumber(&row->b, "a count")) return false;
      row->length = LengthOf(row->a);
      return true;
    case Op::kSwap:
      if (!ReadValue(&row->a) || !in_.ExpectPunctuation(",") || !in_.ReadNumber(&row->key, "a size")) return false;
      row->length = LengthOf(row->a);
      return true;
    case Op::kSlice:
      return ReadValue(&row->a) && in_.ExpectPunctuation("+") && in_.ReadNumber(&row->b, "an offset") &&
             in_.ExpectPunctuation(",") && ReadLength(&row->length);
    case Op::kZext:
      return ReadValue(&row->a) && in_.ExpectPunctuation(",") && ReadLength(&row->length);
    case Op::kMap:
      if (!ReadValue(&row->a) || !ReadSetUse(&row->b)) return false;
      row->length = p_.sets[row->b].data_len;
      return true;
    case Op::kLookup:
      if (!ReadValue(&row->a)) return false;
      if (in_.AcceptWord("not")) row->flags = kNegated;
      return ReadSetUse(&row->b);
    case Op::kVerdictMap:
      return ReadValue(&row->a) && ReadSetUse(&row->b);
    case Op::kGuard:
      return ReadGuard(row);
    case Op::kTest:
      return ReadTest(row);
    case Op::kLimit:
      return ReadDeclaredId(&row->a, limit_declared_, "a limit");
    case Op::kCount: {
      if (!ReadId(&row->a, "a counter")) return false;
      CounterInfo& counter = CounterAt(row->a);
      if (!counter.rule.valid()) counter.rule = p_.items[open_.back().item].rule;
      return true;
    }
    case Op::kLog: {
      if (!ReadDeclaredId(&row->a, log_declared_, "a log")) return false;
      LogInfo& log = p_.logs[row->a];
      if (!log.rule.valid()) log.rule = p_.items[open_.back().item].rule;
      return true;
    }
    case Op::kSetMeta: {
      auto key = nft::MetaKey::kMark;
      if (!ReadEnum(&key, nft::kMetaKeyCount, "a meta key")) return false;
      row->key = static_cast<uint8_t>(key);
      return ReadValue(&row->a);
    }
    case Op::kVerdict:
      return ReadVerdict(row);
    case Op::kReject:
      return ReadReject(row);
    case Op::kUnsupported: {
      std::string text;
      if (!in_.ReadQuoted(&text)) return false;
      row->a = Text(text);
      return true;
    }
  }
  return false;
}

bool Parser::ReadLoad(Row* row) {
  if (in_.AcceptPunctuation("?")) row->flags = kOrZero;
  auto base = Base::kLink;
  if (!ReadEnum(&base, kBaseCount, "link, network, transport or inner")) return false;
  row->key = static_cast<uint8_t>(base);
  return in_.ExpectPunctuation("+") && in_.ReadNumber(&row->a, "an offset") && in_.ExpectPunctuation(",") &&
         ReadLength(&row->length);
}

bool Parser::ReadMeta(Row* row) {
  if (in_.AcceptPunctuation("?")) row->flags = kOrZero;
  auto key = nft::MetaKey::kMark;
  if (!ReadEnum(&key, nft::kMetaKeyCount, "a meta key")) return false;
  row->key = static_cast<uint8_t>(key);
  row->length = MetaLoadLength(key);
  return row->length != 0 || in_.FailPlain("meta " + std::string(nft::Name(key)) + " cannot be loaded");
}

bool Parser::ReadCtKey(nft::CtKey* key, uint8_t* direction) {
  if (!ReadEnum(key, nft::kCtKeyCount, "a ct key")) return false;
  *direction = in_.AcceptWord("original") ? kDirectionOriginal
               : in_.AcceptWord("reply")  ? kDirectionReply
                                          : kNoDirection;
  return true;
}

bool Parser::ReadCt(Row* row) {
  auto key = nft::CtKey::kState;
  if (!ReadCtKey(&key, &row->flags)) return false;
  row->key = static_cast<uint8_t>(key);
  if (key == nft::CtKey::kSrc || key == nft::CtKey::kDst) return in_.ExpectPunctuation(",") && ReadLength(&row->length);
  row->length = nft::CtLength(key, nft::Family::kInet);
  return row->length != 0 || in_.FailPlain("ct " + std::string(nft::Name(key)) + " cannot be loaded");
}

bool Parser::ReadExthdr(Row* row) {
  if (in_.AcceptWord("present")) row->flags = kPresent;
  auto op = nft::ExthdrOp::kIpv6;
  if (!ReadEnum(&op, 5, "ipv6, tcpopt, ipv4, sctp or dccp")) return false;
  row->key = static_cast<uint8_t>(op);
  return in_.ReadNumber(&row->a, "a type") && in_.ExpectPunctuation("+") && in_.ReadNumber(&row->b, "an offset") &&
         in_.ExpectPunctuation(",") && ReadLength(&row->length);
}

bool Parser::ReadGuard(Row* row) {
  auto kind = GuardKind::kL4;
  if (!ReadEnum(&kind, kGuardKindCount, "the kind of a guard")) return false;
  row->key = static_cast<uint8_t>(kind);
  row->a = 0;
  switch (kind) {
    case GuardKind::kRoomLink:
    case GuardKind::kRoomNetwork:
    case GuardKind::kRoomTransport:
    case GuardKind::kRoomInner:
      return in_.ReadNumber(&row->a, "bytes of room");
    case GuardKind::kMetaKnown: {
      auto key = nft::MetaKey::kMark;
      if (!ReadEnum(&key, nft::kMetaKeyCount, "a meta key")) return false;
      row->a = static_cast<uint32_t>(key);
      return true;
    }
    case GuardKind::kCtKnown: {
      auto key = nft::CtKey::kState;
      uint8_t direction = kNoDirection;
      if (!ReadCtKey(&key, &direction)) return false;
      row->a = static_cast<uint32_t>(key) | uint32_t{direction} << 8;
      return true;
    }
    case GuardKind::kUnfragmented:
    case GuardKind::kL4:
    case GuardKind::kIif:
    case GuardKind::kOif:
    case GuardKind::kCtEntry:
      return true;
  }
  return false;
}

bool Parser::ReadTest(Row* row) {
  if (in_.AcceptWord("native")) row->flags = kNative;
  if (!ReadValue(&row->a)) return false;
  if (in_.AcceptPunctuation("&") && !ReadConstant(&row->c)) return false;
  // The longer ones first: `<=` begins with `<`.
  constexpr std::array kOrder = {Comparison::kEq, Comparison::kNeq, Comparison::kLte, Comparison::kGte,
                                 Comparison::kLt, Comparison::kGt,  Comparison::kIn,  Comparison::kNotIn};
  static_assert(kOrder.size() == kComparisonCount);
  bool found = false;
  for (const Comparison comparison : kOrder) {
    if (!in_.AcceptPunctuation(Name(comparison))) continue;
    row->key = static_cast<uint8_t>(comparison);
    found = true;
    break;
  }
  if (!found) return in_.Fail("expected a comparison");
  if (row->comparison() != Comparison::kIn && row->comparison() != Comparison::kNotIn) return ReadConstant(&row->b);
  std::string low, high;
  if (!in_.ReadBytes(&low, "the lower bound") || !in_.ExpectPunctuation("-") ||
      !in_.ReadBytes(&high, "the upper bound")) {
    return false;
  }
  if (low.size() != high.size()) return in_.FailPlain("the bounds differ in length");
  if (low.size() > 64) return in_.FailPlain("a constant is too long");
  row->b = p_.constants.Intern(AsBytes(low + high)).index;
  return true;
}

bool Parser::ReadVerdict(Row* row) {
  std::string_view word;
  if (!in_.ReadWord(&word, "a verdict")) return false;
  const auto verdict = VerdictFromName(word);
  if (!verdict) return in_.FailPlain("`" + std::string(word) + "` is no verdict");
  row->key = static_cast<uint8_t>(static_cast<int8_t>(*verdict));
  if (*verdict != nft::VerdictCode::kJump && *verdict != nft::VerdictCode::kGoto) return true;
  nft::Family family = chain().family;
  std::string table = chain().table, name;
  if (!in_.ReadName(&name, "the name of a chain")) return false;
  if (!in_.AtEnd() && in_.Peek() != ';') {
    const auto other = nft::FamilyFromName(name);
    if (!other) return in_.FailPlain("`" + name + "` is no family");
    family = *other;
    if (!in_.ReadName(&table, "the name of a table") || !in_.ReadName(&name, "the name of a chain")) return false;
  }
  const auto it = chains_.find(Qualify(family, table, name));
  if (it == chains_.end()) return in_.FailPlain("no chain `" + name + "`");
  row->a = it->second;
  return true;
}

bool Parser::ReadReject(Row* row) {
  auto type = nft::RejectType::kIcmp;
  if (!ReadEnum(&type, 3, "icmp, icmpx or tcp-reset")) return false;
  row->key = static_cast<uint8_t>(type);
  row->a = 0;
  return type == nft::RejectType::kTcpReset || in_.ReadNumber(&row->a, "a code");
}

bool Parser::ReadValue(uint32_t* row) {
  std::string_view word;
  if (!in_.ExpectPunctuation("%") || !in_.ReadWord(&word, "the name of a value")) return false;
  const auto it = values_.find(std::string(word));
  if (it == values_.end()) return in_.FailPlain("%" + std::string(word) + " is not defined before in this chain");
  *row = it->second;
  return true;
}

bool Parser::ReadTwoValues(Row* row) { return ReadValue(&row->a) && in_.ExpectPunctuation(",") && ReadValue(&row->b); }

bool Parser::ReadConstant(uint32_t* id) {
  std::string bytes;
  if (!in_.ReadBytes(&bytes, "a constant")) return false;
  if (bytes.size() > 64) return in_.FailPlain("a constant is too long");
  *id = p_.constants.Intern(AsBytes(bytes)).index;
  return true;
}

bool Parser::ReadLength(uint8_t* length) {
  if (!in_.ReadNumber(length, "a length")) return false;
  return (*length >= 1 && *length <= 64) || in_.FailPlain("a length is 1 to 64");
}

bool Parser::ReadSetUse(uint32_t* set) {
  nft::Family family = chain().family;
  std::string table = chain().table, name;
  if (!in_.ExpectPunctuation("@") || !in_.ReadName(&name, "the name of a set")) return false;
  if (!in_.AtEnd() && in_.Peek() != ';') {
    const auto other = nft::FamilyFromName(name);
    if (!other) return in_.FailPlain("`" + name + "` is no family");
    family = *other;
    if (!in_.ReadName(&table, "the name of a table") || !in_.ReadName(&name, "the name of a set")) return false;
  }
  const auto it = sets_.find(Qualify(family, table, name));
  if (it == sets_.end()) return in_.FailPlain("no set `" + name + "`");
  *set = it->second;
  return true;
}

bool Parser::ReadId(uint32_t* id, std::string_view what) {
  if (!in_.ExpectPunctuation("#") || !in_.ReadNumber(id, "the number of " + std::string(what))) return false;
  return *id <= kMaxId || in_.FailPlain("the number of " + std::string(what) + " is too big");
}

bool Parser::ReadDeclaredId(uint32_t* id, const std::vector<bool>& declared, std::string_view what) {
  if (!ReadId(id, what)) return false;
  return (*id < declared.size() && declared[*id]) || in_.FailPlain("#" + std::to_string(*id) + " is not declared");
}

bool Parser::DeclareId(uint32_t id, std::vector<bool>& declared) {
  if (id >= declared.size()) declared.resize(id + 1);
  if (declared[id]) return in_.FailPlain("#" + std::to_string(id) + " is declared twice");
  declared[id] = true;
  return true;
}

uint32_t Parser::Text(const std::string& text) {
  for (uint32_t i = 0; i < p_.texts.size(); ++i) {
    if (p_.texts[i] == text) return i;
  }
  p_.texts.push_back(text);
  return static_cast<uint32_t>(p_.texts.size() - 1);
}

}  // namespace nftjit::ir
