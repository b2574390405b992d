// The encoding that the interpreter runs: few, big instructions, and match tables for runs of rules.
//
// A rule that is not in a table costs one instruction per test: guards, load, mask and compare are one. A run of rules
// whose tests fit in 32-bit columns costs one instruction for all of them, which compares eight rules at a time.
#ifndef NFTJIT_INTERP_INTERPRETER_CODE_H_
#define NFTJIT_INTERP_INTERPRETER_CODE_H_

#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "lib/engine/engine.h"
#include "lib/ir/ir.h"

namespace nftjit::interp {

// Values of up to eight bytes are compared as integers whose lowest byte is the first one in memory.
static_assert(std::endian::native == std::endian::little);

// Where bytes are read without evaluating anything first. kPacket + ir::Base; the names of both devices; the scratch
// area of the frame; integers made of metadata or conntrack facts, which have no address.
enum class Place : uint8_t { kLink, kNetwork, kTransport, kInner, kSlot, kIifName, kOifName, kMeta, kCt };
struct Source {
  Place place = Place::kSlot;
  uint8_t length = 0;  // Bytes to read.
  uint8_t key = 0;     // nft::MetaKey or nft::CtKey.
  uint32_t offset = 0;
  bool operator==(const Source&) const = default;

  [[nodiscard]] bool in_packet() const { return place <= Place::kInner; }
  [[nodiscard]] bool has_address() const { return place <= Place::kOifName; }
};

// Conditions that guards ask for, besides room (Inst::flags from kGuardShift on, Table guards).
inline constexpr uint8_t kNeedL4 = 1, kNeedUnfragmented = 2, kNeedIif = 4, kNeedOif = 8, kNeedCt = 16;

enum class Code : uint8_t {
  // Integer tests: ((x & mask) - value <= size) != negated, where x is the source's bytes, reversed if kReversed.
  // A folded room guard (packet sources: `room` bytes) and condition bits come first.
  kTestPacket1,
  kTestPacket2,
  kTestPacket4,
  kTestPacket8,
  kTestPacketN,
  kTestSlot,
  kTestName,
  kTestMeta,
  kTestCt,
  kTestBytes,   // A test of more than eight bytes. value: offset in Encoding::bytes; size: ir::Comparison; mask: 1 if a
                // mask stands before the constants.
  kGuard,       // room bytes from base `key`, and the condition bits.
  kGuardInner,  // room bytes from the inner header.
  kGuardMeta,   // key: nft::MetaKey.
  kGuardCt,     // key: nft::CtKey; room: direction.
  kExthdr,      // ir::Op::kExthdr into the slot `offset`. key: ExthdrOp, room: type, value: offset, size: flags.
  kMap,         // value: set; key bytes at place `key` + room; to slot `offset`.
  kLookup,      // value: set; key bytes at place `key` + offset; negated by kNegated.
  kVerdictMap,  // value: set; key bytes at place `key` + offset; room: rule.
  kLimit,       // offset: limit.
  kEvaluate,    // An ir value op (`key`) into the slot `offset`. Operands: see interpreter_values.cpp.
  kCopy,        // `length` bytes from place `key` + room into the slot `offset`.
  kCount,       // offset: counter.
  kLog,         // offset: log.
  kSetMeta,     // key: nft::MetaKey, from place `room` & 0xff + offset.
  kEnd,         // Ends the base chain. value: outcome; room: rule.
  kCountEnd,    // kCount, kEnd in one. offset: counter.
  kReject,      // Drops. value: Frame::reject; room: rule.
  kReturn,      // To the caller, or to the policy.
  kJump,        // offset: instruction of the target; room: where to go on after its return.
  kSkip,        // Goes to `miss`.
  kTable,       // offset: table. Goes to the body of the first row that matches, or to `miss`.
  kResume,      // The table instruction `offset`, from row `room` on.
};

// Inst::flags.
inline constexpr uint8_t kReversed = 1, kNegated = 2;
inline constexpr int kGuardShift = 2;

struct Inst {
  Code code = Code::kSkip;
  uint8_t length = 0;
  uint8_t key = 0;
  uint8_t flags = 0;
  uint32_t miss = 0;  // Where a failing test goes.
  uint32_t offset = 0;
  uint32_t room = 0;
  uint64_t mask = 0, value = 0, size = 0;
};
static_assert(sizeof(Inst) == 40);

// A column of a table: x = the source, reversed to a big-endian integer if so; a row passes if x is in
// [first, first + second] (range), or else if (x & first) == second.
struct Column {
  Source source;
  bool range = false;
  bool reversed = false;
  bool guards = false;  // x is not a source but the bits of Table::guards that hold.
};

// Bit number `i` of the guard column: the i-th of these holds.
struct TableGuard {
  uint8_t conditions = 0;
  uint8_t base = 0;
  uint32_t room = 0;
};

inline constexpr uint32_t kNoEntry = UINT32_MAX;
inline constexpr uint32_t kLanes = 8, kMaxColumns = 6;

// Rows in groups of kLanes; per group and column kLanes `first`s and then kLanes `second`s.
struct Table {
  uint32_t rows = 0;
  std::vector<Column> columns;
  std::vector<TableGuard> guards;
  const uint32_t* data = nullptr;  // In Encoding::columns.
  std::vector<uint32_t> bodies;    // Per row: the instruction to go on with.
};

struct AlignedFree {
  void operator()(uint32_t* p) const { ::operator delete[](p, std::align_val_t{64}); }
};

// An encoded Program.
struct Encoding {
  std::vector<Inst> insts;
  std::vector<uint8_t> bytes;     // Constants of more than eight bytes, sources of kEvaluate.
  std::vector<uint32_t> entries;  // By ChainId: its first instruction, kNoEntry for chains that no base chain reaches.
  std::vector<Table> tables;
  std::vector<std::unique_ptr<uint32_t[], AlignedFree>> columns;
  size_t column_bytes = 0;
  std::vector<uint32_t> rule_of;  // By instruction: the rule, or kNoRule. For disassembly only.
  bool avx2 = false;              // The machine has it.
};

// The number of the first row from `from` on that matches, or a number >= table.rows. `fields` has a value per column.
uint32_t FindRow(const Table& table, const uint32_t* fields, uint32_t from) noexcept;
uint32_t FindRowAvx2(const Table& table, const uint32_t* fields, uint32_t from) noexcept;
bool HasAvx2();

// The text of an encoding, an instruction or a table row a line.
std::string Disassemble(const ir::Program& program, const Encoding& encoding);

}  // namespace nftjit::interp

#endif  // NFTJIT_INTERP_INTERPRETER_CODE_H_
