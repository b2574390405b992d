// Expressions of the VM as plain data, one struct each: every row of vm-semantics 10, also those no engine runs.
//
// What a register number, an optional attribute or a length means stands in vm-semantics under the number given at each
// struct. Integers are in host order, constants are register bytes. Chains, sets and objects are referred to by handle.
#ifndef NFTJIT_LIB_NFT_EXPRESSION_H_
#define NFTJIT_LIB_NFT_EXPRESSION_H_

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lib/nft/types.h"

namespace nftjit::nft {

struct Expression;

struct Immediate {  // 10.1. `verdict` counts if dreg is the verdict register, else `data`.
  Register dreg;
  Bytes16 data;
  Verdict verdict;
  bool operator==(const Immediate&) const = default;
};
struct Cmp {  // 10.2
  Register sreg;
  CmpOp op;
  Bytes16 data;
  bool operator==(const Cmp&) const = default;
};
struct Range {  // 10.3
  Register sreg;
  RangeOp op;
  Bytes16 from, to;
  bool operator==(const Range&) const = default;
};
struct Bitwise {  // 10.4
  Register sreg, dreg;
  uint8_t len;
  BitwiseOp op;
  Bytes16 mask, xor_bits;         // Mask-xor only.
  Bytes16 data;                   // And, or, xor with a constant; shifts: four bytes, native order.
  std::optional<Register> sreg2;  // And, or, xor with a register.
  bool operator==(const Bitwise&) const = default;
};
struct Byteorder {  // 10.5
  Register sreg, dreg;
  ByteorderOp op;
  uint8_t len, size;
  bool operator==(const Byteorder&) const = default;
};
struct PayloadLoad {  // 10.6
  Register dreg;
  PayloadBase base;
  uint16_t offset;
  uint8_t len;
  bool operator==(const PayloadLoad&) const = default;
};
struct PayloadStore {  // 10.7
  Register sreg;
  PayloadBase base;
  uint16_t offset;
  uint8_t len;
  ChecksumType csum_type;
  uint8_t csum_offset;
  uint32_t csum_flags;
  bool operator==(const PayloadStore&) const = default;
};
struct Inner {  // 10.8
  uint32_t type;
  uint32_t flags;
  uint32_t hdrsize;
  std::shared_ptr<const Expression> nested;  // Payload or meta load; its base may be kTunnel.
  bool operator==(const Inner&) const;
};
struct MetaLoad {  // 10.9
  Register dreg;
  MetaKey key;
  bool operator==(const MetaLoad&) const = default;
};
struct MetaStore {  // 10.10
  Register sreg;
  MetaKey key;
  bool operator==(const MetaStore&) const = default;
};
struct CtLoad {  // 10.11
  Register dreg;
  CtKey key;
  std::optional<Direction> direction;
  bool operator==(const CtLoad&) const = default;
};
struct CtStore {  // 10.12
  Register sreg;
  CtKey key;
  std::optional<Direction> direction;
  bool operator==(const CtStore&) const = default;
};
struct Notrack {  // 10.13
  bool operator==(const Notrack&) const = default;
};
struct Lookup {  // 10.14
  Handle set;
  Register sreg;
  std::optional<Register> dreg;
  uint32_t flags;  // 1: inverted.
  bool operator==(const Lookup&) const = default;
};
struct Dynset {  // 10.15
  Handle set;
  uint32_t op;  // Add 0, update 1, delete 2.
  Register sreg_key;
  std::optional<Register> sreg_data;
  std::optional<uint64_t> timeout_ms;
  uint32_t flags;                       // Inverted 1, expressions 2.
  std::vector<Expression> expressions;  // Empty: new elements get what the set declares.
  bool operator==(const Dynset&) const;
};
struct ObjectRef {  // 10.16, direct form
  ObjectType type;
  Handle object;
  bool operator==(const ObjectRef&) const = default;
};
struct ObjectMapRef {  // 10.16, map form
  Register sreg;
  Handle set;
  bool operator==(const ObjectMapRef&) const = default;
};
struct Counter {  // 10.17
  uint64_t bytes = 0, packets = 0;
  bool operator==(const Counter&) const = default;
};
struct Quota {  // 10.18
  uint64_t bytes;
  uint32_t flags;  // Inverted 1.
  uint64_t consumed;
  bool operator==(const Quota&) const = default;
};
struct Limit {  // 10.19. `burst` as given; packets: 0 means 5 (the kernel's dump shows 5).
  uint64_t rate;
  uint64_t unit_s;
  uint32_t burst;
  LimitType type;
  uint32_t flags;  // Inverted 1.
  bool operator==(const Limit&) const = default;
};
struct Connlimit {  // 10.20
  uint32_t count;
  uint32_t flags;
  bool operator==(const Connlimit&) const = default;
};
struct Last {  // 10.21
  bool set = false;
  uint64_t msecs = 0;
  bool operator==(const Last&) const = default;
};
struct Log {  // 10.22
  std::optional<uint16_t> group;
  std::optional<std::string> prefix;
  std::optional<uint32_t> snaplen;
  std::optional<uint16_t> qthreshold;
  std::optional<uint32_t> level;
  std::optional<uint32_t> flags;
  bool operator==(const Log&) const = default;
};
struct Reject {  // 10.23
  RejectType type;
  uint8_t icmp_code;
  bool operator==(const Reject&) const = default;
};
struct Nat {      // 10.24
  uint32_t type;  // Snat 0, dnat 1.
  Family family;
  std::optional<Register> addr_min, addr_max, proto_min, proto_max;  // A kernel's rule has max = min if it gave none.
  std::optional<uint32_t> flags;  // In effect: with MAP_IPS and PROTO_SPECIFIED as the registers imply them.
  bool operator==(const Nat&) const = default;
};
struct Masquerade {  // 10.25
  std::optional<uint32_t> flags;
  std::optional<Register> proto_min, proto_max;
  bool operator==(const Masquerade&) const = default;
};
struct Redirect {  // 10.26
  std::optional<Register> proto_min, proto_max;
  std::optional<uint32_t> flags;  // In effect: PROTO_SPECIFIED if there is a port and FLAGS was not given.
  bool operator==(const Redirect&) const = default;
};
struct Dup {  // 10.27
  std::optional<Register> sreg_addr, sreg_dev;
  bool operator==(const Dup&) const = default;
};
struct Fwd {  // 10.28
  Register sreg_dev;
  std::optional<Register> sreg_addr;
  std::optional<uint32_t> nfproto;
  bool operator==(const Fwd&) const = default;
};
struct Tproxy {  // 10.29
  Family family;
  std::optional<Register> addr, port;
  bool operator==(const Tproxy&) const = default;
};
struct Socket {  // 10.30
  uint32_t key;  // Transparent 0, mark 1, wildcard 2, cgroupv2 3.
  Register dreg;
  std::optional<uint32_t> level;
  bool operator==(const Socket&) const = default;
};
struct ExthdrLoad {  // 10.31
  Register dreg;
  uint8_t type;
  uint8_t offset;
  uint8_t len;
  uint32_t flags;  // Present 1.
  ExthdrOp op;
  bool operator==(const ExthdrLoad&) const = default;
};
struct ExthdrStore {  // 10.31, tcpopt set
  Register sreg;
  uint8_t type;
  uint8_t offset;
  uint8_t len;
  ExthdrOp op;
  bool operator==(const ExthdrStore&) const = default;
};
struct ExthdrStrip {  // 10.31, tcpopt strip
  uint8_t type;
  ExthdrOp op;
  bool operator==(const ExthdrStrip&) const = default;
};
struct Rt {  // 10.32
  Register dreg;
  uint32_t key;
  bool operator==(const Rt&) const = default;
};
struct Fib {  // 10.33
  Register dreg;
  uint32_t result;
  uint32_t flags;
  bool operator==(const Fib&) const = default;
};
struct Osf {  // 10.34
  Register dreg;
  uint8_t ttl;
  uint32_t flags;
  bool operator==(const Osf&) const = default;
};
struct Xfrm {  // 10.35
  Register dreg;
  uint32_t key;
  uint8_t dir;
  uint32_t spnum;
  bool operator==(const Xfrm&) const = default;
};
struct Tunnel {  // 10.36
  uint32_t key;
  Register dreg;
  std::optional<uint32_t> mode;
  bool operator==(const Tunnel&) const = default;
};
struct Numgen {  // 10.37
  Register dreg;
  uint32_t modulus;
  uint32_t type;
  uint32_t offset;
  bool operator==(const Numgen&) const = default;
};
struct Hash {  // 10.38
  std::optional<Register> sreg;
  Register dreg;
  uint32_t len;
  uint32_t modulus;
  std::optional<uint32_t> seed;
  uint32_t offset;
  uint32_t type;
  bool operator==(const Hash&) const = default;
};
struct Queue {  // 10.39
  std::optional<uint16_t> num;
  uint16_t total;
  uint16_t flags;
  std::optional<Register> sreg_qnum;
  bool operator==(const Queue&) const = default;
};
struct Synproxy {  // 10.40
  uint16_t mss;
  uint8_t wscale;
  uint32_t flags;
  bool operator==(const Synproxy&) const = default;
};
struct FlowOffload {  // 10.41
  Handle flowtable;
  bool operator==(const FlowOffload&) const = default;
};
struct CompatMatch {  // 10.43
  std::string name;
  uint32_t rev;
  std::string info;
  bool operator==(const CompatMatch&) const = default;
};
struct CompatTarget {  // 10.43
  std::string name;
  uint32_t rev;
  std::string info;
  bool operator==(const CompatTarget&) const = default;
};

using ExpressionBody =
    std::variant<Immediate, Cmp, Range, Bitwise, Byteorder, PayloadLoad, PayloadStore, Inner, MetaLoad, MetaStore,
                 CtLoad, CtStore, Notrack, Lookup, Dynset, ObjectRef, ObjectMapRef, Counter, Quota, Limit, Connlimit,
                 Last, Log, Reject, Nat, Masquerade, Redirect, Dup, Fwd, Tproxy, Socket, ExthdrLoad, ExthdrStore,
                 ExthdrStrip, Rt, Fib, Osf, Xfrm, Tunnel, Numgen, Hash, Queue, Synproxy, FlowOffload, CompatMatch,
                 CompatTarget>;

struct Expression {
  ExpressionBody body;
  // Attributes of the expression's data nest that this version does not know, as they came; null if there were none.
  std::shared_ptr<const std::string> unknown_attributes;
  bool operator==(const Expression& other) const { return body == other.body; }
};

inline bool Inner::operator==(const Inner& other) const {
  return type == other.type && flags == other.flags && hdrsize == other.hdrsize &&
         (nested == other.nested || (nested && other.nested && *nested == *other.nested));
}
inline bool Dynset::operator==(const Dynset& other) const {
  return set == other.set && op == other.op && sreg_key == other.sreg_key && sreg_data == other.sreg_data &&
         timeout_ms == other.timeout_ms && flags == other.flags && expressions == other.expressions;
}

// The kernel's name: "immediate", "payload", "match" … It is also the word of the listing.
std::string_view Name(const ExpressionBody& body);
bool IsExpressionName(std::string_view name);

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_EXPRESSION_H_
