// Sets and maps: keys of small constant sets are compared here; else the runtime looks up, with a pointer to the key's
// bytes where they lie.
#include <algorithm>
#include <cstring>

#include "jit/x86/emitter.h"
#include "jit/x86/native.h"
#include "jit/x86/small_set.h"

namespace nftjit::x86 {

using namespace asmjit::x86;  // NOLINT(google-build-using-namespace): names of registers and instructions.
using ir::Row;

void Emitter::KeyArgument(ir::ValueId key) { a_.lea(rdx, Sized(PlaceOf(key, kPointer), 0, 0)); }

Condition Emitter::EmitLookup(const Row& row) {
  if (const ir::SetInfo* set = SmallSetOf(program_, row)) return EmitSmallLookup(row, *set);
  KeyArgument(row.value_a());
  a_.mov(ecx, (row.flags & ir::kNegated) != 0 ? 1 : 0);
  a_.mov(rdi, frame_);
  a_.mov(esi, row.b);
  Call(RuntimeCall::kLookup);
  a_.test(eax, eax);
  return Condition::Flags(CondCode::kNZ);
}

Condition Emitter::EmitSmallLookup(const Row& row, const ir::SetInfo& set) {
  constexpr size_t kFewKeys = 4;  // Fused compares and branches beat the vector up to here.
  const bool negated = (row.flags & ir::kNegated) != 0;
  if (set.elements.empty()) return Condition::Constant(negated);
  Evaluate(kResult, row.value_a());
  if (set.elements.size() <= kFewKeys || !avx2_) {
    const Label found =
        a_.newLabel();  // Each branch to it leaves ZF set, as the last compare does if its key is there.
    for (const ir::SetElement& element : set.elements) {
      a_.cmp(eax, PackedKey(element));
      if (&element != &set.elements.back()) a_.je(found);
    }
    a_.bind(found);
    return Condition::Flags(negated ? CondCode::kNZ : CondCode::kZ);
  }
  EmitKeyCompares(set);
  return Condition::Flags(negated ? CondCode::kZ : CondCode::kNZ);
}

// Sets ZF if the key in eax is none of the set's.
void Emitter::EmitKeyCompares(const ir::SetInfo& set) {
  constexpr size_t kVectorBytes = 16;
  std::array<uint8_t, kSmallSetBytes> keys;
  const size_t length = set.key_len, count = set.elements.size();
  for (size_t at = 0; at < keys.size(); at += length) {  // The last key fills what is left over.
    std::memcpy(keys.data() + at, set.elements[std::min(at / length, count - 1)].key.data(), length);
  }
  const auto compare = [&](const Xmm& result, const Mem& operand) {
    if (length == 1) a_.vpcmpeqb(result, xmm0, operand);
    if (length == 2) a_.vpcmpeqw(result, xmm0, operand);
    if (length == 4) a_.vpcmpeqd(result, xmm0, operand);
  };
  a_.vmovd(xmm0, eax);
  if (length == 1) a_.vpbroadcastb(xmm0, xmm0);
  if (length == 2) a_.vpbroadcastw(xmm0, xmm0);
  if (length == 4) a_.vpbroadcastd(xmm0, xmm0);
  const ByteSpan bytes(keys);
  compare(xmm1, Literal(bytes.first(kVectorBytes), kVectorBytes));
  if (count * length > kVectorBytes) {
    compare(xmm2, Literal(bytes.subspan(kVectorBytes), kVectorBytes));
    a_.vpor(xmm1, xmm1, xmm2);
  }
  a_.vptest(xmm1, xmm1);
}

Condition Emitter::EmitMap(uint32_t row_index) {
  const Row& row = program_.rows[row_index];
  KeyArgument(row.value_a());
  a_.lea(rcx, SlotOf(ir::ValueId(row_index)));
  a_.mov(rdi, frame_);
  a_.mov(esi, row.b);
  Call(RuntimeCall::kMap);
  a_.test(eax, eax);
  return Condition::Flags(CondCode::kNZ);
}

}  // namespace nftjit::x86
