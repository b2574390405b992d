#include "lib/nft/value_types.h"

#include <algorithm>

namespace nftjit::nft {
namespace {

// A single byte that is combined with longer constants is a small native integer.
constexpr ValueType Memory(uint8_t len) { return {len, len == 1 ? ByteOrder::kHost : ByteOrder::kMemory}; }
constexpr ValueType Host(uint8_t len) { return {len, ByteOrder::kHost}; }
constexpr ValueType kByte = Host(1);
constexpr ValueType kAddress = {};  // Of the table's family.
constexpr ValueType kNameType = {16, ByteOrder::kMemory, Beginnings::kNames};
constexpr ValueType Prefix(uint8_t len) { return {len, ByteOrder::kMemory, Beginnings::kPrefixes}; }

// nft's types of meta keys; where the register check counts more bytes (l4proto), the rest is zero.
constexpr std::array<ValueType, kMetaKeyCount> kMetaTypes = {
    Host(4),    // len
    Memory(2),  // protocol
    Host(4),    // priority
    Host(4),    // mark
    Host(4),    // iif
    Host(4),    // oif
    kNameType,  // iifname
    kNameType,  // oifname
    Host(2),    // iiftype
    Host(2),    // oiftype
    Host(4),    // skuid
    Host(4),    // skgid
    kByte,      // nftrace
    Host(4),    // rtclassid
    Host(4),    // secmark
    kByte,      // nfproto
    kByte,      // l4proto
    kNameType,  // bri_iifname
    kNameType,  // bri_oifname
    kByte,      // pkttype
    Host(4),    // cpu
    Host(4),    // iifgroup
    Host(4),    // oifgroup
    Host(4),    // cgroup
    Memory(4),  // prandom: nft gives it an order so as not to convert it
    kByte,      // secpath
    kNameType,  // iifkind
    kNameType,  // oifkind
    Host(2),    // bri_iifpvid
    Memory(2),  // bri_iifvproto
    Host(8),    // time
    kByte,      // day
    Host(4),    // hour
    Host(4),    // sdif
    kNameType,  // sdifname
    kByte,      // broute
    Memory(6),  // ibrhwaddr
};

constexpr std::array<ValueType, kCtKeyCount> kCtTypes = {
    Host(4),     // state
    kByte,       // direction
    Host(4),     // status
    Host(4),     // mark
    Host(4),     // secmark
    Host(4),     // expiration
    kNameType,   // helper
    kByte,       // l3protocol
    kAddress,    // src
    kAddress,    // dst
    kByte,       // protocol
    Memory(2),   // proto_src
    Memory(2),   // proto_dst
    Host(16),    // label
    Host(8),     // packets
    Host(8),     // bytes
    Host(8),     // avgpkt
    Host(2),     // zone
    Host(4),     // event
    Prefix(4),   // src_ip
    Prefix(4),   // dst_ip
    Prefix(16),  // src_ip6
    Prefix(16),  // dst_ip6
    Memory(4),   // id
};

constexpr ValueType kRtTypes[] = {Host(4), Prefix(4), Prefix(16), Host(2), kByte};
constexpr ValueType kSocketTypes[] = {kByte, Host(4), kByte, Host(8)};
constexpr ValueType kXfrmTypes[] = {{}, Prefix(4), Prefix(16), Prefix(4), Prefix(16), Host(4), Memory(4)};
constexpr ValueType kTunnelTypes[] = {kByte, Host(4)};
constexpr ValueType kFibTypes[] = {{}, Host(4), kNameType, Host(4)};

template <class Table>
ValueType Pick(const Table& types, size_t index) {
  return index < std::size(types) ? types[index] : ValueType{};
}

ValueType Address(Family family) {
  if (family == Family::kIp || family == Family::kArp) return Memory(4);
  return family == Family::kIp6 ? Memory(16) : ValueType{0, ByteOrder::kMemory};
}

ValueType Typed(MetaKey key) { return Pick(kMetaTypes, static_cast<size_t>(key)); }
ValueType Typed(CtKey key, Family family) {
  const ValueType type = Pick(kCtTypes, static_cast<size_t>(key));
  return type == kAddress ? Prefix(CtLength(key, family)) : type;
}
ValueType Typed(const ExthdrLoad& e) { return (e.flags & 1) != 0 ? kByte : Memory(e.len); }
ValueType Typed(const Fib& e) {
  constexpr uint32_t kPresent = 32;
  return (e.flags & kPresent) != 0 ? kByte : Pick(kFibTypes, e.result);
}

// What an expression stores beside immediates, map data, and what depends on other registers.
struct Stored {
  std::optional<Register> dreg;
  ValueType type;
};
struct StoredBy {
  Family family;
  Stored operator()(const Immediate& e) const { return {e.dreg, {}}; }
  Stored operator()(const Lookup& e) const { return {e.dreg, {}}; }
  Stored operator()(const Bitwise& e) const { return {e.dreg, {e.len, ByteOrder::kUnknown}}; }
  Stored operator()(const Byteorder& e) const {
    return {e.dreg, e.op == ByteorderOp::kHton ? Memory(e.len) : Host(e.len)};
  }
  Stored operator()(const PayloadLoad& e) const { return {e.dreg, Memory(e.len)}; }
  Stored operator()(const Inner& e) const { return e.nested ? std::visit(*this, e.nested->body) : Stored{}; }
  Stored operator()(const MetaLoad& e) const { return {e.dreg, Typed(e.key)}; }
  Stored operator()(const CtLoad& e) const { return {e.dreg, Typed(e.key, family)}; }
  Stored operator()(const Socket& e) const { return {e.dreg, Pick(kSocketTypes, e.key)}; }
  Stored operator()(const ExthdrLoad& e) const { return {e.dreg, Typed(e)}; }
  Stored operator()(const Rt& e) const { return {e.dreg, Pick(kRtTypes, e.key)}; }
  Stored operator()(const Fib& e) const { return {e.dreg, Typed(e)}; }
  Stored operator()(const Osf& e) const { return {e.dreg, kNameType}; }
  Stored operator()(const Xfrm& e) const { return {e.dreg, Pick(kXfrmTypes, e.key)}; }
  Stored operator()(const Tunnel& e) const { return {e.dreg, Pick(kTunnelTypes, e.key)}; }
  Stored operator()(const Numgen& e) const { return {e.dreg, Host(4)}; }
  Stored operator()(const Hash& e) const { return {e.dreg, Host(4)}; }
  Stored operator()(const auto&) const { return {}; }
};

// Calls `visit(Register, ValueType)` for each register that is read, with what is wanted there.
template <class Visit>
struct Reads {
  Family family;
  Visit visit;

  void operator()(const Cmp& e) const { visit(e.sreg, ValueType{}); }
  void operator()(const Range& e) const { visit(e.sreg, ValueType{}); }
  void operator()(const Bitwise& e) const {
    visit(e.sreg, ValueType{});
    if (e.sreg2) visit(*e.sreg2, ValueType{});
  }
  void operator()(const Byteorder& e) const { visit(e.sreg, e.op == ByteorderOp::kHton ? Host(e.len) : Memory(e.len)); }
  void operator()(const PayloadStore& e) const { visit(e.sreg, Memory(e.len)); }
  void operator()(const MetaStore& e) const { visit(e.sreg, Typed(e.key)); }
  void operator()(const CtStore& e) const { visit(e.sreg, Typed(e.key, family)); }
  void operator()(const Lookup& e) const { visit(e.sreg, ValueType{}); }
  void operator()(const Dynset& e) const {
    visit(e.sreg_key, ValueType{});
    if (e.sreg_data) visit(*e.sreg_data, ValueType{});
  }
  void operator()(const ObjectMapRef& e) const { visit(e.sreg, ValueType{}); }
  void operator()(const Nat& e) const {
    Optional(e.addr_min, Address(e.family));
    Optional(e.addr_max, Address(e.family));
    Ports(e);
  }
  void operator()(const Masquerade& e) const { Ports(e); }
  void operator()(const Redirect& e) const { Ports(e); }
  void operator()(const Dup& e) const {
    Optional(e.sreg_addr, Address(family));
    Optional(e.sreg_dev, Host(4));
  }
  void operator()(const Fwd& e) const {
    visit(e.sreg_dev, Host(4));
    Optional(e.sreg_addr, Address(static_cast<Family>(e.nfproto.value_or(0))));
  }
  void operator()(const Tproxy& e) const {
    Optional(e.addr, Address(e.family == Family::kUnspec ? family : e.family));
    Optional(e.port, Memory(2));
  }
  void operator()(const ExthdrStore& e) const { visit(e.sreg, Memory(e.len)); }
  void operator()(const Hash& e) const { Optional(e.sreg, {static_cast<uint8_t>(e.len), ByteOrder::kUnknown}); }
  void operator()(const Queue& e) const { Optional(e.sreg_qnum, Host(2)); }
  void operator()(const auto&) const {}

 private:
  void Optional(const std::optional<Register>& reg, const ValueType& type) const {
    if (reg) visit(*reg, type);
  }
  template <class E>
  void Ports(const E& e) const {
    Optional(e.proto_min, Memory(2));
    Optional(e.proto_max, Memory(2));
  }
};

// Both begin at one word: registers of 16 and of 4 bytes have several numbers.
bool IsSame(Register a, Register b) { return !a.is_verdict() && !b.is_verdict() && a.word() == b.word(); }

void NoteShape(SetShapes& shapes, const Table& table, Handle handle, const ValueTypes& values, Register key,
               const std::vector<ValueType>& data) {
  const Set* set = table.FindSet(handle);
  if (set == nullptr) return;
  SetShape& shape = shapes[handle];
  if (shape.key.empty()) shape.key = values.From(key, (set->key_len + 3) / 4);
  if (shape.data.empty()) shape.data = data;
}

}  // namespace

std::optional<ValueType> ValueTypes::At(Register reg) const {
  return reg.is_verdict() ? std::nullopt : values_[reg.word()];
}

bool ValueTypes::IsLoaded(Register reg) const {
  if (reg.is_verdict()) return false;
  for (size_t word = 0; word <= reg.word(); ++word) {
    if (values_[word] && word + std::max<size_t>(values_[word]->words(), 1) > reg.word()) return true;
  }
  return false;
}

std::vector<ValueType> ValueTypes::From(Register reg, size_t words) const {
  std::vector<ValueType> fields;
  if (reg.is_verdict()) return fields;
  for (size_t word = reg.word(), end = std::min(word + words, values_.size()); word < end;) {
    const std::optional<ValueType>& value = values_[word];
    if (!value || value->len == 0 || word + value->words() > end) break;
    fields.push_back(*value);
    word += value->words();
  }
  return fields;
}

void ValueTypes::Write(Register reg, const ValueType& type) {
  if (reg.is_verdict()) return;
  const size_t first = reg.word(), end = std::min(first + std::max<size_t>(type.words(), 1), values_.size());
  for (size_t word = 0; word < end; ++word) {
    if (values_[word] && (word >= first || word + values_[word]->words() > first)) values_[word].reset();
  }
  values_[first] = type;
}

void ValueTypes::Apply(const Expression& expression, const ValueType& immediate, std::span<const ValueType> data) {
  Stored stored = std::visit(StoredBy{family_}, expression.body);
  if (!stored.dreg || stored.dreg->is_verdict()) return;
  if (std::holds_alternative<Immediate>(expression.body)) return Write(*stored.dreg, immediate);
  if (std::holds_alternative<Lookup>(expression.body)) {
    for (size_t word = stored.dreg->word(), i = 0; i < data.size() && word < values_.size(); ++i) {
      Write(Register::Word(static_cast<uint8_t>(word)), data[i]);
      word += std::max<size_t>(data[i].words(), 1);
    }
    return;
  }
  if (const auto* bitwise = std::get_if<Bitwise>(&expression.body)) {
    if (const std::optional<ValueType> source = At(bitwise->sreg)) stored.type.order = source->order;
  }
  Write(*stored.dreg, stored.type);
}

ValueType WantedType(std::span<const Expression> rest, Register reg, Family family) {
  for (const Expression& expression : rest) {
    std::optional<ValueType> found;
    const auto look = [&](Register read, const ValueType& type) {
      if (!found && IsSame(read, reg)) found = type;
    };
    std::visit(Reads<decltype(look)>{family, look}, expression.body);
    if (found) return *found;
    const Stored stored = std::visit(StoredBy{family}, expression.body);
    if (stored.dreg && IsSame(*stored.dreg, reg)) break;
  }
  return {};
}

std::vector<ValueType> WantedTypes(std::span<const Expression> rest, Register reg, size_t words, Family family) {
  std::vector<ValueType> fields;
  for (size_t word = reg.word(), end = word + words; word < end && word < 16;) {
    ValueType type = WantedType(rest, Register::Word(static_cast<uint8_t>(word)), family);
    if (type.len == 0 || word + type.words() > end) type.len = static_cast<uint8_t>((end - word) * 4);
    fields.push_back(type);
    word += type.words();
  }
  return fields;
}

ValueType OperandType(const ValueTypes& values, std::span<const Expression> rule, size_t at, Family family) {
  const ExpressionBody& body = rule[at].body;
  if (const auto* immediate = std::get_if<Immediate>(&body)) {
    return WantedType(rule.subspan(at + 1), immediate->dreg, family);
  }
  std::optional<ValueType> type;
  if (const auto* cmp = std::get_if<Cmp>(&body)) type = values.At(cmp->sreg);
  if (const auto* range = std::get_if<Range>(&body)) type = values.At(range->sreg);
  if (const auto* bitwise = std::get_if<Bitwise>(&body)) {
    if (bitwise->op == BitwiseOp::kLshift || bitwise->op == BitwiseOp::kRshift) return Host(4);
    type = values.At(bitwise->sreg);
  }
  return type.value_or(ValueType{});
}

SetShapes ShapesOf(const Table& table) {
  SetShapes shapes;
  for (const Chain& chain : table.chains) {
    for (const Rule& rule : chain.rules) {
      ValueTypes values(table.family);
      const std::span<const Expression> all(rule.expressions);
      for (size_t i = 0; i < all.size(); ++i) {
        std::vector<ValueType> data;
        ValueType immediate;
        if (const auto* lookup = std::get_if<Lookup>(&all[i].body)) {
          const Set* set = table.FindSet(lookup->set);
          if (set != nullptr && lookup->dreg && !lookup->dreg->is_verdict()) {
            data = WantedTypes(all.subspan(i + 1), *lookup->dreg, (set->data_len + 3) / 4, table.family);
          }
          NoteShape(shapes, table, lookup->set, values, lookup->sreg, data);
        } else if (const auto* dynset = std::get_if<Dynset>(&all[i].body)) {
          const Set* set = table.FindSet(dynset->set);
          if (set != nullptr && dynset->sreg_data) data = values.From(*dynset->sreg_data, (set->data_len + 3) / 4);
          NoteShape(shapes, table, dynset->set, values, dynset->sreg_key, data);
        } else if (const auto* map = std::get_if<ObjectMapRef>(&all[i].body)) {
          NoteShape(shapes, table, map->set, values, map->sreg, {});
        } else if (const auto* value = std::get_if<Immediate>(&all[i].body)) {
          immediate = OperandType(values, all, i, table.family);
          immediate.len = static_cast<uint8_t>(value->data.size());
        }
        values.Apply(all[i], immediate, data);
      }
    }
  }
  return shapes;
}

}  // namespace nftjit::nft
