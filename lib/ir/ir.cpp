#include "lib/ir/ir.h"

namespace nftjit::ir {
namespace {

// The words that ops.def uses for kinds and operands.
constexpr OpKind value = OpKind::kValue, test = OpKind::kTest, action = OpKind::kAction, end = OpKind::kEnd;

namespace operand {
constexpr Operand none = Operand::kNone, value = Operand::kValue, constant = Operand::kConstant,
                  opt_constant = Operand::kOptConstant, number = Operand::kNumber, set = Operand::kSet,
                  chain = Operand::kChain, counter = Operand::kCounter, limit = Operand::kLimit, log = Operand::kLog,
                  text = Operand::kText;
}  // namespace operand

constexpr OpInfo kOps[] = {
#define OP(name, text, kind, a, b, c, effects) {text, kind, operand::a, operand::b, operand::c, effects},
#include "lib/ir/ops.def"
#undef OP
};

}  // namespace

const OpInfo& Info(Op op) { return kOps[static_cast<size_t>(op)]; }

std::string_view Name(Base base) {
  switch (base) {
    case Base::kLink:
      return "link";
    case Base::kNetwork:
      return "network";
    case Base::kTransport:
      return "transport";
    case Base::kInner:
      return "inner";
  }
  return "unknown";
}

std::string_view Name(GuardKind kind) {
  switch (kind) {
    case GuardKind::kRoomLink:
      return "room.link";
    case GuardKind::kRoomNetwork:
      return "room.network";
    case GuardKind::kRoomTransport:
      return "room.transport";
    case GuardKind::kRoomInner:
      return "room.inner";
    case GuardKind::kUnfragmented:
      return "unfragmented";
    case GuardKind::kL4:
      return "l4";
    case GuardKind::kIif:
      return "iif";
    case GuardKind::kOif:
      return "oif";
    case GuardKind::kCtEntry:
      return "ct";
    case GuardKind::kMetaKnown:
      return "meta";
    case GuardKind::kCtKnown:
      return "ct.known";
  }
  return "unknown";
}

std::string_view Name(Comparison comparison) {
  constexpr std::string_view kNames[] = {"==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  return kNames[static_cast<size_t>(comparison)];
}

uint8_t MetaLoadLength(nft::MetaKey key) {
  switch (key) {
    case nft::MetaKey::kNfproto:
    case nft::MetaKey::kL4proto:
    case nft::MetaKey::kPkttype:
      return 1;
    default:
      return nft::MetaLength(key);
  }
}

}  // namespace nftjit::ir
