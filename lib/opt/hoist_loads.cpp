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
#include "lib/opt/row_map.h"

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
  bool chosen = false;
  uint32_t new_row = 0;  // At the head of its block, once that is written.
};

// A block to be put in front of an item. Numbers of items are the old ones.
struct NewBlock {
  uint32_t before = 0;
  ir::Item item;
};

// Reads a run of rules, then writes it anew in place: a rule loses at least as many rows as a block before it gains.
class Hoister {
 public:
  Hoister(ir::Program& program, int limit) : p_(program), left_(limit), keys_set_by_chains_(KeysSetByChains(program)) {}

  int Run() {
    std::vector<uint32_t> order(p_.chains.size());
    for (uint32_t c = 0; c < order.size(); ++c) order[c] = c;
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return p_.chains[a].first_item < p_.chains[b].first_item; });
    for (const uint32_t chain : order) HoistIn(p_.chains[chain]);
    p_.rows.resize(to_);
    p_.origins.resize(to_);
    if (!blocks_.empty()) InsertBlocks();
    return hoisted_;
  }

 private:
  static constexpr size_t kTableSize = 256, kMaxCandidates = 128;

  void HoistIn(const ir::Chain& chain) {
    ends_.assign(1, chain.first_item + chain.item_count);
    begin_ = chain.first_item;
    for (uint32_t i = chain.first_item; i < chain.first_item + chain.item_count; ++i) {
      while (ends_.back() <= i) {
        EndRun(i);
        ends_.pop_back();
      }
      if (p_.items[i].kind == ir::ItemKind::kBlock) {
        EndRun(i);
        ends_.push_back(p_.items[i].end);
        WriteItem(i);
        begin_ = i + 1;
        continue;
      }
      if (i - begin_ == kMaxRun) EndRun(i);
      if (!ReadRule(i)) {
        EndRun(i);
        WriteItem(i);
        begin_ = i + 1;
      }
    }
    EndRun(chain.first_item + chain.item_count);
  }

  // --- reading ---

  // False if the rule does something unknown: it cannot be in a run.
  bool ReadRule(uint32_t i) {
    const std::span<const Row> rows = p_.RowsOf(p_.items[i]);
    if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.op == Op::kUnsupported; })) return false;
    for (const Row& row : rows) {
      Candidate* candidate = CandidateOf(row, i);
      changed_ |= KeysSetBy(p_, row, keys_set_by_chains_);
      if (candidate == nullptr || (candidate->last_item == i && candidate->rules != 0)) continue;
      ++candidate->rules;
      candidate->last_item = i;
    }
    return true;
  }

  // The candidate that `row` loads; null if it is none, or there are too many.
  Candidate* CandidateOf(const Row& row, uint32_t i) {
    if (row.op != Op::kLoad && row.op != Op::kMeta && row.op != Op::kCt) return nullptr;
    const Row load = TotalLoad(row);
    if (load.op == Op::kUnsupported) return nullptr;
    if (load.op == Op::kMeta && (changed_ >> load.key & 1) != 0) return nullptr;
    uint64_t hash = static_cast<uint64_t>(load.op) | uint64_t{load.length} << 8 | uint64_t{load.key} << 16;
    hash = ((hash ^ uint64_t{load.a} << 24) * 0x9e3779b97f4a7c15U) >> 56;
    for (size_t slot = hash % kTableSize;; slot = (slot + 1) % kTableSize) {
      if (table_[slot] == 0) {
        if (candidates_.size() == kMaxCandidates) return nullptr;
        candidates_.push_back({.load = load, .first_item = i, .last_item = i});
        table_[slot] = static_cast<uint16_t>(candidates_.size());
        return &candidates_.back();
      }
      if (candidates_[table_[slot] - 1].load == load) return &candidates_[table_[slot] - 1];
    }
  }

  // The run ends before item `end`: hoists what at least two of its rules load, and writes it.
  void EndRun(uint32_t end) {
    for (Candidate& candidate : candidates_) {
      candidate.chosen = candidate.rules >= 2 && left_ > 0;
      if (!candidate.chosen) continue;
      --left_;
      ++hoisted_;
    }
    changed_ = 0;
    size_t next = 0;  // Candidates are in the order of their first items.
    for (uint32_t i = begin_; i < end; ++i) {
      next = OpenBlock(i, end, next);
      WriteItem(i);
    }
    candidates_.clear();
    table_.fill(0);
    changed_ = 0;
    begin_ = end;
  }

  // --- writing ---

  // The values that item `i` is the first to load go into a block before it; their rows are written with the item's.
  size_t OpenBlock(uint32_t i, uint32_t end, size_t next) {
    heads_.clear();
    for (; next < candidates_.size() && candidates_[next].first_item == i; ++next) {
      if (candidates_[next].chosen) heads_.push_back(static_cast<uint32_t>(next));
    }
    if (heads_.empty()) return next;
    blocks_.push_back({i,
                       {.kind = ir::ItemKind::kBlock,
                        .first_row = to_,
                        .row_count = static_cast<uint32_t>(heads_.size()),
                        .end = end}});
    return next;
  }

  void WriteItem(uint32_t i) {
    ir::Item& item = p_.items[i];
    const auto first = static_cast<std::ptrdiff_t>(item.first_row), size = static_cast<std::ptrdiff_t>(item.row_count);
    rows_.assign(p_.rows.begin() + first, p_.rows.begin() + first + size);
    origins_.assign(p_.origins.begin() + first, p_.origins.begin() + first + size);
    for (const uint32_t head : heads_) {
      candidates_[head].new_row = to_;
      Write(candidates_[head].load, {});
    }
    heads_.clear();
    moved_.Enter(item, i);
    const uint32_t new_first = to_;
    for (uint32_t r = 0; r < rows_.size(); ++r) {
      const uint32_t to = Hoisted(item, i, r);
      if (to == UINT32_MAX) {
        ForEachOperand(rows_[r], [&](uint32_t& operand) { operand = moved_[operand]; });
        moved_.Set(item.first_row + r, to_);
        Write(rows_[r], origins_[r]);
      } else {
        moved_.Set(item.first_row + r, to);
        ir::AddOrigin(p_, p_.origins[to], origins_[r]);
      }
    }
    moved_.Leave(item);
    item.first_row = new_first;
    item.row_count = to_ - new_first;
  }

  // Where the value of row `r` of the item is now, if it was hoisted.
  uint32_t Hoisted(const ir::Item& item, uint32_t i, uint32_t r) {
    if (candidates_.empty() || item.kind == ir::ItemKind::kBlock) return UINT32_MAX;
    const Candidate* candidate = CandidateOf(rows_[r], i);
    changed_ |= KeysSetBy(p_, rows_[r], keys_set_by_chains_);
    return candidate != nullptr && candidate->chosen ? candidate->new_row : UINT32_MAX;
  }

  void Write(const Row& row, const ir::Origin& origin) {
    p_.rows[to_] = row;
    p_.origins[to_] = origin;
    ++to_;
  }

  // Moves the items apart, backwards, and puts the blocks between.
  void InsertBlocks() {
    const size_t old_size = p_.items.size();
    // An item that ends before item `e` does so before the blocks in front of that.
    const auto moved = [&](uint32_t e) {
      const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), e,
                                       [](const NewBlock& block, uint32_t item) { return block.before < item; });
      return e + static_cast<uint32_t>(at - blocks_.begin());
    };
    for (ir::Chain& chain : p_.chains) {
      const uint32_t end = moved(chain.first_item + chain.item_count);
      chain.first_item = moved(chain.first_item);
      chain.item_count = end - chain.first_item;
    }
    p_.items.resize(old_size + blocks_.size());
    size_t to = p_.items.size(), block = blocks_.size();
    for (size_t i = old_size; i-- > 0;) {
      ir::Item item = p_.items[i];
      item.end = moved(item.end);
      p_.items[--to] = item;
      while (block > 0 && blocks_[block - 1].before == i) {
        p_.items[--to] = blocks_[--block].item;
        p_.items[to].end = moved(p_.items[to].end);
      }
    }
  }

  ir::Program& p_;
  int left_, hoisted_ = 0;
  const MetaKeys keys_set_by_chains_;
  std::vector<uint32_t> ends_;  // Of the blocks around, innermost last.
  uint32_t begin_ = 0;          // First item of the run.
  MetaKeys changed_ = 0;        // By the rules of the run so far.
  std::vector<Candidate> candidates_;
  std::array<uint16_t, kTableSize> table_{};  // Index into candidates_, plus one.
  // Writing.
  uint32_t to_ = 0;
  RowMap moved_;
  std::vector<uint32_t> heads_;  // Candidates whose block begins at the item to be written.
  std::vector<Row> rows_;        // Of that item, as they were.
  std::vector<ir::Origin> origins_;
  std::vector<NewBlock> blocks_;
};

}  // namespace

int HoistLoads(ir::Program& program, int limit) { return Hoister(program, limit).Run(); }

}  // namespace nftjit::opt
