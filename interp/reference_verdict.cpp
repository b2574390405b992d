// The walk: rows of a rule, items of a chain, chains by verdict.
#include <algorithm>

#include "interp/reference_machine.h"
#include "lib/runtime/calls.h"

namespace nftjit::reference {

using nft::VerdictCode;

bool Evaluate(const Machine& machine, uint32_t index) {
  switch (machine.row(index).op) {
    case ir::Op::kConst:
      return Constant(machine, index), true;
    case ir::Op::kStale:
      return Stale(machine, index), true;
    case ir::Op::kLoad:
      return Load(machine, index), true;
    case ir::Op::kMeta:
      return Meta(machine, index), true;
    case ir::Op::kCt:
      return Ct(machine, index), true;
    case ir::Op::kExthdr:
      return Exthdr(machine, index);
    case ir::Op::kAnd:
    case ir::Op::kOr:
    case ir::Op::kXor:
    case ir::Op::kAndValue:
    case ir::Op::kOrValue:
    case ir::Op::kXorValue:
      return Bitwise(machine, index), true;
    case ir::Op::kShl:
    case ir::Op::kShr:
      return Shift(machine, index), true;
    case ir::Op::kSwap:
      return Swap(machine, index), true;
    case ir::Op::kConcat:
      return Concat(machine, index), true;
    case ir::Op::kSlice:
      return Slice(machine, index), true;
    case ir::Op::kZext:
      return Zext(machine, index), true;
    case ir::Op::kMap:
      return Map(machine, index);
    case ir::Op::kGuard:
      return Guard(machine, index);
    case ir::Op::kTest:
      return Test(machine, index);
    case ir::Op::kLookup:
      return Lookup(machine, index);
    case ir::Op::kLimit:
      return Limit(machine, index);
    case ir::Op::kCount:
      return Count(machine, index), true;
    case ir::Op::kLog:
      return Log(machine, index), true;
    case ir::Op::kSetMeta:
      return SetMeta(machine, index), true;
    case ir::Op::kUnsupported:  // Refused by Compile.
    case ir::Op::kVerdict:
    case ir::Op::kVerdictMap:
    case ir::Op::kReject:
      return false;
  }
  return false;
}

Verdict RunRows(const Machine& machine, const ir::Item& item) {
  for (uint32_t index = item.first_row; index < item.first_row + item.row_count; ++index) {
    if (ir::Info(machine.row(index).op).kind == ir::OpKind::kEnd) {
      const Verdict verdict = End(machine, index);
      if (verdict.code != VerdictCode::kContinue) return verdict;
    } else if (!Evaluate(machine, index)) {
      return {VerdictCode::kBreak, {}};
    }
  }
  return {};
}

Verdict End(const Machine& machine, uint32_t index) {
  const ir::Row& row = machine.row(index);
  switch (row.op) {
    case ir::Op::kVerdictMap: {
      const uint64_t packed = calls::nftjit_verdict_map(&machine.frame, row.b, machine.Value(row.a).data());
      return {static_cast<VerdictCode>(static_cast<int32_t>(packed)), ir::ChainId(static_cast<uint32_t>(packed >> 32))};
    }
    case ir::Op::kReject:
      machine.frame.reject = kRejected | uint32_t{row.key} << 8 | row.a;
      return {VerdictCode::kDrop, {}};
    default:
      return {row.verdict(), ir::ChainId(row.a)};
  }
}

namespace {

// The rule at `item`, or the first one inside.
uint32_t RuleAt(const ir::Program& program, uint32_t item) {
  while (program.items[item].kind == ir::ItemKind::kBlock && item + 1 < program.items[item].end) ++item;
  return program.items[item].rule.index;
}

}  // namespace

Outcome RunChain(const ir::Program& program, const Layout& layout, Frame& frame, ir::ChainId chain, uint8_t* values,
                 uint8_t* unknown) {
  const Machine machine{program, layout, frame, values, unknown};
  uint32_t next = program.chains[chain.index].first_item;
  uint32_t end = next + program.chains[chain.index].item_count;
  uint32_t maybe_end = 0;  // Items before it are in a block that may or may not have been entered.
  while (next < end) {
    const ir::Item& item = program.items[next];
    const Verdict verdict = unknown == nullptr ? RunRows(machine, item) : RunCutRows(machine, item, next < maybe_end);
    if (verdict.certainty == Certainty::kUnknown) {
      frame.rule = RuleAt(program, next);
      return kUnknownOutcome;
    }
    if (item.kind == ir::ItemKind::kBlock) {
      if (verdict.certainty == Certainty::kMaybe) maybe_end = std::max(maybe_end, item.end);
      next = verdict.code == VerdictCode::kContinue ? next + 1 : item.end;
      continue;
    }
    ++next;  // After a jump, too, the chain goes on at the next rule.
    switch (verdict.code) {
      case VerdictCode::kContinue:
      case VerdictCode::kBreak:
        break;
      case VerdictCode::kJump: {
        const uint32_t bytes = layout.chain_bytes[chain.index];
        uint8_t* callee_unknown = unknown == nullptr ? nullptr : unknown + bytes / kSlotAlignment;
        const Outcome outcome = RunChain(program, layout, frame, verdict.chain, values + bytes, callee_unknown);
        if (outcome != static_cast<Outcome>(VerdictCode::kContinue)) return outcome;
        break;
      }
      case VerdictCode::kGoto:  // As a jump at the end of this chain.
        chain = verdict.chain;
        next = program.chains[chain.index].first_item;
        end = next + program.chains[chain.index].item_count;
        break;
      case VerdictCode::kReturn:
        return static_cast<Outcome>(VerdictCode::kContinue);
      case VerdictCode::kDrop:
      case VerdictCode::kAccept:
      case VerdictCode::kStolen:
      case VerdictCode::kQueue:
        frame.rule = item.rule.index;
        return static_cast<Outcome>(verdict.code);
    }
  }
  return static_cast<Outcome>(VerdictCode::kContinue);
}

}  // namespace nftjit::reference
