#include "jit/disassembly.h"

#include <Zydis/Zydis.h>
#include <absl/strings/str_format.h>

#include <algorithm>

#include "lib/ir/text.h"

namespace nftjit::jit {
namespace {

std::string RuleName(const ir::Program& program, ir::RuleId rule) {
  const ir::RuleInfo& info = program.rules[rule.index];
  std::string text = absl::StrFormat("rule %d", info.handle);
  if (!info.where.file.empty()) text += " " + ToString(info.where);
  if (!info.comment.empty()) text += " \"" + info.comment + "\"";
  return text;
}

class Printer {
 public:
  Printer(std::span<const uint8_t> code, const ir::Program& program) : code_(code), program_(program) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter_, ZYDIS_FORMATTER_STYLE_INTEL);
  }

  // What stands in front of the code of `entry`, if it differs from what stood there last.
  void Heading(const CodeMapEntry& entry) {
    if (entry.part == CodePart::kData) {
      text_ += "data:\n";
      return;
    }
    if (entry.chain != chain_) {
      const ir::Chain& chain = program_.chains[entry.chain.index];
      text_ += absl::StrFormat("chain %s %s %s:\n", nft::Name(chain.family), chain.table, chain.name);
      chain_ = entry.chain;
      rule_ = ir::RuleId();
    }
    if (entry.part == CodePart::kChain) {
      rule_ = ir::RuleId();
      return;
    }
    if (entry.rule.valid() && (entry.rule != rule_ || entry.part != part_)) {
      text_ += absl::StrFormat(" %s%s:\n", RuleName(program_, entry.rule),
                               entry.part == CodePart::kCold      ? ", out of line"
                               : entry.part == CodePart::kColumns ? " and those behind it"
                                                                  : "");
      rule_ = entry.rule;
    }
    part_ = entry.part;
    if (entry.row.valid()) text_ += "  ; " + ir::PrintRow(program_, entry.row) + "\n";
  }

  void Instructions(size_t from, size_t to) {
    while (from < to) {
      ZydisDecodedInstruction instruction;
      ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
      if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder_, &code_[from], to - from, &instruction, operands))) {
        text_ += absl::StrFormat("    %06x  (not an instruction)\n", from);
        return;
      }
      char line[256];
      ZydisFormatterFormatInstruction(&formatter_, &instruction, operands, instruction.operand_count_visible, line,
                                      sizeof line, from, nullptr);
      text_ += absl::StrFormat("    %06x  %s\n", from, line);
      from += instruction.length;
    }
  }

  void Data(size_t from, size_t to) {
    constexpr size_t kLine = 16;
    for (; from < to; from += kLine) {
      const size_t size = std::min(kLine, to - from);
      text_ += absl::StrFormat("    %06x  %s\n", from, ToHex(code_.subspan(from, size)));
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  std::span<const uint8_t> code_;
  const ir::Program& program_;
  ZydisDecoder decoder_;
  ZydisFormatter formatter_;
  ir::ChainId chain_;
  ir::RuleId rule_;
  CodePart part_ = CodePart::kChain;
  std::string text_;
};

}  // namespace

std::string Disassemble(std::span<const uint8_t> code, const CodeMap& map, const ir::Program& program) {
  Printer printer(code, program);
  if (map.empty()) printer.Instructions(0, code.size());
  for (size_t i = 0; i < map.size(); ++i) {
    const size_t end = i + 1 < map.size() ? map[i + 1].offset : code.size();
    printer.Heading(map[i]);
    if (map[i].part == CodePart::kData) {
      printer.Data(map[i].offset, end);
    } else {
      printer.Instructions(map[i].offset, end);
    }
  }
  return printer.Take();
}

}  // namespace nftjit::jit
