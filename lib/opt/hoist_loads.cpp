// Loads a value once for all rules of a run that use it, in a block around them:
//     rule: guard room.network 20; %0 = load network+12, 4; test %0 == …
//     rule: guard room.network 20; %1 = load network+12, 4; test %1 == …
//       =>  block:
//             %0 = load? network+12, 4
//             rule: guard room.network 20; test %0 == …
//             rule: guard room.network 20; test %0 == …
// The block begins at the first rule that uses the value, so that a packet which leaves earlier loads nothing for the
// others; blocks of several values nest. Rules keep their guards, which order-tests then puts behind the compare.
// Condition: at least two rules of the run load it. A run is at most 4096 rules that follow each other; an unsupported
// op ends it. Values are packet bytes (but those behind inner headers, which must be looked for), metadata that a load
// cannot fail for, the transport protocol, and the conntrack state. A use of metadata counts, and is replaced, only if
// no row before it in the run may have changed that key: `set`, or a jump into a chain that may.
// Sound because the block's loads are total: bytes outside the packet, and an unknown protocol, read as zero, and the
// guard that stood before the load still decides whether the rule goes on.
#include <algorithm>
#include <array>

#include "lib/ir/origin.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Op;
using ir::Row;

constexpr uint32_t kMaxRun = 4096;

// The load as it stands in a block; its op is kUnsupported if it cannot.
Row TotalLoad(const Row& row) {
  constexpr Row kNone = {.op = Op::kUnsupported};
  Row total = row;
  switch (row.op) {
    case Op::kLoad:
      if (row.base() == ir::Base::kInner) return kNone;
      total.flags |= ir::kOrZero;
      return total;
    case Op::kMeta:
      switch (static_cast<nft::MetaKey>(row.key)) {
        case nft::MetaKey::kL4proto:
          total.flags |= ir::kOrZero;
          return total;
        case nft::MetaKey::kLen:
        case nft::MetaKey::kProtocol:
        case nft::MetaKey::kPriority:
        case nft::MetaKey::kMark:
        case nft::MetaKey::kIif:
        case nft::MetaKey::kOif:
        case nft::MetaKey::kIifname:
        case nft::MetaKey::kOifname:
        case nft::MetaKey::kNfproto:
        case nft::MetaKey::kPkttype:
          return total;
        default:
          return kNone;
      }
    case Op::kCt:
      return static_cast<nft::CtKey>(row.key) == nft::CtKey::kState ? total : kNone;
    default:
      return kNone;
  }
}

// A value that a run loads.
struct Candidate {
  Row load;
  uint32_t first_item = 0, last_item = 0;
  uint32_t rules = 0;
  uint32_t end = 0;      // The item at which its block ends.
  uint32_t new_row = 0;  // Where it is in the rewritten program.
};
// A row that loads a candidate.
struct Use {
  uint32_t row = 0, candidate = 0;
};

// Finds what is worth hoisting, run by run.
class Finder {
 public:
  explicit Finder(const ir::Program& program) : p_(program), keys_set_by_chains_(KeysSetByChains(program)) {}

  // Calls for each chain fill these: candidates by first item, uses by row.
  std::vector<Candidate> candidates;
  std::vector<Use> uses;

  void Find(int limit) {
    limit_ = limit;
    for (const ir::Chain& chain : p_.chains) {
      ends_.assign(1, chain.first_item + chain.item_count);
      begin_ = chain.first_item;
      for (uint32_t i = chain.first_item; i < chain.first_item + chain.item_count; ++i) {
        while (ends_.back() <= i) {
          EndRun(i);
          ends_.pop_back();
        }
        if (p_.items[i].kind == ir::ItemKind::kBlock) {
          EndRun(i);
          begin_ = i + 1;
          ends_.push_back(p_.items[i].end);
          continue;
        }
        if (i - begin_ == kMaxRun) EndRun(i);
        VisitRule(i);
      }
      EndRun(chain.first_item + chain.item_count);
    }
    const auto by_row = [](const Use& a, const Use& b) { return a.row < b.row; };
    if (!std::is_sorted(uses.begin(), uses.end(), by_row)) std::sort(uses.begin(), uses.end(), by_row);
    std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
      return a.first_item != b.first_item ? a.first_item < b.first_item : a.new_row < b.new_row;
    });
  }

 private:
  static constexpr size_t kTableSize = 256, kMaxCandidates = 128;

  void VisitRule(uint32_t i) {
    for (uint32_t r = p_.items[i].first_row; r < p_.items[i].first_row + p_.items[i].row_count; ++r) {
      const Row& row = p_.rows[r];
      if (row.op == Op::kLoad || row.op == Op::kMeta || row.op == Op::kCt) {
        VisitLoad(i, r);
        continue;
      }
      const MetaKeys keys = KeysSetBy(p_, row, keys_set_by_chains_);
      if (keys == kAllMetaKeys) {
        EndRun(i);
        begin_ = i + 1;
        return;
      }
      changed_ |= keys;
    }
  }

  void VisitLoad(uint32_t i, uint32_t r) {
    const Row load = TotalLoad(p_.rows[r]);
    if (load.op == Op::kUnsupported) return;
    if (load.op == Op::kMeta && (changed_ >> load.key & 1) != 0) return;
    const uint32_t index = Lookup(load, i);
    if (index == UINT32_MAX) return;
    Candidate& candidate = run_[index];
    if (candidate.last_item != i || candidate.rules == 0) ++candidate.rules;
    candidate.last_item = i;
    run_uses_.push_back({r, index});
  }

  // The candidate of `load` in this run; UINT32_MAX if there are too many.
  uint32_t Lookup(const Row& load, uint32_t i) {
    uint64_t hash = static_cast<uint64_t>(load.op) | uint64_t{load.length} << 8 | uint64_t{load.key} << 16;
    hash = ((hash ^ uint64_t{load.a} << 24) * 0x9e3779b97f4a7c15U) >> 56;
    for (size_t slot = hash % kTableSize;; slot = (slot + 1) % kTableSize) {
      const uint32_t index = table_[slot];
      if (index == 0) {
        if (run_.size() == kMaxCandidates) return UINT32_MAX;
        run_.push_back({.load = load, .first_item = i, .last_item = i});
        table_[slot] = static_cast<uint32_t>(run_.size());
        return static_cast<uint32_t>(run_.size() - 1);
      }
      if (run_[index - 1].load == load) return index - 1;
    }
  }

  // The run ends before item `end`: keeps what at least two rules load.
  void EndRun(uint32_t end) {
    chosen_.assign(run_.size(), UINT32_MAX);
    for (size_t c = 0; c < run_.size() && limit_ > 0; ++c) {
      if (run_[c].rules < 2) continue;
      chosen_[c] = static_cast<uint32_t>(candidates.size());
      run_[c].end = end;
      run_[c].new_row = chosen_[c];  // The order of first use, for now.
      candidates.push_back(run_[c]);
      --limit_;
    }
    for (const Use& use : run_uses_) {
      if (chosen_[use.candidate] != UINT32_MAX) uses.push_back({use.row, chosen_[use.candidate]});
    }
    run_.clear();
    run_uses_.clear();
    table_.fill(0);
    changed_ = 0;
    begin_ = end;
  }

  const ir::Program& p_;
  const MetaKeys keys_set_by_chains_;
  int limit_ = 0;
  std::vector<uint32_t> ends_;  // Of the blocks around, innermost last.
  uint32_t begin_ = 0;          // First item of the run.
  MetaKeys changed_ = 0;
  std::vector<Candidate> run_;
  std::vector<Use> run_uses_;
  std::vector<uint32_t> chosen_;
  std::array<uint32_t, kTableSize> table_{};  // Index into run_, plus one.
};

// Writes the program anew with the blocks in it.
class Rewriter {
 public:
  Rewriter(ir::Program& program, std::vector<Candidate> candidates, const std::vector<Use>& uses)
      : p_(program), candidates_(std::move(candidates)), uses_(uses), moved_(program.rows.size()) {}

  void Run() {
    // Uses name candidates by the order in which they were found.
    by_number_.resize(candidates_.size());
    for (size_t c = 0; c < candidates_.size(); ++c) by_number_[candidates_[c].new_row] = static_cast<uint32_t>(c);
    rows_.reserve(p_.rows.size());
    origins_.reserve(p_.rows.size());
    items_.reserve(p_.items.size() + candidates_.size());
    starts_.resize(p_.items.size() + 1);
    for (uint32_t i = 0; i < p_.items.size(); ++i) {
      starts_[i] = static_cast<uint32_t>(items_.size());
      while (next_ < candidates_.size() && candidates_[next_].first_item == i) PutBlock();
      PutItem(p_.items[i]);
    }
    starts_[p_.items.size()] = static_cast<uint32_t>(items_.size());
    for (ir::Item& item : items_) item.end = starts_[item.end];
    for (ir::Chain& chain : p_.chains) {
      const uint32_t end = starts_[chain.first_item + chain.item_count];
      chain.first_item = starts_[chain.first_item];
      chain.item_count = end - chain.first_item;
    }
    p_.rows = std::move(rows_);
    p_.origins = std::move(origins_);
    p_.items = std::move(items_);
    MergeOrigins();
  }

 private:
  // The candidates that begin at the same item and end at the same one share a block.
  void PutBlock() {
    ir::Item block{.kind = ir::ItemKind::kBlock, .first_row = static_cast<uint32_t>(rows_.size())};
    block.end = candidates_[next_].end;
    const uint32_t first_item = candidates_[next_].first_item;
    while (next_ < candidates_.size() && candidates_[next_].first_item == first_item &&
           candidates_[next_].end == block.end) {
      candidates_[next_].new_row = static_cast<uint32_t>(rows_.size());
      rows_.push_back(candidates_[next_].load);
      origins_.push_back({});
      ++next_;
    }
    block.row_count = static_cast<uint32_t>(rows_.size()) - block.first_row;
    items_.push_back(block);
  }

  void PutItem(ir::Item item) {
    const uint32_t first = static_cast<uint32_t>(rows_.size());
    for (uint32_t r = item.first_row; r < item.first_row + item.row_count; ++r) {
      if (use_ < uses_.size() && uses_[use_].row == r) {
        const uint32_t to = candidates_[by_number_[uses_[use_].candidate]].new_row;
        moved_[r] = to;
        merges_.push_back({to, p_.origins[r]});
        ++use_;
        continue;
      }
      moved_[r] = static_cast<uint32_t>(rows_.size());
      rows_.push_back(p_.rows[r]);
      origins_.push_back(p_.origins[r]);
      ForEachOperand(rows_.back(), [&](uint32_t& operand) { operand = moved_[operand]; });
    }
    item.first_row = first;
    item.row_count = static_cast<uint32_t>(rows_.size()) - first;
    items_.push_back(item);
  }

  void MergeOrigins() {
    for (const auto& [row, origin] : merges_) ir::AddOrigin(p_, ir::RowId(row), origin);
  }

  ir::Program& p_;
  std::vector<Candidate> candidates_;
  const std::vector<Use>& uses_;
  std::vector<uint32_t> by_number_, moved_, starts_;
  std::vector<Row> rows_;
  std::vector<ir::Origin> origins_;
  std::vector<ir::Item> items_;
  std::vector<std::pair<uint32_t, ir::Origin>> merges_;
  size_t next_ = 0, use_ = 0;
};

}  // namespace

int HoistLoads(ir::Program& program, int limit) {
  Finder finder(program);
  finder.Find(limit);
  if (finder.candidates.empty()) return 0;
  const int rewrites = static_cast<int>(finder.candidates.size());
  Rewriter(program, std::move(finder.candidates), finder.uses).Run();
  return rewrites;
}

}  // namespace nftjit::opt
