// The small vocabulary of the model: families, hooks, verdicts, registers, handles.
//
// Numbers are those of the kernel's uapi (linux/netfilter/nf_tables.h), so that the netlink codec casts and never maps.
#ifndef NFTJIT_LIB_NFT_TYPES_H_
#define NFTJIT_LIB_NFT_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lib/support/bytes.h"

namespace nftjit::nft {

enum class Family : uint8_t { kUnspec = 0, kInet = 1, kIp = 2, kArp = 3, kNetdev = 5, kBridge = 7, kIp6 = 10 };
std::string_view Name(Family family);  // "inet", "ip" …; "unspec".
std::optional<Family> FamilyFromName(std::string_view name);

// Hook numbers depend on the family (vm-semantics 6). L3 and bridge: 0 to 4; inet ingress 5; arp 0, 1; netdev 0, 1.

inline constexpr uint8_t kPrerouting = 0, kInput = 1, kForward = 2, kOutput = 3, kPostrouting = 4, kInetIngress = 5;
inline constexpr uint8_t kArpInput = 0, kArpOutput = 1, kNetdevIngress = 0, kNetdevEgress = 1;
std::string_view HookName(Family family, uint8_t hook);  // "prerouting" …, "unknown".
std::optional<uint8_t> HookFromName(Family family, std::string_view name);

// Every table, chain, rule, set, object and flowtable has one; unique in its table, never 0, never reused.
using Handle = uint64_t;

enum class VerdictCode : int32_t {
  kDrop = 0,
  kAccept = 1,
  kStolen = 2,
  kQueue = 3,
  kContinue = -1,
  kBreak = -2,
  kJump = -3,
  kGoto = -4,
  kReturn = -5,
};
std::string_view Name(VerdictCode code);  // The listing's words: "accept" …; "unknown".

// A verdict as a constant. `chain` is the handle of the target of jump and goto, 0 otherwise.
struct Verdict {
  VerdictCode code = VerdictCode::kContinue;
  Handle chain = 0;
  bool operator==(const Verdict&) const = default;
};

// A register: the verdict register, or a 32-bit word 0 to 15 of the 64-byte file at which an access begins.
class Register {
 public:
  constexpr Register() = default;  // The verdict register.
  static constexpr Register Word(uint8_t word) { return Register(word); }
  // From the netlink numbering (0; 1 to 4; 8 to 23). Empty for numbers that do not exist.
  static constexpr std::optional<Register> FromNetlink(uint32_t number) {
    if (number == 0) return Register();
    if (number <= 4) return Register(static_cast<uint8_t>((number - 1) * 4));
    if (number >= 8 && number <= 23) return Register(static_cast<uint8_t>(number - 8));
    return std::nullopt;
  }
  // As the kernel dumps it: words 0, 4, 8, 12 by their 128-bit number (vm-semantics 1).
  [[nodiscard]] constexpr uint32_t ToNetlink() const {
    if (is_verdict()) return 0;
    return word_ % 4 == 0 ? 1U + word_ / 4 : 8U + word_;
  }
  [[nodiscard]] constexpr bool is_verdict() const { return word_ == kVerdict; }
  [[nodiscard]] constexpr uint8_t word() const { return word_; }
  bool operator==(const Register&) const = default;

 private:
  explicit constexpr Register(uint8_t word) : word_(word) {}
  static constexpr uint8_t kVerdict = 0xff;
  uint8_t word_ = kVerdict;
};

enum class CmpOp : uint8_t { kEq = 0, kNeq = 1, kLt = 2, kLte = 3, kGt = 4, kGte = 5 };
enum class RangeOp : uint8_t { kEq = 0, kNeq = 1 };
enum class BitwiseOp : uint8_t { kMaskXor = 0, kLshift = 1, kRshift = 2, kAnd = 3, kOr = 4, kXor = 5 };
enum class ByteorderOp : uint8_t { kNtoh = 0, kHton = 1 };
enum class PayloadBase : uint8_t { kLink = 0, kNetwork = 1, kTransport = 2, kInner = 3, kTunnel = 4 };
enum class ChecksumType : uint8_t { kNone = 0, kInet = 1, kSctp = 2 };
enum class ExthdrOp : uint8_t { kIpv6 = 0, kTcpOption = 1, kIpv4 = 2, kSctp = 3, kDccp = 4 };
enum class Direction : uint8_t { kOriginal = 0, kReply = 1 };
enum class RejectType : uint8_t { kIcmp = 0, kTcpReset = 1, kIcmpx = 2 };
enum class LimitType : uint8_t { kPackets = 0, kBytes = 1 };

enum class MetaKey : uint8_t {
  kLen = 0,
  kProtocol = 1,
  kPriority = 2,
  kMark = 3,
  kIif = 4,
  kOif = 5,
  kIifname = 6,
  kOifname = 7,
  kIiftype = 8,
  kOiftype = 9,
  kSkuid = 10,
  kSkgid = 11,
  kNftrace = 12,
  kRtclassid = 13,
  kSecmark = 14,
  kNfproto = 15,
  kL4proto = 16,
  kBriIifname = 17,
  kBriOifname = 18,
  kPkttype = 19,
  kCpu = 20,
  kIifgroup = 21,
  kOifgroup = 22,
  kCgroup = 23,
  kPrandom = 24,
  kSecpath = 25,
  kIifkind = 26,
  kOifkind = 27,
  kBriIifpvid = 28,
  kBriIifvproto = 29,
  kTime = 30,
  kDay = 31,
  kHour = 32,
  kSdif = 33,
  kSdifname = 34,
  kBroute = 35,
  kBriIifhwaddr = 36,
};
inline constexpr uint8_t kMetaKeyCount = 37;
std::string_view Name(MetaKey key);  // The listing's words: "l4proto" …
// Bytes that the register check counts for a load of `key`; 0 for keys that cannot be loaded (vm-semantics 10.9).
uint8_t MetaLength(MetaKey key);
// Bytes that `meta set` takes; 0 for keys that cannot be set (vm-semantics 10.10).
uint8_t MetaStoreLength(MetaKey key);

enum class CtKey : uint8_t {
  kState = 0,
  kDirection = 1,
  kStatus = 2,
  kMark = 3,
  kSecmark = 4,
  kExpiration = 5,
  kHelper = 6,
  kL3protocol = 7,
  kSrc = 8,
  kDst = 9,
  kProtocol = 10,
  kProtoSrc = 11,
  kProtoDst = 12,
  kLabel = 13,
  kPackets = 14,
  kBytes = 15,
  kAvgpkt = 16,
  kZone = 17,
  kEvent = 18,
  kSrcIp = 19,
  kDstIp = 20,
  kSrcIp6 = 21,
  kDstIp6 = 22,
  kId = 23,
};
inline constexpr uint8_t kCtKeyCount = 24;
std::string_view Name(CtKey key);
// Bytes of a load of `key` in a table of `family` (src and dst are 4 in ip, 16 in ip6 and inet); 0 where there is no
// such load (vm-semantics 10.11).
uint8_t CtLength(CtKey key, Family family);

enum class ObjectType : uint8_t {
  kCounter = 1,
  kQuota = 2,
  kCtHelper = 3,
  kLimit = 4,
  kConnlimit = 5,
  kTunnel = 6,
  kCtTimeout = 7,
  kSecmark = 8,
  kCtExpect = 9,
  kSynproxy = 10,
};

}  // namespace nftjit::nft

#endif  // NFTJIT_LIB_NFT_TYPES_H_
