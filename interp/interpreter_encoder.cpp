#include "interp/interpreter_encoder.h"

#include <absl/status/status.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "interp/interpreter_run.h"

namespace nftjit::interp {

absl::StatusOr<Encoding> Encode(const ir::Program& program, bool keep_rules) {
  return Encoder(program, keep_rules).Run();
}

absl::StatusOr<Encoding> Encoder::Run() {
  absl::StatusOr<std::vector<ir::ChainId>> order = ChainsInOrder(program_);
  if (!order.ok()) return order.status();
  out_.avx2 = HasAvx2();
  out_.entries.assign(program_.chains.size(), kNoEntry);
  // Slots that a chain must leave alone: those of blocks that its callers stand in.
  std::vector<uint32_t> kept(program_.chains.size(), 0);
  for (const ir::ChainId chain : *order) {
    operands_.BeginChain(kept[chain.index]);
    EncodeChain(chain);
    for (const ir::ChainId target : TargetsOf(program_, chain)) {
      kept[target.index] = std::max(kept[target.index], operands_.kept());
    }
    if (!status_.ok()) return status_;
    if (operands_.overflowed()) {
      return absl::UnimplementedError("interp: chain " + program_.chains[chain.index].name + " needs more than " +
                                      std::to_string(Frame::kScratchBytes) + " bytes of values at a time");
    }
  }
  for (Inst& inst : out_.insts) {
    if (inst.code == Code::kJump) inst.offset = out_.entries[inst.offset];
  }
  return std::move(out_);
}

void Encoder::EncodeChain(ir::ChainId id) {
  const ir::Chain& chain = program_.chains[id.index];
  out_.entries[id.index] = here();
  EncodeItems(chain.first_item, chain.first_item + chain.item_count);
  Emit({.code = Code::kReturn});
  NoteRule(kNoRule);
}

void Encoder::EncodeItems(uint32_t first, uint32_t end) {
  std::vector<uint32_t> rules;
  for (uint32_t index = first; index < end; index = program_.items[index].end) {
    if (program_.items[index].kind == ir::ItemKind::kRule) {
      rules.push_back(index);
      continue;
    }
    EncodeRules(rules);
    rules.clear();
    EncodeBlock(index);
  }
  EncodeRules(rules);
}

void Encoder::EncodeBlock(uint32_t index) {
  const ir::Item& block = program_.items[index];
  Misses misses;
  operands_.BeginBlock(block);
  EncodeRows(block, {}, misses);
  FlushGuards(misses);
  EncodeItems(index + 1, block.end);
  operands_.EndBlock(block);
  Patch(misses);
}

void Encoder::EncodeRules(std::span<const uint32_t> rules) {
  std::vector<RuleShape> shapes;
  shapes.reserve(rules.size());
  for (const uint32_t index : rules) shapes.push_back(ShapeOf(program_, operands_, program_.items[index]));
  for (size_t done = 0; done < rules.size();) {
    size_t length = 0;
    std::optional<TableRun> run = BuildRun(std::span(shapes).subspan(done), length);
    if (run) {
      EncodeTable(rules.subspan(done, length), *std::move(run));
    } else {
      for (size_t i = 0; i < length; ++i) EncodeRule(program_.items[rules[done + i]]);
    }
    done += length;
  }
}

void Encoder::EncodeRule(const ir::Item& rule) {
  Misses misses;
  operands_.BeginRule(rule);
  EncodeRows(rule, {}, misses);
  operands_.EndRule(rule);
  waiting_ = {};  // Guards with nothing after them.
  Patch(misses);
}

void Encoder::EncodeTable(std::span<const uint32_t> rules, TableRun run) {
  Misses misses;
  AddNeeds(run.common);
  operands_.BeginRule(program_.items[rules[0]]);
  for (const uint32_t row : run.common_tests) EncodeTest(program_.rows[row], misses);
  operands_.EndRule(program_.items[rules[0]]);
  FlushGuards(misses);

  const uint32_t table = here();
  EmitTest({.code = Code::kTable, .offset = static_cast<uint32_t>(out_.tables.size())}, misses);
  NoteRule(kNoRule);
  run.table.data = KeepColumns(run.data);
  out_.tables.push_back(std::move(run.table));
  const size_t number = out_.tables.size() - 1;
  for (size_t i = 0; i < rules.size(); ++i) {
    const ir::Item& rule = program_.items[rules[i]];
    out_.tables[number].bodies.push_back(here());
    Misses body_misses;
    operands_.BeginRule(rule);
    EncodeRows(rule, run.done[i], body_misses);
    operands_.EndRule(rule);
    waiting_ = {};
    Patch(body_misses);
    if (i + 1 < rules.size()) {
      Emit({.code = Code::kResume, .offset = table, .room = static_cast<uint32_t>(i + 1)});
    } else {
      EmitTest({.code = Code::kSkip}, misses);
    }
  }
  Patch(misses);
}

void Encoder::EncodeRows(const ir::Item& item, std::span<const uint32_t> done, Misses& misses) {
  count_at_ = UINT32_MAX;
  for (uint32_t index = item.first_row; index < item.first_row + item.row_count; ++index) {
    if (std::binary_search(done.begin(), done.end(), index)) continue;
    EncodeRow(index, item, misses);
    if (item.kind == ir::ItemKind::kRule) operands_.AfterRow(index);
  }
  NoteRule(item.kind == ir::ItemKind::kRule ? item.rule.index : kNoRule);
}

void Encoder::EncodeRow(uint32_t index, const ir::Item& item, Misses& misses) {
  const ir::Row& row = program_.rows[index];
  switch (ir::Info(row.op).kind) {
    case ir::OpKind::kValue:
      return EncodeValue(index, item, misses);
    case ir::OpKind::kTest:
      if (row.op == ir::Op::kGuard) return AddGuard(row, misses);
      if (row.op == ir::Op::kTest) return EncodeTest(row, misses);
      FlushGuards(misses);
      if (row.op == ir::Op::kLookup) return EncodeLookup(row, misses);
      EmitTest({.code = Code::kLimit, .offset = row.a}, misses);
      return;
    case ir::OpKind::kAction:
      FlushGuards(misses);
      return EncodeAction(row);
    case ir::OpKind::kEnd:
      FlushGuards(misses);
      return EncodeEnd(row, item.rule, misses);
  }
}

void Encoder::Patch(const Misses& misses) {
  for (const uint32_t index : misses) out_.insts[index].miss = here();
}

const uint32_t* Encoder::KeepColumns(const std::vector<uint32_t>& data) {
  if (data.empty()) return nullptr;
  const size_t bytes = data.size() * sizeof(uint32_t);
  out_.columns.emplace_back(static_cast<uint32_t*>(::operator new[](bytes, std::align_val_t{64})));
  std::memcpy(out_.columns.back().get(), data.data(), bytes);
  out_.column_bytes += bytes;
  return out_.columns.back().get();
}

}  // namespace nftjit::interp
