// Case files and shrinking: part of engine_tester.h.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "lib/ir/text.h"
#include "lib/ir/verifier.h"
#include "tests/support/engine_tester.h"

namespace nftjit::testing {
namespace {

// Takes the item out of a flat program (as lowering makes them: rules only, no blocks).
void RemoveItem(ir::Program& program, uint32_t index) {
  program.items.erase(program.items.begin() + index);
  for (ir::Item& item : program.items) {
    if (item.end > index) --item.end;
  }
  for (ir::Chain& chain : program.chains) {
    if (index >= chain.first_item && index < chain.first_item + chain.item_count) {
      --chain.item_count;
    } else if (chain.first_item > index) {
      --chain.first_item;
    }
  }
}

class Shrinker {
 public:
  explicit Shrinker(EngineCase failing) : best_(std::move(failing)) {}

  EngineCase Run() {
    DropPackets();
    for (bool better = true; better;) {
      better = DropItems();
      better = DropRows() || better;
      better = DropElements() || better;
      better = DropHooks() || better;
      better = CutBytes() || better;
    }
    return std::move(best_);
  }

 private:
  // Keeps `candidate` if it is a program and still fails.
  bool Try(EngineCase candidate) {
    if (++tries_ > kMostTries || !ir::Verify(candidate.program).ok() || !Disagreement(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  void DropPackets() {
    for (size_t i = 0; i < best_.packets.size(); ++i) {
      EngineCase alone{best_.program, {best_.packets[i]}};
      if (Try(std::move(alone))) return;
    }
    for (size_t i = best_.packets.size(); i-- > 0;) {
      EngineCase without = best_;
      without.packets.erase(without.packets.begin() + static_cast<ptrdiff_t>(i));
      Try(std::move(without));
    }
  }

  bool DropItems() {
    bool better = false;
    for (auto i = static_cast<uint32_t>(best_.program.items.size()); i-- > 0;) {
      if (best_.program.items[i].kind != ir::ItemKind::kRule) continue;
      EngineCase without = best_;
      RemoveItem(without.program, i);
      better = Try(std::move(without)) || better;
    }
    return better;
  }

  // A row that is not needed becomes a constant nobody reads: ids stay.
  bool DropRows() {
    bool better = false;
    for (const ir::Item& item : std::vector<ir::Item>(best_.program.items)) {
      for (uint32_t row = item.first_row + item.row_count; row-- > item.first_row;) {
        const ir::Row& old = best_.program.rows[row];
        if (ir::Info(old.op).kind == ir::OpKind::kValue && old.op == ir::Op::kConst) continue;
        EngineCase without = best_;
        ir::Row& now = without.program.rows[row];
        const uint8_t length = std::max<uint8_t>(now.length, 1);
        now = ir::Row{};
        now.length = length;
        now.a = without.program.constants.Intern(ByteSpan(Bytes(length))).index;
        better = Try(std::move(without)) || better;
      }
    }
    return better;
  }

  bool DropElements() {
    bool better = false;
    for (size_t set = 0; set < best_.program.sets.size(); ++set) {
      for (size_t i = best_.program.sets[set].elements.size(); i-- > 0;) {
        EngineCase without = best_;
        auto& elements = without.program.sets[set].elements;
        elements.erase(elements.begin() + static_cast<ptrdiff_t>(i));
        better = Try(std::move(without)) || better;
      }
    }
    return better;
  }

  bool DropHooks() {
    bool better = false;
    for (size_t packet = 0; packet < best_.packets.size(); ++packet) {
      for (size_t i = best_.packets[packet].path.size(); i-- > 0 && best_.packets[packet].path.size() > 1;) {
        EngineCase without = best_;
        auto& path = without.packets[packet].path;
        path.erase(path.begin() + static_cast<ptrdiff_t>(i));
        better = Try(std::move(without)) || better;
      }
    }
    return better;
  }

  bool CutBytes() {
    bool better = false;
    for (size_t packet = 0; packet < best_.packets.size(); ++packet) {
      for (size_t cut = best_.packets[packet].bytes.size(); cut > 0; cut /= 2) {
        EngineCase shorter = best_;
        Bytes& bytes = shorter.packets[packet].bytes;
        if (bytes.size() < cut) continue;
        bytes.resize(bytes.size() - cut);
        better = Try(std::move(shorter)) || better;
      }
    }
    return better;
  }

  static constexpr int kMostTries = 4000;
  EngineCase best_;
  int tries_ = 0;
};

}  // namespace

std::optional<std::string> Disagreement(const EngineCase& engine_case) {
  absl::StatusOr<std::unique_ptr<EngineTester>> tester = EngineTester::Make(engine_case.program);
  if (!tester.ok()) return std::string(tester.status().message());
  for (size_t i = 0; i < engine_case.packets.size(); ++i) {
    const PacketCase& packet = engine_case.packets[i];
    if (std::optional<std::string> what = (*tester)->Run(packet, packet.bytes.size())) {
      return absl::StrCat("packet ", i, ": ", *what);
    }
  }
  return std::nullopt;
}

EngineCase Shrink(EngineCase failing) { return Shrinker(std::move(failing)).Run(); }

std::string Print(const EngineCase& engine_case) {
  std::string out = absl::StrCat("-- program\n", ir::Print(engine_case.program));
  for (const PacketCase& packet : engine_case.packets) absl::StrAppend(&out, "-- packet\n", Print(packet));
  return out;
}

absl::StatusOr<EngineCase> ParseEngineCase(std::string_view text, std::string_view file_name) {
  EngineCase out;
  std::string program;
  std::vector<std::string> packet;
  const auto flush = [&]() -> absl::Status {
    if (packet.empty()) return absl::OkStatus();
    if (packet.size() > 2) return absl::InvalidArgumentError("packet: two lines expected, facts and hex");
    absl::StatusOr<PacketCase> parsed = ParsePacketCase(packet[0], packet.size() == 2 ? packet[1] : "");
    if (!parsed.ok()) return parsed.status();
    out.packets.push_back(*std::move(parsed));
    packet.clear();
    return absl::OkStatus();
  };
  enum { kNothing, kProgram, kPacket } section = kNothing;
  for (const absl::string_view line : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    if (line == "-- program" || line == "-- packet") {
      if (absl::Status status = flush(); !status.ok()) return status;
      section = line == "-- program" ? kProgram : kPacket;
    } else if (section == kProgram) {
      absl::StrAppend(&program, line, "\n");
    } else if (section == kPacket && !line.empty()) {
      packet.emplace_back(line);
    }
  }
  if (absl::Status status = flush(); !status.ok()) return status;
  while (program.size() > 1 && program[program.size() - 2] == '\n') program.pop_back();
  absl::StatusOr<ir::Program> parsed = ir::Parse(program, file_name);
  if (!parsed.ok()) return parsed.status();
  out.program = *std::move(parsed);
  return out;
}

}  // namespace nftjit::testing
