// Rows as text.
#include "lib/ir/words.h"
#include "lib/ir/writer.h"

namespace nftjit::ir {

void Writer::PrintRow(const Chain& chain, const Row& row) {
  const OpInfo& info = Info(row.op);
  if (info.kind == OpKind::kValue) {
    PutValue(static_cast<uint32_t>(&row - p_.rows.data()));
    Put(" = ");
  }
  Put(info.text);
  switch (row.op) {
    case Op::kConst:
      Put(" ");
      PutConstant(row.a);
      return;
    case Op::kStale:
      Put(" ", uint64_t{row.length});
      return;
    case Op::kLoad:
    case Op::kMeta:
    case Op::kCt:
    case Op::kExthdr:
      PrintLoad(row);
      return;
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      Put(" ");
      PutValue(row.a);
      Put(", ");
      PutConstant(row.b);
      return;
    case Op::kAndValue:
    case Op::kOrValue:
    case Op::kXorValue:
    case Op::kConcat:
      Put(" ");
      PutValue(row.a);
      Put(", ");
      PutValue(row.b);
      return;
    case Op::kShl:
    case Op::kShr:
      Put(" ");
      PutValue(row.a);
      Put(", ", row.b);
      return;
    case Op::kSwap:
      Put(" ");
      PutValue(row.a);
      Put(", ", uint64_t{row.key});
      return;
    case Op::kSlice:
      Put(" ");
      PutValue(row.a);
      Put("+", row.b, ", ", uint64_t{row.length});
      return;
    case Op::kZext:
      Put(" ");
      PutValue(row.a);
      Put(", ", uint64_t{row.length});
      return;
    case Op::kGuard:
      PrintGuard(row);
      return;
    case Op::kTest:
      PrintTest(row);
      return;
    case Op::kMap:
    case Op::kLookup:
    case Op::kVerdictMap:
      Put(" ");
      PutValue(row.a);
      if (row.op == Op::kLookup && (row.flags & kNegated) != 0) Put(" not");
      PrintSetName(chain, row.b);
      return;
    case Op::kLimit:
    case Op::kCount:
    case Op::kLog:
      Put(" #", row.a);
      return;
    case Op::kSetMeta:
      Put(" ", nft::Name(static_cast<nft::MetaKey>(row.key)), " ");
      PutValue(row.a);
      return;
    case Op::kVerdict:
      PrintVerdict(chain, row);
      return;
    case Op::kReject:
      Put(" ", Name(static_cast<nft::RejectType>(row.key)));
      if (static_cast<nft::RejectType>(row.key) != nft::RejectType::kTcpReset) Put(" ", row.a);
      return;
    case Op::kUnsupported:
      Put(" ");
      AppendQuoted(out_, p_.texts[row.a]);
      return;
  }
}

void Writer::PrintLoad(const Row& row) {
  switch (row.op) {
    case Op::kLoad:
      Put((row.flags & kOrZero) != 0 ? "? " : " ", Name(row.base()), "+", row.a, ", ", uint64_t{row.length});
      return;
    case Op::kMeta:
      Put((row.flags & kOrZero) != 0 ? "? " : " ", nft::Name(static_cast<nft::MetaKey>(row.key)));
      return;
    case Op::kCt: {
      Put(" ", nft::Name(static_cast<nft::CtKey>(row.key)));
      if (row.flags != kNoDirection) Put(" ", DirectionName(row.flags));
      // The length of an address follows the family of the table.
      const auto key = static_cast<nft::CtKey>(row.key);
      if (key == nft::CtKey::kSrc || key == nft::CtKey::kDst) Put(", ", uint64_t{row.length});
      return;
    }
    case Op::kExthdr:
      Put((row.flags & kPresent) != 0 ? " present " : " ", Name(static_cast<nft::ExthdrOp>(row.key)), " ", row.a, "+",
          row.b, ", ", uint64_t{row.length});
      return;
    default:
      return;
  }
}

void Writer::PrintTest(const Row& row) {
  Put((row.flags & kNative) != 0 ? " native " : " ");
  PutValue(row.a);
  if (row.c != UINT32_MAX) {
    Put(" & ");
    PutConstant(row.c);
  }
  Put(" ", Name(row.comparison()), " ");
  if (row.comparison() != Comparison::kIn && row.comparison() != Comparison::kNotIn) {
    PutConstant(row.b);
    return;
  }
  const ByteSpan bounds = p_.constants[ConstId(row.b)];
  Put(ToHex(bounds.first(bounds.size() / 2)), "-", ToHex(bounds.subspan(bounds.size() / 2)));
}

void Writer::PrintGuard(const Row& row) {
  Put(" ", Name(row.guard()));
  switch (row.guard()) {
    case GuardKind::kRoomLink:
    case GuardKind::kRoomNetwork:
    case GuardKind::kRoomTransport:
    case GuardKind::kRoomInner:
      Put(" ", row.a);
      return;
    case GuardKind::kMetaKnown:
      Put(" ", nft::Name(static_cast<nft::MetaKey>(row.a)));
      return;
    case GuardKind::kCtKnown: {
      Put(" ", nft::Name(static_cast<nft::CtKey>(row.a & 0xff)));
      const std::string_view direction = DirectionName(static_cast<uint8_t>(row.a >> 8));
      if (!direction.empty()) Put(" ", direction);
      return;
    }
    case GuardKind::kUnfragmented:
    case GuardKind::kL4:
    case GuardKind::kIif:
    case GuardKind::kOif:
    case GuardKind::kCtEntry:
      return;
  }
}

void Writer::PrintVerdict(const Chain& chain, const Row& row) {
  Put(" ", nft::Name(row.verdict()));
  if (row.a == UINT32_MAX) return;
  const Chain& target = p_.chains[row.a];
  Put(" ");
  if (target.family != chain.family || target.table != chain.table) {
    Put(nft::Name(target.family), " ");
    AppendName(out_, target.table);
    Put(" ");
  }
  AppendName(out_, target.name);
}

void Writer::PrintSetName(const Chain& chain, uint32_t set) {
  const SetInfo& info = p_.sets[set];
  Put(" @");
  if (info.family != chain.family || info.table != chain.table) {
    Put(nft::Name(info.family), " ");
    AppendName(out_, info.table);
    Put(" ");
  }
  AppendName(out_, info.name);
}

}  // namespace nftjit::ir
