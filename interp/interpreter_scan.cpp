// The search for the first matching row of a table, eight rows at a time.
#include "interp/interpreter_code.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace nftjit::interp {
namespace {

// Bit i: row i of the group passes. No branches, so that a compiler may use what vectors it has.
uint32_t MatchGroup(const Table& table, const uint32_t* group, const uint32_t* fields) noexcept {
  uint32_t pass[kLanes];
  for (uint32_t& lane : pass) lane = 1;
  for (size_t c = 0; c < table.columns.size(); ++c, group += 2 * kLanes) {
    const uint32_t x = fields[c];
    const uint32_t* first = group;
    const uint32_t* second = group + kLanes;
    if (table.columns[c].range) {
      for (uint32_t i = 0; i < kLanes; ++i) pass[i] &= static_cast<uint32_t>(x - first[i] <= second[i]);
    } else {
      for (uint32_t i = 0; i < kLanes; ++i) pass[i] &= static_cast<uint32_t>((x & first[i]) == second[i]);
    }
  }
  uint32_t bits = 0;
  for (uint32_t i = 0; i < kLanes; ++i) bits |= pass[i] << i;
  return bits;
}

}  // namespace

uint32_t FindRow(const Table& table, const uint32_t* fields, uint32_t from) noexcept {
  const size_t stride = table.columns.size() * 2 * kLanes;
  const uint32_t groups = (table.rows + kLanes - 1) / kLanes;
  uint32_t allowed = ~0U << (from % kLanes);
  for (uint32_t g = from / kLanes; g < groups; ++g) {
    const uint32_t bits = MatchGroup(table, table.data + g * stride, fields) & allowed;
    if (bits != 0) return g * kLanes + static_cast<uint32_t>(std::countr_zero(bits));
    allowed = ~0U;
  }
  return table.rows;
}

#if defined(__x86_64__)

bool HasAvx2() { return __builtin_cpu_supports("avx2"); }

namespace {

// `count` groups at once: their all-ones lanes where every column passes.
template <int count>
__attribute__((target("avx2"), always_inline)) inline void MatchGroups(const Table& table, const uint32_t* group,
                                                                       size_t stride, const __m256i* fields,
                                                                       __m256i (&pass)[count]) noexcept {
  for (__m256i& lanes : pass) lanes = _mm256_set1_epi32(-1);
  for (size_t c = 0; c < table.columns.size(); ++c, group += 2 * kLanes) {
    const __m256i x = fields[c];
    for (int i = 0; i < count; ++i) {
      const auto* at = reinterpret_cast<const __m256i*>(group + static_cast<size_t>(i) * stride);
      const __m256i first = _mm256_load_si256(at), second = _mm256_load_si256(at + 1);
      __m256i equal;
      if (table.columns[c].range) {
        const __m256i above = _mm256_sub_epi32(x, first);
        equal = _mm256_cmpeq_epi32(_mm256_min_epu32(above, second), above);
      } else {
        equal = _mm256_cmpeq_epi32(_mm256_and_si256(x, first), second);
      }
      pass[i] = _mm256_and_si256(pass[i], equal);
    }
  }
}

__attribute__((target("avx2"), always_inline)) inline uint32_t Bits(__m256i lanes) noexcept {
  return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
}

}  // namespace

__attribute__((target("avx2"))) uint32_t FindRowAvx2(const Table& table, const uint32_t* fields,
                                                     uint32_t from) noexcept {
  const size_t stride = table.columns.size() * 2 * kLanes;
  const uint32_t groups = (table.rows + kLanes - 1) / kLanes;
  __m256i wide[kMaxColumns];
  for (size_t c = 0; c < table.columns.size(); ++c) wide[c] = _mm256_set1_epi32(static_cast<int>(fields[c]));

  uint32_t g = from / kLanes;
  if (from % kLanes != 0) {
    __m256i pass[1];
    MatchGroups<1>(table, table.data + g * stride, stride, wide, pass);
    const uint32_t bits = Bits(pass[0]) & (~0U << (from % kLanes));
    if (bits != 0) return g * kLanes + static_cast<uint32_t>(std::countr_zero(bits));
    ++g;
  }
  for (; g + 4 <= groups; g += 4) {
    __m256i pass[4];
    MatchGroups<4>(table, table.data + g * stride, stride, wide, pass);
    const __m256i any = _mm256_or_si256(_mm256_or_si256(pass[0], pass[1]), _mm256_or_si256(pass[2], pass[3]));
    if (_mm256_testz_si256(any, any)) continue;
    const uint32_t bits = Bits(pass[0]) | Bits(pass[1]) << 8 | Bits(pass[2]) << 16 | Bits(pass[3]) << 24;
    return g * kLanes + static_cast<uint32_t>(std::countr_zero(bits));
  }
  for (; g < groups; ++g) {
    __m256i pass[1];
    MatchGroups<1>(table, table.data + g * stride, stride, wide, pass);
    const uint32_t bits = Bits(pass[0]);
    if (bits != 0) return g * kLanes + static_cast<uint32_t>(std::countr_zero(bits));
  }
  return table.rows;
}

#else

bool HasAvx2() { return false; }
uint32_t FindRowAvx2(const Table& table, const uint32_t* fields, uint32_t from) noexcept {
  return FindRow(table, fields, from);
}

#endif

}  // namespace nftjit::interp
