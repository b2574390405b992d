// Internal to lib/netlink: what the codecs of single expressions share. The interface of the folder is codec.h.
//
// Each codec_*.cpp holds a subject's expressions, every one with its attribute numbers, its Decode and its Encode.
// A Decode follows the kernel's two phases: it parses and picks the kernel's form first, calls scope.Parsed(bytes of
// that form), then checks the rest. A rule's errors of the first phase win over those of the second.
#ifndef NFTJIT_LIB_NETLINK_EXPRESSION_CODEC_H_
#define NFTJIT_LIB_NETLINK_EXPRESSION_CODEC_H_

#include <cerrno>
#include <optional>
#include <string>
#include <string_view>

#include "lib/netlink/attributes.h"
#include "lib/netlink/error.h"
#include "lib/netlink/numbers.h"
#include "lib/netlink/resolve.h"
#include "lib/nft/expression.h"

namespace nftjit::netlink {

// Policies by the names that attribute tables read well with.
inline constexpr Policy kAnyPolicy{Policy::kAny, 0};
inline constexpr Policy kU8Policy{Policy::kU8, 0};
inline constexpr Policy kU16Policy{Policy::kU16, 0};
inline constexpr Policy kU32Policy{Policy::kU32, 0};
inline constexpr Policy kU64Policy{Policy::kU64, 0};
inline constexpr Policy kByte32Policy{Policy::kU32, 255};  // A u32 on the wire, a u8 in the kernel.
inline constexpr Policy kNestPolicy{Policy::kNest, 0};
inline constexpr Policy kNamePolicy{Policy::kString, 255};
inline constexpr Policy kBinaryPolicy{Policy::kBinary, 0};

// Meta, which also stands inside of inner.
enum : uint16_t { kMetaDreg = 1, kMetaKeyNumber, kMetaSreg, kMetaMax = kMetaSreg };
inline constexpr AttributeTable<kMetaMax>::Policies kMetaPolicies = {kAnyPolicy, kU32Policy, kByte32Policy, kU32Policy};

inline constexpr uint32_t kRegisterWords = 16;
// The kernel counts times in nanoseconds of 64 bits; a longer one is ERANGE.
inline constexpr uint64_t kMaxTimeoutMs = UINT64_MAX / 1'000'000 - 1;

// What the decoding of one expression after another in a rule knows and changes.
class ExpressionScope {
 public:
  explicit ExpressionScope(const ResolveContext& context) : context_(context), family_(context.family()) {}

  [[nodiscard]] const ResolveContext& context() const { return context_; }
  [[nodiscard]] nft::Family family() const { return family_; }
  [[nodiscard]] bool is_l3() const {
    return family_ == nft::Family::kIp || family_ == nft::Family::kIp6 || family_ == nft::Family::kInet;
  }
  // Whether conntrack can be enabled for the table's family; if not, its users are EPROTO.
  [[nodiscard]] bool has_conntrack() const {
    return is_l3() || (family_ == nft::Family::kBridge && context_.features().bridge_conntrack);
  }

  // Registers. A load is ENODATA unless all its words were stored before in this rule; a store marks them.
  int Load(const Attribute& attribute, uint32_t length, nft::Register* out);
  int Load(const Attribute& attribute, uint32_t length, std::optional<nft::Register>* out);
  int Store(const Attribute& attribute, uint32_t length, nft::Register* out, bool verdict = false);
  // Sets and objects are stored outside rules: nothing is checked there.
  void MarkAllInitialised() { initialised_ = (1U << kRegisterWords) - 1; }

  // Returns `error` and keeps `why` (a literal) for the message.
  int Fail(int error, std::string_view why) {
    why_ = why;
    return error;
  }
  [[nodiscard]] std::string_view why() const { return why_; }

  // Ends the first phase of an expression that takes `bytes` in the kernel (the rule's budget is 4095).
  void Parsed(uint32_t bytes) {
    parsed_ = true;
    kernel_bytes_ += bytes;
  }
  [[nodiscard]] bool parsed() const { return parsed_; }
  [[nodiscard]] uint32_t kernel_bytes() const { return kernel_bytes_; }

  // Attributes that the expression's table does not name.
  std::string* unknown() { return &unknown_; }
  // Where an error lies inside the expression's nest, if the kernel says so; 0: at the nest.
  void set_bad_offset(size_t offset) { bad_offset_ = offset; }
  [[nodiscard]] size_t bad_offset() const { return bad_offset_; }
  void BeginExpression() {
    parsed_ = false;
    why_ = {};
    bad_offset_ = 0;
    unknown_.clear();
  }

 private:
  const ResolveContext& context_;
  nft::Family family_;
  uint32_t initialised_ = 0;  // Bit per word.
  uint32_t kernel_bytes_ = 0;
  bool parsed_ = false;
  size_t bad_offset_ = 0;
  std::string_view why_;
  std::string unknown_;
};

// Fills `table` from the data nest of an expression; the error of its policy.
template <size_t Max>
int ParseData(const Attribute& data, const std::array<Policy, Max + 1>& policies, ExpressionScope& scope,
              AttributeTable<Max>* table) {
  if (const int error = table->Parse(AttributeCursor(data), policies, scope.unknown())) {
    return scope.Fail(error, "an attribute is too short, too long or out of range");
  }
  return 0;
}

// "cmp: op must be 0 to 5", or the errno's words.
NetlinkError MakeError(int error, size_t offset, std::string_view thing, std::string_view why);

// The top-level attributes of a message that begins at its nlmsghdr.
template <size_t Max>
Result<AttributeTable<Max>> ParseMessage(ByteSpan message, const std::array<Policy, Max + 1>& policies) {
  constexpr size_t kHeaders = kMessageHeaderSize + kFamilyHeaderSize;
  AttributeTable<Max> table;
  const ByteSpan attributes = message.size() < kHeaders ? ByteSpan() : message.subspan(kHeaders);
  if (const int error = table.Parse(AttributeCursor(attributes, kHeaders), policies)) {
    return MakeError(error, table.bad().offset(), "message", "attribute failed policy validation");
  }
  return table;
}

// ---- Data nests (codec_data.cpp) ----

// A value of 1 to `most` bytes, or exactly `exact` bytes if that is not 0. The span points into the message.
int DecodeValue(const Attribute& nest, size_t most, size_t exact, ByteSpan* out);
int DecodeValue(const Attribute& nest, size_t exact, Bytes16* out);
void EncodeValue(uint16_t type, ByteSpan value, AttributeWriter& out);
// A verdict; `element` if it is a set element's, which may not use binding chains.
int DecodeVerdict(const Attribute& nest, const ResolveContext& context, bool element, nft::Verdict* out);
void EncodeVerdict(uint16_t type, const nft::Verdict& verdict, const NameContext& names, AttributeWriter& out);

// ---- Single expressions ----

using DecodeFunction = int (*)(const Attribute& data, ExpressionScope& scope, nft::Expression& out);

int DecodeImmediate(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeCmp(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeRange(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeBitwise(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeByteorder(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodePayload(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeInner(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeExthdr(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeMeta(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeCt(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeRt(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeSocket(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeFib(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeOsf(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeXfrm(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeTunnel(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeLookup(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeDynset(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeObjref(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeCounter(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeQuota(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeLimit(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeConnlimit(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeLast(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeNumgen(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeHash(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeNotrack(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeLog(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeReject(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeQueue(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeSynproxy(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeFlowOffload(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeNat(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeMasquerade(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeRedirect(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeDup(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeFwd(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeTproxy(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeMatch(const Attribute& data, ExpressionScope& scope, nft::Expression& out);
int DecodeTarget(const Attribute& data, ExpressionScope& scope, nft::Expression& out);

// Where an encoder writes: into the open data nest.
struct EncodeTarget {
  const NameContext& names;
  AttributeWriter& out;
};

void Encode(const nft::Immediate& body, EncodeTarget& to);
void Encode(const nft::Cmp& body, EncodeTarget& to);
void Encode(const nft::Range& body, EncodeTarget& to);
void Encode(const nft::Bitwise& body, EncodeTarget& to);
void Encode(const nft::Byteorder& body, EncodeTarget& to);
void Encode(const nft::PayloadLoad& body, EncodeTarget& to);
void Encode(const nft::PayloadStore& body, EncodeTarget& to);
void Encode(const nft::Inner& body, EncodeTarget& to);
void Encode(const nft::MetaLoad& body, EncodeTarget& to);
void Encode(const nft::MetaStore& body, EncodeTarget& to);
void Encode(const nft::CtLoad& body, EncodeTarget& to);
void Encode(const nft::CtStore& body, EncodeTarget& to);
void Encode(const nft::Notrack& body, EncodeTarget& to);
void Encode(const nft::Lookup& body, EncodeTarget& to);
void Encode(const nft::Dynset& body, EncodeTarget& to);
void Encode(const nft::ObjectRef& body, EncodeTarget& to);
void Encode(const nft::ObjectMapRef& body, EncodeTarget& to);
void Encode(const nft::Counter& body, EncodeTarget& to);
void Encode(const nft::Quota& body, EncodeTarget& to);
void Encode(const nft::Limit& body, EncodeTarget& to);
void Encode(const nft::Connlimit& body, EncodeTarget& to);
void Encode(const nft::Last& body, EncodeTarget& to);
void Encode(const nft::Log& body, EncodeTarget& to);
void Encode(const nft::Reject& body, EncodeTarget& to);
void Encode(const nft::Nat& body, EncodeTarget& to);
void Encode(const nft::Masquerade& body, EncodeTarget& to);
void Encode(const nft::Redirect& body, EncodeTarget& to);
void Encode(const nft::Dup& body, EncodeTarget& to);
void Encode(const nft::Fwd& body, EncodeTarget& to);
void Encode(const nft::Tproxy& body, EncodeTarget& to);
void Encode(const nft::Socket& body, EncodeTarget& to);
void Encode(const nft::ExthdrLoad& body, EncodeTarget& to);
void Encode(const nft::ExthdrStore& body, EncodeTarget& to);
void Encode(const nft::ExthdrStrip& body, EncodeTarget& to);
void Encode(const nft::Rt& body, EncodeTarget& to);
void Encode(const nft::Fib& body, EncodeTarget& to);
void Encode(const nft::Osf& body, EncodeTarget& to);
void Encode(const nft::Xfrm& body, EncodeTarget& to);
void Encode(const nft::Tunnel& body, EncodeTarget& to);
void Encode(const nft::Numgen& body, EncodeTarget& to);
void Encode(const nft::Hash& body, EncodeTarget& to);
void Encode(const nft::Queue& body, EncodeTarget& to);
void Encode(const nft::Synproxy& body, EncodeTarget& to);
void Encode(const nft::FlowOffload& body, EncodeTarget& to);
void Encode(const nft::CompatMatch& body, EncodeTarget& to);
void Encode(const nft::CompatTarget& body, EncodeTarget& to);

// The body of a tunnel object (tunnel_object_codec.cpp).
std::optional<NetlinkError> DecodeTunnelObject(const Attribute& data, ExpressionScope& scope, nft::Object& object);

// ---- Expressions by name (expression_codec.cpp) ----

// The nest {NAME, DATA}. `stateful`: anything else than counter, quota, limit, connlimit and last is EOPNOTSUPP.
// On an error scope.why() says more, and *name is the expression's name as far as it was read.
int DecodeNamed(const Attribute& nest, ExpressionScope& scope, bool stateful, nft::Expression& out,
                std::string_view* name);

// A list of at most two stateful expressions, or the single form, as `set`, its elements and dynset carry them.
// E2BIG for more; EINVAL for a list item of another number; EOPNOTSUPP for what the set cannot hold.
int DecodeStatefulList(const Attribute& list, const nft::Set& set, const ResolveContext& context,
                       std::vector<nft::Expression>* out);
int DecodeStatefulSingle(const Attribute& nest, const nft::Set& set, const ResolveContext& context,
                         std::vector<nft::Expression>* out);
// The single form as `single`, two as a list `list`; nothing for none.
void EncodeStateful(const std::vector<nft::Expression>& expressions, uint16_t single, uint16_t list,
                    const NameContext& names, AttributeWriter& out);

}  // namespace nftjit::netlink

#endif  // NFTJIT_LIB_NETLINK_EXPRESSION_CODEC_H_
