// The bodies of expressions in the listing: one function per expression.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_format.h>

#include "lib/nft/listing_printer.h"

namespace nftjit::nft {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// The word for `index`; "unknown" as libnftnl says it beyond the table.
template <size_t N>
absl::string_view Word(const std::string_view (&words)[N], size_t index) {
  return index < N ? View(words[index]) : "unknown";
}

constexpr std::string_view kCmpOps[] = {"eq", "neq", "lt", "lte", "gt", "gte"};
constexpr std::string_view kBases[] = {"link", "network", "transport", "inner", "tunnel"};
constexpr std::string_view kDirections[] = {"original", "reply"};
constexpr std::string_view kRtKeys[] = {"classid", "nexthop4", "nexthop6", "tcpmss", "ipsec"};
constexpr std::string_view kSocketKeys[] = {"transparent", "mark", "wildcard", "cgroupv2"};
constexpr std::string_view kXfrmKeys[] = {"unspec", "daddr4", "daddr6", "saddr4", "saddr6", "reqid", "spi"};
constexpr std::string_view kXfrmDirections[] = {"in", "out"};
constexpr std::string_view kTunnelKeys[] = {"path", "id"};
constexpr std::string_view kDynsetOps[] = {"add", "update", "delete"};
constexpr std::string_view kFibResults[] = {"unspec", "oif", "oifname", "type"};

// Appends the body of one expression; a visitor over ExpressionBody.
class BodyPrinter {
 public:
  BodyPrinter(const Table& table, std::string& out) : table_(table), out_(out) {}

  void operator()(const Immediate& e) {
    Reg("reg", e.dreg);
    if (!e.dreg.is_verdict()) {
      Words(e.data);
      return;
    }
    absl::StrAppend(&out_, View(Name(e.verdict.code)), " ");
    if (e.verdict.chain != 0) absl::StrAppend(&out_, "-> ", ChainName(e.verdict.chain), " ");
  }
  void operator()(const Cmp& e) {
    absl::StrAppend(&out_, Word(kCmpOps, static_cast<size_t>(e.op)), " ");
    Reg("reg", e.sreg);
    Words(e.data);
  }
  void operator()(const Range& e) {
    absl::StrAppend(&out_, e.op == RangeOp::kEq ? "eq " : "neq ");
    Reg("reg", e.sreg);
    Words(e.from);
    Words(e.to);
  }
  void operator()(const Bitwise& e) {
    Reg("reg", e.dreg);
    out_ += "= ( ";
    Reg("reg", e.sreg);
    switch (e.op) {
      case BitwiseOp::kMaskXor:
        out_ += "& ";
        Words(e.mask);
        out_ += ") ^ ";
        Words(e.xor_bits);
        return;
      case BitwiseOp::kLshift:
        return Operand("<< ", e);
      case BitwiseOp::kRshift:
        return Operand(">> ", e);
      case BitwiseOp::kAnd:
        return Operand("& ", e);
      case BitwiseOp::kOr:
        return Operand("| ", e);
      case BitwiseOp::kXor:
        return Operand("^ ", e);
    }
  }
  void operator()(const Byteorder& e) {
    absl::StrAppend(&out_, "reg ", e.dreg.ToNetlink(), e.op == ByteorderOp::kHton ? " = hton(reg " : " = ntoh(reg ",
                    e.sreg.ToNetlink(), ", ", e.size, ", ", e.len, ") ");
  }
  void operator()(const PayloadLoad& e) {
    absl::StrAppend(&out_, "load ", e.len, "b @ ", Word(kBases, static_cast<size_t>(e.base)), " header + ", e.offset,
                    " => ");
    Reg("reg", e.dreg);
  }
  void operator()(const PayloadStore& e) {
    absl::StrAppend(&out_, "write reg ", e.sreg.ToNetlink(), " => ", e.len, "b @ ",
                    Word(kBases, static_cast<size_t>(e.base)), " header + ", e.offset, " csum_type ",
                    static_cast<int>(e.csum_type));
    absl::StrAppend(&out_, " csum_off ", e.csum_offset, " csum_flags 0x", absl::Hex(e.csum_flags), " ");
  }
  void operator()(const Inner& e) {
    absl::StrAppend(&out_, "type ", e.type, " hdrsize ", e.hdrsize, " flags ", absl::Hex(e.flags), " [ ");
    if (e.nested != nullptr) AppendExpression(table_, *e.nested, out_);
    out_ += "] ";
  }
  void operator()(const MetaLoad& e) { Load(Name(e.key), e.dreg); }
  void operator()(const MetaStore& e) { Store(Name(e.key), e.sreg); }
  void operator()(const CtLoad& e) {
    Load(Name(e.key), e.dreg);
    CtDirection(e.direction);
  }
  void operator()(const CtStore& e) {
    Store(Name(e.key), e.sreg);
    CtDirection(e.direction);
  }
  void operator()(const Notrack&) {}
  void operator()(const Lookup& e) {
    Reg("reg", e.sreg);
    absl::StrAppend(&out_, "set ", SetName(e.set), " ");
    if (e.dreg) Reg("dreg", *e.dreg);
    if (e.flags != 0) absl::StrAppend(&out_, "0x", absl::Hex(e.flags), " ");
  }
  void operator()(const Dynset& e) {
    absl::StrAppend(&out_, Word(kDynsetOps, e.op), " ");
    Reg("reg_key", e.sreg_key);
    absl::StrAppend(&out_, "set ", SetName(e.set), " ");
    if (e.sreg_data) Reg("sreg_data", *e.sreg_data);
    if (e.timeout_ms) absl::StrAppend(&out_, "timeout ", *e.timeout_ms, "ms ");
    for (const Expression& nested : e.expressions) {
      out_ += "expr [ ";
      AppendExpression(table_, nested, out_);
      out_ += "] ";
    }
  }
  void operator()(const ObjectRef& e) {
    const Object* object = table_.FindObject(e.object);
    absl::StrAppend(&out_, "type ", static_cast<int>(e.type), " name ",
                    object != nullptr ? object->name : absl::StrCat(e.object), " ");
  }
  void operator()(const ObjectMapRef& e) {
    Reg("sreg", e.sreg);
    absl::StrAppend(&out_, "set ", SetName(e.set), " ");
  }
  void operator()(const Counter& e) { absl::StrAppend(&out_, "pkts ", e.packets, " bytes ", e.bytes, " "); }
  void operator()(const Quota& e) {
    absl::StrAppend(&out_, "bytes ", e.bytes, " consumed ", e.consumed, " flags ", e.flags, " ");
  }
  void operator()(const Limit& e) {
    absl::StrAppend(&out_, "rate ", e.rate, "/", LimitUnit(e.unit_s), " burst ", e.burst, " type ",
                    e.type == LimitType::kPackets ? "packets" : "bytes", " flags 0x", absl::Hex(e.flags), " ");
  }
  void operator()(const Connlimit& e) { absl::StrAppend(&out_, "count ", e.count, " flags ", absl::Hex(e.flags), " "); }
  void operator()(const Last& e) {
    if (e.set) {
      absl::StrAppend(&out_, e.msecs, " ");
    } else {
      out_ += "never ";
    }
  }
  void operator()(const Log& e) {
    if (e.prefix) absl::StrAppend(&out_, "prefix ", *e.prefix, " ");
    if (e.group) {
      absl::StrAppend(&out_, "group ", *e.group, " snaplen ", e.snaplen.value_or(0), " qthreshold ",
                      e.qthreshold.value_or(0), " ");
      return;
    }
    if (e.level) absl::StrAppend(&out_, "level ", *e.level, " ");
    constexpr std::string_view kFlags[] = {"tcpseq ", "tcpopt ", "ipopt ", "uid ", "nflog ", "macdecode "};
    for (size_t bit = 0; bit < std::size(kFlags); ++bit) {
      if ((e.flags.value_or(0) >> bit & 1) != 0) out_ += kFlags[bit];
    }
  }
  void operator()(const Reject& e) {
    absl::StrAppend(&out_, "type ", static_cast<int>(e.type), " code ", static_cast<int>(e.icmp_code), " ");
  }
  void operator()(const Nat& e) {
    absl::StrAppend(&out_, e.type == 0 ? "snat " : "dnat ", View(Name(e.family)), " ");
    if (e.addr_min) Reg("addr_min reg", *e.addr_min);
    if (e.addr_max) Reg("addr_max reg", *e.addr_max);
    Ports(e.proto_min, e.proto_max);
    NatFlags(e.flags);
  }
  void operator()(const Masquerade& e) {
    Ports(e.proto_min, e.proto_max);
    NatFlags(e.flags);
  }
  void operator()(const Redirect& e) {
    Ports(e.proto_min, e.proto_max);
    NatFlags(e.flags);
  }
  void operator()(const Dup& e) {
    if (e.sreg_addr) Reg("sreg_addr", *e.sreg_addr);
    if (e.sreg_dev) Reg("sreg_dev", *e.sreg_dev);
  }
  void operator()(const Fwd& e) {
    Reg("sreg_dev", e.sreg_dev);
    if (e.sreg_addr) Reg("sreg_addr", *e.sreg_addr);
    if (e.nfproto) absl::StrAppend(&out_, "nfproto ", *e.nfproto, " ");
  }
  void operator()(const Tproxy& e) {
    if (e.family == Family::kIp || e.family == Family::kIp6) absl::StrAppend(&out_, View(Name(e.family)), " ");
    if (e.addr) Reg("addr reg", *e.addr);
    if (e.port) Reg("port reg", *e.port);
  }
  void operator()(const Socket& e) { Load(Pick(kSocketKeys, e.key), e.dreg); }
  void operator()(const ExthdrLoad& e) {
    absl::StrAppend(&out_, "load ", ExthdrWord(e.op), e.len, "b @ ", e.type, " + ", e.offset,
                    (e.flags & 1) != 0 ? " present => " : " => ");
    Reg("reg", e.dreg);
  }
  void operator()(const ExthdrStore& e) {
    absl::StrAppend(&out_, "write ", ExthdrWord(e.op), "reg ", e.sreg.ToNetlink(), " => ", e.len, "b @ ", e.type, " + ",
                    e.offset, " ");
  }
  void operator()(const ExthdrStrip& e) { absl::StrAppend(&out_, "reset ", ExthdrWord(e.op), e.type, " "); }
  void operator()(const Rt& e) { Load(Pick(kRtKeys, e.key), e.dreg); }
  void operator()(const Fib& e) {
    constexpr std::string_view kFlags[] = {"saddr", "daddr", "mark", "iif", "oif"};
    absl::string_view separator = "";
    for (size_t bit = 0; bit < std::size(kFlags); ++bit) {
      if ((e.flags >> bit & 1) == 0) continue;
      absl::StrAppend(&out_, separator, View(kFlags[bit]), " ");
      separator = ". ";
    }
    constexpr uint32_t kFibPresent = 32;
    absl::StrAppend(&out_, Word(kFibResults, e.result), (e.flags & kFibPresent) != 0 ? " present => " : " => ");
    Reg("reg", e.dreg);
  }
  void operator()(const Osf& e) { Reg("dreg", e.dreg); }
  void operator()(const Xfrm& e) {
    absl::StrAppend(&out_, "load ", Word(kXfrmDirections, e.dir), " ", e.spnum, " ", Word(kXfrmKeys, e.key), " => ");
    Reg("reg", e.dreg);
  }
  void operator()(const Tunnel& e) { Load(Pick(kTunnelKeys, e.key), e.dreg); }
  void operator()(const Numgen& e) {
    Reg("reg", e.dreg);
    absl::StrAppend(&out_, e.type == 0 ? "= inc" : "= random", " mod ", e.modulus, " ");
    if (e.offset != 0) absl::StrAppend(&out_, "offset ", e.offset, " ");
  }
  void operator()(const Hash& e) {
    Reg("reg", e.dreg);
    constexpr uint32_t kSymhash = 1;
    if (e.type == kSymhash || !e.sreg) {
      out_ += "= symhash()";
    } else {
      absl::StrAppend(&out_, "= jhash(reg ", e.sreg->ToNetlink(), ", ", e.len, ", 0x", absl::Hex(e.seed.value_or(0)),
                      ")");
    }
    absl::StrAppend(&out_, " % mod ", e.modulus, " ");
    if (e.offset != 0) absl::StrAppend(&out_, "offset ", e.offset, " ");
  }
  void operator()(const Queue& e) {
    if (e.sreg_qnum) {
      Reg("sreg_qnum", *e.sreg_qnum);
    } else {
      absl::StrAppend(&out_, "num ", e.num.value_or(0));
      if (e.total > 1) absl::StrAppend(&out_, "-", e.num.value_or(0) + e.total - 1);
      out_ += ' ';
    }
    if ((e.flags & 1) != 0) out_ += "bypass ";
    if ((e.flags & 2) != 0) out_ += "fanout ";
  }
  void operator()(const Synproxy& e) { absl::StrAppend(&out_, "mss ", e.mss, " wscale ", e.wscale, " "); }
  void operator()(const FlowOffload& e) {
    const Flowtable* flowtable = table_.FindFlowtable(e.flowtable);
    absl::StrAppend(&out_, "flowtable ", flowtable != nullptr ? flowtable->name : absl::StrCat(e.flowtable), " ");
  }
  void operator()(const CompatMatch& e) { absl::StrAppend(&out_, "name ", e.name, " rev ", e.rev, " "); }
  void operator()(const CompatTarget& e) { absl::StrAppend(&out_, "name ", e.name, " rev ", e.rev, " "); }

 private:
  template <size_t N>
  static std::string_view Pick(const std::string_view (&words)[N], size_t index) {
    return index < N ? words[index] : std::string_view("unknown");
  }
  void Reg(std::string_view word, Register reg) { absl::StrAppend(&out_, View(word), " ", reg.ToNetlink(), " "); }
  void Words(const Bytes16& bytes) { AppendWords(bytes.span(), "0x", out_); }
  void Load(std::string_view key, Register dreg) {
    absl::StrAppend(&out_, "load ", View(key), " => reg ", dreg.ToNetlink(), " ");
  }
  void Store(std::string_view key, Register sreg) {
    absl::StrAppend(&out_, "set ", View(key), " with reg ", sreg.ToNetlink(), " ");
  }
  void Operand(std::string_view op, const Bitwise& e) {
    out_ += op;
    if (e.sreg2) {
      Reg("reg", *e.sreg2);
    } else {
      Words(e.data);
    }
    out_ += ") ";
  }
  void CtDirection(std::optional<Direction> direction) {
    if (direction) absl::StrAppend(&out_, ", dir ", Word(kDirections, static_cast<size_t>(*direction)), " ");
  }
  void Ports(std::optional<Register> low, std::optional<Register> high) {
    if (low) Reg("proto_min reg", *low);
    if (high) Reg("proto_max reg", *high);
  }
  void NatFlags(std::optional<uint32_t> flags) {
    if (flags.value_or(0) != 0) absl::StrAppend(&out_, "flags 0x", absl::Hex(*flags), " ");
  }
  static std::string LimitUnit(uint64_t seconds) {
    switch (seconds) {
      case 1:
        return "second";
      case 60:
        return "minute";
      case 60 * 60:
        return "hour";
      case 24 * 60 * 60:
        return "day";
      case 7 * 24 * 60 * 60:
        return "week";
      default:
        return absl::StrCat(seconds, " second");
    }
  }
  // SCTP and DCCP have no word.
  static absl::string_view ExthdrWord(ExthdrOp op) {
    constexpr std::string_view kWords[] = {"ipv6 ", "tcpopt ", "ipv4 ", "", ""};
    return Word(kWords, static_cast<size_t>(op));
  }
  std::string ChainName(Handle handle) const {
    const Chain* chain = table_.FindChain(handle);
    return chain != nullptr ? chain->name : absl::StrCat(handle);
  }
  std::string SetName(Handle handle) const {
    const Set* set = table_.FindSet(handle);
    return set != nullptr ? set->name : absl::StrCat(handle);
  }

  const Table& table_;
  std::string& out_;
};

}  // namespace

void AppendWords(ByteSpan bytes, std::string_view prefix, std::string& out) {
  for (size_t at = 0; at < bytes.size(); at += 4) {
    uint8_t word[4] = {};
    std::copy_n(bytes.begin() + static_cast<ptrdiff_t>(at), std::min<size_t>(4, bytes.size() - at), word);
    absl::StrAppend(&out, View(prefix), absl::Hex(LoadNative<uint32_t>(word), absl::kZeroPad8), " ");
  }
}

void AppendExpression(const Table& table, const Expression& expression, std::string& out) {
  absl::StrAppend(&out, View(Name(expression.body)), " ");
  std::visit(BodyPrinter(table, out), expression.body);
}

}  // namespace nftjit::nft
