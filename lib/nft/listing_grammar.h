// The bodies of expressions in the listing, written once for printing and parsing: one function per expression.
//
// `Io` is a BodyWriter or a BodyReader. Each call writes, or expects and takes, the next piece of the text; a reader
// that found something else ignores all further calls. `Io::Ref<E>` is `const E&` for writing, `E&` for reading.
#ifndef NFTJIT_LIB_NFT_LISTING_GRAMMAR_H_
#define NFTJIT_LIB_NFT_LISTING_GRAMMAR_H_

#include <span>
#include <string_view>

#include "lib/nft/expression.h"

namespace nftjit::nft {

using WordList = std::span<const std::string_view>;

// Words by the number that they stand for. Numbers beyond a list print as "unknown".
inline constexpr std::string_view kCmpWords[] = {"eq", "neq", "lt", "lte", "gt", "gte"};
inline constexpr std::string_view kRangeWords[] = {"eq", "neq"};
// Mask-xor and `and` share a sign: only the former is followed by `^`.
inline constexpr std::string_view kBitwiseWords[] = {"&", "<<", ">>", "&", "|", "^"};
inline constexpr std::string_view kByteorderWords[] = {"ntoh", "hton"};
inline constexpr std::string_view kBaseWords[] = {"link", "network", "transport", "inner", "tunnel"};
inline constexpr std::string_view kDirectionWords[] = {"original", "reply"};
inline constexpr std::string_view kRtWords[] = {"classid", "nexthop4", "nexthop6", "tcpmss", "ipsec"};
inline constexpr std::string_view kSocketWords[] = {"transparent", "mark", "wildcard", "cgroupv2"};
inline constexpr std::string_view kXfrmWords[] = {"unspec", "daddr4", "daddr6", "saddr4", "saddr6", "reqid", "spi"};
inline constexpr std::string_view kXfrmDirectionWords[] = {"in", "out"};
inline constexpr std::string_view kTunnelWords[] = {"path", "id"};
inline constexpr std::string_view kDynsetWords[] = {"add", "update", "delete"};
inline constexpr std::string_view kFibResultWords[] = {"unspec", "oif", "oifname", "type"};
inline constexpr std::string_view kFibFlagWords[] = {"saddr", "daddr", "mark", "iif", "oif"};
inline constexpr std::string_view kNumgenWords[] = {"inc", "random"};
inline constexpr std::string_view kNatWords[] = {"snat", "dnat"};
inline constexpr std::string_view kLimitWords[] = {"packets", "bytes"};
inline constexpr std::string_view kLogFlagWords[] = {"tcpseq", "tcpopt", "ipopt", "uid", "nflog", "macdecode"};
// SCTP and DCCP have no word.
inline constexpr std::string_view kExthdrWords[] = {"ipv6", "tcpopt", "ipv4", "", ""};

template <class Io>
class BodyGrammar {
 public:
  explicit BodyGrammar(Io& io) : io_(io) {}
  template <class E>
  using Ref = typename Io::template Ref<E>;

  void operator()(Ref<Immediate> e) {
    Reg("reg ", e.dreg);
    if (e.dreg.is_verdict()) {
      io_.VerdictWords(e.verdict);
    } else {
      io_.Constant(e.data);
    }
  }
  void operator()(Ref<Cmp> e) {
    io_.Choice(kCmpWords, e.op);
    Reg("reg ", e.sreg);
    io_.Constant(e.data);
  }
  void operator()(Ref<Range> e) {
    io_.Choice(kRangeWords, e.op);
    Reg("reg ", e.sreg);
    io_.ConstantPair(e.from, e.to);
  }
  void operator()(Ref<Bitwise> e) {
    Reg("reg ", e.dreg);
    io_.BitwiseSource(e.sreg);
    io_.Choice(kBitwiseWords, e.op);
    if (e.op == BitwiseOp::kMaskXor) {
      io_.MaskXor(e);
      return;
    }
    if (!io_.OptionalReg("reg ", e.sreg2)) io_.Constant(e.data);
    io_.Text(") ");
  }
  void operator()(Ref<Byteorder> e) {
    Reg("reg ", e.dreg);
    io_.Text("= ");
    io_.Choice(kByteorderWords, e.op, "(reg ");
    io_.RegNumber(e.sreg);
    Decimal(", ", e.size);
    Decimal(", ", e.len);
    io_.Text(") ");
  }
  void operator()(Ref<PayloadLoad> e) {
    Decimal("load ", e.len);
    Place(e);
    Reg(" => reg ", e.dreg);
  }
  void operator()(Ref<PayloadStore> e) {
    Reg("write reg ", e.sreg);
    Decimal("=> ", e.len);
    Place(e);
    Decimal(" csum_type ", e.csum_type);
    Decimal(" csum_off ", e.csum_offset);
    Hex(" csum_flags 0x", e.csum_flags);
    io_.Text(" ");
  }
  void operator()(Ref<Inner> e) {
    Decimal("type ", e.type);
    Decimal(" hdrsize ", e.hdrsize);
    Hex(" flags ", e.flags);
    io_.Text(" ");
    io_.Nested(e.nested);
  }
  void operator()(Ref<MetaLoad> e) { NamedLoad(e, kMetaKeyCount); }
  void operator()(Ref<MetaStore> e) { NamedStore(e, kMetaKeyCount); }
  void operator()(Ref<CtLoad> e) {
    NamedLoad(e, kCtKeyCount);
    io_.OptionalChoice(", dir ", kDirectionWords, e.direction);
  }
  void operator()(Ref<CtStore> e) {
    NamedStore(e, kCtKeyCount);
    io_.OptionalChoice(", dir ", kDirectionWords, e.direction);
  }
  void operator()(Ref<Notrack>) {}
  void operator()(Ref<Lookup> e) {
    Reg("reg ", e.sreg);
    io_.Text("set ");
    io_.SetName(e.set);
    io_.OptionalReg("dreg ", e.dreg);
    io_.NonZeroHex("0x", e.flags);
  }
  void operator()(Ref<Dynset> e) {
    io_.Choice(kDynsetWords, e.op);
    Reg("reg_key ", e.sreg_key);
    io_.Text("set ");
    io_.SetName(e.set);
    io_.OptionalReg("sreg_data ", e.sreg_data);
    io_.OptionalDecimal("timeout ", e.timeout_ms, "ms ");
    io_.Expressions(e.expressions, e.flags);
  }
  void operator()(Ref<ObjectRef> e) {
    Decimal("type ", e.type);
    io_.Text(" name ");
    io_.ObjectName(e.type, e.object);
  }
  void operator()(Ref<ObjectMapRef> e) {
    Reg("sreg ", e.sreg);
    io_.Text("set ");
    io_.SetName(e.set);
  }
  void operator()(Ref<Counter> e) {
    Decimal("pkts ", e.packets);
    Decimal(" bytes ", e.bytes);
    io_.Text(" ");
  }
  void operator()(Ref<Quota> e) {
    Decimal("bytes ", e.bytes);
    Decimal(" consumed ", e.consumed);
    Decimal(" flags ", e.flags);
    io_.Text(" ");
  }
  void operator()(Ref<Limit> e) {
    Decimal("rate ", e.rate);
    io_.Text("/");
    io_.LimitUnit(e.unit_s);
    Decimal(" burst ", e.burst);
    io_.Text(" type ");
    io_.Choice(kLimitWords, e.type);
    Hex("flags 0x", e.flags);
    io_.Text(" ");
  }
  void operator()(Ref<Connlimit> e) {
    Decimal("count ", e.count);
    Hex(" flags ", e.flags);
    io_.Text(" ");
  }
  void operator()(Ref<Last> e) { io_.LastUse(e); }
  void operator()(Ref<Log> e) { io_.LogWords(e); }
  void operator()(Ref<Reject> e) {
    Decimal("type ", e.type);
    Decimal(" code ", e.icmp_code);
    io_.Text(" ");
  }
  void operator()(Ref<Nat> e) {
    io_.Choice(kNatWords, e.type);
    io_.FamilyWord(e.family);
    io_.OptionalReg("addr_min reg ", e.addr_min);
    io_.OptionalReg("addr_max reg ", e.addr_max);
    PortsAndFlags(e);
  }
  void operator()(Ref<Masquerade> e) { PortsAndFlags(e); }
  void operator()(Ref<Redirect> e) { PortsAndFlags(e); }
  void operator()(Ref<Dup> e) {
    io_.OptionalReg("sreg_addr ", e.sreg_addr);
    io_.OptionalReg("sreg_dev ", e.sreg_dev);
  }
  void operator()(Ref<Fwd> e) {
    Reg("sreg_dev ", e.sreg_dev);
    io_.OptionalReg("sreg_addr ", e.sreg_addr);
    io_.OptionalDecimal("nfproto ", e.nfproto, " ");
  }
  void operator()(Ref<Tproxy> e) {
    io_.OptionalFamilyWord(e.family);
    io_.OptionalReg("addr reg ", e.addr);
    io_.OptionalReg("port reg ", e.port);
  }
  void operator()(Ref<Socket> e) { WordLoad(kSocketWords, e); }
  void operator()(Ref<ExthdrLoad> e) {
    io_.Text("load ");
    io_.ExthdrWord(e.op);
    ExthdrPlace(e);
    io_.FlagWord(" present", e.flags);
    Reg(" => reg ", e.dreg);
  }
  void operator()(Ref<ExthdrStore> e) {
    io_.Text("write ");
    io_.ExthdrWord(e.op);
    Reg("reg ", e.sreg);
    io_.Text("=> ");
    ExthdrPlace(e);
    io_.Text(" ");
  }
  void operator()(Ref<ExthdrStrip> e) {
    io_.Text("reset ");
    io_.ExthdrWord(e.op);
    io_.Decimal(e.type);
    io_.Text(" ");
  }
  void operator()(Ref<Rt> e) { WordLoad(kRtWords, e); }
  void operator()(Ref<Fib> e) {
    io_.FibWords(e);
    Reg("=> reg ", e.dreg);
  }
  void operator()(Ref<Osf> e) { Reg("dreg ", e.dreg); }
  void operator()(Ref<Xfrm> e) {
    io_.Text("load ");
    io_.Choice(kXfrmDirectionWords, e.dir);
    io_.Decimal(e.spnum);
    io_.Text(" ");
    io_.Choice(kXfrmWords, e.key);
    Reg("=> reg ", e.dreg);
  }
  void operator()(Ref<Tunnel> e) { WordLoad(kTunnelWords, e); }
  void operator()(Ref<Numgen> e) {
    Reg("reg ", e.dreg);
    io_.Text("= ");
    io_.Choice(kNumgenWords, e.type);
    Decimal("mod ", e.modulus);
    io_.Text(" ");
    io_.NonZeroDecimal("offset ", e.offset);
  }
  void operator()(Ref<Hash> e) {
    Reg("reg ", e.dreg);
    io_.Text("= ");
    io_.HashFunction(e);
    Decimal(" % mod ", e.modulus);
    io_.Text(" ");
    io_.NonZeroDecimal("offset ", e.offset);
  }
  void operator()(Ref<Queue> e) {
    if (!io_.OptionalReg("sreg_qnum ", e.sreg_qnum)) io_.QueueNumbers(e);
    io_.FlagWord("bypass ", e.flags, 1);
    io_.FlagWord("fanout ", e.flags, 2);
  }
  void operator()(Ref<Synproxy> e) {
    Decimal("mss ", e.mss);
    Decimal(" wscale ", e.wscale);
    io_.Text(" ");
  }
  void operator()(Ref<FlowOffload> e) {
    io_.Text("flowtable ");
    io_.FlowtableName(e.flowtable);
  }
  void operator()(Ref<CompatMatch> e) { Extension(e); }
  void operator()(Ref<CompatTarget> e) { Extension(e); }

 private:
  template <class R>
  void Reg(std::string_view before, R& reg) {
    io_.Text(before);
    io_.RegNumber(reg);
    io_.Text(" ");
  }
  template <class T>
  void Decimal(std::string_view before, T& number) {
    io_.Text(before);
    io_.Decimal(number);
  }
  template <class T>
  void Hex(std::string_view before, T& number) {
    io_.Text(before);
    io_.Hex(number);
  }
  template <class E>
  void Place(E& e) {
    io_.Text("b @ ");
    io_.Choice(kBaseWords, e.base);
    Decimal("header + ", e.offset);
  }
  template <class E>
  void ExthdrPlace(E& e) {
    io_.Decimal(e.len);
    Decimal("b @ ", e.type);
    Decimal(" + ", e.offset);
  }
  template <class E>
  void NamedLoad(E& e, size_t count) {
    io_.Text("load ");
    io_.Named(e.key, count);
    Reg("=> reg ", e.dreg);
  }
  template <class E>
  void NamedStore(E& e, size_t count) {
    io_.Text("set ");
    io_.Named(e.key, count);
    Reg("with reg ", e.sreg);
  }
  template <class E>
  void WordLoad(WordList words, E& e) {
    io_.Text("load ");
    io_.Choice(words, e.key);
    Reg("=> reg ", e.dreg);
  }
  template <class E>
  void PortsAndFlags(E& e) {
    io_.OptionalReg("proto_min reg ", e.proto_min);
    io_.OptionalReg("proto_max reg ", e.proto_max);
    io_.NonZeroHex("flags 0x", e.flags);
  }
  template <class E>
  void Extension(E& e) {
    io_.Text("name ");
    io_.Token(e.name);
    Decimal("rev ", e.rev);
    io_.Text(" ");
  }

  Io& io_;
};

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_LISTING_GRAMMAR_H_
