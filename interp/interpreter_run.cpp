// The dispatch loop. A `switch`, since that stays fast where indirect branches are slowed down (retpolines).
#include "interp/interpreter_run.h"

#include "interp/interpreter_sources.h"

namespace nftjit::interp {
namespace {

bool Holds(uint8_t conditions, const Frame& frame) noexcept {
  if ((conditions & kNeedL4) != 0 && !frame.l4_valid) return false;
  if ((conditions & kNeedUnfragmented) != 0 && !frame.unfragmented) return false;
  if ((conditions & kNeedIif) != 0 && frame.iif == nullptr) return false;
  if ((conditions & kNeedOif) != 0 && frame.oif == nullptr) return false;
  return (conditions & kNeedCt) == 0 || frame.ct->has_entry;
}

bool GuardsPass(const Inst& inst, const Frame& frame) noexcept {
  const auto conditions = static_cast<uint8_t>(inst.flags >> kGuardShift);
  return conditions == 0 || Holds(conditions, frame);
}

bool Compare(const Inst& inst, uint64_t x) noexcept {
  if ((inst.flags & kReversed) != 0) x = __builtin_bswap64(x) >> (64 - 8 * inst.length);
  return ((x & inst.mask) - inst.value <= inst.size) != ((inst.flags & kNegated) != 0);
}

template <uint32_t length>
bool TestPacket(const Inst& inst, const Frame& frame) noexcept {
  if (frame.room[inst.key] < inst.room || !GuardsPass(inst, frame)) return false;
  const uint8_t* p = frame.base[inst.key] + inst.offset;
  if constexpr (length == 0) {
    return Compare(inst, ReadUpTo8(p, inst.length));
  } else {
    return Compare(inst, ReadFixed<length>(p));
  }
}

void Count(CounterSlot& slot, uint32_t length) noexcept {
  // Only this thread writes; others may read.
  __atomic_store_n(&slot.packets, slot.packets + 1, __ATOMIC_RELAXED);
  __atomic_store_n(&slot.bytes, slot.bytes + length, __ATOMIC_RELAXED);
}

// New values of pkttype count only if both are addressed to somebody (vm-semantics 10.10).
void SetMeta(const Inst& inst, Frame& frame) noexcept {
  const uint8_t* from = AddressOf(frame, static_cast<Place>(inst.room), inst.offset);
  Packet& packet = *frame.packet;
  switch (static_cast<nft::MetaKey>(inst.key)) {
    case nft::MetaKey::kMark:
      packet.mark = LoadNative<uint32_t>(from);
      return;
    case nft::MetaKey::kPriority:
      packet.priority = LoadNative<uint32_t>(from);
      return;
    case nft::MetaKey::kSecmark:
      packet.secmark = LoadNative<uint32_t>(from);
      return;
    case nft::MetaKey::kPkttype:
      if (*from <= 3 && packet.pkttype <= 3) packet.pkttype = *from;
      return;
    default:  // The encoder makes no others.
      return;
  }
}

// The body of the first row from `from` on that matches, or inst.miss.
uint32_t SearchTable(const Inst& inst, const Encoding& encoding, Frame& frame, uint32_t from) noexcept {
  const Table& table = encoding.tables[inst.offset];
  uint32_t fields[kMaxColumns];
  for (size_t c = 0; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    uint32_t x = 0;
    if (column.guards) {
      for (size_t i = 0; i < table.guards.size(); ++i) {
        const TableGuard& guard = table.guards[i];
        if (frame.room[guard.base] >= guard.room && Holds(guard.conditions, frame)) x |= 1U << i;
      }
    } else {
      x = ReadColumn(frame, column.source);
      if (column.reversed) x = __builtin_bswap32(x) >> (32 - 8 * column.source.length);
    }
    fields[c] = x;
  }
  const uint32_t row = encoding.avx2 ? FindRowAvx2(table, fields, from) : FindRow(table, fields, from);
  return row < table.rows ? table.bodies[row] : inst.miss;
}

Outcome End(Frame& frame, uint32_t rule, uint64_t outcome) noexcept {
  frame.rule = rule;
  return static_cast<Outcome>(outcome);
}

}  // namespace

Outcome RunChain(const void* code, Frame* frame_pointer) noexcept {
  const auto& chain = *static_cast<const ChainCode*>(code);
  const Encoding& encoding = *chain.encoding;
  const Inst* const insts = chain.insts;
  Frame& frame = *frame_pointer;
  uint32_t callers[kMaxDepth];
  uint32_t depth = 0;
  const Inst* at = chain.entry;

  // Goes on with the next instruction if the test passed.
  const auto next_if = [&](bool passed) { at = passed ? at + 1 : insts + at->miss; };
  for (;;) {
    const Inst& inst = *at;
    switch (inst.code) {
      case Code::kTestPacket1:
        next_if(TestPacket<1>(inst, frame));
        break;
      case Code::kTestPacket2:
        next_if(TestPacket<2>(inst, frame));
        break;
      case Code::kTestPacket4:
        next_if(TestPacket<4>(inst, frame));
        break;
      case Code::kTestPacket8:
        next_if(TestPacket<8>(inst, frame));
        break;
      case Code::kTestPacketN:
        next_if(TestPacket<0>(inst, frame));
        break;
      case Code::kTestSlot:
        next_if(GuardsPass(inst, frame) && Compare(inst, ReadUpTo8(frame.scratch + inst.offset, inst.length)));
        break;
      case Code::kTestName:
        next_if(GuardsPass(inst, frame) &&
                Compare(inst, ReadUpTo8(AddressOf(frame, static_cast<Place>(inst.key), inst.offset), inst.length)));
        break;
      case Code::kTestMeta:
        next_if(GuardsPass(inst, frame) && Compare(inst, MetaInteger(frame, inst.key, inst.length)));
        break;
      case Code::kTestCt:
        next_if(GuardsPass(inst, frame) && Compare(inst, CtInteger(frame, inst.key, inst.length)));
        break;
      case Code::kTestBytes:
        next_if(TestBytes(inst, encoding, frame));
        break;
      case Code::kGuard:
        next_if(frame.room[inst.key] >= inst.room && GuardsPass(inst, frame));
        break;
      case Code::kGuardInner:
        next_if(calls::nftjit_room_inner(&frame, inst.room) != 0);
        break;
      case Code::kGuardMeta:
        next_if(calls::nftjit_meta_known(&frame, inst.key) != 0);
        break;
      case Code::kGuardCt:
        next_if(calls::nftjit_ct_known(&frame, inst.key, inst.room) != 0);
        break;
      case Code::kExthdr:
        next_if(calls::nftjit_exthdr_load(&frame, inst.key, inst.room, static_cast<uint32_t>(inst.value),
                                          static_cast<uint32_t>(inst.size), inst.length,
                                          frame.scratch + inst.offset) != 0);
        break;
      case Code::kMap:
        next_if(calls::nftjit_map(&frame, static_cast<uint32_t>(inst.value),
                                  AddressOf(frame, static_cast<Place>(inst.key), inst.room),
                                  frame.scratch + inst.offset) != 0);
        break;
      case Code::kLookup: {
        const bool negated = (inst.flags & kNegated) != 0;
        next_if(calls::nftjit_lookup(&frame, static_cast<uint32_t>(inst.value),
                                     AddressOf(frame, static_cast<Place>(inst.key), inst.offset), negated) != 0);
        break;
      }
      case Code::kVerdictMap: {
        const uint64_t found = calls::nftjit_verdict_map(&frame, static_cast<uint32_t>(inst.value),
                                                         AddressOf(frame, static_cast<Place>(inst.key), inst.offset));
        const auto verdict = static_cast<nft::VerdictCode>(static_cast<int32_t>(found));
        switch (verdict) {
          case nft::VerdictCode::kContinue:
            ++at;
            break;
          case nft::VerdictCode::kJump:
            callers[depth++] = inst.miss;  // The rest of the rule does not run (vm-semantics 5).
            [[fallthrough]];
          case nft::VerdictCode::kGoto:
            at = insts + encoding.entries[found >> 32];
            break;
          case nft::VerdictCode::kReturn:
            if (depth == 0) return static_cast<Outcome>(nft::VerdictCode::kContinue);
            at = insts + callers[--depth];
            break;
          case nft::VerdictCode::kBreak:
            at = insts + inst.miss;
            break;
          default:
            return End(frame, inst.room, static_cast<uint32_t>(verdict));
        }
        break;
      }
      case Code::kLimit:
        next_if(calls::nftjit_limit(&frame, inst.offset) != 0);
        break;
      case Code::kEvaluate:
        Evaluate(inst, encoding, frame);
        ++at;
        break;
      case Code::kCopy:
        std::memcpy(frame.scratch + inst.offset, AddressOf(frame, static_cast<Place>(inst.key), inst.room),
                    inst.length);
        ++at;
        break;
      case Code::kCount:
        Count(frame.counters[inst.offset], frame.length);
        ++at;
        break;
      case Code::kLog:
        calls::nftjit_log(&frame, inst.offset);
        ++at;
        break;
      case Code::kSetMeta:
        SetMeta(inst, frame);
        ++at;
        break;
      case Code::kCountEnd:
        Count(frame.counters[inst.offset], frame.length);
        return End(frame, inst.room, inst.value);
      case Code::kEnd:
        return End(frame, inst.room, inst.value);
      case Code::kReject:
        frame.reject = static_cast<uint32_t>(inst.value);
        return End(frame, inst.room, static_cast<uint32_t>(nft::VerdictCode::kDrop));
      case Code::kReturn:
        if (depth == 0) return static_cast<Outcome>(nft::VerdictCode::kContinue);
        at = insts + callers[--depth];
        break;
      case Code::kJump:
        if (inst.room != UINT32_MAX) callers[depth++] = inst.room;
        at = insts + inst.offset;
        break;
      case Code::kSkip:
        at = insts + inst.miss;
        break;
      case Code::kTable:
        at = insts + SearchTable(inst, encoding, frame, 0);
        break;
      case Code::kResume:
        at = insts + SearchTable(insts[inst.offset], encoding, frame, inst.room);
        break;
    }
  }
}

}  // namespace nftjit::interp
