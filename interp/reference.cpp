// The reference engine: a plain walk over items and rows, written to be read. It is the meaning of every op and the
// judge of all other engines; interp/reference_*.cpp hold the ops, a file per family.
#include <algorithm>

#include "interp/reference_machine.h"
#include "lib/engine/engine.h"

namespace nftjit {
namespace {

using reference::kSlotAlignment;
using reference::Layout;

// Values of a chain and of the chains that it is deep in. Programs that need more than the frame's scratch are rare.
constexpr size_t kMostValueBytes = size_t{64} << 10;
constexpr uint32_t kMostDepth = 16;

std::string PlaceOf(const ir::Program& program, uint32_t row) {
  const uint32_t rule = row < program.origins.size() ? program.origins[row].rule : UINT32_MAX;
  std::string place = "row " + std::to_string(row);
  if (rule < program.rules.size()) place += " of rule " + std::to_string(program.rules[rule].handle);
  return place;
}

absl::Status RefuseUnsupported(const ir::Program& program) {
  for (uint32_t i = 0; i < program.rows.size(); ++i) {
    const ir::Row& row = program.rows[i];
    if (row.op == ir::Op::kUnsupported) {
      return absl::UnimplementedError(PlaceOf(program, i) + ": " + program.texts[row.a] + " is not supported");
    }
    if (row.op == ir::Op::kExthdr && row.key == static_cast<uint8_t>(nft::ExthdrOp::kDccp)) {
      return absl::UnimplementedError(PlaceOf(program, i) + ": exthdr of dccp is not supported");
    }
  }
  return absl::OkStatus();
}

// Gives every value of a chain a slot. Siblings share: a value is seen in its own item and, if that is a block, inside.
void PlaceValues(const ir::Program& program, uint32_t chain_index, Layout& layout) {
  struct Open {
    uint32_t end, offset;  // Of a block: its last item, and where the values of its items begin.
  };
  const ir::Chain& chain = program.chains[chain_index];
  std::vector<Open> open{{chain.first_item + chain.item_count, 0}};
  uint32_t most = 0;
  for (uint32_t i = chain.first_item; i < chain.first_item + chain.item_count; ++i) {
    const ir::Item& item = program.items[i];
    while (open.size() > 1 && i >= open.back().end) open.pop_back();
    uint32_t offset = open.back().offset;
    for (uint32_t row = item.first_row; row < item.first_row + item.row_count; ++row) {
      layout.slot[row] = offset;
      offset += (program.rows[row].length + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
    }
    most = std::max(most, offset);
    if (item.kind == ir::ItemKind::kBlock) open.push_back({item.end, offset});
  }
  layout.chain_bytes[chain_index] = most;
}

// How deep the jumps below a chain go, and how many bytes of values that takes at once.
class StackDepth {
 public:
  StackDepth(const ir::Program& program, const Layout& layout)
      : program_(program), layout_(layout), state_(program.chains.size()) {}

  absl::Status Check(ir::ChainId base) {
    if (!Visit(base)) {
      return absl::InternalError("chain " + program_.chains[base.index].name + ": jumps go round in a circle");
    }
    const Need& need = state_[base.index].need;
    if (need.depth > kMostDepth) {
      return absl::InternalError("chain " + program_.chains[base.index].name + ": jumps go deeper than 16");
    }
    if (need.bytes > kMostValueBytes) {
      return absl::ResourceExhaustedError("chain " + program_.chains[base.index].name + ": its values take " +
                                          std::to_string(need.bytes) + " bytes, at most 65536 are supported");
    }
    return absl::OkStatus();
  }
  [[nodiscard]] size_t BytesOf(ir::ChainId chain) const { return state_[chain.index].need.bytes; }

 private:
  struct Need {
    uint32_t depth = 1;
    size_t bytes = 0;
  };
  struct State {
    enum { kNew, kOpen, kDone } phase = kNew;
    Need need;
  };

  bool Visit(ir::ChainId chain) {
    State& state = state_[chain.index];
    if (state.phase == State::kDone) return true;
    if (state.phase == State::kOpen) return false;
    state.phase = State::kOpen;
    state.need.bytes = layout_.chain_bytes[chain.index];
    for (const ir::Item& item : program_.ItemsOf(program_.chains[chain.index])) {
      for (const ir::Row& row : program_.RowsOf(item)) {
        if (row.op == ir::Op::kVerdict && !VisitTarget(chain, row.verdict(), ir::ChainId(row.a))) return false;
        if (row.op == ir::Op::kVerdictMap && !VisitMap(chain, program_.sets[row.b])) return false;
      }
    }
    state.phase = State::kDone;
    return true;
  }
  bool VisitMap(ir::ChainId from, const ir::SetInfo& set) {
    for (const ir::SetElement& element : set.elements) {
      if (!VisitTarget(from, element.verdict, element.chain)) return false;
    }
    return !set.catchall || VisitTarget(from, set.catchall->verdict, set.catchall->chain);
  }
  bool VisitTarget(ir::ChainId from, nft::VerdictCode code, ir::ChainId to) {
    const bool jump = code == nft::VerdictCode::kJump;
    if (!jump && code != nft::VerdictCode::kGoto) return true;
    if (!Visit(to)) return false;
    Need& need = state_[from.index].need;
    const Need& below = state_[to.index].need;
    need.depth = std::max(need.depth, below.depth + (jump ? 1 : 0));
    need.bytes = std::max(need.bytes, below.bytes + (jump ? layout_.chain_bytes[from.index] : 0));
    return true;
  }

  const ir::Program& program_;
  const Layout& layout_;
  std::vector<State> state_;
};

// The code of a chain: the Program itself, and where to start.
struct ChainCode {
  const ir::Program* program;
  const Layout* layout;
  ir::ChainId chain;
};

// Flags are few beside the values, so they have a stack of their own for the largest, used for cut frames only.
Outcome RunWithFlags(const ChainCode& chain, Frame& frame, uint8_t* values) noexcept {
  uint8_t unknown[kMostValueBytes / kSlotAlignment];
  return reference::RunChain(*chain.program, *chain.layout, frame, chain.chain, values, unknown);
}

Outcome Run(const ChainCode& chain, Frame& frame, uint8_t* values) noexcept {
  if (frame.cut) return RunWithFlags(chain, frame, values);
  return reference::RunChain(*chain.program, *chain.layout, frame, chain.chain, values, nullptr);
}

Outcome RunInFrame(const void* code, Frame* frame) noexcept {
  return Run(*static_cast<const ChainCode*>(code), *frame, frame->scratch);
}

Outcome RunOnStack(const void* code, Frame* frame) noexcept {
  alignas(16) uint8_t values[kMostValueBytes];
  return Run(*static_cast<const ChainCode*>(code), *frame, values);
}

class ReferenceProgram final : public CompiledProgram {
 public:
  explicit ReferenceProgram(const ir::Program& program) {
    layout_.slot.resize(program.rows.size());
    layout_.chain_bytes.resize(program.chains.size());
    for (uint32_t i = 0; i < program.chains.size(); ++i) {
      PlaceValues(program, i, layout_);
      codes_.push_back({&program, &layout_, ir::ChainId(i)});
    }
    entries_.resize(program.chains.size());
    for (const ir::SetInfo& set : program.sets) {
      layout_.acts.push_back(std::any_of(set.elements.begin(), set.elements.end(), reference::Acts) ||
                             (set.catchall && reference::Acts(*set.catchall)));
    }
  }

  absl::Status Finish() {
    const ir::Program& program = *codes_.front().program;
    StackDepth depth(program, layout_);
    for (uint32_t i = 0; i < program.chains.size(); ++i) {
      if (!program.chains[i].base) continue;
      if (absl::Status status = depth.Check(ir::ChainId(i)); !status.ok()) return status;
      const bool small = depth.BytesOf(ir::ChainId(i)) <= Frame::kScratchBytes;
      entries_[i] = {small ? RunInFrame : RunOnStack, &codes_[i]};
    }
    return absl::OkStatus();
  }

  [[nodiscard]] ChainEntry Entry(ir::ChainId chain) const override { return entries_[chain.index]; }
  [[nodiscard]] size_t code_bytes() const override { return 0; }
  [[nodiscard]] bool FollowsMissingBytes() const override { return true; }

 private:
  Layout layout_;
  std::vector<ChainCode> codes_;
  std::vector<ChainEntry> entries_;
};

class Reference final : public EngineInterface {
 public:
  [[nodiscard]] std::string_view name() const override { return "reference"; }
  [[nodiscard]] absl::StatusOr<std::unique_ptr<const CompiledProgram>> Compile(
      const ir::Program& program, const EngineOptions& /*options*/) const override {
    if (absl::Status status = RefuseUnsupported(program); !status.ok()) return status;
    auto compiled = std::make_unique<ReferenceProgram>(program);
    if (program.chains.empty()) return compiled;
    if (absl::Status status = compiled->Finish(); !status.ok()) return status;
    return compiled;
  }
};

}  // namespace

const EngineInterface& ReferenceEngine() {
  static const Reference kEngine;
  return kEngine;
}

}  // namespace nftjit
