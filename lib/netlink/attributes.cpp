#include "lib/netlink/attributes.h"

#include <cerrno>

namespace nftjit::netlink {
namespace {

int CheckInteger(const Attribute& attribute, size_t width, uint32_t limit) {
  if (attribute.size() < width) return ERANGE;
  if (limit == 0) return 0;
  const uint64_t value = width == 1   ? attribute.U8()
                         : width == 2 ? attribute.U16()
                         : width == 4 ? attribute.U32()
                                      : attribute.U64();
  return value > limit ? ERANGE : 0;
}

int CheckString(const Attribute& attribute, uint32_t limit) {
  size_t size = attribute.size();
  if (size == 0) return ERANGE;
  if (limit == 0) return 0;
  if (attribute.payload().back() == 0) --size;
  return size > limit ? ERANGE : 0;
}

}  // namespace

int CheckPolicy(const Attribute& attribute, const Policy& policy) {
  switch (policy.kind) {
    case Policy::kAny:
      return 0;
    case Policy::kU8:
      return CheckInteger(attribute, 1, policy.limit);
    case Policy::kU16:
      return CheckInteger(attribute, 2, policy.limit);
    case Policy::kU32:
      return CheckInteger(attribute, 4, policy.limit);
    case Policy::kU64:
      return CheckInteger(attribute, 8, policy.limit);
    case Policy::kString:
      return CheckString(attribute, policy.limit);
    case Policy::kNest:
      // Empty, or room for one attribute.
      return attribute.size() != 0 && attribute.size() < kAttributeHeaderSize ? ERANGE : 0;
    case Policy::kBinary:
      return policy.limit != 0 && attribute.size() > policy.limit ? ERANGE : 0;
  }
  return 0;
}

}  // namespace nftjit::netlink
