// The walk: rows of a rule, items of a chain, chains by verdict.
#include "interp/reference_machine.h"
#include "lib/runtime/calls.h"

namespace nftjit::reference {
namespace {

using nft::VerdictCode;

// One row that does not end its rule. False: the rule (or block) does not match.
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

// Runs the rows of a rule or block until one does not match (kBreak) or gives a verdict other than kContinue.
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

}  // namespace

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

Outcome RunChain(const ir::Program& program, const Layout& layout, Frame& frame, ir::ChainId chain, uint8_t* values) {
  const Machine machine{program, layout, frame, values};
  uint32_t next = program.chains[chain.index].first_item;
  uint32_t end = next + program.chains[chain.index].item_count;
  while (next < end) {
    const ir::Item& item = program.items[next];
    const Verdict verdict = RunRows(machine, item);
    if (item.kind == ir::ItemKind::kBlock) {
      next = verdict.code == VerdictCode::kContinue ? next + 1 : item.end;
      continue;
    }
    ++next;  // After a jump, too, the chain goes on at the next rule.
    switch (verdict.code) {
      case VerdictCode::kContinue:
      case VerdictCode::kBreak:
        break;
      case VerdictCode::kJump: {
        uint8_t* callee_values = values + layout.chain_bytes[chain.index];
        const Outcome outcome = RunChain(program, layout, frame, verdict.chain, callee_values);
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
