// Packets with missing bytes (Frame::cut): a test, a value, an action is done only where it is certain.
//
// A rule is a conjunction, so after a test that is not known it is looked through for one that certainly fails: then it
// does not match, whatever the missing bytes are. That is sound as long as nothing in between did something, so the
// first row that would ends the search, and the packet's fate is unknown.
#include <algorithm>
#include <cstring>

#include "interp/reference_machine.h"
#include "lib/runtime/calls.h"
#include "lib/runtime/limit.h"
#include "lib/runtime/parse.h"
#include "lib/runtime/set.h"

namespace nftjit::reference {
namespace {

using nft::MetaKey;
using nft::VerdictCode;

// What is known of a row. Of a value row, kYes and kUnknown also say whether its value is known.
enum class Known : uint8_t {
  kNo,       // The rule does not match.
  kYes,      // The rule goes on.
  kUnknown,  // It may not match, but nothing was done.
  kLost,     // What is done, or would be, depends on missing bytes.
};

Known Certain(bool passed) { return passed ? Known::kYes : Known::kNo; }

// One cut frame on its way through the rows of an item.
class CutRows {
 public:
  CutRows(const Machine& machine, bool maybe) : machine_(machine), frame_(machine.frame), maybe_(maybe) {}

  Verdict Run(const ir::Item& item) {
    for (uint32_t index = item.first_row; index < item.first_row + item.row_count; ++index) {
      const ir::OpKind kind = ir::Info(row(index).op).kind;
      if (kind == ir::OpKind::kEnd) {
        const Verdict verdict = EndRow(index);
        if (verdict.code != VerdictCode::kContinue || verdict.certainty == Certainty::kUnknown) return verdict;
        continue;
      }
      const Known known = Evaluate(index);
      if (kind == ir::OpKind::kValue) Flag(index) = known == Known::kUnknown ? 1 : 0;
      if (known == Known::kLost) return {VerdictCode::kContinue, {}, Certainty::kUnknown};
      if (known == Known::kNo) return {VerdictCode::kBreak, {}};
      // A value that is not known does not make the rule doubtful, unless loading it might have been a BREAK.
      const bool may_break = (ir::Info(row(index).op).effects & ir::kBreaks) != 0;
      if (known == Known::kUnknown && may_break) maybe_ = true;
    }
    return {VerdictCode::kContinue, {}, maybe_ ? Certainty::kMaybe : Certainty::kCertain};
  }

 private:
  [[nodiscard]] const ir::Row& row(uint32_t index) const { return machine_.row(index); }
  uint8_t& Flag(uint32_t index) { return machine_.unknown[machine_.layout.slot[index] / kSlotAlignment]; }
  bool IsUnknown(uint32_t value) { return Flag(value) != 0; }

  Known Evaluate(uint32_t index);
  Known LoadRow(uint32_t index);
  Known MetaRow(uint32_t index);
  Known ExthdrRow(uint32_t index);
  Known GuardRow(uint32_t index);
  Known ComputedRow(uint32_t index);
  Known FindRow(uint32_t index);
  Known LimitRow(uint32_t index);
  Verdict EndRow(uint32_t index);

  // Room behind an inner header, once it is known where that is.
  Known Inner();
  // The element that a set has for a known key, or null.
  const ir::SetElement* Find(uint32_t set, uint32_t key) const {
    const SetTable& table = *frame_.sets[set];
    const uint32_t number = table.Find(machine_.Value(key).data(), frame_.now_ns);
    return number == SetTable::kMiss ? nullptr : &table.element(number);
  }

  const Machine& machine_;
  Frame& frame_;
  bool maybe_;  // A test before was not known.
};

Known CutRows::Evaluate(uint32_t index) {
  switch (row(index).op) {
    case ir::Op::kConst:
    case ir::Op::kStale:
    case ir::Op::kCt:
      return Certain(reference::Evaluate(machine_, index));
    case ir::Op::kLoad:
      return LoadRow(index);
    case ir::Op::kMeta:
      return MetaRow(index);
    case ir::Op::kExthdr:
      return ExthdrRow(index);
    case ir::Op::kGuard:
      return GuardRow(index);
    case ir::Op::kAnd:
    case ir::Op::kOr:
    case ir::Op::kXor:
    case ir::Op::kAndValue:
    case ir::Op::kOrValue:
    case ir::Op::kXorValue:
    case ir::Op::kShl:
    case ir::Op::kShr:
    case ir::Op::kSwap:
    case ir::Op::kConcat:
    case ir::Op::kSlice:
    case ir::Op::kZext:
    case ir::Op::kTest:
      return ComputedRow(index);
    case ir::Op::kLookup:
    case ir::Op::kMap:
      return FindRow(index);
    case ir::Op::kLimit:
      return LimitRow(index);
    case ir::Op::kCount:
      if (maybe_) return Known::kLost;
      // Of a packet whose length is not known nothing is counted, rather than the rest of its way lost.
      return frame_.headers_unknown ? Known::kYes : Certain(reference::Evaluate(machine_, index));
    case ir::Op::kLog:
      return maybe_ ? Known::kLost : Certain(reference::Evaluate(machine_, index));
    case ir::Op::kSetMeta: {
      const bool pkttype =
          row(index).key == static_cast<uint8_t>(MetaKey::kPkttype);  // Whether it is set depends on it.
      const bool lost = maybe_ || IsUnknown(row(index).a) || (pkttype && frame_.headers_unknown);
      return lost ? Known::kLost : Certain(reference::Evaluate(machine_, index));
    }
    case ir::Op::kUnsupported:
    case ir::Op::kVerdict:
    case ir::Op::kVerdictMap:
    case ir::Op::kReject:
      break;
  }
  return Known::kNo;
}

Known CutRows::Inner() {
  if (frame_.transport_unknown) return Known::kUnknown;
  if (!frame_.inner_known) {
    if (InnerIsMissing(frame_)) return Known::kUnknown;
    FindInner(frame_);
  }
  return Known::kYes;
}

// Loads are checked here, since a guard before may be one that is not known.
Known CutRows::LoadRow(uint32_t index) {
  const ir::Row& load = row(index);
  if (frame_.headers_unknown) return Known::kUnknown;
  if (load.base() == ir::Base::kTransport && frame_.transport_unknown) return Known::kUnknown;
  if (load.base() == ir::Base::kInner && Inner() != Known::kYes) return Known::kUnknown;
  const uint8_t* first = frame_.base[load.key];
  const uint32_t room = frame_.room[load.key];
  const uint32_t present = PresentBytes(frame_, first, room);
  const uint64_t end = uint64_t{load.a} + load.length;
  const bool or_zero = (load.flags & ir::kOrZero) != 0;
  // What lies outside the packet is read as zeros, or only after a guard that is not known.
  if (end > room && !or_zero) return Known::kUnknown;
  if (std::min<uint64_t>(end, room) > present && load.a < room) return Known::kUnknown;
  Load(machine_, index);
  return Known::kYes;
}

Known CutRows::MetaRow(uint32_t index) {
  switch (static_cast<MetaKey>(row(index).key)) {
    case MetaKey::kLen:
    case MetaKey::kProtocol:
    case MetaKey::kPkttype:
      if (frame_.headers_unknown) return Known::kUnknown;
      break;
    case MetaKey::kL4proto:
      if (frame_.transport_unknown) return Known::kUnknown;
      break;
    case MetaKey::kPrandom:  // Drawing a number does something.
      if (maybe_) return Known::kLost;
      break;
    default:
      break;
  }
  Meta(machine_, index);
  return Known::kYes;
}

Known CutRows::ExthdrRow(uint32_t index) {
  const ir::Row& load = row(index);
  // Of the transport header; those of IPv4 and IPv6 are looked for from the network header.
  const auto op = static_cast<nft::ExthdrOp>(load.key);
  const bool of_transport = op == nft::ExthdrOp::kTcpOption || op == nft::ExthdrOp::kSctp;
  if (frame_.headers_unknown || (of_transport && frame_.transport_unknown)) return Known::kUnknown;
  const uint32_t loaded =
      calls::nftjit_exthdr_load(&frame_, load.key, load.a, load.b, load.flags, load.length, machine_.Result(index));
  return loaded == 2 ? Known::kUnknown : Certain(loaded != 0);
}

Known CutRows::GuardRow(uint32_t index) {
  const ir::Row& guard = row(index);
  switch (guard.guard()) {
    case ir::GuardKind::kRoomLink:
    case ir::GuardKind::kRoomNetwork:
      if (frame_.headers_unknown) return Known::kUnknown;
      break;
    case ir::GuardKind::kRoomInner:
      if (Inner() != Known::kYes) return Known::kUnknown;
      break;
    case ir::GuardKind::kRoomTransport:
    case ir::GuardKind::kUnfragmented:
    case ir::GuardKind::kL4:
      if (frame_.transport_unknown) return Known::kUnknown;
      break;
    case ir::GuardKind::kMetaKnown:
      if (guard.a == static_cast<uint32_t>(MetaKey::kL4proto) && frame_.transport_unknown) return Known::kUnknown;
      break;
    case ir::GuardKind::kIif:
    case ir::GuardKind::kOif:
    case ir::GuardKind::kCtEntry:
    case ir::GuardKind::kCtKnown:
      break;
  }
  return Certain(Guard(machine_, index));
}

// From values alone.
Known CutRows::ComputedRow(uint32_t index) {
  const ir::OpInfo& info = ir::Info(row(index).op);
  const bool lacks_a = info.a == ir::Operand::kValue && IsUnknown(row(index).a);
  const bool lacks_b = info.b == ir::Operand::kValue && IsUnknown(row(index).b);
  return lacks_a || lacks_b ? Known::kUnknown : Certain(reference::Evaluate(machine_, index));
}

// Lookup and map. Elements with expressions do something when they are found; a negated lookup does not run them.
Known CutRows::FindRow(uint32_t index) {
  const ir::Row& find = row(index);
  const bool negated = find.op == ir::Op::kLookup && (find.flags & ir::kNegated) != 0;
  const bool acts = machine_.layout.acts[find.b] && !negated;
  if (IsUnknown(find.a)) return acts ? Known::kLost : Known::kUnknown;
  if (acts && (maybe_ || frame_.headers_unknown)) {
    const ir::SetElement* element = Find(find.b, find.a);
    if (element != nullptr && Acts(*element)) return Known::kLost;
  }
  return Certain(reference::Evaluate(machine_, index));
}

Known CutRows::LimitRow(uint32_t index) {
  const bool lost = maybe_ || (frame_.limits[row(index).a].bytes && frame_.headers_unknown);
  return lost ? Known::kLost : Certain(Limit(machine_, index));
}

Verdict CutRows::EndRow(uint32_t index) {
  const ir::Row& end = row(index);
  const Verdict lost{VerdictCode::kContinue, {}, Certainty::kUnknown};
  if (end.op != ir::Op::kVerdictMap) {
    const bool goes_on = end.op == ir::Op::kVerdict && end.verdict() == VerdictCode::kContinue;
    return maybe_ && !goes_on ? lost : End(machine_, index);
  }
  if (IsUnknown(end.a)) return lost;
  const ir::SetElement* element = Find(end.b, end.a);
  if (element == nullptr) return {VerdictCode::kBreak, {}};
  if (maybe_ && element->verdict != VerdictCode::kContinue) return lost;
  if (Acts(*element) && (maybe_ || frame_.headers_unknown)) return lost;
  return End(machine_, index);
}

}  // namespace

Verdict RunCutRows(const Machine& machine, const ir::Item& item, bool maybe) {
  return CutRows(machine, maybe).Run(item);
}

}  // namespace nftjit::reference
