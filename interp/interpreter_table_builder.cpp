#include "interp/interpreter_table_builder.h"

#include <algorithm>
#include <utility>

#include "interp/interpreter_sources.h"

namespace nftjit::interp {
namespace {

constexpr size_t kPackedColumns = kMaxColumns - 1;  // One is for guards that not all rules have.
constexpr size_t kPatience = 64;  // Rows for which a column may lie idle, or after which none is added: about as many
                                  // rows as another table's entry costs.

struct PlannedColumn {
  Source source;
  bool masked = true, range = true, reversed = false, has_order = false;  // Forms that all its tests have.
  size_t last_used = 0;
};

bool IsSettable(const Source& source) {
  return source.place == Place::kMeta && interp::IsSettable(static_cast<nft::MetaKey>(source.key));
}

// Grows a run rule by rule.
class Planner {
 public:
  // False: the rule is not for this table.
  bool Add(const RuleShape& shape) {
    if (shape.tests.empty()) return false;
    const std::vector<PlannedColumn> before = columns_;
    std::vector<int> places;
    for (const PackedTest& test : shape.tests) places.push_back(PlaceOf(test, places));
    if (!Worthwhile(before.size(), places)) {
      columns_ = before;
      return false;
    }
    for (const int place : places) {
      if (place >= 0) columns_[static_cast<size_t>(place)].last_used = rows_.size();
    }
    rows_.push_back({&shape, std::move(places)});
    return true;
  }

  [[nodiscard]] size_t size() const { return rows_.size(); }
  [[nodiscard]] bool Pays() const { return rows_.size() >= 2 + 2 * columns_.size(); }

  TableRun Finish();

 private:
  struct PlannedRow {
    const RuleShape* shape;
    std::vector<int> places;  // Per test: its column, or -1.
  };

  // The column for a test, made if need be; -1 if the rule's other tests took the place.
  int PlaceOf(const PackedTest& test, const std::vector<int>& taken) {
    for (size_t c = 0; c < columns_.size(); ++c) {
      if (std::find(taken.begin(), taken.end(), static_cast<int>(c)) != taken.end()) continue;
      if (Fits(columns_[c], test)) return static_cast<int>(c);
    }
    PlannedColumn column{.source = test.source, .last_used = rows_.size()};
    Fits(column, test);
    columns_.push_back(column);
    return static_cast<int>(columns_.size() - 1);
  }

  // Narrows the column's forms to those that the test has too; false, and unchanged, if none is left.
  static bool Fits(PlannedColumn& column, const PackedTest& test) {
    if (!(column.source == test.source)) return false;
    const bool masked = column.masked && test.masked.has_value();
    const bool range =
        column.range && test.range.has_value() && (!column.has_order || column.reversed == test.range->reversed);
    if (!masked && !range) return false;
    column.masked = masked;
    column.range = range;
    if (range) {
      column.has_order = true;
      column.reversed = test.range->reversed;
    }
    return true;
  }

  [[nodiscard]] bool Worthwhile(size_t columns_before, const std::vector<int>& places) const {
    if (columns_.size() > kPackedColumns) return false;
    if (rows_.empty()) return true;
    if (columns_.size() > columns_before && rows_.size() >= kPatience) return false;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const bool used = std::find(places.begin(), places.end(), static_cast<int>(c)) != places.end();
      if (!used && rows_.size() - columns_[c].last_used >= kPatience) return false;
    }
    return true;
  }

  [[nodiscard]] const PackedTest* TestIn(const PlannedRow& row, size_t column) const {
    for (size_t t = 0; t < row.places.size(); ++t) {
      if (row.places[t] == static_cast<int>(column)) return &row.shape->tests[t];
    }
    return nullptr;
  }

  [[nodiscard]] bool IsCommon(size_t column) const;
  void FindCommonNeeds(TableRun& run) const;
  void AddGuardColumn(TableRun& run) const;
  void FillColumn(TableRun& run, size_t column, size_t place, size_t count) const;

  std::vector<PlannedColumn> columns_;
  std::vector<PlannedRow> rows_;
};

// Where lane `row` of a column of `count` columns lies; its second half is kLanes further.
size_t LaneOf(size_t row, size_t column, size_t count) {
  return (row / kLanes * count + column) * 2 * kLanes + row % kLanes;
}

// All rows have the very same test in the column: it is done once, before the table. Columns of metadata that rules
// change are read anew after each row that matched, so these stay.
bool Planner::IsCommon(size_t column) const {
  if (IsSettable(columns_[column].source)) return false;
  const PackedTest* first = TestIn(rows_.front(), column);
  return std::all_of(rows_.begin(), rows_.end(), [&](const PlannedRow& row) {
    const PackedTest* test = TestIn(row, column);
    return first != nullptr && test != nullptr && first->whole && test->whole && test->masked == first->masked &&
           test->range == first->range;
  });
}

void Planner::FindCommonNeeds(TableRun& run) const {
  run.common = rows_.front().shape->needs;
  for (const PlannedRow& row : rows_) {
    run.common.conditions &= row.shape->needs.conditions;
    for (size_t base = 0; base < run.common.room.size(); ++base) {
      run.common.room[base] = std::min(run.common.room[base], row.shape->needs.room[base]);
    }
  }
}

// The guards that a rule needs beyond the common ones.
std::vector<TableGuard> ExtraGuards(const Needs& needs, const Needs& common) {
  std::vector<TableGuard> extra;
  for (uint8_t bit = 1; bit <= kNeedCt; bit <<= 1) {
    if ((needs.conditions & ~common.conditions & bit) != 0) extra.push_back({.conditions = bit});
  }
  for (uint8_t base = 0; base < needs.room.size(); ++base) {
    if (needs.room[base] > common.room[base]) extra.push_back({.base = base, .room = needs.room[base]});
  }
  return extra;
}

// The bit of `guard` among the table's; `guards` grows if it is new.
uint32_t BitOf(std::vector<TableGuard>& guards, const TableGuard& guard) {
  for (size_t i = 0; i < guards.size(); ++i) {
    if (guards[i].conditions == guard.conditions && guards[i].base == guard.base && guards[i].room == guard.room) {
      return 1U << i;
    }
  }
  guards.push_back(guard);
  return 1U << (guards.size() - 1);
}

void Planner::AddGuardColumn(TableRun& run) const {
  const size_t count = run.table.columns.size();
  run.table.columns[count - 1].guards = true;
  for (size_t r = 0; r < rows_.size(); ++r) {
    uint32_t wanted = 0;
    for (const TableGuard& guard : ExtraGuards(rows_[r].shape->needs, run.common)) {
      wanted |= BitOf(run.table.guards, guard);
    }
    run.data[LaneOf(r, count - 1, count)] = wanted;
    run.data[LaneOf(r, count - 1, count) + kLanes] = wanted;
  }
}

void Planner::FillColumn(TableRun& run, size_t column, size_t place, size_t count) const {
  const PlannedColumn& planned = columns_[column];
  run.table.columns[place] = {
      .source = planned.source, .range = !planned.masked, .reversed = !planned.masked && planned.reversed};
  for (size_t r = 0; r < rows_.size(); ++r) {
    uint32_t& first = run.data[LaneOf(r, place, count)];
    uint32_t& second = run.data[LaneOf(r, place, count) + kLanes];
    const PackedTest* test = TestIn(rows_[r], column);
    if (planned.masked) {
      first = test != nullptr ? test->masked->mask : 0;
      second = test != nullptr ? test->masked->value : 0;
    } else {
      first = test != nullptr ? test->range->low : 0;
      second = test != nullptr ? test->range->size : ~0U;
    }
  }
}

TableRun Planner::Finish() {
  TableRun run;
  run.table.rows = static_cast<uint32_t>(rows_.size());
  FindCommonNeeds(run);
  std::vector<size_t> kept;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (!IsCommon(c)) {
      kept.push_back(c);
    } else {
      run.common_tests.push_back(TestIn(rows_.front(), c)->row);
    }
  }
  const bool guards = std::any_of(rows_.begin(), rows_.end(), [&](const PlannedRow& row) {
    return !ExtraGuards(row.shape->needs, run.common).empty();
  });
  const size_t count = kept.size() + (guards ? 1 : 0);
  run.table.columns.resize(count);
  run.data.assign((rows_.size() + kLanes - 1) / kLanes * count * 2 * kLanes, 0);
  for (size_t place = 0; place < kept.size(); ++place) FillColumn(run, kept[place], place, count);
  if (guards) AddGuardColumn(run);

  for (const PlannedRow& row : rows_) {
    std::vector<uint32_t> done = row.shape->guards;
    for (const PackedTest& test : row.shape->tests) {
      if (test.whole) done.push_back(test.row);
    }
    std::sort(done.begin(), done.end());
    run.done.push_back(std::move(done));
  }
  return run;
}

// Keeps the different guards of a table's rules within the bits of the guard column.
class GuardBudget {
 public:
  bool Admit(const Needs& needs) {
    for (uint8_t base = 0; base < needs.room.size(); ++base) {
      const std::pair<uint8_t, uint32_t> room(base, needs.room[base]);
      if (room.second != 0 && std::find(rooms_.begin(), rooms_.end(), room) == rooms_.end()) rooms_.push_back(room);
    }
    return rooms_.size() + kConditions <= 32;
  }

 private:
  static constexpr size_t kConditions = 5;
  std::vector<std::pair<uint8_t, uint32_t>> rooms_;
};

}  // namespace

std::optional<TableRun> BuildRun(std::span<const RuleShape> shapes, size_t& length) {
  Planner planner;
  GuardBudget budget;
  for (const RuleShape& shape : shapes) {
    if (!budget.Admit(shape.needs) || !planner.Add(shape)) break;
  }
  if (planner.size() > 0 && planner.Pays()) {
    length = planner.size();
    return planner.Finish();
  }
  length = 1;
  return std::nullopt;
}

}  // namespace nftjit::interp
