// Which table serves a set, and what tables share: deadlines, data, the catch-all.
#include "lib/runtime/set_tables.h"

namespace nftjit {
namespace {

constexpr uint64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr uint64_t kNever = UINT64_MAX;

// Timeout 0 is none, as an absent one.
bool HasTimeout(const ir::SetElement& element) { return element.timeout_ms.value_or(0) != 0; }

uint64_t Deadline(const ir::SetElement& element, uint64_t created_ns) {
  if (!HasTimeout(element)) return kNever;
  const uint64_t most_ms = (kNever - created_ns) / kNanosecondsPerMillisecond;
  return *element.timeout_ms >= most_ms ? kNever : created_ns + *element.timeout_ms * kNanosecondsPerMillisecond;
}

}  // namespace

ElementTable::ElementTable(const ir::SetInfo& info, uint64_t created_ns) {
  info_ = &info;
  const size_t count = info.elements.size() + (info.catchall ? 1 : 0);
  if (info.catchall) catchall_ = static_cast<uint32_t>(info.elements.size());

  if (info.data_len != 0) {
    data_stride_ = (size_t{info.data_len} + 3) / 4 * 4;
    data_ = std::make_unique<uint8_t[]>(count * data_stride_);
  }
  bool any_timeout = false;
  for (uint32_t i = 0; i < count; ++i) {
    const ir::SetElement& element = this->element(i);
    any_timeout |= HasTimeout(element);
    const size_t bytes = std::min<size_t>(element.data.size(), info.data_len);
    if (bytes != 0) std::memcpy(data_.get() + i * data_stride_, element.data.data(), bytes);
  }
  if (!any_timeout) return;
  deadlines_.reserve(count);
  for (uint32_t i = 0; i < count; ++i) deadlines_.push_back(Deadline(element(i), created_ns));
}

uint32_t ElementTable::FoundAliveOrCatchAll(uint32_t element, uint64_t now_ns) const {
  if (element != kMiss && Alive(element, now_ns)) return element;
  return catchall_ != kMiss && Alive(catchall_, now_ns) ? catchall_ : kMiss;
}

std::unique_ptr<const SetTable> SetTable::Build(const ir::SetInfo& info, uint64_t created_ns) {
  switch (info.kind) {
    case ir::SetKind::kExact:
      return BuildExact(info, created_ns);
    case ir::SetKind::kInterval:
      return BuildInterval(info, created_ns);
    case ir::SetKind::kConcatRanges:
      return BuildConcatRanges(info, created_ns);
  }
  return nullptr;
}

}  // namespace nftjit
