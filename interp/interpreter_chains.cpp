// The chains that an encoding holds, and in which order.
#include <absl/status/status.h>

#include <algorithm>
#include <string>

#include "interp/interpreter_encoder.h"
#include "interp/interpreter_run.h"

namespace nftjit::interp {
namespace {

void AddTargets(const ir::SetInfo& map, std::vector<ir::ChainId>& targets) {
  for (const ir::SetElement& element : map.elements) {
    if (element.chain.valid()) targets.push_back(element.chain);
  }
  if (map.catchall && map.catchall->chain.valid()) targets.push_back(map.catchall->chain);
}

// Depth-first over jumps; a chain is done when all that it reaches is.
class Order {
 public:
  explicit Order(const ir::Program& program) : program_(program), state_(program.chains.size(), State::kNew) {}

  // `depth` is that of `chain` below its base chain.
  absl::Status Visit(ir::ChainId chain, uint32_t depth) {
    if (depth >= kMaxDepth || state_[chain.index] == State::kOpen) {
      return absl::InternalError("interp: chain " + program_.chains[chain.index].name +
                                 " is reached through more than 15 jumps");
    }
    // A chain that is done may still be too deep on this way.
    if (state_[chain.index] == State::kDone && depth + height_[chain.index] < kMaxDepth) return absl::OkStatus();
    state_[chain.index] = State::kOpen;
    uint32_t height = 0;
    std::vector<ir::ChainId> targets = TargetsOf(program_, chain);
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
    for (const ir::ChainId target : targets) {
      if (absl::Status status = Visit(target, depth + 1); !status.ok()) return status;
      height = std::max(height, height_[target.index] + 1);
    }
    state_[chain.index] = State::kDone;
    height_[chain.index] = height;
    done_.push_back(chain);
    return absl::OkStatus();
  }

  std::vector<ir::ChainId> CallersFirst() {
    std::reverse(done_.begin(), done_.end());
    return std::move(done_);
  }

 private:
  enum class State : uint8_t { kNew, kOpen, kDone };
  const ir::Program& program_;
  std::vector<State> state_;
  std::vector<uint32_t> height_ = std::vector<uint32_t>(program_.chains.size(), 0);
  std::vector<ir::ChainId> done_;
};

}  // namespace

std::vector<ir::ChainId> TargetsOf(const ir::Program& program, ir::ChainId id) {
  std::vector<ir::ChainId> targets;
  for (const ir::Item& item : program.ItemsOf(program.chains[id.index])) {
    for (const ir::Row& row : program.RowsOf(item)) {
      if (row.op == ir::Op::kVerdict && ir::ChainId(row.a).valid()) targets.emplace_back(row.a);
      if (row.op == ir::Op::kVerdictMap) AddTargets(program.sets[row.b], targets);
    }
  }
  return targets;
}

absl::StatusOr<std::vector<ir::ChainId>> ChainsInOrder(const ir::Program& program) {
  Order order(program);
  for (uint32_t i = 0; i < program.chains.size(); ++i) {
    if (!program.chains[i].base) continue;
    if (absl::Status status = order.Visit(ir::ChainId(i), 0); !status.ok()) return status;
  }
  return order.CallersFirst();
}

}  // namespace nftjit::interp
