// Loads and what is computed from them: part of RuleGenerator.
#include <algorithm>

#include "lib/support/bytes.h"
#include "tests/support/rule_generator.h"

namespace nftjit::testing {
namespace {

using nft::Register;

struct Field {
  uint16_t offset;
  uint8_t len;
};

Field PayloadField(Random& random, nft::PayloadBase base, bool ipv6) {
  if (random.OneIn(60)) return {random.Pick<uint16_t>({300, 65535, 1000}), 2};
  if (random.OneIn(4)) {
    const auto len = static_cast<uint8_t>(random.OneIn(10) ? random.Between(17, 64) : random.Between(1, 16));
    return {static_cast<uint16_t>(random.Below(random.OneIn(3) ? 64 : 24)), len};
  }
  switch (base) {
    case nft::PayloadBase::kLink:
      return random.Pick<Field>({{0, 6}, {6, 6}, {12, 2}, {14, 2}, {16, 2}, {0, 14}, {12, 4}, {10, 8}, {18, 2}});
    case nft::PayloadBase::kNetwork:
      if (ipv6) {
        return random.Pick<Field>(
            {{8, 16}, {24, 16}, {6, 1}, {7, 1}, {4, 2}, {0, 1}, {0, 2}, {8, 4}, {8, 8}, {24, 2}, {0, 4}, {8, 1}});
      }
      return random.Pick<Field>({{12, 4},
                                 {16, 4},
                                 {9, 1},
                                 {8, 1},
                                 {1, 1},
                                 {2, 2},
                                 {6, 2},
                                 {12, 3},
                                 {12, 2},
                                 {12, 1},
                                 {16, 3},
                                 {0, 1},
                                 {12, 8},
                                 {4, 2}});
    case nft::PayloadBase::kTransport:
      return random.Pick<Field>(
          {{0, 2}, {2, 2}, {0, 4}, {13, 1}, {12, 1}, {0, 1}, {1, 1}, {2, 4}, {4, 4}, {0, 8}, {1, 2}, {3, 1}, {14, 2}});
    default:
      return random.Pick<Field>({{0, 2}, {0, 4}, {0, 1}, {2, 3}, {0, 16}, {12, 4}});
  }
}

Bytes Native32(uint32_t value) {
  Bytes bytes(4);
  StoreNative(bytes.data(), value);
  return bytes;
}

Bytes NameBytes(const std::string& name) {
  Bytes bytes(name.begin(), name.end());
  bytes.resize(16);
  return bytes;
}

}  // namespace

void RegisterGuess::Store(uint8_t word, const Bytes& value) {
  const size_t first = word * 4U, end = first + WordsOf(value.size()) * 4U;
  std::fill(bytes.begin() + first, bytes.begin() + end, uint8_t{0});
  std::copy(value.begin(), value.end(), bytes.begin() + first);
  written |= Mask(word, value.size());
}

Bytes RuleGenerator::BytesOf(RegisterValue value) const {
  const auto* first = registers_.bytes.data() + value.word * 4U;
  return {first, first + value.len};
}

uint8_t RuleGenerator::PlaceFor(size_t len) {
  const uint8_t room = RegisterGuess::kWords - RegisterGuess::WordsOf(len);
  // Mostly the 16-byte registers, as compilers do.
  if (random_.Percent(70)) {
    const auto word = static_cast<uint8_t>(random_.Below(4) * 4);
    if (word <= room) return word;
  }
  return static_cast<uint8_t>(random_.Below(room + 1U));
}

// In place, or somewhere that does not overlap the source at all.
uint8_t RuleGenerator::DestinationFor(RegisterValue source, size_t len) {
  if (random_.Percent(40)) return source.word;
  const uint32_t taken = RegisterGuess::Mask(source.word, len);
  for (int tries = 0; tries < 8; ++tries) {
    const uint8_t word = PlaceFor(len);
    if ((RegisterGuess::Mask(word, len) & taken) == 0) return word;
  }
  return source.word;
}

RegisterValue RuleGenerator::LoadSomething() {
  const uint32_t kind = random_.Below(100);
  if (kind < 55) return LoadPayload();
  if (kind < 78) return LoadMeta();
  if (kind < 90) return LoadExthdr();
  if (kind < 97 && context_.options->conntrack && IsL3()) return LoadCt();
  return kind < 97 ? LoadPayload() : LoadConstant();
}

RegisterValue RuleGenerator::LoadPayload() { return PayloadInto(0xff, 64); }

// Into `word`, or if that is 0xff into any register.
RegisterValue RuleGenerator::PayloadInto(uint8_t word, uint8_t max_len) {
  const uint32_t kind = random_.Below(100);
  const bool link = packet_->link != CraftedPacket::kNone;
  nft::PayloadBase base = nft::PayloadBase::kNetwork;
  size_t start = packet_->network;
  if (kind < (link ? 20U : 3U)) {
    base = nft::PayloadBase::kLink;
    start = packet_->link;
  } else if (kind > 92) {
    base = nft::PayloadBase::kInner;
    start = packet_->inner;
  } else if (kind > 52) {
    base = nft::PayloadBase::kTransport;
    start = packet_->transport;
  }
  Field field = PayloadField(random_, base, packet_->ethertype == 0x86dd);
  field.len = std::min(field.len, max_len);
  Bytes bytes = random_.Bytes(field.len);
  const size_t size = packet_->bytes.size();
  if (start < size && field.offset + size_t{field.len} <= size - start) {
    std::copy_n(packet_->bytes.begin() + static_cast<ptrdiff_t>(start + field.offset), field.len, bytes.begin());
  }
  if (word == 0xff) word = PlaceFor(field.len);
  Emit(nft::PayloadLoad{Register::Word(word), base, field.offset, field.len});
  registers_.Store(word, bytes);
  return {word, field.len};
}

RegisterValue RuleGenerator::LoadMeta() {
  using Key = nft::MetaKey;
  const GenerateOptions& options = *context_.options;
  Key key = random_.Pick({Key::kL4proto,  Key::kL4proto,  Key::kNfproto, Key::kMark,    Key::kMark,
                          Key::kIifname,  Key::kOifname,  Key::kIif,     Key::kOif,     Key::kLen,
                          Key::kProtocol, Key::kPriority, Key::kPkttype, Key::kIiftype, Key::kOiftype,
                          Key::kIifgroup, Key::kOifgroup, Key::kIifkind, Key::kOifkind, Key::kSecmark});
  if (!options.for_kernel && random_.OneIn(4)) {
    key = random_.Pick({Key::kSkuid, Key::kSkgid, Key::kRtclassid, Key::kCgroup, Key::kTime, Key::kDay, Key::kHour,
                        Key::kCpu, Key::kSecpath});
    const bool secpath_hooks = IsL3() && HooksWithin(7);
    if (key == Key::kSecpath && !secpath_hooks) key = Key::kMark;
  }
  if (random_.OneIn(40) && IsL3() && HooksWithin(6)) key = random_.Pick({Key::kSdif, Key::kSdifname});
  const uint8_t len = nft::MetaLength(key);
  Bytes guess(len);
  switch (key) {
    case Key::kL4proto:
      guess[0] = packet_->protocol;
      break;
    case Key::kNfproto:
      guess[0] = packet_->ethertype == 0x86dd ? 10 : 2;
      break;
    case Key::kIifname:
      guess = NameBytes(options.input_name);
      break;
    case Key::kOifname:
      guess = NameBytes(options.output_name);
      break;
    case Key::kIif:
      guess = Native32(options.input_index);
      break;
    case Key::kOif:
      guess = Native32(options.output_index);
      break;
    case Key::kLen:
      guess = Native32(static_cast<uint32_t>(packet_->bytes.size() - packet_->network));
      break;
    case Key::kProtocol:
      StoreBig16(guess.data(), packet_->ethertype);
      break;
    case Key::kIifkind:
    case Key::kOifkind:
      guess = NameBytes("tun");
      break;
    case Key::kDay:
      guess[0] = static_cast<uint8_t>(random_.Below(7));
      break;
    case Key::kHour:
      guess = Native32(random_.Below(86400));
      break;
    default:
      break;
  }
  const uint8_t word = PlaceFor(len);
  Emit(nft::MetaLoad{Register::Word(word), key});
  registers_.Store(word, guess);
  return {word, len};
}

RegisterValue RuleGenerator::LoadExthdr() {
  nft::ExthdrLoad load{};
  // Mostly what the packet may have.
  if (packet_->ethertype == 0x86dd && random_.Percent(60)) {
    load.op = nft::ExthdrOp::kIpv6;
  } else if (packet_->protocol == 6 && random_.Percent(70)) {
    load.op = nft::ExthdrOp::kTcpOption;
  } else if (packet_->protocol == 132 && random_.Percent(80)) {
    load.op = nft::ExthdrOp::kSctp;
  } else {
    load.op =
        random_.Pick({nft::ExthdrOp::kIpv6, nft::ExthdrOp::kTcpOption, nft::ExthdrOp::kIpv4, nft::ExthdrOp::kSctp});
  }
  if (load.op == nft::ExthdrOp::kIpv4 && family() == nft::Family::kIp6) load.op = nft::ExthdrOp::kIpv6;
  switch (load.op) {
    case nft::ExthdrOp::kIpv6:
      load.type = random_.Pick<uint8_t>({0, 43, 44, 60, 51, 59, 17, 6, 58, 135});
      break;
    case nft::ExthdrOp::kTcpOption:
      load.type = random_.Pick<uint8_t>({0, 1, 2, 3, 4, 5, 8, 30, 254});
      break;
    case nft::ExthdrOp::kIpv4:
      load.type = random_.Pick<uint8_t>({7, 131, 137, 148, 148});
      break;
    default:
      load.type = random_.Pick<uint8_t>({0, 1, 2, 3, 6, 14, 192});
      break;
  }
  Bytes guess;
  if (random_.OneIn(2)) {
    load.flags = 1;
    load.len = 1;
    guess = {static_cast<uint8_t>(random_.Below(2))};
  } else {
    load.offset = static_cast<uint8_t>(random_.Below(random_.OneIn(8) ? 256 : 5));
    load.len = static_cast<uint8_t>(random_.Pick({1, 2, 2, 4, 8, 3, 16}));
    guess = random_.Percent(50) ? Bytes(load.len) : random_.Bytes(load.len);
    if (load.op == nft::ExthdrOp::kTcpOption && load.offset == 0) guess[0] = load.type;
  }
  const uint8_t word = PlaceFor(load.len);
  load.dreg = Register::Word(word);
  Emit(load);
  registers_.Store(word, guess);
  return {word, load.len};
}

RegisterValue RuleGenerator::LoadCt() {
  using Key = nft::CtKey;
  Key key =
      random_.Pick({Key::kState,      Key::kState,    Key::kState,      Key::kDirection, Key::kStatus,   Key::kMark,
                    Key::kL3protocol, Key::kProtocol, Key::kSrc,        Key::kDst,       Key::kProtoSrc, Key::kProtoDst,
                    Key::kSrcIp,      Key::kDstIp6,   Key::kZone,       Key::kPackets,   Key::kBytes,    Key::kAvgpkt,
                    Key::kHelper,     Key::kLabel,    Key::kExpiration, Key::kId});
  if (context_.options->for_kernel && key > Key::kStatus) {
    key = random_.Pick({Key::kState, Key::kDirection, Key::kStatus, Key::kL3protocol});
  }
  std::optional<nft::Direction> direction;
  const bool wants = key == Key::kSrc || key == Key::kDst || key == Key::kProtoSrc || key == Key::kProtoDst ||
                     key == Key::kSrcIp || key == Key::kDstIp6;
  const bool may = key == Key::kPackets || key == Key::kBytes || key == Key::kAvgpkt || key == Key::kL3protocol ||
                   key == Key::kProtocol;
  if (wants || (may && random_.OneIn(2))) direction = static_cast<nft::Direction>(random_.Below(2));
  const uint8_t len = nft::CtLength(key, family());
  Bytes guess = random_.OneIn(2) ? Bytes(len) : random_.Bytes(len);
  if (key == Key::kState) guess = Native32(random_.Pick({2U, 4U, 8U, 1U, 0x40U}));
  const uint8_t word = PlaceFor(len);
  Emit(nft::CtLoad{Register::Word(word), key, direction});
  registers_.Store(word, guess);
  return {word, len};
}

RegisterValue RuleGenerator::LoadConstant() {
  const auto len = static_cast<uint8_t>(random_.Between(1, 16));
  const Bytes bytes = random_.Bytes(len);
  const uint8_t word = PlaceFor(len);
  Emit(nft::Immediate{Register::Word(word), Bytes16(ByteSpan(bytes)), {}});
  registers_.Store(word, bytes);
  return {word, len};
}

RegisterValue RuleGenerator::Transform(RegisterValue value) {
  switch (random_.Below(8)) {
    case 0:
    case 1:
      return TransformSwap(value);
    case 2:
      return TransformShift(value);
    case 3:
      return TransformRegister(value);
    default:
      return TransformConstant(value);
  }
}

RegisterValue RuleGenerator::TransformConstant(RegisterValue value) {
  const auto len = static_cast<uint8_t>(std::min<size_t>(value.len, 16));
  const uint8_t to = DestinationFor(value, len);
  Bytes mask = random_.Bytes(len), other = random_.OneIn(3) ? random_.Bytes(len) : Bytes(len);
  if (random_.Percent(60)) {  // A prefix.
    const uint32_t bits = random_.Below(len * 8U + 1);
    for (uint32_t i = 0; i < len * 8U; ++i) {
      if (i % 8 == 0) mask[i / 8] = 0;
      if (i < bits) mask[i / 8] |= static_cast<uint8_t>(0x80U >> i % 8);
    }
  }
  Bytes result = BytesOf({value.word, static_cast<uint8_t>(RegisterGuess::WordsOf(len) * 4U)});
  if (random_.Percent(60)) {
    Emit(nft::Bitwise{Register::Word(value.word),
                      Register::Word(to),
                      len,
                      nft::BitwiseOp::kMaskXor,
                      Bytes16(ByteSpan(mask)),
                      Bytes16(ByteSpan(other)),
                      {},
                      {}});
    for (size_t i = 0; i < result.size(); ++i) {
      result[i] = i < len ? static_cast<uint8_t>((result[i] & mask[i]) ^ other[i]) : uint8_t{0};
    }
  } else {
    const auto op = random_.Pick({nft::BitwiseOp::kAnd, nft::BitwiseOp::kOr, nft::BitwiseOp::kXor});
    Emit(nft::Bitwise{
        Register::Word(value.word), Register::Word(to), len, op, {}, {}, Bytes16(ByteSpan(mask)), std::nullopt});
    for (size_t i = 0; i < result.size(); ++i) {
      const uint8_t m = i < len ? mask[i] : uint8_t{0};
      result[i] = op == nft::BitwiseOp::kAnd  ? result[i] & m
                  : op == nft::BitwiseOp::kOr ? result[i] | m
                                              : result[i] ^ m;
    }
  }
  registers_.Store(to, result);
  return {to, len};
}

RegisterValue RuleGenerator::TransformShift(RegisterValue value) {
  const uint8_t to = DestinationFor(value, value.len);
  const bool left = random_.OneIn(2);
  const uint32_t count = random_.Between(1, 31);
  Bytes data(4);
  StoreNative(data.data(), count);
  Emit(nft::Bitwise{Register::Word(value.word),
                    Register::Word(to),
                    value.len,
                    left ? nft::BitwiseOp::kLshift : nft::BitwiseOp::kRshift,
                    {},
                    {},
                    Bytes16(ByteSpan(data)),
                    std::nullopt});
  const uint8_t words = RegisterGuess::WordsOf(value.len);
  Bytes result = BytesOf({value.word, static_cast<uint8_t>(words * 4U)});
  uint32_t carry = 0;
  for (uint8_t i = 0; i < words; ++i) {
    uint8_t* at = result.data() + (left ? words - 1U - i : i) * 4U;
    const auto word = LoadNative<uint32_t>(at);
    StoreNative(at, left ? word << count | carry : word >> count | carry);
    carry = left ? word >> (32 - count) : word << (32 - count);
  }
  registers_.Store(to, result);
  return {to, value.len};
}

RegisterValue RuleGenerator::TransformRegister(RegisterValue value) {
  const uint8_t other = PlaceFor(value.len);
  if (!registers_.Covers(other, value.len)) return TransformConstant(value);
  const auto whole = static_cast<uint8_t>(RegisterGuess::WordsOf(value.len) * 4U);
  const auto op = random_.Pick({nft::BitwiseOp::kAnd, nft::BitwiseOp::kOr, nft::BitwiseOp::kXor});
  Emit(nft::Bitwise{
      Register::Word(value.word), Register::Word(value.word), value.len, op, {}, {}, {}, Register::Word(other)});
  const uint32_t overlap = RegisterGuess::Mask(other, value.len) & RegisterGuess::Mask(value.word, value.len);
  if (overlap != 0 && other != value.word) {  // The kernel refuses partial overlap.
    rule_.expressions.pop_back();
    return value;
  }
  Bytes a = BytesOf({value.word, whole});
  const Bytes b = BytesOf({other, whole});
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = op == nft::BitwiseOp::kAnd ? a[i] & b[i] : op == nft::BitwiseOp::kOr ? a[i] | b[i] : a[i] ^ b[i];
  }
  registers_.Store(value.word, a);
  return value;
}

RegisterValue RuleGenerator::TransformSwap(RegisterValue value) {
  const auto size = static_cast<uint8_t>(value.len % 8 == 0 && random_.OneIn(2)   ? 8
                                         : value.len % 4 == 0 && random_.OneIn(2) ? 4
                                                                                  : 2);
  uint8_t to = DestinationFor(value, value.len);
  // Bytes that are not written keep what the register held: for the kernel it must be something.
  const bool stale = !context_.options->for_kernel && random_.OneIn(2);
  if (!registers_.Covers(to, value.len) && !stale) to = value.word;
  Emit(nft::Byteorder{Register::Word(value.word), Register::Word(to), nft::ByteorderOp::kHton, value.len, size});
  const std::array<uint8_t, 64> before = registers_.bytes;
  for (size_t i = 0; i + size <= value.len; i += size) {
    for (size_t k = 0; k < size; ++k) registers_.bytes[to * 4U + i + k] = before[value.word * 4U + i + size - 1 - k];
  }
  registers_.written |= RegisterGuess::Mask(to, value.len);
  return {to, value.len};
}

}  // namespace nftjit::testing
