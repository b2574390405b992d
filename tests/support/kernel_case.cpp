#include "tests/support/kernel_case.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "lib/netlink/image.h"
#include "lib/nft/listing_printer.h"
#include "lib/nft/types.h"
#include "tests/support/packets.h"

namespace nftjit::testing {
namespace {

constexpr std::array<std::string_view, 3> kTopologies = {"routed", "ethernet", "bridged"};

std::string AsComments(const std::string& text) {
  std::string out;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty()))
    absl::StrAppend(&out, "# ", line, "\n");
  return out;
}

std::string Chains(const nft::Ruleset& ruleset) {
  std::string out;
  for (const nft::Table& table : ruleset.tables) {
    for (const nft::Chain& chain : table.chains) {
      if (!chain.base && chain.rules.empty()) continue;
      absl::StrAppend(&out, "chain ", std::string(nft::Name(table.family)), " ", table.name, " ", chain.name);
      if (chain.base) {
        absl::StrAppend(&out, " hook ", std::string(nft::HookName(table.family, chain.base->hook)), " priority ",
                        chain.base->priority, " policy ", std::string(nft::Name(chain.base->policy)));
      }
      absl::StrAppend(&out, "\n");
    }
  }
  return out;
}

std::string DeviceLine(std::string_view role, const std::string& name, uint32_t index) {
  return absl::StrCat(std::string(role), " ", name, " ", index, "\n");
}

bool ReadDevice(const std::vector<std::string>& words, std::string* name, uint32_t* index) {
  if (words.size() != 3 || !absl::SimpleAtoi(words[2], index)) return false;
  *name = words[1];
  return true;
}

bool IsHex(const std::string& text) {
  return text.size() % 2 == 0 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Empty: read. Else what was expected.
std::string ReadLine(const std::vector<std::string>& words, KernelCase* out) {
  LiveKernelOptions& machine = out->machine;
  if (words[0] == "topology" && words.size() == 2) {
    const auto* found = std::find(kTopologies.begin(), kTopologies.end(), words[1]);
    if (found == kTopologies.end()) return "one of routed, ethernet, bridged is expected";
    machine.topology = static_cast<Topology>(found - kTopologies.begin());
    return "";
  }
  if (words[0] == "conntrack" && words.size() == 1) {
    machine.conntrack = true;
    return "";
  }
  if (words[0] == "input" && ReadDevice(words, &machine.input_name, &machine.input_index)) return "";
  if (words[0] == "output" && ReadDevice(words, &machine.output_name, &machine.output_index)) return "";
  if (words[0] == "further") {
    auto& device = machine.further.emplace_back();
    if (ReadDevice(words, &device.first, &device.second)) return "";
  }
  if (words[0] == "packet" && words.size() == 2 && IsHex(words[1])) {
    out->packets.push_back(FromHex(words[1]));
    return "";
  }
  if (words[0] == "image" && words.size() == 2 && IsHex(words[1])) {
    const Bytes bytes = FromHex(words[1]);
    absl::StatusOr<nft::Ruleset> ruleset =
        netlink::ReadImage({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, "image");
    if (!ruleset.ok()) return std::string(ruleset.status().message());
    out->ruleset = *std::move(ruleset);
    return "";
  }
  return "topology NAME, conntrack, input NAME INDEX, output …, further …, image HEX or packet HEX is expected";
}

// Takes out of `items` what the failure does not need, the last first. What the kernel refuses to load does not fail.
template <class Items, class StillFails>
bool EraseIdle(Items& items, const StillFails& still_fails) {
  const size_t before = items.size();
  for (size_t i = items.size(); i-- > 0;) {
    const auto at = items.begin() + static_cast<ptrdiff_t>(i);
    auto item = std::move(*at);
    items.erase(at);
    if (!still_fails()) items.insert(items.begin() + static_cast<ptrdiff_t>(i), std::move(item));
  }
  return items.size() < before;
}

}  // namespace

std::string Print(const KernelCase& it) {
  std::string out = AsComments(Chains(it.ruleset) + nft::PrintListing(it.ruleset));
  absl::StrAppend(&out, "topology ", std::string(kTopologies[static_cast<size_t>(it.machine.topology)]), "\n");
  if (it.machine.conntrack) absl::StrAppend(&out, "conntrack\n");
  out += DeviceLine("input", it.machine.input_name, it.machine.input_index);
  out += DeviceLine("output", it.machine.output_name, it.machine.output_index);
  for (const auto& [name, index] : it.machine.further) out += DeviceLine("further", name, index);
  const std::string image = netlink::WriteImage(it.ruleset);
  absl::StrAppend(&out, "image ", ToHex({reinterpret_cast<const uint8_t*>(image.data()), image.size()}), "\n");
  for (const Bytes& packet : it.packets) absl::StrAppend(&out, "packet ", ToHex(packet), "\n");
  return out;
}

absl::StatusOr<KernelCase> ParseKernelCase(std::string_view text, std::string_view file_name) {
  KernelCase out;
  size_t number = 0;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const std::string wrong = ReadLine(absl::StrSplit(line, ' '), &out);
    if (!wrong.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(std::string(file_name), ":", number, ": ", wrong));
    }
  }
  return out;
}

std::optional<std::string> Disagreement(LiveKernel& kernel, const KernelCase& it) {
  absl::StatusOr<std::unique_ptr<KernelJudge>> judge = KernelJudge::Make(kernel, it.ruleset);
  if (!judge.ok()) return std::nullopt;
  for (const Bytes& packet : it.packets) {
    absl::StatusOr<std::optional<std::string>> wrong = (*judge)->Run(packet);
    if (wrong.ok() && *wrong) return *wrong;
  }
  absl::StatusOr<std::optional<std::string>> wrong = (*judge)->CompareElements();
  return wrong.ok() ? *wrong : std::nullopt;
}

KernelCase Shrink(LiveKernel& kernel, KernelCase failing) {
  const auto still_fails = [&] { return Disagreement(kernel, failing).has_value(); };
  const std::vector<Bytes> all = failing.packets;
  failing.packets = {all.back()};
  if (!still_fails()) failing.packets = all;
  for (bool better = true; better;) {
    better = EraseIdle(failing.ruleset.tables, still_fails);
    for (nft::Table& table : failing.ruleset.tables) {
      for (nft::Chain& chain : table.chains) {
        better |= EraseIdle(chain.rules, still_fails);
        for (nft::Rule& rule : chain.rules) better |= EraseIdle(rule.expressions, still_fails);
      }
      better |= EraseIdle(table.chains, still_fails);
      better |= EraseIdle(table.sets, still_fails);
      for (nft::Set& set : table.sets) better |= EraseIdle(set.elements, still_fails);
    }
    better |= EraseIdle(failing.packets, still_fails);
  }
  return failing;
}

}  // namespace nftjit::testing
