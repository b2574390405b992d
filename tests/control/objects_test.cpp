// validation.md 8: objects.
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/control/batches.h"

namespace nftjit::control {
namespace {

using netlink::kDelObj;
using netlink::kDestroyObj;
using netlink::kNewObj;

constexpr uint32_t kCounter = 1, kQuota = 2, kHelper = 3, kLimit = 4;

TestMessage Object(std::string_view name, uint32_t type, std::initializer_list<std::string> data,
                   uint16_t flags = kFlagCreate) {
  return Make(kNewObj, {Text(1, "t"), Text(2, name), U32(3, type), Nest(4, data)}, flags);
}
TestMessage Delete(uint8_t operation, std::string_view name, uint32_t type) {
  return Make(operation, {Text(1, "t"), Text(2, name), U32(3, type)}, 0);
}

TEST_CASE("objects") {
  const std::vector<TestMessage> table = {AddTable()};
  const std::vector<TestMessage> counter = {AddTable(), Object("o", kCounter, {})};
  const std::vector<TestMessage> used = {AddTable(), AddChain("c"), Object("o", kCounter, {}),
                                         AddRule("c", {Expression("objref", {U32(1, kCounter), Text(2, "o")})})};
  CheckCases({
      {"no type", table, {Make(kNewObj, {Text(1, "t"), Text(2, "o"), Nest(4, {})})}, {EINVAL}},
      {"no data", table, {Make(kNewObj, {Text(1, "t"), Text(2, "o"), U32(3, kCounter)})}, {EINVAL}},
      {"no name", table, {Make(kNewObj, {Text(1, "t"), U32(3, kCounter), Nest(4, {})})}, {EINVAL}},
      {"unknown types", table, {Object("o", 0, {}), Object("o", 99, {})}, {ENOENT, ENOENT}},
      {"again", counter, {Object("o", kCounter, {})}, {0}},
      {"again, exclusive", counter, {Object("o", kCounter, {}, kFlagCreate | kFlagExclusive)}, {EEXIST}},
      {"the same name of another type", counter, {Object("o", kQuota, {U64(1, 1000)})}, {0}},
      {"again with a body that says nothing",
       {AddTable(), Object("o", kLimit, {U64(1, 5), U64(2, 1)})},
       {Object("o", kLimit, {})},
       {0}},
      {"a quota again without bytes",
       {AddTable(), Object("o", kQuota, {U64(1, 1000)})},
       {Object("o", kQuota, {})},
       {EINVAL}},
      {"a quota without bytes", table, {Object("o", kQuota, {})}, {EINVAL}},
      {"a limit without rate", table, {Object("o", kLimit, {U64(2, 1)})}, {EINVAL}},
      {"an unknown helper", table, {Object("o", kHelper, {Text(1, "nonesuch"), U8(3, 6)})}, {ENOENT}},
      {"a helper of another family", table, {Object("o", kHelper, {Text(1, "ftp"), U16(2, 10), U8(3, 6)})}, {EINVAL}},
      {"deleting a missing one", table, {Delete(kDelObj, "o", kCounter)}, {ENOENT}},
      {"deleting one of another type", counter, {Delete(kDelObj, "o", kQuota)}, {ENOENT}},
      {"deleting without a type", counter, {Make(kDelObj, {Text(1, "t"), Text(2, "o")}, 0)}, {EINVAL}},
      {"destroying a missing one", table, {Delete(kDestroyObj, "o", kCounter)}, {0}},
      {"destroying one, which is gone then",
       counter,
       {Delete(kDestroyObj, "o", kCounter), Delete(kDelObj, "o", kCounter)},
       {0, ENOENT}},
      {"destroying one in use", used, {Delete(kDestroyObj, "o", kCounter)}, {EBUSY}},
      {"deleting one in use", used, {Delete(kDelObj, "o", kCounter)}, {EBUSY}},
      {"deleting one after its rule",
       used,
       {Make(netlink::kDelRule, {Text(1, "t"), Text(2, "c")}, 0), Delete(kDelObj, "o", kCounter)},
       {0, 0}},
  });
}

TEST_CASE("a quota takes a new limit and keeps what it has consumed") {
  Judges judges;
  REQUIRE(judges.Errors({AddTable(), Object("o", kQuota, {U64(1, 1000), U64(4, 10)})}) == std::vector<int>{0, 0});
  REQUIRE(judges.Errors({Object("o", kQuota, {U64(1, 5000), U32(2, 1)})}) == std::vector<int>{0});
  const auto quota = std::get<nft::Quota>(judges.table().objects.at(0).body);
  CHECK(quota.bytes == 5000);
  CHECK(quota.flags == 1);
  CHECK(quota.consumed == 10);
}

}  // namespace
}  // namespace nftjit::control
