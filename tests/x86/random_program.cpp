#include "random_program.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/guards.h"
#include "tests/support/random.h"

namespace nftjit::testing {
namespace {

using ir::Op;
using ir::Row;
using nft::CtKey;
using nft::MetaKey;

using ByteString = std::vector<uint8_t>;

std::string ToString(const ByteString& bytes) { return {bytes.begin(), bytes.end()}; }

// What an item may use: values in scope, guards passed.
struct Scope {
  std::vector<uint32_t> values;
  ir::GuardSet guards;
  std::optional<uint32_t> field;  // A value that the rules of a block begin with.
};

class Maker {
 public:
  Maker(uint64_t seed, std::span<const uint8_t> sample, const ProgramShape& shape)
      : random_(seed), sample_(sample.begin(), sample.end()), shape_(shape) {}

  ir::Program Make() {
    const uint32_t chains = 1 + random_.Below(4);
    for (uint32_t i = 0; i < chains; ++i) {
      ir::Chain chain;
      chain.family = nft::Family::kInet;
      chain.table = "t";
      chain.name = "c" + std::to_string(i);
      if (i == 0) {
        chain.base.emplace();
        chain.base->hook = nft::kInput;
      }
      program_.chains.push_back(chain);
    }
    for (uint32_t i = 0; i < chains; ++i) {
      chain_ = i;
      ir::Chain& chain = program_.chains[i];
      chain.first_item = static_cast<uint32_t>(program_.items.size());
      Items(i == 0 ? shape_.rules : random_.Below(6), Scope(), 0);
      chain.item_count = static_cast<uint32_t>(program_.items.size()) - chain.first_item;
    }
    return std::move(program_);
  }

 private:
  void Items(uint32_t rules, const Scope& scope, int depth) {
    field_ = random_.Below(5) * 4;
    ranges_ = random_.OneIn(3);
    while (rules > 0) {
      if (depth < 3 && random_.Percent(shape_.block_percent)) {
        const uint32_t inside = std::min(rules, 1 + random_.Below(depth == 0 ? 40 : 8));
        Block(inside, scope, depth);
        rules -= inside;
      } else {
        Rule(scope);
        --rules;
      }
    }
  }

  uint32_t BeginItem(ir::ItemKind kind) {
    ir::Item item;
    item.kind = kind;
    item.first_row = static_cast<uint32_t>(program_.rows.size());
    program_.items.push_back(item);
    return static_cast<uint32_t>(program_.items.size() - 1);
  }

  void EndRows(uint32_t item) {
    ir::Item& it = program_.items[item];
    it.row_count = static_cast<uint32_t>(program_.rows.size()) - it.first_row;
    it.end = item + 1;
  }

  void Block(uint32_t rules, Scope scope, int depth) {
    const uint32_t item = BeginItem(ir::ItemKind::kBlock);
    for (uint32_t i = random_.Below(shape_.block_values + 1); i > 0; --i) Value(scope, 0);
    if (random_.OneIn(3)) Guard(scope, RandomGuard());
    if (random_.OneIn(2)) Test(scope);
    if (random_.OneIn(4)) Value(scope, 0);
    if (shape_.columns) scope.field = BlockField(scope);
    EndRows(item);
    Items(rules, scope, depth + 1);
    program_.items[item].end = static_cast<uint32_t>(program_.items.size());
  }

  void Rule(Scope scope) {
    const uint32_t item = BeginItem(ir::ItemKind::kRule);
    ir::RuleInfo info;
    info.chain = ir::ChainId(chain_);
    info.handle = program_.rules.size() + 1;
    program_.items[item].rule = ir::RuleId(static_cast<uint32_t>(program_.rules.size()));
    program_.rules.push_back(info);
    if (shape_.columns && !random_.OneIn(12)) FieldTest(scope);
    for (uint32_t i = random_.Below(shape_.columns ? 2 : 4); i > 0; --i) RuleRow(scope);
    End(scope);
    EndRows(item);
  }

  // As most rules of real rulesets begin: one field of a header against one value.
  void FieldTest(Scope& scope) {
    const auto comparison = FieldComparison();
    if (scope.field && !random_.OneIn(8)) {
      Comparison(scope, Piece(scope, *scope.field), comparison);
      if (random_.OneIn(2)) Guard(scope, {ir::GuardKind::kRoomNetwork, field_ + 4});
      return;
    }
    const uint8_t length = random_.Pick<uint8_t>({4, 4, 4, 4, 2, 1, 3, 8, 16});
    const uint32_t offset = field_ + (length < 3 && random_.OneIn(2) ? 4 - length : 0);
    const auto guard = random_.OneIn(20) ? ir::GuardKind::kUnfragmented : ir::GuardKind::kRoomNetwork;
    if (guard == ir::GuardKind::kUnfragmented) Guard(scope, {guard, 0});
    Guard(scope, {ir::GuardKind::kRoomNetwork, offset + length});
    Row load{Op::kLoad, length, static_cast<uint8_t>(ir::Base::kNetwork), 0, offset};
    Comparison(scope, Piece(scope, Define(scope, load)), comparison);
  }

  ir::Comparison FieldComparison() {
    if (ranges_) return static_cast<ir::Comparison>(random_.Below(8));
    return random_.OneIn(4) ? ir::Comparison::kNeq : ir::Comparison::kEq;
  }

  // Sometimes only a part of a field, or some bits of it.
  uint32_t Piece(Scope& scope, uint32_t value) {
    const uint8_t length = program_.rows[value].length;
    if (random_.OneIn(6)) return Logic(scope, value);
    if (length == 1 || !random_.OneIn(6)) return value;
    const uint32_t offset = random_.Below(length);
    const auto part = static_cast<uint8_t>(1 + random_.Below(std::min(4U, length - offset)));
    ByteString known;
    if (!known_[value].empty()) known.assign(known_[value].begin() + offset, known_[value].begin() + offset + part);
    return Define(scope, {Op::kSlice, part, 0, 0, value, offset}, known);
  }

  // A value that reads zeros outside the packet, or metadata.
  std::optional<uint32_t> BlockField(Scope& scope) {
    if (random_.OneIn(3)) return std::nullopt;
    if (random_.OneIn(4)) return Meta(scope);
    const uint8_t length = random_.Pick<uint8_t>({4, 4, 4, 2, 1, 8, 16});
    return Define(scope, {Op::kLoad, length, static_cast<uint8_t>(ir::Base::kNetwork), ir::kOrZero, field_});
  }

  void RuleRow(Scope& scope) {
    switch (random_.Below(16)) {
      case 0:
        return Action(Op::kCount, NewCounter());
      case 1:
        return Action(Op::kLimit, NewLimit());
      case 2:
        return Action(Op::kLog, NewLog());
      case 3:
        return SetMeta(scope);
      case 4:
        return Lookup(scope);
      case 5:
        return VerdictMap(scope);
      case 6:
        return Guard(scope, RandomGuard());
      case 7:
        Value(scope, 0);
        return;
      default:
        return Test(scope);
    }
  }

  void End(Scope& scope) {
    switch (random_.Below(12)) {
      case 0:
        return;  // Goes on.
      case 1:
      case 2:
        return Action(Op::kCount, NewCounter());
      case 3:
        return VerdictMap(scope);
      case 4:
        Append({Op::kReject, 0, static_cast<uint8_t>(nft::RejectType::kIcmp), 0, random_.Below(16)});
        return;
      case 5:
        return Transfer();
      case 6:
        return EndWith(nft::VerdictCode::kReturn);
      case 7:
        return EndWith(random_.OneIn(2) ? nft::VerdictCode::kContinue : nft::VerdictCode::kBreak);
      default:
        if (random_.OneIn(2)) Action(Op::kCount, NewCounter());
        return EndWith(random_.OneIn(2) ? nft::VerdictCode::kDrop : nft::VerdictCode::kAccept);
    }
  }

  void EndWith(nft::VerdictCode code) { Append({Op::kVerdict, 0, static_cast<uint8_t>(static_cast<int8_t>(code))}); }

  void Transfer() {
    if (chain_ + 1 == program_.chains.size()) return EndWith(nft::VerdictCode::kAccept);
    const auto code = random_.OneIn(3) ? nft::VerdictCode::kGoto : nft::VerdictCode::kJump;
    Append({Op::kVerdict, 0, static_cast<uint8_t>(static_cast<int8_t>(code)), 0, LaterChain()});
  }

  uint32_t LaterChain() { return random_.Between(chain_ + 1, static_cast<uint32_t>(program_.chains.size()) - 1); }

  // --- rows

  uint32_t Append(Row row) {
    program_.rows.push_back(row);
    program_.origins.push_back({});
    known_.emplace_back();
    return static_cast<uint32_t>(program_.rows.size() - 1);
  }
  void Action(Op op, uint32_t a) { Append({op, 0, 0, 0, a}); }

  uint32_t Define(Scope& scope, Row row, ByteString known = {}) {
    if (row.op == Op::kLoad && row.base() != ir::Base::kLink && row.base() != ir::Base::kInner) {
      const uint32_t start = row.a + (row.base() == ir::Base::kTransport ? 20 : 0);
      if (start + row.length <= sample_.size()) {
        known.assign(sample_.begin() + start, sample_.begin() + start + row.length);
      }
    }
    const uint32_t id = Append(row);
    known_[id] = std::move(known);
    scope.values.push_back(id);
    return id;
  }

  uint32_t Constant(const ByteString& bytes) { return program_.constants.Intern(bytes).index; }
  ByteString SomeBytes(size_t length) {
    ByteString bytes(length);
    for (uint8_t& byte : bytes) byte = random_.OneIn(3) ? random_.Byte() : random_.Pick<uint8_t>({0, 0xff, 1, 0x80});
    return bytes;
  }

  void Guard(Scope& scope, ir::Requirement guard) {
    if (scope.guards.Covers(guard.kind, guard.number) && !random_.OneIn(3)) return;
    Append({Op::kGuard, 0, static_cast<uint8_t>(guard.kind), 0, guard.number});
    scope.guards.Add(guard.kind, guard.number);
  }

  ir::Requirement RandomGuard() {
    switch (random_.Below(9)) {
      case 0:
        return {ir::GuardKind::kUnfragmented, 0};
      case 1:
        return {ir::GuardKind::kL4, 0};
      case 2:
        return {ir::GuardKind::kIif, 0};
      case 3:
        return {ir::GuardKind::kOif, 0};
      case 4:
        return {ir::GuardKind::kCtEntry, 0};
      case 5:
        return {ir::GuardKind::kMetaKnown, static_cast<uint32_t>(random_.Pick({MetaKey::kSkuid, MetaKey::kIifkind}))};
      case 6:
        return {ir::GuardKind::kCtKnown, ir::CtKnownNumber(random_.Pick({CtKey::kHelper, CtKey::kSrcIp}), 0)};
      default:
        return {static_cast<ir::GuardKind>(random_.Below(4)), random_.Below(44)};
    }
  }

  uint32_t Value(Scope& scope, int depth) {
    if (!scope.values.empty() && random_.OneIn(depth == 0 ? 4 : 2)) return random_.PickFrom(scope.values);
    const uint32_t choice = random_.Below(depth < 3 ? 20 : 8);
    if (choice < 5) return Load(scope);
    if (choice == 5) return Meta(scope);
    if (choice == 6) return Ct(scope);
    if (choice == 7) return Other(scope);
    return Derived(scope, depth);
  }

  uint32_t Load(Scope& scope) {
    Row row{Op::kLoad, random_.Pick<uint8_t>({1, 2, 4, 4, 8, 16, 3, 5, 6, 7, 9, 12, 20, 40}),
            static_cast<uint8_t>(
                random_.Pick({ir::Base::kNetwork, ir::Base::kNetwork, ir::Base::kNetwork, ir::Base::kTransport,
                              ir::Base::kTransport, ir::Base::kLink, ir::Base::kInner})),
            0, random_.Below(20)};
    if (random_.OneIn(5)) {
      row.flags = ir::kOrZero;
      row.a += random_.OneIn(2) ? 20 : 0;
    } else {
      Require(scope, row);
    }
    return Define(scope, row);
  }

  void Require(Scope& scope, const Row& row) {
    for (const ir::Requirement& guard : ir::RequiredGuards(row)) {
      if (!scope.guards.Covers(guard.kind, guard.number)) Guard(scope, guard);
    }
  }

  uint32_t Meta(Scope& scope) {
    for (;;) {
      const auto key = static_cast<MetaKey>(random_.Below(nft::kMetaKeyCount));
      // Whether an unused random number is drawn is the engine's affair; bridges' facts are never known.
      if (key == MetaKey::kPrandom || ir::MetaLoadLength(key) == 0) continue;
      const Row row{Op::kMeta, ir::MetaLoadLength(key), static_cast<uint8_t>(key)};
      Require(scope, row);
      return Define(scope, row);
    }
  }

  uint32_t Ct(Scope& scope) {
    for (;;) {
      const auto key = static_cast<CtKey>(random_.Below(nft::kCtKeyCount));
      const uint8_t length = nft::CtLength(key, nft::Family::kInet);
      if (length == 0) continue;
      const bool tuple = (key >= CtKey::kSrc && key <= CtKey::kDst) ||
                         (key >= CtKey::kProtoSrc && key <= CtKey::kProtoDst) ||
                         (key >= CtKey::kSrcIp && key <= CtKey::kDstIp6);
      const bool either = key >= CtKey::kPackets && key <= CtKey::kAvgpkt;
      const uint8_t direction =
          tuple || (either && random_.OneIn(2)) ? static_cast<uint8_t>(random_.Below(2)) : ir::kNoDirection;
      const Row row{Op::kCt, length, static_cast<uint8_t>(key), direction};
      Require(scope, row);
      return Define(scope, row);
    }
  }

  uint32_t Other(Scope& scope) {
    const auto length = static_cast<uint8_t>(1 + random_.Below(16));
    switch (random_.Below(4)) {
      case 0: {
        const ByteString bytes = SomeBytes(length);
        return Define(scope, {Op::kConst, length, 0, 0, Constant(bytes)}, bytes);
      }
      case 1:
        return Define(scope, {Op::kStale, length}, ByteString(length));
      case 2: {
        const bool present = random_.OneIn(2);
        const auto op = random_.Pick({nft::ExthdrOp::kTcpOption, nft::ExthdrOp::kIpv6, nft::ExthdrOp::kIpv4});
        const uint32_t type = op == nft::ExthdrOp::kTcpOption ? 2 : op == nft::ExthdrOp::kIpv6 ? 0 : 7;
        return Define(scope, {Op::kExthdr, static_cast<uint8_t>(present ? 1 : 2), static_cast<uint8_t>(op),
                              present ? ir::kPresent : uint8_t{0}, type, present ? 0U : 2U});
      }
      default:
        return Map(scope);
    }
  }

  uint32_t Derived(Scope& scope, int depth) {
    const uint32_t a = Value(scope, depth + 1);
    const uint8_t length = program_.rows[a].length;
    switch (random_.Below(9)) {
      case 0:
      case 1:
      case 2:
        return Logic(scope, a);
      case 3:
        return LogicOfValues(scope, a);
      case 4:
        if (length % 4 != 0) return Logic(scope, a);
        return Define(scope, {random_.OneIn(2) ? Op::kShl : Op::kShr, length, 0, 0, a, random_.Between(1, 31)});
      case 5: {
        const uint8_t size = random_.Pick<uint8_t>({2, 4, 8});
        if (length % size != 0) return Logic(scope, a);
        return Define(scope, {Op::kSwap, length, size, 0, a});
      }
      case 6: {
        const uint32_t b = Value(scope, depth + 1);
        if (length + program_.rows[b].length > 64) return a;
        ByteString known = known_[a];
        if (known_[b].empty()) known.clear();
        if (!known.empty()) known.insert(known.end(), known_[b].begin(), known_[b].end());
        return Define(scope, {Op::kConcat, static_cast<uint8_t>(length + program_.rows[b].length), 0, 0, a, b}, known);
      }
      case 7: {
        const uint32_t offset = random_.Below(length);
        const auto part = static_cast<uint8_t>(1 + random_.Below(length - offset));
        ByteString known;
        if (!known_[a].empty()) known.assign(known_[a].begin() + offset, known_[a].begin() + offset + part);
        return Define(scope, {Op::kSlice, part, 0, 0, a, offset}, known);
      }
      default: {
        const auto longer = static_cast<uint8_t>(std::min(64U, length + random_.Below(8)));
        ByteString known = known_[a];
        if (!known.empty()) known.resize(longer);
        return Define(scope, {Op::kZext, longer, 0, 0, a}, known);
      }
    }
  }

  static ByteString Apply(Op op, ByteString a, const ByteString& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      if (op == Op::kAnd || op == Op::kAndValue) a[i] &= b[i];
      if (op == Op::kOr || op == Op::kOrValue) a[i] |= b[i];
      if (op == Op::kXor || op == Op::kXorValue) a[i] ^= b[i];
    }
    return a;
  }

  uint32_t Logic(Scope& scope, uint32_t a) {
    const Op op = random_.Pick({Op::kAnd, Op::kAnd, Op::kOr, Op::kXor});
    const uint8_t length = program_.rows[a].length;
    const ByteString bits = SomeBytes(length);
    const ByteString known = known_[a].empty() ? ByteString() : Apply(op, known_[a], bits);
    return Define(scope, {op, length, 0, 0, a, Constant(bits)}, known);
  }

  uint32_t LogicOfValues(Scope& scope, uint32_t a) {
    const uint8_t length = program_.rows[a].length;
    for (const uint32_t b : scope.values) {
      if (program_.rows[b].length != length || (b == a && !random_.OneIn(4))) continue;
      const Op op = random_.Pick({Op::kAndValue, Op::kOrValue, Op::kXorValue});
      const bool both = !known_[a].empty() && !known_[b].empty();
      return Define(scope, {op, length, 0, 0, a, b}, both ? Apply(op, known_[a], known_[b]) : ByteString());
    }
    return Logic(scope, a);
  }

  // --- tests

  void Test(Scope& scope) {
    const uint32_t value = Value(scope, 0);
    Comparison(scope, value, static_cast<ir::Comparison>(random_.Below(8)));
  }

  // A value that the sample's nearly is: it, or with one bit or the last byte changed.
  ByteString Near(const ByteString& known) {
    ByteString bytes = known;
    switch (random_.Below(4)) {
      case 0:
        bytes[random_.Below(static_cast<uint32_t>(bytes.size()))] ^= static_cast<uint8_t>(1U << random_.Below(8));
        break;
      case 1:
        bytes.back() = static_cast<uint8_t>(bytes.back() + random_.Between(255, 257));
        break;
      default:
        break;
    }
    return bytes;
  }

  void Comparison(Scope& /*scope*/, uint32_t value, ir::Comparison comparison) {
    const uint8_t length = program_.rows[value].length;
    const bool equality = comparison == ir::Comparison::kEq || comparison == ir::Comparison::kNeq;
    Row row{Op::kTest, 0, static_cast<uint8_t>(comparison), 0, value};
    if ((length == 1 || length == 2 || length == 4 || length == 8) && random_.OneIn(4)) row.flags = ir::kNative;
    const bool is_known = !known_[value].empty();
    ByteString mask(length, 0xff);
    if (random_.OneIn(2)) mask = RandomMask(length, is_known);
    const bool masked =
        std::any_of(mask.begin(), mask.end(), [](uint8_t byte) { return byte != 0xff; }) || random_.OneIn(8);
    if (masked) row.c = Constant(mask);
    ByteString low = is_known ? Near(known_[value]) : SomeBytes(length);
    ByteString high = is_known ? Near(known_[value]) : SomeBytes(length);
    if (!random_.OneIn(20)) {
      low = Apply(Op::kAnd, low, mask);
      if (equality) high = Apply(Op::kAnd, high, mask);
    }
    if (comparison == ir::Comparison::kIn || comparison == ir::Comparison::kNotIn) {
      if (high < low && !random_.OneIn(10)) std::swap(low, high);
      low.insert(low.end(), high.begin(), high.end());
    }
    row.b = Constant(low);
    Append(row);
  }

  ByteString RandomMask(size_t length, bool is_known) {
    ByteString mask(length);
    if (is_known && random_.OneIn(2)) {  // A prefix.
      const auto bits = random_.Below(static_cast<uint32_t>(length * 8) + 1);
      for (uint32_t i = 0; i < bits; ++i) mask[i / 8] |= static_cast<uint8_t>(0x80U >> i % 8);
      return mask;
    }
    // Few bits, so that an unknown value has a chance.
    for (uint32_t i = random_.Below(4); i > 0; --i) {
      mask[random_.Below(static_cast<uint32_t>(length))] |= static_cast<uint8_t>(1U << random_.Below(8));
    }
    if (random_.OneIn(4)) mask = SomeBytes(length);
    return mask;
  }

  // --- sets

  void Lookup(Scope& scope) {
    const uint32_t key = Value(scope, 0);
    Append({Op::kLookup, 0, 0, random_.OneIn(3) ? ir::kNegated : uint8_t{0}, key, NewSet(key, 0, false)});
  }

  uint32_t Map(Scope& scope) {
    const uint32_t key = Value(scope, 2);
    const auto length = static_cast<uint8_t>(1 + random_.Below(16));
    return Define(scope, {Op::kMap, length, 0, 0, key, NewSet(key, length, false)});
  }

  void VerdictMap(Scope& scope) {
    const uint32_t key = Value(scope, 0);
    Append({Op::kVerdictMap, 0, 0, 0, key, NewSet(key, 0, true)});
  }

  uint32_t NewSet(uint32_t key, uint8_t data_length, bool verdicts) {
    ir::SetInfo set;
    set.family = nft::Family::kInet;
    set.table = "t";
    set.name = "s" + std::to_string(program_.sets.size());
    set.key_len = program_.rows[key].length;
    set.data_len = data_length;
    set.verdict_map = verdicts;
    set.kind = random_.OneIn(2) ? ir::SetKind::kExact : ir::SetKind::kInterval;
    std::vector<std::string> keys;
    for (uint32_t i = random_.Below(5); i > 0; --i) keys.push_back(ToString(SomeBytes(set.key_len)));
    if (!known_[key].empty()) keys.push_back(ToString(Near(known_[key])));
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    for (size_t i = 0; i < keys.size(); ++i) {
      ir::SetElement element = NewElement(data_length, verdicts);
      element.key = keys[i];
      if (set.kind == ir::SetKind::kInterval) {
        element.key_end = keys[i];
        if (i + 1 < keys.size() && random_.OneIn(3)) element.key_end = keys[++i];
      }
      set.elements.push_back(element);
    }
    if (random_.OneIn(3)) set.catchall = NewElement(data_length, verdicts);
    program_.sets.push_back(set);
    return static_cast<uint32_t>(program_.sets.size() - 1);
  }

  ir::SetElement NewElement(uint8_t data_length, bool verdicts) {
    ir::SetElement element;
    element.data = ToString(SomeBytes(data_length));
    if (random_.OneIn(4)) element.counters.push_back(ir::CounterId(NewCounter()));
    if (random_.OneIn(6)) element.limits.push_back(ir::LimitId(NewLimit()));
    element.counters_first = random_.OneIn(2);
    if (!verdicts) return element;
    const bool last = chain_ + 1 == program_.chains.size();
    element.verdict = random_.Pick({nft::VerdictCode::kAccept, nft::VerdictCode::kDrop, nft::VerdictCode::kContinue,
                                    nft::VerdictCode::kContinue, nft::VerdictCode::kBreak, nft::VerdictCode::kReturn,
                                    nft::VerdictCode::kJump, nft::VerdictCode::kJump, nft::VerdictCode::kGoto});
    const bool transfer = element.verdict == nft::VerdictCode::kJump || element.verdict == nft::VerdictCode::kGoto;
    if (transfer && last) element.verdict = nft::VerdictCode::kAccept;
    if (transfer && !last) element.chain = ir::ChainId(LaterChain());
    return element;
  }

  // --- state

  uint32_t NewCounter() {
    program_.counters.push_back({});
    return static_cast<uint32_t>(program_.counters.size() - 1);
  }
  uint32_t NewLimit() {
    ir::LimitInfo limit;
    limit.rate = 1 + random_.Below(1000);
    limit.unit_s = random_.Pick({1, 3600});
    limit.burst = random_.Below(4);
    limit.type = random_.OneIn(2) ? nft::LimitType::kPackets : nft::LimitType::kBytes;
    if (limit.type == nft::LimitType::kPackets && limit.burst == 0) limit.burst = 5;
    limit.inverted = random_.OneIn(3);
    program_.limits.push_back(limit);
    return static_cast<uint32_t>(program_.limits.size() - 1);
  }
  uint32_t NewLog() {
    program_.logs.push_back({program_.items.back().rule, {}});
    return static_cast<uint32_t>(program_.logs.size() - 1);
  }

  void SetMeta(Scope& scope) {
    const auto key =
        random_.Pick({MetaKey::kMark, MetaKey::kMark, MetaKey::kPriority, MetaKey::kSecmark, MetaKey::kPkttype});
    const uint8_t length = key == MetaKey::kPkttype ? 1 : 4;
    std::vector<uint32_t> fitting;
    for (const uint32_t value : scope.values) {
      if (program_.rows[value].length == length) fitting.push_back(value);
    }
    uint32_t value = 0;
    if (fitting.empty()) {
      ByteString bytes(length);
      bytes[0] = static_cast<uint8_t>(random_.Below(4));
      value = Define(scope, {Op::kConst, length, 0, 0, Constant(bytes)}, bytes);
    } else {
      value = random_.PickFrom(fitting);
    }
    Append({Op::kSetMeta, 0, static_cast<uint8_t>(key), 0, value});
  }

  Random random_;
  ByteString sample_;
  ProgramShape shape_;
  ir::Program program_;
  std::vector<ByteString> known_;  // By row: the value's bytes for the sample; empty: not worked out.
  uint32_t chain_ = 0;
  uint32_t field_ = 0;   // Offset of what rules of a column look at.
  bool ranges_ = false;  // Whether they compare by order.
};

}  // namespace

ir::Program RandomProgram(uint64_t seed, std::span<const uint8_t> sample, const ProgramShape& shape) {
  return Maker(seed, sample, shape).Make();
}

}  // namespace nftjit::testing
