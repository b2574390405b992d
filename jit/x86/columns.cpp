#include "jit/x86/columns.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>
#include <utility>

#include "jit/x86/native.h"
#include "lib/ir/guards.h"

namespace nftjit::x86 {
namespace {

using ir::Comparison;
using ir::Op;
using ir::Row;
using Source = ColumnField::Source;
using Order = ColumnField::Order;

constexpr uint32_t kFieldBytes = 4;

uint32_t LoadLittle32(ByteSpan bytes) { return static_cast<uint32_t>(LoadLittle(bytes)); }
uint32_t LoadOrdered32(ByteSpan bytes, bool native) { return static_cast<uint32_t>(LoadOrdered(bytes, native)); }

uint32_t Swapped(uint32_t packed, uint32_t length) {
  uint32_t value = 0;
  for (uint32_t i = 0; i < length; ++i, packed >>= 8) value = value << 8 | (packed & 0xff);
  return value;
}

// A test traced back to where its bytes come from: bytes [offset, offset + length) of `source`, under `mask`.
struct Traced {
  uint32_t source;  // Row.
  uint32_t offset, length;
  uint32_t mask, exclusive;  // Packed; the bits of `exclusive` are turned over before the test compares.
};

struct Candidate {
  ColumnTest test;
  uint32_t test_row = 0;
  bool exact = true;      // The lane is the whole test.
  bool last_test = true;  // Nothing behind it in the rule can fail.
};
struct Candidates {
  std::array<Candidate, 8> items;
  uint8_t count = 0;
  void Add(const ColumnTest& test, uint32_t row, bool exact) {
    if (count < items.size()) items[count++] = {test, row, exact, exact};
  }
  [[nodiscard]] const Candidate* Find(const ColumnField& field) const {
    for (uint8_t i = 0; i < count; ++i) {
      if (items[i].test.field == field) return &items[i];
    }
    return nullptr;
  }
};

class ColumnPlanner {
 public:
  ColumnPlanner(const ir::Program& program, const Plan& plan) : program_(program), plan_(plan) {
    item_of_.assign(program.rows.size(), UINT32_MAX);
    for (uint32_t i = 0; i < program.items.size(); ++i) {
      const ir::Item& item = program.items[i];
      for (uint32_t row = item.first_row; row < item.first_row + item.row_count; ++row) item_of_[row] = i;
    }
  }

  std::vector<ColumnRun> Run(const ir::Chain& chain) {
    runs_.clear();
    Items(chain.first_item, chain.first_item + chain.item_count, ir::GuardSet());
    return std::move(runs_);
  }

 private:
  void Items(uint32_t first, uint32_t end, const ir::GuardSet& guards) {
    std::vector<Candidates> candidates;  // Of the rules in a row that end before item i.
    uint32_t start = first;
    uint32_t i = first;
    for (; i < end; i = program_.items[i].end) {
      if (program_.items[i].kind == ir::ItemKind::kRule) {
        candidates.push_back(CandidatesOf(i));
        continue;
      }
      Split(start, candidates, guards);
      candidates.clear();
      start = program_.items[i].end;
      Block(i, guards);
    }
    Split(start, candidates, guards);
  }

  void Block(uint32_t index, ir::GuardSet guards) {
    const ir::Item& item = program_.items[index];
    for (const Row& row : program_.RowsOf(item)) {
      if (row.op == Op::kGuard) guards.Add(row.guard(), row.a);
    }
    Items(index + 1, item.end, guards);
  }

  // Rules `start`, `start` + 1 … into runs: at each place the field that goes furthest.
  void Split(uint32_t start, const std::vector<Candidates>& candidates, const ir::GuardSet& guards) {
    for (size_t i = 0; i < candidates.size();) {
      size_t best_end = i;
      uint32_t best_score = 0;
      ColumnField best;
      for (uint8_t c = 0; c < candidates[i].count; ++c) {
        const ColumnField& field = candidates[i].items[c].test.field;
        size_t end = i;
        while (end < candidates.size() && candidates[end].Find(field) != nullptr) ++end;
        const uint32_t score = Score(std::span(candidates).subspan(i, end - i), field);
        if (score > best_score) {
          best_score = score;
          best_end = end;
          best = field;
        }
      }
      if (best_end - i >= kShortestColumn) {
        AddRun(start, candidates, i, best_end, best, guards);
        i = best_end;
      } else {
        ++i;
      }
    }
  }

  // How many rules a column of `field` rules out for sure: of rules that ask the same and then ask something else, all
  // would pass it together, and the column would only cost. 0: not worth a column.
  uint32_t Score(std::span<const Candidates> rules, const ColumnField& field) const {
    constexpr size_t kLookedAt = 64;
    if (rules.size() < kShortestColumn) return 0;
    std::array<std::pair<uint32_t, uint32_t>, kLookedAt> seen;
    uint32_t distinct = 0, decisive = 0;
    const size_t count = std::min(rules.size(), kLookedAt);
    for (size_t i = 0; i < count; ++i) {
      const Candidate& candidate = *rules[i].Find(field);
      const std::pair<uint32_t, uint32_t> ask{candidate.test.a, candidate.test.b};
      if (std::find(seen.begin(), seen.begin() + distinct, ask) == seen.begin() + distinct) seen[distinct++] = ask;
      decisive += candidate.last_test ? 1 : 0;
    }
    const uint32_t useful = std::max(distinct, decisive);
    if (useful * 2 < count) return 0;
    return static_cast<uint32_t>(rules.size() * useful / count);
  }

  void AddRun(uint32_t start, const std::vector<Candidates>& candidates, size_t from, size_t to,
              const ColumnField& field, const ir::GuardSet& guards) {
    ColumnRun run;
    run.first_item = start + static_cast<uint32_t>(from);
    run.end_item = start + static_cast<uint32_t>(to);
    run.field = field;
    const bool packet = field.source == Source::kPacket;
    run.room = packet ? field.offset + field.length : 0;
    run.room_proven = !packet || guards.Covers(RoomGuard(field.base), run.room);
    for (size_t i = from; i < to; ++i) {
      const Candidate& candidate = *candidates[i].Find(field);
      ColumnRule rule{start + static_cast<uint32_t>(i),
                      candidate.test.a,
                      candidate.test.b,
                      candidate.test.inverted,
                      program_.items[start + i].first_row,
                      0};
      Resume(candidate, guards, field, rule);
      run.room = std::max(run.room, rule.room);
      run.rules.push_back(rule);
    }
    ShareGuards(run);
    runs_.push_back(std::move(run));
  }

  // Guards that a few instructions check, and that all rules have next.
  void ShareGuards(ColumnRun& run) const {
    run.shared_row = run.rules[0].resume_row;
    for (;; ++run.shared_guards) {
      const uint32_t next = run.shared_row + run.shared_guards;
      if (next >= program_.rows.size()) return Skip(run);
      const Row& guard = program_.rows[next];
      for (const ColumnRule& rule : run.rules) {
        const ir::Item& item = program_.items[rule.item];
        const uint32_t row = rule.resume_row + run.shared_guards;
        const bool resumes = rule.resume_row != item.first_row;
        if (!resumes || row >= item.first_row + item.row_count || program_.rows[row] != guard) return Skip(run);
      }
      if (guard.op != Op::kGuard || CallsRuntime(program_, guard)) return Skip(run);
    }
  }
  static void Skip(ColumnRun& run) {
    for (ColumnRule& rule : run.rules) rule.resume_row += run.shared_guards;
  }

  static ir::GuardKind RoomGuard(ir::Base base) {
    return base == ir::Base::kTransport ? ir::GuardKind::kRoomTransport
           : base == ir::Base::kLink    ? ir::GuardKind::kRoomLink
                                        : ir::GuardKind::kRoomNetwork;
  }

  // Whether the rule may go on behind the column's test: no code stands before it but guards that are proven, or that
  // are a matter of the field's room.
  void Resume(const Candidate& candidate, const ir::GuardSet& guards, const ColumnField& field,
              ColumnRule& rule) const {
    uint32_t room = 0;
    for (uint32_t i = rule.resume_row; i < candidate.test_row; ++i) {
      const Row& row = program_.rows[i];
      if (row.op == Op::kGuard) {
        if (guards.Covers(row.guard(), row.a)) continue;
        if (field.source != Source::kPacket || row.guard() != RoomGuard(field.base)) return;
        room = std::max(room, row.a);
      } else {
        const Place place = plan_.homes[i].place;
        if (ir::Info(row.op).kind != ir::OpKind::kValue) return;
        if (place != Place::kFused && place != Place::kNone) return;
      }
    }
    rule.resume_row = candidate.test_row + (candidate.exact ? 1 : 0);
    rule.room = room;
  }

  Candidates CandidatesOf(uint32_t index) const {
    constexpr ir::Effects kHasEffect = ir::kState | ir::kSetsMeta;
    constexpr uint32_t kRowsLookedAt = 24;
    Candidates candidates;
    const ir::Item& item = program_.items[index];
    const uint32_t last = item.first_row + std::min(item.row_count, kRowsLookedAt);
    for (uint32_t i = item.first_row; i < last; ++i) {
      const Row& row = program_.rows[i];
      if (row.op == Op::kTest) {
        AddCandidates(index, i, candidates);
      } else if ((ir::Info(row.op).effects & kHasEffect) != 0 || ir::Info(row.op).kind == ir::OpKind::kEnd) {
        break;
      }
    }
    for (uint8_t c = 0; c < candidates.count; ++c) {
      Candidate& candidate = candidates.items[c];
      for (uint32_t i = candidate.test_row + 1; i < item.first_row + item.row_count; ++i) {
        if ((ir::Info(program_.rows[i].op).effects & ir::kBreaks) != 0) candidate.last_test = false;
      }
    }
    // The most selective first: it wins among fields that go equally far.
    std::stable_sort(candidates.items.begin(), candidates.items.begin() + candidates.count,
                     [](const Candidate& x, const Candidate& y) { return Weight(x.test) > Weight(y.test); });
    return candidates;
  }

  static int Weight(const ColumnTest& test) {
    if (test.inverted) return 0;
    if (test.field.order != Order::kMasked) return 1 + std::countl_zero(test.b);
    return 1 + std::popcount(test.a);
  }

  void AddCandidates(uint32_t item, uint32_t test_row, Candidates& candidates) const {
    const Row& test = program_.rows[test_row];
    const uint32_t length = program_.rows[test.a].length;
    const ByteSpan constant = program_.constants[ir::ConstId(test.b)];
    const bool equality = test.comparison() == Comparison::kEq || test.comparison() == Comparison::kNeq;
    if (length <= kFieldBytes) {
      const std::optional<Traced> traced = Trace(item, test, 0, length);
      if (traced && equality) AddMasked(*traced, test, LoadLittle32(constant), test_row, true, candidates);
      if (traced && !equality) AddRange(*traced, test, constant, test_row, candidates);
      return;
    }
    if (test.comparison() != Comparison::kEq) return;
    // A long value is equal only if any four bytes of it are.
    for (uint32_t at = 0; at + kFieldBytes <= length; at += kFieldBytes) {
      const std::optional<Traced> traced = Trace(item, test, at, kFieldBytes);
      if (!traced || traced->mask == 0) continue;
      AddMasked(*traced, test, LoadLittle32(constant.subspan(at, kFieldBytes)), test_row, false, candidates);
    }
  }

  void AddMasked(const Traced& traced, const Row& test, uint32_t value, uint32_t row, bool exact,
                 Candidates& candidates) const {
    if ((value & ~traced.mask) != 0) return;  // Known without a look.
    const ColumnField field = Window(traced);
    const uint32_t shift = (traced.offset - field.offset) * 8;
    const bool inverted = test.comparison() == Comparison::kNeq;
    const uint32_t wanted = value ^ (traced.exclusive & traced.mask);
    candidates.Add({field, traced.mask << shift, wanted << shift, inverted}, row, exact);
    if (exact) AddPrefixRange(traced, wanted, inverted, row, candidates);
  }

  // A masked field is seen in a window of four bytes, so that rules on its parts share a column: the aligned one, if it
  // covers the field and lies inside the value.
  [[nodiscard]] ColumnField Window(const Traced& traced) const {
    ColumnField field = FieldOf(traced);
    const uint32_t aligned = traced.offset & ~(kFieldBytes - 1);
    field.offset = traced.offset + traced.length <= aligned + kFieldBytes ? aligned : traced.offset;
    field.length = kFieldBytes;
    if (field.source == Source::kPacket) return field;
    const uint8_t whole = program_.rows[traced.source].length;
    field.length = std::min<uint8_t>(whole, kFieldBytes);
    field.offset = std::min<uint32_t>(field.offset, whole - field.length);
    return field;
  }

  // A prefix or a single value is a range too, and may join a column of ranges.
  void AddPrefixRange(const Traced& traced, uint32_t value, bool inverted, uint32_t row, Candidates& candidates) const {
    ColumnField field = FieldOf(traced);
    if (field.source == Source::kValue && traced.length != program_.rows[traced.source].length) return;
    field.order = Order::kBytesAscending;
    const uint32_t all = UINT32_MAX >> (32 - traced.length * 8);
    const uint32_t host_bits = ~Swapped(traced.mask, traced.length) & all;
    if ((host_bits & (host_bits + 1)) != 0) return;
    candidates.Add({field, Swapped(value, traced.length), host_bits, inverted}, row, true);
  }

  void AddRange(const Traced& traced, const Row& test, ByteSpan constant, uint32_t row, Candidates& candidates) const {
    const uint32_t all = UINT32_MAX >> (32 - traced.length * 8);
    const bool native = (test.flags & ir::kNative) != 0;
    if (traced.mask != all || traced.exclusive != 0) return;
    ColumnField field = FieldOf(traced);
    if (field.source == Source::kValue && traced.length != program_.rows[traced.source].length) return;
    field.order = native ? Order::kNative : Order::kBytesAscending;
    const uint32_t low = LoadOrdered32(constant.first(traced.length), native);
    ColumnTest lane{field, 0, all, false};
    switch (test.comparison()) {
      case Comparison::kLt:
        if (low == 0) return;
        lane.b = low - 1;
        break;
      case Comparison::kLte:
        lane.b = low;
        break;
      case Comparison::kGt:
        if (low == all) return;
        lane.a = low + 1;
        lane.b = all - lane.a;
        break;
      case Comparison::kGte:
        lane.a = low;
        lane.b = all - low;
        break;
      default: {
        const uint32_t high = LoadOrdered32(constant.subspan(traced.length), native);
        if (high < low) return;
        lane.a = low;
        lane.b = high - low;
        lane.inverted = test.comparison() == Comparison::kNotIn;
      }
    }
    candidates.Add(lane, row, true);
  }

  [[nodiscard]] ColumnField FieldOf(const Traced& traced) const {
    const Row& source = program_.rows[traced.source];
    ColumnField field;
    field.length = static_cast<uint8_t>(traced.length);
    if (source.op == Op::kLoad && (source.flags & ir::kOrZero) == 0) {
      field.base = source.base();
      field.offset = traced.offset;
    } else {
      field.source = Source::kValue;
      field.value = traced.source;
    }
    return field;
  }

  // Follows slices, masks and exclusive ors by constants up to a load or to a value of an enclosing block.
  // Bytes [offset, offset + length) of the test's operand.
  [[nodiscard]] std::optional<Traced> Trace(uint32_t item, const Row& test, uint32_t offset, uint32_t length) const {
    uint32_t mask = UINT32_MAX >> (32 - length * 8);
    if (test.c != ir::ConstId::kNone)
      mask = LoadLittle32(program_.constants[ir::ConstId(test.c)].subspan(offset, length));
    Traced traced{test.a, offset, length, mask, 0};
    for (;;) {
      const Row& row = program_.rows[traced.source];
      switch (row.op) {
        case Op::kLoad:
          if ((row.flags & ir::kOrZero) != 0) break;
          // The inner header is not looked for before a rule asks.
          if (row.base() == ir::Base::kInner) return std::nullopt;
          traced.offset += row.a;
          return traced;
        case Op::kSlice:
          traced.offset += row.b;
          traced.source = row.a;
          continue;
        case Op::kAnd:
        case Op::kXor: {
          const uint32_t bits =
              LoadLittle32(program_.constants[ir::ConstId(row.b)].subspan(traced.offset, traced.length));
          if (row.op == Op::kAnd) {
            traced.mask &= bits;
            if ((traced.exclusive & ~bits) != 0) return std::nullopt;
          } else {
            traced.exclusive ^= bits;
          }
          traced.source = row.a;
          continue;
        }
        default:
          break;
      }
      break;
    }
    const uint32_t home = item_of_[traced.source];
    const Place place = plan_.homes[traced.source].place;
    const bool held = place == Place::kRegister || place == Place::kSlot;
    if (home == item || program_.items[home].kind != ir::ItemKind::kBlock || !held) return std::nullopt;
    return traced;
  }

  const ir::Program& program_;
  const Plan& plan_;
  std::vector<uint32_t> item_of_;  // By row.
  std::vector<ColumnRun> runs_;
};

}  // namespace

std::vector<std::vector<ColumnRun>> PlanColumns(const ir::Program& program, Plan& plan) {
  ColumnPlanner planner(program, plan);
  std::vector<std::vector<ColumnRun>> runs;
  for (size_t i = 0; i < program.chains.size(); ++i) {
    runs.push_back(planner.Run(program.chains[i]));
    if (!runs.back().empty()) plan.chains[i].frame_bytes = std::max(plan.chains[i].frame_bytes, kFirstSlot);
  }
  return runs;
}

}  // namespace nftjit::x86
