#include "tests/support/ruleset_traffic.h"

#include <netinet/in.h>

#include <algorithm>

#include "tests/support/checksums.h"

namespace nftjit::testing {
namespace {

// Letters, digits and the like, then zeros: an interface name of 16 bytes.
std::string AsName(const Bytes& bytes) {
  std::string name;
  size_t i = 0;
  for (; i < bytes.size() && bytes[i] != 0; ++i) {
    const bool fits = std::isalnum(bytes[i]) != 0 || bytes[i] == '-' || bytes[i] == '_' || bytes[i] == '.';
    if (!fits) return {};
    name += static_cast<char>(bytes[i]);
  }
  if (!std::all_of(bytes.begin() + static_cast<ptrdiff_t>(i), bytes.end(), [](uint8_t b) { return b == 0; })) return {};
  return name;
}

class Collector {
 public:
  RulesetConstants Run(const nft::Ruleset& ruleset) {
    for (const nft::Table& table : ruleset.tables) {
      for (const nft::Chain& chain : table.chains) {
        for (const nft::Rule& rule : chain.rules) {
          for (const nft::Expression& expression : rule.expressions) AddExpression(expression);
        }
      }
      for (const nft::Set& set : table.sets) {
        for (const nft::Element& element : set.elements) {
          AddKey(set, element.key);
          AddKey(set, element.key_end);
        }
      }
    }
    return std::move(out_);
  }

 private:
  void AddExpression(const nft::Expression& expression) {
    if (const auto* cmp = std::get_if<nft::Cmp>(&expression.body)) Add(cmp->data.span());
    if (const auto* range = std::get_if<nft::Range>(&expression.body)) {
      Add(range->from.span());
      Add(range->to.span());
    }
  }
  void AddKey(const nft::Set& set, const std::string& key) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(key.data());
    if (set.field_lengths.empty()) return Add({bytes, key.size()});
    size_t at = 0;
    for (const uint8_t len : set.field_lengths) {
      if (at + len <= key.size()) Add({bytes + at, len});
      at += (len + 3U) & ~3U;
    }
  }
  void Add(ByteSpan span) {
    if (span.empty() || span.size() > 16) return;
    Bytes bytes(span.begin(), span.end());
    if (bytes.size() == 16) {
      const std::string name = AsName(bytes);
      std::vector<std::string>& names = out_.interface_names;
      if (name.size() > 1) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
        return;
      }
    }
    out_.by_length[bytes.size()].push_back(std::move(bytes));
  }
  RulesetConstants out_;
};

// Overwrites the bytes at `p` with a constant of that length, or a shorter one as a prefix. Often does nothing.
void Put(Random& random, const RulesetConstants& constants, uint8_t* p, size_t len, uint32_t percent) {
  if (!random.Percent(percent)) return;
  size_t shorter = len;
  if (len >= 4 && random.OneIn(3)) shorter = 1 + random.Below(static_cast<uint32_t>(len));
  const std::vector<Bytes>& of_length = constants.by_length[shorter];
  if (of_length.empty()) return;
  const Bytes& constant = of_length[random.Below(static_cast<uint32_t>(of_length.size()))];
  std::copy(constant.begin(), constant.end(), p);
}

nft::Expression Frozen(nft::Expression expression) {
  if (auto* limit = std::get_if<nft::Limit>(&expression.body)) {
    limit->rate = 1;
    limit->unit_s = 86400;
  }
  return expression;
}

bool IsVerdict(const nft::Expression& expression) {
  if (const auto* immediate = std::get_if<nft::Immediate>(&expression.body)) return immediate->dreg.is_verdict();
  if (const auto* lookup = std::get_if<nft::Lookup>(&expression.body))
    return lookup->dreg && lookup->dreg->is_verdict();
  return std::holds_alternative<nft::Reject>(expression.body);
}

}  // namespace

RulesetConstants CollectConstants(const nft::Ruleset& ruleset) { return Collector().Run(ruleset); }

CraftedPacket CraftFromConstants(Random& random, const RulesetConstants& constants, const CraftOptions& options) {
  CraftedPacket out = CraftPacket(random, options);
  if (out.ethertype != 0x0800 && out.ethertype != 0x86dd) return out;
  Bytes& bytes = out.bytes;
  uint8_t* ip = bytes.data() + out.network;
  if (out.link != CraftedPacket::kNone) Put(random, constants, bytes.data() + 6, 6, 40);
  const bool ipv4 = out.ethertype == 0x0800;
  const size_t address = ipv4 ? 4 : 16;
  Put(random, constants, ip + (ipv4 ? 12 : 8), address, 60);
  Put(random, constants, ip + (ipv4 ? 16 : 24), address, 40);
  if (ipv4) Put(random, constants, ip + 1, 1, 20);
  if (out.transport == CraftedPacket::kNone || out.transport + 4 > bytes.size()) return out;
  uint8_t* transport = bytes.data() + out.transport;
  if (out.protocol == IPPROTO_ICMP || out.protocol == IPPROTO_ICMPV6) {
    Put(random, constants, transport, 1, 70);
  } else {
    Put(random, constants, transport, 2, 20);
    Put(random, constants, transport + 2, 2, 70);
  }
  FixChecksums(bytes, out.network);
  return out;
}

nft::Ruleset MakeJudgeable(const nft::Ruleset& ruleset) {
  nft::Ruleset out = ruleset;
  for (nft::Table& table : out.tables) {
    for (nft::Set& set : table.sets) {
      for (nft::Expression& expression : set.expressions) expression = Frozen(expression);
      for (nft::Element& element : set.elements) {
        for (nft::Expression& expression : element.expressions) expression = Frozen(expression);
      }
    }
    for (nft::Chain& chain : table.chains) {
      for (nft::Rule& rule : chain.rules) {
        std::vector<nft::Expression>& list = rule.expressions;
        for (nft::Expression& expression : list) expression = Frozen(expression);
        const bool counts = std::any_of(list.begin(), list.end(), [](const nft::Expression& expression) {
          return std::holds_alternative<nft::Counter>(expression.body);
        });
        if (counts) continue;
        const bool ends = !list.empty() && IsVerdict(list.back());
        list.insert(ends ? list.end() - 1 : list.end(), nft::Expression{nft::Counter{}, nullptr});
      }
    }
  }
  return out;
}

}  // namespace nftjit::testing
