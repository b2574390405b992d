// Code of columns: 32 rules for one branch.
//
// The field is broadcast into ymm7 once for a run. A group compares it with four vectors of constants and branches out
// of line if any lane passes; there the lanes that pass become a bit mask, and their rules run one after the other, in
// order, until one ends the chain. The mask waits in the chain's memory meanwhile, and so does the field, since calls
// clobber vectors.
#include <algorithm>
#include <array>
#include <span>

#include "jit/x86/emitter.h"
#include "lib/runtime/frame.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using Source = ColumnField::Source;
using Order = ColumnField::Order;

namespace {

constexpr int32_t kFieldSlot = kColumnMaskSlot + 4;

using Lanes = std::array<uint32_t, kColumnLanes>;

ByteSpan BytesOfLanes(const Lanes& lanes) { return {reinterpret_cast<const uint8_t*>(lanes.data()), sizeof lanes}; }

bool AllAre(const Lanes& lanes, uint32_t value) {
  return std::all_of(lanes.begin(), lanes.end(), [value](uint32_t lane) { return lane == value; });
}

Ymm Vector(uint32_t number) { return ymm(number); }

int32_t RoomOffset(const ColumnField& field) {
  return static_cast<int32_t>(offsetof(Frame, room) + static_cast<size_t>(field.base) * sizeof(uint32_t));
}

}  // namespace

void Emitter::EmitRun(const ColumnRun& run) {
  Mark(CodePart::kColumns, run.first_item, program_.items[run.first_item].first_row);
  report_.column_rules += static_cast<uint32_t>(run.rules.size());
  const Label loaded = a_.newLabel();
  if (!run.room_proven) {
    const Label short_packet = a_.newLabel();
    a_.cmp(dword_ptr(frame_, RoomOffset(run.field)), run.room);
    a_.jb(short_packet);
    pending_.push_back({Cold::Kind::kShortField, live_, run.first_item, 0, short_packet, loaded});
  }
  EmitColumnField(run.field);
  a_.bind(loaded);
  const auto size = static_cast<uint32_t>(run.rules.size());
  for (uint32_t first = 0; first < size; first += kColumnGroup) {
    if (!in_cold_ && hot_rules_ >= kRulesPerLine) EmitPendingInLine();
    const uint32_t count = std::min(kColumnGroup, size - first);
    const Label entry = a_.newLabel(), next = a_.newLabel();
    Mark(CodePart::kColumns, run.rules[first].item, program_.items[run.rules[first].item].first_row);
    EmitColumnTests(run, first, count);
    a_.jnz(entry);
    a_.bind(next);
    pending_.push_back({Cold::Kind::kColumnGroup, live_, run.first_item, first, entry, next});
    hot_rules_ += count;
  }
  a_.vzeroupper();
}

// The field into every lane of ymm7, and into its slot.
void Emitter::EmitColumnField(const ColumnField& field) {
  const bool packet = field.source == Source::kPacket;
  const Row load{
      .op = ir::Op::kLoad, .length = field.length, .key = static_cast<uint8_t>(field.base), .a = field.offset};
  if (field.order == Order::kMasked && packet) {
    a_.vpbroadcastd(ymm7, Sized(LoadPlace(load, kPointer), 0, 4));
    a_.vmovd(dword_ptr(rsp, kFieldSlot), xmm7);
    return;
  }
  const ir::ValueId value(field.value);
  if (packet) {
    LoadPacked(kResult, LoadPlace(load, kPointer), field.length);
  } else if (HomeOf(value).place == Place::kSlot) {
    LoadPacked(kResult, Sized(SlotOf(value), field.offset, 0), field.length);
  } else {
    Evaluate(kResult, value);
    if (field.offset != 0) a_.shr(rax, field.offset * 8);
  }
  EmitColumnBroadcast(field);
}

// From packed bytes in eax.
void Emitter::EmitColumnBroadcast(const ColumnField& field) {
  if (field.order == Order::kBytesAscending) ToInteger(field.length);
  a_.mov(dword_ptr(rsp, kFieldSlot), eax);
  a_.vpbroadcastd(ymm7, dword_ptr(rsp, kFieldSlot));
}

// The packet ends inside the field or before what some rule's guards ask for: bytes outside it read as zeros here, and
// EmitColumnGroup leaves out the rules whose guards fail.
void Emitter::EmitShortField(const Cold& cold) {
  const ColumnRun& run = *RunAt(cold.item);
  const ColumnField& field = run.field;
  const Row load{
      .op = ir::Op::kLoad, .length = field.length, .key = static_cast<uint8_t>(field.base), .a = field.offset};
  const Label done = a_.newLabel();
  a_.xor_(edx, edx);
  for (uint32_t i = 0; i < field.length; ++i) {
    a_.cmp(dword_ptr(frame_, RoomOffset(field)), field.offset + i + 1);
    a_.jb(done);
    a_.movzx(eax, Sized(LoadPlace(load, kPointer), i, 1));
    if (i != 0) a_.shl(eax, i * 8);
    a_.or_(edx, eax);
  }
  a_.bind(done);
  a_.mov(eax, edx);
  EmitColumnBroadcast(field);
  a_.jmp(cold.next);
}

// Sets ymm0-3 to the lanes that pass, and clears the zero flag iff there is one.
void Emitter::EmitColumnTests(const ColumnRun& run, uint32_t first, uint32_t count) {
  const bool masked = run.field.order == Order::kMasked;
  const uint32_t vectors = (count + kColumnLanes - 1) / kColumnLanes;
  for (uint32_t v = 0; v < vectors; ++v) {
    Lanes a, b, inverted;
    for (uint32_t lane = 0; lane < kColumnLanes; ++lane) {
      const uint32_t number = v * kColumnLanes + lane;
      if (number < count) {
        const ColumnRule& rule = run.rules[first + number];
        a[lane] = rule.a;
        b[lane] = rule.b;
        inverted[lane] = rule.inverted ? UINT32_MAX : 0;
      } else {  // A lane that never passes.
        a[lane] = 0;
        b[lane] = masked ? 1 : UINT32_MAX;
        inverted[lane] = masked ? 0 : UINT32_MAX;
      }
    }
    const Ymm result = Vector(v);
    if (masked) {
      const bool whole = AllAre(a, UINT32_MAX);
      if (!whole) a_.vpand(result, ymm7, Literal(BytesOfLanes(a), 32));
      a_.vpcmpeqd(result, whole ? ymm7 : result, Literal(BytesOfLanes(b), 32));
    } else {
      const bool from_zero = AllAre(a, 0);
      if (!from_zero) a_.vpsubd(result, ymm7, Literal(BytesOfLanes(a), 32));
      const Ymm distance = from_zero ? ymm7 : result;
      a_.vpminud(ymm4, distance, Literal(BytesOfLanes(b), 32));
      a_.vpcmpeqd(result, distance, ymm4);
    }
    if (!AllAre(inverted, 0)) a_.vpxor(result, result, Literal(BytesOfLanes(inverted), 32));
  }
  Ymm any = ymm0;
  if (vectors > 1) {
    any = ymm4;
    a_.vpor(ymm4, ymm0, ymm1);
    if (vectors == 3) a_.vpor(ymm4, ymm4, ymm2);
    if (vectors == 4) {
      a_.vpor(ymm5, ymm2, ymm3);
      a_.vpor(ymm4, ymm4, ymm5);
    }
  }
  a_.vptest(any, any);
}

// Some lane passed: its rules, in order.
void Emitter::EmitColumnGroup(const Cold& cold) {
  const ColumnRun& run = *RunAt(cold.item);
  const uint32_t first = cold.row;
  const uint32_t count = std::min(kColumnGroup, static_cast<uint32_t>(run.rules.size()) - first);
  const std::span<const ColumnRule> rules = std::span(run.rules).subspan(first, count);
  const Label resume = a_.newLabel();
  Mark(CodePart::kColumns, rules[0].item, program_.items[rules[0].item].first_row);
  for (uint32_t i = 0; i < run.shared_guards; ++i) {
    Branch(EmitGuard(program_.rows[run.shared_row + i]).Negated(), resume);
  }
  for (uint32_t v = 0; v * kColumnLanes < count; ++v) {
    const Gp part = v == 0 ? kResult : kPointer;
    a_.vmovmskps(part.r32(), Vector(v));
    if (v == 0) continue;
    a_.shl(ecx, v * kColumnLanes);
    a_.or_(eax, ecx);
  }
  a_.vzeroupper();
  if (EmitRoomMasks(run, rules)) {
    a_.test(eax, eax);
    a_.jz(resume);
  }
  if (!EmitUniformEnds(rules)) EmitCandidates(rules);
  a_.bind(resume);
  if (first + count < run.rules.size()) a_.vpbroadcastd(ymm7, dword_ptr(rsp, kFieldSlot));
  a_.jmp(cold.next);
}

// If all that is left of every rule is a count and the same final verdict, or the verdict alone, rules are rows of a
// table and the first candidate ends the chain.
bool Emitter::EmitUniformEnds(std::span<const ColumnRule> rules) {
  struct End {
    uint32_t rule, counter_offset;
  };
  std::array<End, kColumnGroup> ends;
  const auto rows_left = [&](const ColumnRule& rule) {
    const ir::Item& item = program_.items[rule.item];
    return std::span(program_.rows).subspan(rule.resume_row, item.first_row + item.row_count - rule.resume_row);
  };
  const std::span<const ir::Row> model = rows_left(rules[0]);
  if (model.empty() || model.size() > 2 || model.back().op != ir::Op::kVerdict) return false;
  if (model.size() == 2 && model[0].op != ir::Op::kCount) return false;
  const nft::VerdictCode verdict = model.back().verdict();
  if (verdict != nft::VerdictCode::kDrop && verdict != nft::VerdictCode::kAccept) return false;
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::span<const ir::Row> rows = rows_left(rules[i]);
    if (rows.size() != model.size() || rows.back() != model.back() || rows[0].op != model[0].op) return false;
    ends[i] = {program_.items[rules[i].item].rule.index, static_cast<uint32_t>(rows[0].a * sizeof(CounterSlot))};
  }
  a_.tzcnt(eax, eax);
  const ByteSpan table(reinterpret_cast<const uint8_t*>(ends.data()), rules.size() * sizeof(End));
  a_.lea(rdx, Sized(Literal(table), 0, 0));
  if (model.size() == 2) a_.mov(ecx, dword_ptr(rdx, rax, 3, offsetof(End, counter_offset)));
  a_.mov(eax, dword_ptr(rdx, rax, 3, offsetof(End, rule)));
  const bool drop = verdict == nft::VerdictCode::kDrop;
  if (model.size() == 2) {
    a_.jmp(LabelOf(drop ? exit_counted_drop_ : exit_counted_accept_));
  } else {
    a_.jmp(Exit(verdict));
  }
  return true;
}

// Runs the rules whose bits are set in eax, each through a table of where its code begins; then falls through.
void Emitter::EmitCandidates(std::span<const ColumnRule> rules) {
  const Label candidate = a_.newLabel(), after = a_.newLabel(), table = a_.newLabel();
  const Mem mask = dword_ptr(rsp, static_cast<int32_t>(kColumnMaskSlot));
  a_.bind(candidate);
  a_.blsr(ecx, eax);
  a_.mov(mask, ecx);
  a_.tzcnt(eax, eax);
  a_.lea(rdx, ptr(table));
  a_.movsxd(rax, dword_ptr(rdx, rax, 2));
  a_.add(rax, rdx);
  a_.jmp(rax);

  MarkData();
  a_.bind(table);
  const uint64_t table_offset = a_.offset();
  const std::array<uint32_t, kColumnGroup> places{};
  a_.embed(places.data(), rules.size() * sizeof(uint32_t));

  std::array<uint32_t, kColumnGroup> bodies;
  const RegisterMask outer = live_;
  for (size_t i = 0; i < rules.size(); ++i) {
    bodies[i] = static_cast<uint32_t>(a_.offset() - table_offset);
    live_ = outer | RegistersOf(program_.items[rules[i].item]);
    EmitRuleRows(rules[i].item, rules[i].resume_row, after, /*hot=*/false);
  }
  live_ = outer;
  const uint64_t end = a_.offset();
  a_.setOffset(table_offset);
  a_.embed(bodies.data(), rules.size() * sizeof(uint32_t));
  a_.setOffset(end);

  Mark(CodePart::kColumns, rules[0].item, program_.items[rules[0].item].first_row);
  a_.bind(after);
  a_.mov(eax, mask);
  a_.test(eax, eax);
  a_.jnz(candidate);
}

// Takes the rules out of the mask in eax whose guards ask for more room than there is. True if there may be such.
bool Emitter::EmitRoomMasks(const ColumnRun& run, std::span<const ColumnRule> rules) {
  if (run.room_proven && std::all_of(rules.begin(), rules.end(), [](const ColumnRule& r) { return r.room == 0; })) {
    return false;
  }
  std::array<std::pair<uint32_t, uint32_t>, kColumnGroup> needs;  // Room, and the rules that ask for it.
  size_t count = 0;
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].room == 0) continue;
    size_t at = 0;
    while (at < count && needs[at].first != rules[i].room) ++at;
    if (at == count) needs[count++] = {rules[i].room, 0};
    needs[at].second |= 1U << i;
  }
  const Label enough = a_.newLabel();
  a_.cmp(dword_ptr(frame_, RoomOffset(run.field)), run.room);
  a_.jae(enough);
  for (size_t i = 0; i < count; ++i) {
    const Label there = a_.newLabel();
    a_.cmp(dword_ptr(frame_, RoomOffset(run.field)), needs[i].first);
    a_.jae(there);
    a_.and_(eax, static_cast<int32_t>(~needs[i].second));
    a_.bind(there);
  }
  a_.bind(enough);
  return true;
}

}  // namespace nftjit::x86
