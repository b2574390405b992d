// Lines of chains, tables, objects and flowtables.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <iterator>

#include "lib/nft/listing_lines.h"

namespace nftjit::nft {
namespace {

// What stands for a name that was not known yet when the line was printed.
constexpr std::string_view kNoName = "(null)";

// libnftnl prints hooks by one table for all families: the numbers of inet.
std::optional<uint8_t> HookOfLine(Family family, std::string_view name) {
  if (const std::optional<uint8_t> hook = HookFromName(family, name)) return hook;
  return HookFromName(Family::kInet, name);
}

// Reads the bodies of objects into their structs.
class ObjectReader {
 public:
  explicit ObjectReader(LineCursor& in) : in_(in) {}

  bool operator()(Counter& o) { return Number("pkts", &o.packets) && Number("bytes", &o.bytes); }
  bool operator()(Quota& o) { return Number("bytes", &o.bytes) && Number("flags", &o.flags); }
  bool operator()(Limit& o) {
    uint8_t type = 0;
    if (!Number("rate", &o.rate) || !Number("unit", &o.unit_s) || !Number("burst", &o.burst) ||
        !Number("type", &type) || !Number("flags", &o.flags)) {
      return false;
    }
    if (type > 1) return in_.Fail("expected the type 0 (packets) or 1 (bytes)");
    o.type = static_cast<LimitType>(type);
    return true;
  }
  bool operator()(Connlimit& o) { return Number("count", &o.count) && Number("flags", &o.flags, 16); }
  bool operator()(CtHelperObject& o) {
    return Token("name", &o.name) && Number("family", &o.l3proto) && Number("protocol", &o.l4proto);
  }
  bool operator()(CtExpectObject& o) {
    return Number("family", &o.l3proto) && Number("protocol", &o.l4proto) && Number("dport", &o.dport_net) &&
           Number("timeout", &o.timeout_ms) && Number("size", &o.size);
  }
  bool operator()(CtTimeoutObject& o) {
    if (!Number("family", &o.l3proto) || !Number("protocol", &o.l4proto) || !in_.ExpectPunctuation("policy") ||
        !in_.ExpectPunctuation("=") || !in_.ExpectPunctuation("{")) {
      return false;
    }
    while (!in_.AcceptPunctuation("}")) {
      uint32_t state = 0, seconds = 0;
      if (!in_.ReadNumber(&state, "a state or `}`") || !Number(":", &seconds)) return false;
      o.policy_s[state] = seconds;
    }
    return true;
  }
  bool operator()(SecmarkObject& o) { return Token("context", &o.context); }
  bool operator()(Synproxy& o) { return Number("mss", &o.mss) && Number("wscale", &o.wscale); }
  bool operator()(TunnelObject&) {
    uint32_t id = 0;
    return !in_.AcceptToken("id") || in_.ReadNumber(&id, "the id of the tunnel");
  }

 private:
  template <class T>
  bool Number(std::string_view word, T* value, int base = 10) {
    return in_.ExpectPunctuation(word) && in_.ReadNumber(value, "a number", base);
  }
  bool Token(std::string_view word, std::string* value) {
    std::string_view token;
    if (!in_.ExpectPunctuation(word) || !in_.ReadToken(&token, "a name")) return false;
    *value = token;
    return true;
  }

  LineCursor& in_;
};

using ObjectBody = decltype(Object::body);
template <class E>
ObjectBody Blank() {
  return E{};
}
// Mss and wscale are given: what else there may be, the line does not say.
template <>
ObjectBody Blank<Synproxy>() {
  return Synproxy{.mss = 0, .wscale = 0, .flags = 3};
}

struct ObjectKind {
  std::string_view word;
  ObjectType type;
  ObjectBody (*blank)();
  std::string_view lost;
};
constexpr ObjectKind kObjectKinds[] = {
    {"counter", ObjectType::kCounter, Blank<Counter>, ""},
    {"quota", ObjectType::kQuota, Blank<Quota>, ""},
    {"limit", ObjectType::kLimit, Blank<Limit>, ""},
    {"connlimit", ObjectType::kConnlimit, Blank<Connlimit>, ""},
    {"ct_helper", ObjectType::kCtHelper, Blank<CtHelperObject>, ""},
    {"ct_timeout", ObjectType::kCtTimeout, Blank<CtTimeoutObject>, ""},
    {"ct_expect", ObjectType::kCtExpect, Blank<CtExpectObject>, ""},
    {"secmark", ObjectType::kSecmark, Blank<SecmarkObject>, ""},
    {"synproxy", ObjectType::kSynproxy, Blank<Synproxy>, "the flags (neither sack-perm nor timestamp is assumed)"},
    {"tunnel", ObjectType::kTunnel, Blank<TunnelObject>, "the addresses (none are assumed)"},
};

}  // namespace

bool LineParser::ReadChainLine(Family family, std::string_view table, std::string_view name) {
  const SourcePos where = in_.here();
  uint32_t use = 0;
  in_.AcceptToken("use");
  if (!in_.ReadNumber(&use, "a number of uses")) return false;
  Chain read;
  if (in_.AcceptToken("type") && !ReadBase(family, read)) return false;
  if (in_.AcceptToken("flags") && !in_.ReadNumber(&read.flags, "the flags of the chain", 16)) return false;
  uint32_t id = 0;
  if (in_.AcceptToken("id") && !in_.ReadNumber(&id, "the id of the chain", 16)) return false;
  if (!in_.ExpectEnd()) return false;
  if (table == kNoName || name == kNoName) return true;  // Nobody can tell which one it is.
  RawTable& owner = builder_.TableByName(family, table);
  Chain& chain = owner.ChainByName(name, where);
  owner.undeclared_chains.erase(owner.chain_index.at(std::string(name)));
  if (chain.base || (read.base && !chain.rules.empty() && chain.flags != 0)) {
    return in_.FailAt(where, absl::StrCat("chain ", chain.name, " is declared twice"));
  }
  chain.base = std::move(read.base);
  chain.flags = read.flags | (chain.base ? kChainBase : 0);
  return true;
}

// `filter hook input prio 0 [policy drop] packets 0 bytes 0 [dev NAME] [dev { NAMES }]`
bool LineParser::ReadBase(Family family, Chain& chain) {
  BaseChain& base = chain.base.emplace();
  std::string_view word;
  if (!in_.ReadWord(&word, "the type of the chain")) return false;
  if (word == "nat") {
    base.type = ChainType::kNat;
  } else if (word == "route") {
    base.type = ChainType::kRoute;
  } else if (word != "filter") {
    return in_.Fail(absl::StrCat("`", std::string(word), "` is no type of chain: filter, nat or route is expected"));
  }
  if (!in_.ExpectPunctuation("hook") || !in_.ReadWord(&word, "a hook")) return false;
  const std::optional<uint8_t> hook = HookOfLine(family, word);
  if (!hook) return in_.Fail(absl::StrCat("`", std::string(word), "` is no hook of the family"));
  base.hook = *hook;
  base.registration = ++registrations_;
  if (!in_.ExpectPunctuation("prio") || !in_.ReadNumber(&base.priority, "a priority")) return false;
  if (in_.AcceptToken("policy")) {
    if (!in_.ReadWord(&word, "a policy")) return false;
    if (word != "accept" && word != "drop") return in_.Fail("expected the policy accept or drop");
    base.policy = word == "drop" ? VerdictCode::kDrop : VerdictCode::kAccept;
  }
  uint64_t number = 0;
  if (!in_.ExpectPunctuation("packets") || !in_.ReadNumber(&number, "a number of packets") ||
      !in_.ExpectPunctuation("bytes") || !in_.ReadNumber(&number, "a number of bytes")) {
    return false;
  }
  return ReadDevices(&base.devices);
}

bool LineParser::ReadDevices(std::vector<Device>* devices) {
  while (in_.AcceptToken("dev")) {
    std::string_view name;
    const bool list = in_.AcceptToken("{");
    do {
      if (list && in_.AcceptToken("}")) break;
      if (!in_.ReadToken(&name, list ? "a device or `}`" : "a device")) return false;
      const bool prefix = name.ends_with('*');
      devices->push_back({std::string(name.substr(0, name.size() - (prefix ? 1 : 0))), prefix});
    } while (list);
  }
  return true;
}

bool LineParser::ReadTableOrObjectLine() {
  std::string_view name, word;
  in_.AcceptToken("table");
  if (!in_.ReadToken(&name, "a table")) return false;
  uint64_t number = 0;
  if (!in_.AcceptToken("name")) {
    const SourcePos where = in_.here();
    if (!in_.ReadWord(&word, "a family")) return false;
    const std::optional<Family> family = FamilyFromName(word);
    if (!family) return in_.FailAt(where, absl::StrCat("`", std::string(word), "` is no family"));
    uint32_t flags = 0;
    if (!in_.ExpectPunctuation("flags") || !in_.ReadNumber(&flags, "the flags of the table", 16) ||
        !in_.ExpectPunctuation("use") || !in_.ReadNumber(&number, "a number of uses") ||
        !in_.ExpectPunctuation("handle") || !in_.ReadNumber(&number, "a handle")) {
      return false;
    }
    builder_.TableByName(*family, name).table.flags = flags;
    return in_.ExpectEnd();
  }
  Object object{.userdata = "", .body = Counter{}};
  if (!in_.ReadToken(&word, "an object") || !in_.ExpectPunctuation("use") ||
      !in_.ReadNumber(&number, "a number of uses") || !in_.ExpectPunctuation("[")) {
    return false;
  }
  object.name = word;
  if (!ReadObjectBody(&object) || !in_.ExpectPunctuation("]") || !in_.ExpectEnd()) return false;
  if (name != kNoName && object.name != kNoName) builder_.AddObject(name, std::move(object));
  return true;
}

// `KIND BODY`, up to the closing bracket.
bool LineParser::ReadObjectBody(Object* object) {
  const SourcePos where = in_.here();
  std::string_view kind;
  if (!in_.ReadWord(&kind, "the kind of the object")) return false;
  const ObjectKind* const end = std::end(kObjectKinds);
  const ObjectKind* const known =
      std::find_if(std::begin(kObjectKinds), end, [&](const ObjectKind& row) { return row.word == kind; });
  if (known == end) return in_.FailAt(where, absl::StrCat("`", std::string(kind), "` is no kind of object"));
  object->type = known->type;
  object->body = known->blank();
  if (!std::visit(ObjectReader(in_), object->body)) return false;
  if (!known->lost.empty()) {
    builder_.Lose(where, absl::StrCat("the listing does not print ", std::string(known->lost), " of ", object->name));
  }
  return true;
}

// `flow table TABLE NAME use N size N flags H [hook H prio P [dev { NAMES }]]`
bool LineParser::ReadFlowtableLine() {
  std::string_view table, name, hook;
  Flowtable flowtable;
  uint32_t number = 0;
  in_.AcceptToken("flow");
  if (!in_.ExpectPunctuation("table") || !in_.ReadToken(&table, "a table") || !in_.ReadToken(&name, "a flowtable") ||
      !in_.ExpectPunctuation("use") || !in_.ReadNumber(&number, "a number of uses") || !in_.ExpectPunctuation("size") ||
      !in_.ReadNumber(&number, "a size") || !in_.ExpectPunctuation("flags") ||
      !in_.ReadNumber(&flowtable.flags, "the flags of the flowtable", 16)) {
    return false;
  }
  // The hook is ingress, whatever name its number has in other families.
  if (in_.AcceptToken("hook") && (!in_.ReadWord(&hook, "a hook") || !in_.ExpectPunctuation("prio") ||
                                  !in_.ReadNumber(&flowtable.priority, "a priority"))) {
    return false;
  }
  if (!ReadDevices(&flowtable.devices) || !in_.ExpectEnd()) return false;
  flowtable.name = name;
  if (table != kNoName && name != kNoName) builder_.AddFlowtable(table, std::move(flowtable));
  return true;
}

}  // namespace nftjit::nft
