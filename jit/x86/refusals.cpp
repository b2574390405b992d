#include "jit/x86/refusals.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/support/source.h"

namespace nftjit::x86 {
namespace {

using ir::Op;

constexpr uint32_t kMostLevels = 16;  // The base chain is one.

absl::Status RefuseRow(const ir::Program& program, const ir::Item& item, uint32_t row, std::string_view what) {
  std::string text = absl::StrCat("row ", row);
  SourcePos where;
  if (item.kind == ir::ItemKind::kRule) {
    const ir::RuleInfo& rule = program.rules[item.rule.index];
    absl::StrAppend(&text, " of rule ", rule.handle);
    where = rule.where;
  }
  return ErrorAt(where, absl::StatusCode::kUnimplemented,
                 absl::StrCat(text, ": ", absl::string_view(what.data(), what.size()), " is not supported"));
}

// How many levels of chains lie below each one.
class Levels {
 public:
  explicit Levels(const ir::Program& program) : program_(program), levels_(program.chains.size(), kNew) {}

  // 0: in a circle.
  uint32_t Of(uint32_t chain) {
    if (levels_[chain] == kOpen) return 0;
    if (levels_[chain] != kNew) return levels_[chain];
    levels_[chain] = kOpen;
    uint32_t below = 0;
    for (const uint32_t target : Targets(chain)) {
      const uint32_t levels = Of(target);
      if (levels == 0) return 0;
      below = std::max(below, levels);
    }
    return levels_[chain] = below + 1;
  }

 private:
  static constexpr uint32_t kNew = UINT32_MAX, kOpen = UINT32_MAX - 1;

  [[nodiscard]] std::vector<uint32_t> Targets(uint32_t chain) const {
    std::vector<uint32_t> targets;
    const auto add = [&](nft::VerdictCode code, uint32_t target) {
      if (code == nft::VerdictCode::kJump || code == nft::VerdictCode::kGoto) targets.push_back(target);
    };
    for (const ir::Item& item : program_.ItemsOf(program_.chains[chain])) {
      for (const ir::Row& row : program_.RowsOf(item)) {
        if (row.op == Op::kVerdict) add(row.verdict(), row.a);
        if (row.op != Op::kVerdictMap) continue;
        const ir::SetInfo& set = program_.sets[row.b];
        for (const ir::SetElement& element : set.elements) add(element.verdict, element.chain.index);
        if (set.catchall) add(set.catchall->verdict, set.catchall->chain.index);
      }
    }
    return targets;
  }

  const ir::Program& program_;
  std::vector<uint32_t> levels_;
};

}  // namespace

absl::Status Refuse(const ir::Program& program) {
  for (const ir::Item& item : program.items) {
    for (uint32_t i = item.first_row; i < item.first_row + item.row_count; ++i) {
      const ir::Row& row = program.rows[i];
      if (row.op == Op::kUnsupported) return RefuseRow(program, item, i, program.texts[row.a]);
      if (row.op == Op::kExthdr && row.key == static_cast<uint8_t>(nft::ExthdrOp::kDccp)) {
        return RefuseRow(program, item, i, "exthdr of dccp");
      }
    }
  }
  Levels levels(program);
  for (uint32_t i = 0; i < program.chains.size(); ++i) {
    const ir::Chain& chain = program.chains[i];
    if (!chain.base) continue;
    const uint32_t depth = levels.Of(i);
    if (depth == 0) return absl::InternalError(absl::StrCat("chain ", chain.name, ": jumps go round in a circle"));
    if (depth > kMostLevels)
      return absl::InternalError(absl::StrCat("chain ", chain.name, ": jumps go deeper than 16"));
  }
  return absl::OkStatus();
}

}  // namespace nftjit::x86
