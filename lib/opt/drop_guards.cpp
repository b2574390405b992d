// Drops a guard that a passed test proves:
//     %0 = load? network+12, 4     (reads zero outside the packet)
//     test %0 == 0a010203          =>  the same without the guard: the last byte is 3, so it was in the packet
//     guard room.network 16
// A test proves room up to the last byte that it wants not to be zero: of an equality, the last such byte of the
// constant; of a range of byte strings, the byte in which its bounds first differ if the lower one is not zero there,
// or a byte before that. `meta? l4proto == 06` proves that the transport protocol is known. At the hooks of ip, ip6 and
// inet tables any byte of the network header proves all of its fixed part (lib/runtime/parse.h): 20 bytes, 40 in ip6
// tables and together with `meta nfproto == 0a`.
// Condition: the test stands before the guard in the same rule, is no native order, and no row behind the guard needs
// it: a load that does not read zero, a length (metadata) that may be unknown.
// Sound because such a load has zeros, and nothing else, where the packet ends; what has passed the test has the byte.
#include "lib/ir/guards.h"
#include "lib/opt/bytes_math.h"
#include "lib/opt/fields.h"
#include "lib/opt/passes.h"
#include "lib/opt/rewrite.h"

namespace nftjit::opt {
namespace {

using ir::Comparison;
using ir::GuardKind;
using ir::Op;
using ir::Row;

constexpr GuardKind kRoomKinds[] = {GuardKind::kRoomLink, GuardKind::kRoomNetwork, GuardKind::kRoomTransport,
                                    GuardKind::kRoomInner};

// Bytes from the value's first one to the last that a passed test shows not to be zero; 0: it shows nothing.
uint32_t ProvenBytes(const ir::Program& program, const Row& test) {
  const ByteSpan constant = ConstantOf(program, test.b);
  switch (test.comparison()) {
    case Comparison::kEq: {
      size_t bytes = constant.size();
      const ByteSpan mask = test.c == UINT32_MAX ? ByteSpan() : ConstantOf(program, test.c);
      // A bit outside the mask is never equal: the test shows anything then.
      while (bytes > 0 && (constant[bytes - 1] & (mask.empty() ? 0xff : mask[bytes - 1])) == 0) --bytes;
      return static_cast<uint32_t>(bytes);
    }
    case Comparison::kIn: {
      if ((test.flags & ir::kNative) != 0 || test.c != UINT32_MAX) return 0;
      const ByteSpan low = constant.first(constant.size() / 2), high = constant.last(constant.size() / 2);
      size_t bytes = 0;
      for (size_t i = 0; i < low.size(); ++i) {
        if (low[i] != 0) bytes = i + 1;
        if (low[i] != high[i]) break;
      }
      return static_cast<uint32_t>(bytes);
    }
    default:
      return 0;
  }
}

class GuardDropper {
 public:
  GuardDropper(ir::Program& program, int limit) : p_(program), limit_(limit) {}

  int Run() {
    for (const ir::Chain& chain : p_.chains) {
      family_ = chain.family;
      for (uint32_t i = chain.first_item; i < chain.first_item + chain.item_count; ++i) {
        if (p_.items[i].kind == ir::ItemKind::kRule) DropIn(p_.items[i]);
      }
    }
    if (rewrites_ > 0) Compact(p_);
    return rewrites_;
  }

 private:
  void DropIn(const ir::Item& item) {
    ir::GuardSet proven;
    bool any = false;
    network_room_ = NetworkRoomOf(family_);
    for (uint32_t r = item.first_row; r < item.first_row + item.row_count && rewrites_ < limit_; ++r) {
      Row& row = p_.rows[r];
      if (row.op == Op::kTest) {
        any = Learn(row, proven) || any;
      } else if (row.op == Op::kGuard && any && proven.Covers(row.guard(), row.a) && !IsNeeded(item, r)) {
        Kill(row);
        ++rewrites_;
      }
    }
  }

  bool Learn(const Row& test, ir::GuardSet& proven) {
    const Row& value = p_.rows[test.a];
    if (family_ == nft::Family::kInet && IsIpv6Test(p_, test)) {
      network_room_ = NetworkRoomOf(nft::Family::kIp6);
      if (!proven.Covers(GuardKind::kRoomNetwork, 1)) return false;
      proven.Add(GuardKind::kRoomNetwork, network_room_);
      return true;
    }
    if ((value.flags & ir::kOrZero) == 0 || (value.op != Op::kLoad && value.op != Op::kMeta)) return false;
    const uint32_t bytes = ProvenBytes(p_, test);
    if (bytes == 0) return false;
    if (value.op == Op::kMeta) {
      proven.Add(GuardKind::kL4, 0);
      return true;
    }
    const bool whole = value.base() == ir::Base::kNetwork && network_room_ != 0;
    proven.Add(kRoomKinds[value.key], std::max(value.a + bytes, whole ? network_room_ : 0U));
    return true;
  }

  // Whether a row behind the guard could not be there without it.
  [[nodiscard]] bool IsNeeded(const ir::Item& item, uint32_t guard) const {
    for (uint32_t r = guard + 1; r < item.first_row + item.row_count; ++r) {
      if (p_.rows[r].op != Op::kLoad && p_.rows[r].op != Op::kMeta && p_.rows[r].op != Op::kCt) continue;
      ir::GuardSet only_this;
      only_this.Add(p_.rows[guard].guard(), p_.rows[guard].a);
      for (const ir::Requirement& need : ir::RequiredGuards(p_.rows[r])) {
        if (only_this.Covers(need.kind, need.number)) return true;
      }
    }
    return false;
  }

  ir::Program& p_;
  const int limit_;
  nft::Family family_ = nft::Family::kUnspec;
  uint32_t network_room_ = 0;  // Of the rule, as far as it is known.
  int rewrites_ = 0;
};

}  // namespace

int DropGuards(ir::Program& program, int limit) { return GuardDropper(program, limit).Run(); }

}  // namespace nftjit::opt
