// Random insertions and deletions in sets of every backend: the server and the kernel must agree on each.
#include <catch2/catch.hpp>

#include "tests/control/batches.h"
#include "tests/support/random.h"
#include "tests/support/requirement.h"

namespace nftjit::control {
namespace {

struct Shape {
  const char* name;
  uint32_t flags;
  uint32_t key_len;
  std::vector<uint8_t> fields;
  uint32_t size;  // 0: none.
};

std::string KeyBytes(const Shape& shape, const std::vector<uint8_t>& values) {
  std::string key;
  for (const uint8_t value : values) {
    key += static_cast<char>(value);
    if (shape.fields.size() > 1) key.append(3, '\0');
  }
  return key;
}

TestMessage RandomOperation(const Shape& shape, testing::Random& random, std::string& history) {
  std::vector<uint8_t> low, high;
  for (size_t i = 0; i < shape.fields.size(); ++i) {
    low.push_back(static_cast<uint8_t>(random.Below(12)));
    high.push_back(static_cast<uint8_t>(low.back() + random.Below(4)));
  }
  const bool add = random.Below(3) != 0;
  const bool interval = (shape.flags & nft::kSetInterval) != 0;
  std::vector<std::string> items;
  if (random.Below(15) == 0) {
    items.push_back(ElementItem({U32(netlink::kElementFlags, nft::kElementCatchall)}));
  } else if (interval && shape.fields.size() > 1) {
    items.push_back(ElementItem({Key(KeyBytes(shape, low)),
                                 Nest(netlink::kElementKeyEnd, {Bytes(netlink::kDataValue, KeyBytes(shape, high))})}));
  } else if (interval) {
    // Whole intervals and lone boundaries, the null end among them.
    const uint64_t kind = random.Below(6);
    if (kind != 0) items.push_back(ElementItem({Key(KeyBytes(shape, low))}));
    if (kind != 1) {
      items.push_back(ElementItem({Key(KeyBytes(shape, high)), U32(netlink::kElementFlags, nft::kElementIntervalEnd)}));
    }
  } else {
    items.push_back(ElementItem({Key(KeyBytes(shape, low))}));
  }
  const uint16_t flags = add ? kFlagCreate | (random.Below(4) == 0 ? kFlagExclusive : 0) : 0;
  history += std::string(add ? " +" : " -") + ((flags & kFlagExclusive) != 0 ? "!" : "") + std::to_string(low[0]) +
             ".." + std::to_string(high[0]) +
             (low.size() > 1 ? "," + std::to_string(low[1]) + ".." + std::to_string(high[1]) : "") + "/" +
             std::to_string(items.size()) +
             (items.size() == 1 && interval ? (items[0].size() > 20 ? "end" : "start") : "");
  TestMessage message = Make(add ? netlink::kNewSetElem : netlink::kDelSetElem, {Text(1, "t"), Text(2, "s")}, flags);
  message.body += Nest(netlink::kElementsList, items);
  return message;
}

// The kernel remembers the start that was added again or removed last until its clock ticks, the server until the batch
// ends. The null end makes both forget it: so a batch that would remove it, and fails, parts the others.
void Forget(const Shape& shape, Judges& judges) {
  const bool remembers = (shape.flags & nft::kSetInterval) != 0 && shape.fields.size() == 1;
  if (!remembers) return;
  const std::string null_end =
      ElementItem({Key(std::string(shape.key_len, '\0')), U32(netlink::kElementFlags, nft::kElementIntervalEnd)});
  judges.Send({DeleteElements("s", {null_end}), AddRule("missing", {})});
}

TEST_CASE("random elements are taken and refused as by the kernel") {
  const Shape shapes[] = {
      {"exact", 0, 1, {1}, 0},
      {"exact, bounded", 0, 4, {1, 1}, 6},
      {"intervals", nft::kSetInterval, 1, {1}, 0},
      {"intervals, bounded", nft::kSetInterval, 1, {1}, 3},
      {"concatenated ranges", nft::kSetInterval | nft::kSetConcat, 8, {1, 1}, 0},
      {"concatenated ranges, bounded", nft::kSetInterval | nft::kSetConcat, 8, {1, 1}, 4},
  };
  const uint64_t rounds = testing::NumberFromEnvironment("NFTJIT_RANDOM_ROUNDS", 6);
  const uint64_t seed = testing::NumberFromEnvironment("NFTJIT_SEED", 1);
  for (const Shape& shape : shapes) {
    if (shape.fields.size() > 1 && (shape.flags & nft::kSetInterval) == 0) continue;
    for (uint64_t round = 0; round < rounds; ++round) {
      testing::Random random(seed * 1000 + round);
      CAPTURE(shape.name, seed, round);
      Judges judges;
      std::vector<std::string> fields;
      for (const uint8_t length : shape.fields) fields.push_back(Nest(1, {U32(1, length)}));
      std::vector<std::string> description;
      if (shape.size != 0) description.push_back(U32(netlink::kSetDescSize, shape.size));
      if (fields.size() > 1) description.push_back(Nest(netlink::kSetDescConcat, fields));
      REQUIRE(judges.Errors({AddTable(), AddSet("s", shape.key_len, shape.flags,
                                                {Nest(netlink::kSetDesc, description)})}) == std::vector<int>{0, 0});
      size_t accepted = 0, refused = 0;
      std::string history;
      for (int i = 0; i < 60 && !judges.disagreed(); ++i) {
        std::vector<TestMessage> messages;
        do {
          messages.push_back(RandomOperation(shape, random, history));
        } while (random.Below(3) == 0);
        history += '\n';
        INFO(history);
        Forget(shape, judges);
        for (const int error : judges.Errors(messages)) ++(error == 0 ? accepted : refused);
      }
      if (judges.disagreed()) continue;
      CHECK(accepted > 5);
      CHECK(refused > 5);
    }
  }
}

}  // namespace
}  // namespace nftjit::control
