// RaiseRule: tests, actions, verdicts and guards as expressions.
#include <algorithm>

#include "lib/opt/bytes_math.h"
#include "lib/opt/fields.h"
#include "lib/opt/raise.h"
#include "lib/opt/raise_values.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Comparison;
using ir::GuardKind;
using ir::Op;
using ir::Row;
using nft::Register;

// Values are written where they are needed, but for those that may break, which are tests as well, and random ones.
bool MustStandHere(const Row& row) {
  if (row.op == Op::kMeta) return static_cast<nft::MetaKey>(row.key) == nft::MetaKey::kPrandom;
  return (ir::Info(row.op).effects & ir::kBreaks) != 0;
}

bool IsNativeOrder(const Row& test) { return (test.flags & ir::kNative) != 0 && !IsEquality(test.comparison()); }

struct ByteRun {
  size_t offset, length;
};
// The bytes to load instead of masking: one run of whole bytes. Not three, whose compare costs the kernel more.
std::optional<ByteRun> RunOf(ByteSpan mask) {
  size_t begin = 0, end = mask.size();
  while (begin < end && mask[begin] == 0) ++begin;
  while (end > begin && mask[end - 1] == 0) --end;
  const size_t length = end - begin;
  if (length == 0 || length == 3 || length > kConstantBytes) return std::nullopt;
  if (!AllOnes(mask.subspan(begin, length))) return std::nullopt;
  return ByteRun{begin, length};
}

// Whether the bounds in `constant`, `length` bytes each, are zero outside the run.
bool FitsIn(ByteSpan constant, size_t length, const ByteRun& run) {
  for (size_t i = 0; i < constant.size(); ++i) {
    if (constant[i] != 0 && (i % length < run.offset || i % length >= run.offset + run.length)) return false;
  }
  return true;
}

// Whether a load of the run alone is one that an instruction can have, and that the kernel reads as it reads the whole.
bool CanLoad(const Row& load, const ByteRun& run) {
  const auto offset = static_cast<uint32_t>(load.a + run.offset);
  if (offset > UINT16_MAX) return false;
  return load.base() != ir::Base::kTransport || IsSlowLoad(load.base(), offset, static_cast<uint32_t>(run.length)) ==
                                                    IsSlowLoad(load.base(), load.a, load.length);
}

class RuleRaiser {
 public:
  // `probes`: guards that need a load of their own.
  RuleRaiser(const ir::Program& program, const ir::Chain& chain, const ir::Item& item, const nft::Table& table,
             std::vector<uint32_t> probes)
      : p_(program), chain_(chain), item_(item), table_(table), values_(program, item), probes_(std::move(probes)) {}

  std::vector<nft::Expression> TakeExpressions() { return values_.TakeExpressions(); }
  // After Write(): the guards that the loads written do not imply.
  [[nodiscard]] const std::vector<uint32_t>& unwritten() const { return unwritten_; }

  absl::Status Write() {
    bool wants_unfragmented = false;
    std::vector<uint32_t> open;  // Guards of the run of rows without effects.
    for (uint32_t r = item_.first_row; r < item_.first_row + item_.row_count; ++r) {
      const Row& row = p_.rows[r];
      if (HasEffect(p_, row)) Close(open);
      if (row.op == Op::kGuard) {
        open.push_back(r);
        wants_unfragmented = wants_unfragmented || row.guard() == GuardKind::kUnfragmented;
        if (std::find(probes_.begin(), probes_.end(), r) == probes_.end()) continue;
        if (absl::Status status = Probe(row); !status.ok()) return status;
      } else if (absl::Status status = WriteRow(r); !status.ok()) {
        return status;
      }
    }
    Close(open);
    if (values_.has_slow_transport_load() && !wants_unfragmented) {
      return NoInstruction("a load that is not aligned from later fragments");
    }
    return absl::OkStatus();
  }

 private:
  absl::Status WriteRow(uint32_t r) {
    const Row& row = p_.rows[r];
    switch (ir::Info(row.op).kind) {
      case ir::OpKind::kValue:
        return MustStandHere(row) ? values_.PlaceHere(r) : absl::OkStatus();
      case ir::OpKind::kTest:
        if (row.op == Op::kLookup) return values_.PutLookup(row, std::nullopt);
        if (row.op == Op::kLimit) return WriteLimit(row);
        return WriteTest(row);
      case ir::OpKind::kAction:
        return WriteAction(r);
      case ir::OpKind::kEnd:
        return WriteEnd(row);
    }
    return absl::OkStatus();
  }

  // --- tests ---

  absl::Status WriteTest(const Row& test) {
    const Row& value = p_.rows[test.a];
    if (test.c != UINT32_MAX && value.op == Op::kLoad && values_.IsUnplacedLastUse(test.a)) {
      const std::optional<ByteRun> run = RunOf(ConstantOf(p_, test.c));
      if (run && CanLoad(value, *run) && FitsIn(ConstantOf(p_, test.b), value.length, *run)) {
        return WriteNarrowTest(test, value, *run);
      }
    }
    const absl::StatusOr<uint8_t> word = values_.Place(test.a);
    if (!word.ok()) return word.status();
    absl::Status status = test.c != UINT32_MAX || IsNativeOrder(test)
                              ? WritePreparedTest(test, *word)
                              : PutCompare(test, *word, ConstantOf(p_, test.b), value.length);
    values_.Release(test.a);
    return status;
  }

  // Masks and swaps the value, in place if nobody needs it any more, and compares what that gives.
  absl::Status WritePreparedTest(const Row& test, uint8_t word) {
    const uint8_t length = p_.rows[test.a].length;
    if (length > kConstantBytes) return NoInstruction("a masked test of more than 16 bytes");
    std::optional<uint8_t> at = word;
    if (!values_.IsLastUse(test.a)) at = values_.Take(WordsOf(length));
    if (!at) return NoInstruction("a rule with more than 64 bytes of values");
    Register from = Register::Word(word);
    if (test.c != UINT32_MAX) {
      values_.PutBitwise(Op::kAnd, from, Register::Word(*at), ConstantOf(p_, test.c));
      from = Register::Word(*at);
    }
    if (IsNativeOrder(test)) PutSwap(from, Register::Word(*at), length);
    absl::Status status = PutCompare(test, *at, ConstantOf(p_, test.b), length);
    if (*at != word) values_.Free(*at, WordsOf(length));
    return status;
  }

  absl::Status WriteNarrowTest(const Row& test, const Row& load, const ByteRun& run) {
    const auto offset = static_cast<uint32_t>(load.a + run.offset);
    const auto length = static_cast<uint8_t>(run.length);
    const std::optional<uint8_t> word = values_.Take(WordsOf(length));
    if (!word) return NoInstruction("a rule with more than 64 bytes of values");
    values_.PutLoad(load, Register::Word(*word), offset, length);
    const ByteSpan constant = ConstantOf(p_, test.b);
    Bytes cut;
    for (size_t bound = 0; bound < constant.size(); bound += load.length) {
      const size_t at = cut.size();
      cut.resize(at + length);
      std::copy_n(constant.data() + bound + run.offset, length, cut.data() + at);
    }
    if (IsNativeOrder(test)) PutSwap(Register::Word(*word), Register::Word(*word), length);
    absl::Status status = PutCompare(test, *word, cut.span(), length);
    values_.Free(*word, WordsOf(length));
    values_.Release(test.a);
    return status;
  }

  void PutSwap(Register sreg, Register dreg, uint8_t length) {
    if (length > 1) values_.Put(nft::Byteorder{sreg, dreg, nft::ByteorderOp::kHton, length, length});
  }

  // Compares the register with the bounds in `constant`; in native order it holds the swapped value.
  absl::Status PutCompare(const Row& test, uint8_t word, ByteSpan constant, size_t length) {
    const Bytes bounds = IsNativeOrder(test) ? Swap(constant, length) : Bytes(constant);
    const Register sreg = Register::Word(word);
    if (length > kConstantBytes && test.comparison() != Comparison::kEq) {
      return NoInstruction("an order test of more than 16 bytes");
    }
    if (IsRange(test.comparison())) {
      const auto op = test.comparison() == Comparison::kIn ? nft::RangeOp::kEq : nft::RangeOp::kNeq;
      values_.Put(nft::Range{sreg, op, Bytes16(bounds.span().first(length)), Bytes16(bounds.span().last(length))});
      return absl::OkStatus();
    }
    constexpr nft::CmpOp kOps[] = {nft::CmpOp::kEq,  nft::CmpOp::kNeq, nft::CmpOp::kLt,
                                   nft::CmpOp::kLte, nft::CmpOp::kGt,  nft::CmpOp::kGte};
    for (size_t at = 0; at < length; at += kConstantBytes) {
      const ByteSpan part = bounds.span().subspan(at, std::min(kConstantBytes, length - at));
      values_.Put(nft::Cmp{Register::Word(static_cast<uint8_t>(word + at / 4)),
                           kOps[static_cast<size_t>(test.comparison())], Bytes16(part)});
    }
    return absl::OkStatus();
  }

  absl::Status WriteLimit(const Row& row) {
    const ir::LimitInfo& limit = p_.limits[row.a];
    values_.Put(nft::Limit{limit.rate, limit.unit_s, limit.burst, limit.type, limit.inverted ? 1U : 0U});
    return absl::OkStatus();
  }

  // --- actions and verdicts ---

  absl::Status WriteAction(uint32_t r) {
    const Row& row = p_.rows[r];
    switch (row.op) {
      case Op::kCount:
        values_.Put(nft::Counter{p_.counters[row.a].bytes, p_.counters[row.a].packets});
        return absl::OkStatus();
      case Op::kLog:
        values_.Put(p_.logs[row.a].options);
        return absl::OkStatus();
      case Op::kSetMeta: {
        // What still needs the old value loads it now.
        if (absl::Status status = values_.PlaceMeta(row.key, r); !status.ok()) return status;
        const absl::StatusOr<uint8_t> word = values_.Place(row.a);
        if (!word.ok()) return word.status();
        values_.Put(nft::MetaStore{Register::Word(*word), static_cast<nft::MetaKey>(row.key)});
        values_.Release(row.a);
        return absl::OkStatus();
      }
      default:
        return NoInstruction(p_.texts[row.a]);
    }
  }

  absl::Status WriteEnd(const Row& row) {
    if (row.op == Op::kVerdictMap) return values_.PutLookup(row, Register());
    if (row.op == Op::kReject) {
      values_.Put(nft::Reject{static_cast<nft::RejectType>(row.key), static_cast<uint8_t>(row.a)});
      return absl::OkStatus();
    }
    nft::Verdict verdict{.code = row.verdict()};
    if (row.a != UINT32_MAX) {
      const nft::Chain* target = table_.FindChain(std::string_view(p_.chains[row.a].name));
      if (target == nullptr) return NoInstruction("a jump into another table");
      verdict.chain = target->handle;
    }
    values_.Put(nft::Immediate{Register(), {}, verdict});
    return absl::OkStatus();
  }

  // --- guards ---

  // The kernel's stack has looked at the whole of the fixed header.
  [[nodiscard]] bool IsPromised(const Row& guard) const {
    if (guard.guard() != GuardKind::kRoomNetwork) return false;
    const std::span<const Row> rows = p_.RowsOf(item_);
    const bool ipv6 = std::any_of(rows.begin(), rows.end(),
                                  [&](const Row& row) { return row.op == Op::kTest && IsIpv6Test(p_, row); });
    return guard.a <= NetworkRoomOf(ipv6 ? nft::Family::kIp6 : chain_.family);
  }

  // The rows up to here are one conjunction: guards that its loads do not imply need a load of their own.
  void Close(std::vector<uint32_t>& open) {
    for (const uint32_t r : open) {
      const Row& guard = p_.rows[r];
      if (IsPromised(guard) || values_.implied().Covers(guard.guard(), guard.a)) continue;
      unwritten_.push_back(r);
    }
    open.clear();
  }

  absl::Status Probe(const Row& guard) {
    // The last byte of a room, and those before it that an offset reaches.
    const uint32_t offset = std::min<uint32_t>(guard.a - 1, UINT16_MAX), length = guard.a - offset;
    const bool room = guard.guard() <= GuardKind::kRoomInner;
    const size_t words = room ? WordsOf(length) : 4;
    const std::optional<uint8_t> word = values_.Take(words);
    if (!word) return NoInstruction("a rule with more than 64 bytes of values");
    const Register dreg = Register::Word(*word);
    switch (guard.guard()) {
      case GuardKind::kRoomLink:
      case GuardKind::kRoomNetwork:
      case GuardKind::kRoomTransport:
      case GuardKind::kRoomInner:
        values_.PutLoad({.op = Op::kLoad, .length = static_cast<uint8_t>(length), .key = guard.key}, dreg, offset,
                        length);
        break;
      case GuardKind::kUnfragmented:
        values_.PutLoad({.op = Op::kLoad, .length = 3, .key = static_cast<uint8_t>(ir::Base::kTransport)}, dreg, 0, 3);
        break;
      case GuardKind::kL4:
        values_.Put(nft::MetaLoad{dreg, nft::MetaKey::kL4proto});
        break;
      case GuardKind::kIif:
        values_.Put(nft::MetaLoad{dreg, nft::MetaKey::kIifgroup});
        break;
      case GuardKind::kOif:
        values_.Put(nft::MetaLoad{dreg, nft::MetaKey::kOifgroup});
        break;
      case GuardKind::kCtEntry:
        values_.Put(nft::CtLoad{dreg, nft::CtKey::kStatus, {}});
        break;
      case GuardKind::kMetaKnown:
        values_.Put(nft::MetaLoad{dreg, static_cast<nft::MetaKey>(guard.a)});
        break;
      case GuardKind::kCtKnown: {
        const auto direction = static_cast<uint8_t>(guard.a >> 8);
        values_.Put(nft::CtLoad{
            dreg, static_cast<nft::CtKey>(guard.a & 0xff),
            direction == ir::kNoDirection ? std::nullopt : std::optional(static_cast<nft::Direction>(direction))});
        break;
      }
    }
    values_.implied().Add(guard.guard(), guard.a);
    values_.Free(*word, words);
    return absl::OkStatus();
  }

  const ir::Program& p_;
  const ir::Chain& chain_;
  const ir::Item& item_;
  const nft::Table& table_;
  ValueWriter values_;
  const std::vector<uint32_t> probes_;
  std::vector<uint32_t> unwritten_;
};

}  // namespace

absl::StatusOr<std::vector<nft::Expression>> RaiseRule(const ir::Program& program, const ir::Chain& chain,
                                                       const ir::Item& item, const nft::Table& table) {
  // Two rounds: the first finds the guards that the loads written do not imply, the second writes loads for those.
  RuleRaiser raiser(program, chain, item, table, {});
  if (absl::Status status = raiser.Write(); !status.ok()) return status;
  if (raiser.unwritten().empty()) return raiser.TakeExpressions();
  RuleRaiser with_probes(program, chain, item, table, raiser.unwritten());
  if (absl::Status status = with_probes.Write(); !status.ok()) return status;
  return with_probes.TakeExpressions();
}

}  // namespace nftjit::opt
