#include "jit/x86/small_set.h"

#include <algorithm>
#include <cstring>

namespace nftjit::x86 {
namespace {

bool IsPlain(const ir::SetElement& element) {
  return !element.timeout_ms && element.counters.empty() && element.limits.empty();
}

}  // namespace

const ir::SetInfo* SmallSetOf(const ir::Program& program, const ir::Row& row) {
  if (row.op != ir::Op::kLookup && row.op != ir::Op::kVerdictMap) return nullptr;
  const ir::SetInfo& set = program.sets[row.b];
  if (!set.constant || set.kind != ir::SetKind::kExact || set.catchall) return nullptr;
  if (set.key_len != 1 && set.key_len != 2 && set.key_len != 4) return nullptr;
  const size_t count = set.elements.size();
  if (row.op == ir::Op::kVerdictMap ? count > kSmallMapElements : count * set.key_len > kSmallSetBytes) return nullptr;
  return std::all_of(set.elements.begin(), set.elements.end(), IsPlain) ? &set : nullptr;
}

uint32_t PackedKey(const ir::SetElement& element) {
  uint32_t key = 0;
  std::memcpy(&key, element.key.data(), element.key.size());
  return key;
}

}  // namespace nftjit::x86
