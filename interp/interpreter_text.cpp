// Encodings as text, for `dump asm` of this engine.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "interp/interpreter_code.h"
#include "lib/ir/ir.h"
#include "lib/runtime/frame.h"
#include "lib/support/source.h"

namespace nftjit::interp {
namespace {

std::string_view Name(Code code) {
  switch (code) {
    case Code::kTestPacket1:
    case Code::kTestPacket2:
    case Code::kTestPacket4:
    case Code::kTestPacket8:
    case Code::kTestPacketN:
    case Code::kTestSlot:
    case Code::kTestName:
    case Code::kTestMeta:
    case Code::kTestCt:
      return "test";
    case Code::kTestBytes:
      return "test.bytes";
    case Code::kGuard:
      return "guard";
    case Code::kGuardInner:
      return "guard.inner";
    case Code::kGuardMeta:
      return "guard.meta";
    case Code::kGuardCt:
      return "guard.ct";
    case Code::kExthdr:
      return "exthdr";
    case Code::kMap:
      return "map";
    case Code::kLookup:
      return "lookup";
    case Code::kVerdictMap:
      return "vmap";
    case Code::kLimit:
      return "limit";
    case Code::kEvaluate:
      return "evaluate";
    case Code::kCopy:
      return "copy";
    case Code::kCount:
      return "count";
    case Code::kLog:
      return "log";
    case Code::kSetMeta:
      return "set";
    case Code::kEnd:
      return "end";
    case Code::kCountEnd:
      return "count.end";
    case Code::kReject:
      return "reject";
    case Code::kReturn:
      return "return";
    case Code::kJump:
      return "jump";
    case Code::kSkip:
      return "skip";
    case Code::kTable:
      return "table";
    case Code::kResume:
      return "resume";
  }
  return "unknown";
}

std::string Format(const char* format, auto... values) {
  char text[160];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

// "network+12:4", "meta mark", "slot+16:16".
std::string Where(Place place, uint8_t key, uint32_t offset, uint32_t length) {
  switch (place) {
    case Place::kMeta:
      return "meta " + std::string(nft::Name(static_cast<nft::MetaKey>(key)));
    case Place::kCt:
      return "ct " + std::string(nft::Name(static_cast<nft::CtKey>(key)));
    case Place::kSlot:
      return Format("slot+%u:%u", offset, length);
    case Place::kIifName:
      return Format("iifname+%u:%u", offset, length);
    case Place::kOifName:
      return Format("oifname+%u:%u", offset, length);
    default:
      return std::string(ir::Name(static_cast<ir::Base>(place))) + Format("+%u:%u", offset, length);
  }
}

Place PlaceOf(const Inst& inst) {
  if (inst.code == Code::kTestMeta) return Place::kMeta;
  if (inst.code == Code::kTestCt) return Place::kCt;
  return static_cast<Place>(inst.key);
}

std::string Conditions(uint8_t conditions) {
  constexpr std::string_view kNames[] = {"l4", "unfragmented", "iif", "oif", "ct"};
  std::string text;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if ((conditions >> i & 1) != 0) text += (text.empty() ? " if " : ", ") + std::string(kNames[i]);
  }
  return text;
}

std::string TestText(const Inst& inst) {
  std::string text = Where(PlaceOf(inst), inst.key, inst.offset, inst.length);
  if ((inst.flags & kReversed) != 0) text += " reversed";
  text += Format(" & %llx", static_cast<unsigned long long>(inst.mask));
  text += (inst.flags & kNegated) != 0 ? " not in" : " in";
  text +=
      Format(" %llx + %llx", static_cast<unsigned long long>(inst.value), static_cast<unsigned long long>(inst.size));
  if (inst.room != 0) text += Format(" if room %u", inst.room);
  return text + Conditions(static_cast<uint8_t>(inst.flags >> kGuardShift));
}

std::string OperandText(const Inst& inst) {
  if (inst.code <= Code::kTestCt) return TestText(inst);
  switch (inst.code) {
    case Code::kGuard:
      return Format("%s room %u", std::string(ir::Name(static_cast<ir::Base>(inst.key))).c_str(), inst.room) +
             Conditions(static_cast<uint8_t>(inst.flags >> kGuardShift));
    case Code::kTestBytes:
      return Where(PlaceOf(inst), inst.key, inst.offset, inst.length) + ' ' +
             std::string(ir::Name(static_cast<ir::Comparison>(inst.size))) +
             Format(" constant+%llu", static_cast<unsigned long long>(inst.value));
    case Code::kLookup:
    case Code::kVerdictMap:
      return ((inst.flags & kNegated) != 0 ? "not " : "") + Where(PlaceOf(inst), inst.key, inst.offset, 0) +
             Format(" in set %llu", static_cast<unsigned long long>(inst.value));
    case Code::kEvaluate:
      return std::string(ir::Info(static_cast<ir::Op>(inst.key)).text) +
             Format(" slot+%u:%u", inst.offset, inst.length);
    case Code::kCopy:
      return Where(PlaceOf(inst), inst.key, inst.room, inst.length) + Format(" slot+%u", inst.offset);
    case Code::kCount:
    case Code::kLimit:
    case Code::kLog:
      return Format("#%u", inst.offset);
    case Code::kCountEnd:
    case Code::kEnd:
      return (inst.code == Code::kCountEnd ? Format("#%u ", inst.offset) : std::string()) +
             std::string(nft::Name(static_cast<nft::VerdictCode>(inst.value)));
    case Code::kJump:
    case Code::kTable:
      return Format("%u", inst.offset);
    case Code::kResume:
      return Format("%u row %u", inst.offset, inst.room);
    default:
      return {};
  }
}

void AppendTable(const Encoding& encoding, uint32_t number, std::string& out) {
  const Table& table = encoding.tables[number];
  out += Format("table %u: %u rows of", number, table.rows);
  for (const Column& column : table.columns) {
    out += ' ';
    out += column.guards ? "guards"
                         : Where(column.source.place, column.source.key, column.source.offset, column.source.length);
    out += column.range ? (column.reversed ? " (range, reversed)" : " (range)") : "";
  }
  out += '\n';
  const size_t count = table.columns.size();
  for (uint32_t row = 0; row < table.rows; ++row) {
    out += Format("  %u:", row);
    const uint32_t* group = table.data + row / kLanes * count * 2 * kLanes + row % kLanes;
    for (size_t c = 0; c < count; ++c, group += 2 * kLanes) out += Format(" %08x %08x", group[0], group[kLanes]);
    out += Format(" -> %u\n", table.bodies[row]);
  }
}

}  // namespace

std::string Disassemble(const ir::Program& program, const Encoding& encoding) {
  std::vector<uint32_t> chains;  // Those in the encoding, by entry.
  for (uint32_t c = 0; c < encoding.entries.size(); ++c) {
    if (encoding.entries[c] != kNoEntry) chains.push_back(c);
  }
  std::sort(chains.begin(), chains.end(),
            [&](uint32_t a, uint32_t b) { return encoding.entries[a] < encoding.entries[b]; });
  size_t chain = 0;
  std::string out;
  uint32_t rule = kNoRule;
  for (uint32_t i = 0; i < encoding.insts.size(); ++i) {
    const Inst& inst = encoding.insts[i];
    for (; chain < chains.size() && encoding.entries[chains[chain]] == i; ++chain) {
      out += "chain " + program.chains[chains[chain]].name + ":\n";
    }
    if (encoding.rule_of[i] != rule && encoding.rule_of[i] != kNoRule) {
      const ir::RuleInfo& info = program.rules[encoding.rule_of[i]];
      out += "rule " + std::to_string(info.handle) + ' ' + ToString(info.where) + ":\n";
    }
    rule = encoding.rule_of[i];
    out += Format("%6u  ", i) + std::string(Name(inst.code)) + ' ' + OperandText(inst);
    if (inst.miss != 0) out += Format(" else %u", inst.miss);
    out += '\n';
  }
  for (uint32_t i = 0; i < encoding.tables.size(); ++i) AppendTable(encoding, i, out);
  return out;
}

}  // namespace nftjit::interp
