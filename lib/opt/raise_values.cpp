#include "lib/opt/raise_values.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cassert>

#include "lib/opt/bytes_math.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {

using ir::Op;
using ir::Row;
using nft::Register;

namespace {

constexpr size_t kWords = 16;  // Of the register file.
constexpr uint32_t MaskOf(size_t words) { return (uint32_t{1} << words) - 1; }

}  // namespace

bool IsSlowLoad(ir::Base base, uint32_t offset, uint32_t length) {
  const bool fast_length = length == 1 || length == 2 || length == 4;
  return base == ir::Base::kLink || base == ir::Base::kInner || !fast_length || offset % length != 0;
}

absl::Status NoInstruction(absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("no instruction for ", what));
}

ValueWriter::ValueWriter(const ir::Program& program, const ir::Item& item) : p_(program) { CountUses(item); }

// How often each value is used in this rule, also by values of blocks around it that it needs.
void ValueWriter::CountUses(const ir::Item& item) {
  std::vector<uint32_t> work;
  const auto use = [&](uint32_t operand) {
    if (++uses_[operand] == 1 && operand < item.first_row) work.push_back(operand);
  };
  for (const Row& row : p_.RowsOf(item)) ForEachOperand(row, use);
  while (!work.empty()) {
    const uint32_t value = work.back();
    work.pop_back();
    ForEachOperand(p_.rows[value], use);
  }
}

absl::StatusOr<uint8_t> ValueWriter::Place(uint32_t value) {
  if (const auto found = registers_.find(value); found != registers_.end()) return found->second;
  const std::optional<uint8_t> word = Take(WordsOf(p_.rows[value].length));
  if (!word) return NoInstruction("a rule with more than 64 bytes of values");
  if (absl::Status status = PlaceAt(value, *word); !status.ok()) return status;
  registers_[value] = *word;
  return *word;
}

absl::Status ValueWriter::PlaceHere(uint32_t value) {
  const absl::StatusOr<uint8_t> word = Place(value);
  if (!word.ok()) return word.status();
  if (!uses_.contains(value)) Free(*word, WordsOf(p_.rows[value].length));
  return absl::OkStatus();
}

absl::Status ValueWriter::PlaceMeta(uint8_t key, uint32_t before) {
  std::vector<uint32_t> values;
  for (const auto& [value, uses] : uses_) {
    const Row& row = p_.rows[value];
    if (uses != 0 && value < before && row.op == Op::kMeta && row.key == key) values.push_back(value);
  }
  for (const uint32_t value : values) {
    if (const absl::StatusOr<uint8_t> word = Place(value); !word.ok()) return word.status();
  }
  return absl::OkStatus();
}

void ValueWriter::Release(uint32_t value) {
  if (--uses_[value] != 0) return;
  const auto found = registers_.find(value);
  if (found == registers_.end()) return;
  Free(found->second, WordsOf(p_.rows[value].length));
  registers_.erase(found);
}

std::optional<uint8_t> ValueWriter::Take(size_t words) {
  for (const size_t step : {size_t{4}, size_t{1}}) {
    for (size_t word = 0; word + words <= kWords; word += step) {
      if ((taken_ & MaskOf(words) << word) != 0) continue;
      taken_ |= MaskOf(words) << word;
      return static_cast<uint8_t>(word);
    }
  }
  return std::nullopt;
}

void ValueWriter::Free(uint8_t word, size_t words) { taken_ &= ~(MaskOf(words) << word); }

absl::Status ValueWriter::PlaceAt(uint32_t value, uint8_t word) {
  const Row& row = p_.rows[value];
  const Register dreg = Register::Word(word);
  switch (row.op) {
    case Op::kConst:
      return PlaceConstant(ConstantOf(p_, row.a), word);
    case Op::kLoad:
      if (row.a > UINT16_MAX) return NoInstruction("a load that begins beyond offset 65535");
      PutLoad(row, dreg, row.a, row.length);
      return absl::OkStatus();
    case Op::kMeta:
      Put(nft::MetaLoad{dreg, static_cast<nft::MetaKey>(row.key)});
      Imply(row);
      return absl::OkStatus();
    case Op::kCt:
      Put(nft::CtLoad{
          dreg, static_cast<nft::CtKey>(row.key),
          row.flags == ir::kNoDirection ? std::nullopt : std::optional(static_cast<nft::Direction>(row.flags))});
      Imply(row);
      return absl::OkStatus();
    case Op::kExthdr:
      Put(nft::ExthdrLoad{dreg, static_cast<uint8_t>(row.a), static_cast<uint8_t>(row.b), row.length,
                          (row.flags & ir::kPresent) != 0 ? 1U : 0U, static_cast<nft::ExthdrOp>(row.key)});
      return absl::OkStatus();
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
    case Op::kShl:
    case Op::kShr:
      return PlaceBitwise(row, dreg);
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
      return PlaceBitwiseOfValues(row, dreg);
    case Op::kSwap:
      return PlaceSwap(row, word);
    case Op::kMap:
      return PutLookup(row, dreg);
    case Op::kConcat:
      return PlaceConcat(row, word);
    case Op::kZext:
      return PlaceZext(row, word);
    case Op::kSlice:
      return PlaceSlice(row, dreg);
    default:
      return NoInstruction({ir::Info(row.op).text.data(), ir::Info(row.op).text.size()});
  }
}

template <class PutFunction>
absl::Status ValueWriter::WithOperand(uint32_t value, PutFunction&& put) {
  const absl::StatusOr<uint8_t> word = Place(value);
  if (!word.ok()) return word.status();
  absl::Status status = put(Register::Word(*word));
  Release(value);
  return status;
}

absl::Status ValueWriter::PlaceConstant(ByteSpan bytes, uint8_t word) {
  for (size_t at = 0; at < bytes.size(); at += kConstantBytes) {
    const ByteSpan part = bytes.subspan(at, std::min(kConstantBytes, bytes.size() - at));
    Put(nft::Immediate{Register::Word(static_cast<uint8_t>(word + at / 4)), Bytes16(part), {}});
  }
  return absl::OkStatus();
}

absl::Status ValueWriter::PlaceBitwise(const Row& row, Register dreg) {
  const bool shift = row.op == Op::kShl || row.op == Op::kShr;
  if (!shift && row.length > kConstantBytes) return NoInstruction("a bitwise operation on more than 16 bytes");
  return WithOperand(row.a, [&](Register sreg) {
    if (!shift) {
      PutBitwise(row.op, sreg, dreg, ConstantOf(p_, row.b));
      return absl::OkStatus();
    }
    uint8_t count[4];
    StoreNative<uint32_t>(count, row.b);
    const auto op = row.op == Op::kShl ? nft::BitwiseOp::kLshift : nft::BitwiseOp::kRshift;
    Put(nft::Bitwise{.sreg = sreg, .dreg = dreg, .len = row.length, .op = op, .data = Bytes16(ByteSpan(count, 4))});
    return absl::OkStatus();
  });
}

absl::Status ValueWriter::PlaceBitwiseOfValues(const Row& row, Register dreg) {
  const auto op = row.op == Op::kAndValue  ? nft::BitwiseOp::kAnd
                  : row.op == Op::kOrValue ? nft::BitwiseOp::kOr
                                           : nft::BitwiseOp::kXor;
  return WithOperand(row.b, [&](Register sreg2) {
    return WithOperand(row.a, [&](Register sreg) {
      Put(nft::Bitwise{.sreg = sreg, .dreg = dreg, .len = row.length, .op = op, .sreg2 = sreg2});
      return absl::OkStatus();
    });
  });
}

void ValueWriter::PutBitwise(Op op, Register sreg, Register dreg, ByteSpan constant) {
  Bytes ones, zeros;
  ones.resize(constant.size());
  zeros.resize(constant.size());
  std::fill_n(ones.data(), ones.size(), uint8_t{0xff});
  const Bytes inverse = Xor(constant, ones.span());
  const ByteSpan mask = op == Op::kAnd ? constant : op == Op::kOr ? inverse.span() : ones.span();
  Put(nft::Bitwise{.sreg = sreg,
                   .dreg = dreg,
                   .len = static_cast<uint8_t>(constant.size()),
                   .op = nft::BitwiseOp::kMaskXor,
                   .mask = Bytes16(mask),
                   .xor_bits = Bytes16(op == Op::kAnd ? zeros.span() : constant)});
}

// The one instruction that leaves bytes of its last word as they were (vm-semantics 10.5): the operand's zeros, where
// it works in place.
absl::Status ValueWriter::PlaceSwap(const Row& row, uint8_t word) {
  const Register dreg = Register::Word(word);
  const auto swap = [&](Register sreg) {
    Put(nft::Byteorder{sreg, dreg, nft::ByteorderOp::kHton, row.length, row.key});
    return absl::OkStatus();
  };
  if (row.length % 4 == 0 && !IsUnplacedLastUse(row.a)) return WithOperand(row.a, swap);
  if (absl::Status status = CopyTo(row.a, word); !status.ok()) return status;
  return swap(dreg);
}

absl::Status ValueWriter::PlaceConcat(const Row& row, uint8_t word) {
  const size_t first = p_.rows[row.a].length;
  if (first % 4 != 0) return NoInstruction("a concatenation whose first part is not of whole words");
  if (absl::Status status = CopyTo(row.a, word); !status.ok()) return status;
  return CopyTo(row.b, static_cast<uint8_t>(word + first / 4));
}

absl::Status ValueWriter::PlaceZext(const Row& row, uint8_t word) {
  const size_t words = WordsOf(row.length), first = WordsOf(p_.rows[row.a].length);
  if (words > first) {
    Bytes zeros;
    zeros.resize((words - first) * 4);
    absl::Status status = PlaceConstant(zeros.span(), static_cast<uint8_t>(word + first));
    if (!status.ok()) return status;
  }
  return CopyTo(row.a, word);
}

absl::Status ValueWriter::PlaceSlice(const Row& row, Register dreg) {
  const Row& from = p_.rows[row.a];
  if (from.op == Op::kLoad && !registers_.contains(row.a) && from.a + row.b <= UINT16_MAX) {
    PutLoad(from, dreg, from.a + row.b, row.length);
    Release(row.a);
    return absl::OkStatus();
  }
  if (row.b % 4 != 0) return NoInstruction("a slice that does not begin at a word");
  return WithOperand(row.a, [&](Register sreg) {
    return Copy(Register::Word(static_cast<uint8_t>(sreg.word() + row.b / 4)), dreg, row.length);
  });
}

// The value at `word`, which is taken already: written there if this is its only use, else copied.
absl::Status ValueWriter::CopyTo(uint32_t value, uint8_t word) {
  if (IsUnplacedLastUse(value)) {
    --uses_[value];
    return PlaceAt(value, word);
  }
  return WithOperand(value, [&](Register sreg) { return Copy(sreg, Register::Word(word), p_.rows[value].length); });
}

absl::Status ValueWriter::Copy(Register sreg, Register dreg, uint8_t length) {
  if (length > kConstantBytes) return NoInstruction("a copy of more than 16 bytes");
  Bytes none;
  none.resize(length);
  PutBitwise(Op::kXor, sreg, dreg, none.span());
  return absl::OkStatus();
}

void ValueWriter::PutLoad(const Row& load, Register dreg, uint32_t offset, uint32_t length) {
  assert(offset <= UINT16_MAX);
  Put(nft::PayloadLoad{dreg, static_cast<nft::PayloadBase>(load.key), static_cast<uint16_t>(offset),
                       static_cast<uint8_t>(length)});
  Row loaded = load;
  loaded.flags = 0;
  loaded.a = offset;
  loaded.length = static_cast<uint8_t>(length);
  Imply(loaded);
  if (load.base() == ir::Base::kTransport && IsSlowLoad(load.base(), offset, length)) {
    slow_transport_ = true;
    implied_.Add(ir::GuardKind::kUnfragmented, 0);
  }
}

absl::Status ValueWriter::PutLookup(const Row& row, std::optional<Register> dreg) {
  const bool negated = row.op == Op::kLookup && (row.flags & ir::kNegated) != 0;
  return WithOperand(row.a, [&](Register sreg) {
    Put(nft::Lookup{p_.sets[row.b].handle, sreg, dreg, negated ? 1U : 0U});
    return absl::OkStatus();
  });
}

void ValueWriter::Imply(const Row& load) {
  Row loaded = load;
  loaded.flags = load.op == Op::kCt ? load.flags : uint8_t{0};  // As the kernel loads it: it may break.
  for (const ir::Requirement& need : ir::RequiredGuards(loaded)) implied_.Add(need.kind, need.number);
}

}  // namespace nftjit::opt
