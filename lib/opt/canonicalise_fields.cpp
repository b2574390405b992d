// Makes all loads inside one header field one and the same load, and all guards of one header one and the same guard:
//     guard room.network 13                =>  guard room.network 20
//     %0 = load network+12, 1                  %0 = load network+12, 4
//     test %0 == 0a                            test %0 & ff000000 == 0a000000
// nft narrows /8, /16 and /24 to loads of 1, 2 and 3 bytes and masks only what is left, so that one field arrives as
// four loads; after this pass they are one, with which rules can be compared and shared.
//
// Guards. At the hooks of ip, ip6 and inet tables EnterChain leaves either no network header, or all of its fixed part
// (lib/runtime/parse.h): 20 bytes, 40 in ip6 tables and behind a passed `meta nfproto == 0a`. So a guard for less is
// the same guard as one for all of it. Other families get no such promise and keep their guards.
//
// Loads. Condition: the load lies inside one field of the header that family and passed tests name (lib/opt/fields.h),
// it stands in a rule, and every use of it is a test: of any comparison of byte strings, or of native integers if the
// field is of 2, 4 or 8 bytes. Other uses would need a slice that is no better than the short load. The field may reach
// beyond what the rule's guard covers: then the load is one that reads zero there, and nobody looks at those bytes but
// through a mask. Sound because mask and constants are zero outside the old bytes, so that neither equality nor order
// (of byte strings, or of integers: all are multiples of one power of 256) can see more than before.
#include "lib/ir/guards.h"
#include "lib/opt/bytes_math.h"
#include "lib/opt/fields.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Op;
using ir::Row;

// What is known on the way to a row; blocks pass it on to their items.
struct Scope {
  HeaderContext headers;
  ir::GuardSet guards;
  uint32_t network_room = 0;  // The fixed header that a network guard of at least one byte stands for; 0: unknown.
  uint32_t end = 0;           // Of the block, as an item.
};

class Canonicaliser {
 public:
  Canonicaliser(ir::Program& program, int limit) : p_(program), limit_(limit) {}

  int Run() {
    for (const ir::Chain& chain : p_.chains) {
      Scope scope{.headers = HeaderContext::OfFamily(chain.family), .network_room = NetworkRoomOf(chain.family)};
      scopes_.assign(1, scope);
      scopes_.back().end = UINT32_MAX;
      for (uint32_t i = chain.first_item; i < chain.first_item + chain.item_count; ++i) {
        while (scopes_.back().end <= i) scopes_.pop_back();
        scope = scopes_.back();
        RewriteItem(chain, p_.items[i], scope);
        scope.end = p_.items[i].end;
        if (p_.items[i].kind == ir::ItemKind::kBlock) scopes_.push_back(scope);
      }
    }
    return rewrites_;
  }

 private:
  // How a load is used, at most.
  static constexpr uint8_t kUnused = 0, kByteTests = 1, kNativeTests = 2, kOtherUse = 3;
  static uint8_t UsesOf(const Row& test) {
    return (test.flags & ir::kNative) != 0 && !IsEquality(test.comparison()) ? kNativeTests : kByteTests;
  }

  // How the rows of the item are used inside it. What stands at a block's head has uses elsewhere.
  void ClassifyUses(const ir::Item& item) {
    uses_.assign(item.row_count, item.kind == ir::ItemKind::kBlock ? kOtherUse : kUnused);
    moved_.assign(item.row_count, 0);
    for (const Row& row : p_.RowsOf(item)) {
      ForEachOperand(row, [&](uint32_t operand) {
        if (operand < item.first_row) return;
        uint8_t& uses = uses_[operand - item.first_row];
        uses = std::max(uses, row.op == Op::kTest ? UsesOf(row) : kOtherUse);
      });
    }
  }

  void RewriteItem(const ir::Chain& chain, const ir::Item& item, Scope& scope) {
    ClassifyUses(item);
    first_ = item.first_row;
    for (uint32_t r = item.first_row; r < item.first_row + item.row_count; ++r) {
      Row& row = p_.rows[r];
      switch (row.op) {
        case Op::kGuard:
          if (rewrites_ < limit_ && WidenGuard(row, scope)) ++rewrites_;
          scope.guards.Add(row.guard(), row.a);
          break;
        case Op::kLoad:
          if (rewrites_ < limit_ && WidenLoad(r, scope)) ++rewrites_;
          break;
        case Op::kTest:
          if (row.a >= first_ && moved_[row.a - first_] != 0) WidenTest(row);
          scope.headers.Learn(p_, row);
          if (chain.family == nft::Family::kInet && IsIpv6Test(p_, row))
            scope.network_room = NetworkRoomOf(nft::Family::kIp6);
          break;
        default:
          break;
      }
    }
  }

  static bool WidenGuard(Row& guard, const Scope& scope) {
    if (guard.guard() != ir::GuardKind::kRoomNetwork || guard.a == 0 || guard.a >= scope.network_room) return false;
    guard.a = scope.network_room;
    return true;
  }

  bool WidenLoad(uint32_t r, const Scope& scope) {
    Row& load = p_.rows[r];
    const std::optional<Field> field = FieldOf(scope.headers, load.base(), load.a, load.length);
    if (!field || field->length == load.length || uses_[r - first_] == kOtherUse) return false;
    const bool integer = field->length == 2 || field->length == 4 || field->length == 8;
    if (uses_[r - first_] == kNativeTests && !integer) return false;
    moved_[r - first_] = static_cast<uint8_t>(load.a - field->offset + 1);
    load.a = field->offset;
    load.length = field->length;
    if (!scope.guards.Covers(load)) load.flags |= ir::kOrZero;
    return true;
  }

  // The constants of `test` from those of the old bytes to those of the field.
  void WidenTest(Row& test) {
    const size_t offset = moved_[test.a - first_] - 1U, length = p_.rows[test.a].length;
    const ByteSpan constant = ConstantOf(p_, test.b);
    const size_t bounds = IsRange(test.comparison()) ? 2 : 1, old_length = constant.size() / bounds;
    Bytes wide, mask;
    wide.resize(bounds * length);
    for (size_t i = 0; i < bounds; ++i) {
      std::copy_n(constant.data() + i * old_length, old_length, wide.data() + i * length + offset);
    }
    mask.resize(length);
    if (test.c == UINT32_MAX) {
      std::fill_n(mask.data() + offset, old_length, uint8_t{0xff});
    } else {
      std::copy_n(ConstantOf(p_, test.c).data(), old_length, mask.data() + offset);
    }
    test.b = Intern(p_, wide.span());
    test.c = Intern(p_, mask.span());
  }

  ir::Program& p_;
  const int limit_;
  int rewrites_ = 0;
  // Of the rows of one item, whose first is first_.
  uint32_t first_ = 0;
  std::vector<uint8_t> uses_;
  std::vector<uint8_t> moved_;  // Of a widened load: its old offset in the field, plus one.
  std::vector<Scope> scopes_;
};

}  // namespace

int CanonicaliseFields(ir::Program& program, int limit) { return Canonicaliser(program, limit).Run(); }

}  // namespace nftjit::opt
