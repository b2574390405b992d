// Elements and objects: validation 7 (what one element decides) and 8.
#include <cerrno>

#include "lib/nft/ruleset.h"
#include "tests/netlink/messages.h"

namespace nftjit::netlink {
namespace {

std::string Key(std::string_view key) { return Value(kElementKey, key); }
std::string KeyEnd(std::string_view key) { return Value(kElementKeyEnd, key); }
std::string ElementFlags(uint32_t flags) { return U32(kElementFlags, flags); }

// The sets that elements are tried in.
Message Plain() { return SetMessage(kIp, "s", {U32(kSetKeyLen, 4)}); }
Message Kind(uint32_t flags, Parts rest = {}) {
  std::string all = U32(kSetKeyLen, 4) + U32(kSetFlags, flags);
  for (const std::string& part : rest) all += part;
  return SetMessage(kIp, "s", {all});
}
Message Map() { return Kind(nft::kSetMap, {U32(kSetDataType, 5), U32(kSetDataLen, 4)}); }
Message IntervalMap() { return Kind(nft::kSetMap | nft::kSetInterval, {U32(kSetDataType, 5), U32(kSetDataLen, 4)}); }
Message Verdicts() { return Kind(nft::kSetMap, {U32(kSetDataType, nft::kDataTypeVerdict)}); }
Message Objects() { return Kind(nft::kSetObject, {U32(kSetObjType, 1)}); }
Message Ranges() {
  const std::string fields = Nest(kListElem, {U32(kSetFieldLen, 4)}) + Nest(kListElem, {U32(kSetFieldLen, 2)});
  return SetMessage(kIp, "s",
                    {U32(kSetKeyLen, 8), U32(kSetFlags, 0x84), Nest(kSetDesc, {Attr(kSetDescConcat, fields)})});
}
Message Declaring(Parts expressions) { return Kind(nft::kSetExpr, {Nest(kSetExpressions, expressions)}); }

struct ElementAdder {
  std::vector<Case>& cases;
  void operator()(const char* name, int error, std::vector<Message> setup, Parts element) const {
    cases.push_back(
        {std::string("element: ") + name, std::move(setup), ElementsMessage(kIp, "s", {Element(element)}), error});
  }
};

void AddKeyCases(std::vector<Case>& cases) {
  const ElementAdder add{cases};
  cases.push_back({"elements of a missing set", {}, ElementsMessage(kIp, "s", {}), ENOENT});
  cases.push_back({"empty list", {Plain()}, ElementsMessage(kIp, "s", {}), 0});
  cases.push_back({"no list", {Plain()}, {kNewSetElem, 0x400, kIp, Str(1, "t") + Str(2, "s")}, EINVAL});
  cases.push_back({"second element bad",
                   {Plain()},
                   ElementsMessage(kIp, "s", {Element({Key("abcd")}), Element({Key("abc")})}),
                   EINVAL});
  cases.push_back({"list item of number 3", {Plain()}, ElementsMessage(kIp, "s", {Nest(3, {Key("abcd")})}), 0});
  const std::string null_end = Element({Key(std::string(4, '\0')), ElementFlags(1)});
  const std::string start = Element({Key("abcd")}), end = Element({Key("abce"), ElementFlags(1)});
  const auto several = [&cases](const char* name, Parts elements) {
    cases.push_back({name, {Kind(nft::kSetInterval)}, ElementsMessage(kIp, "s", elements), 0});
  };
  several("an interval", {start, end});
  several("an interval after the null end", {null_end, start, end});
  several("an open interval after the null end", {null_end, start});
  several("an interval and a catch-all", {start, end, Element({ElementFlags(2)})});
  add("key", 0, {Plain()}, {Key("abcd")});
  add("no key", EINVAL, {Plain()}, {});
  add("short key", EINVAL, {Plain()}, {Key("abc")});
  add("key of 65 bytes", EOVERFLOW, {Plain()}, {Key(Bytes(65))});
  add("verdict as key", EINVAL, {Plain()}, {Verdict(kElementKey, 1)});
  add("catch-all", 0, {Plain()}, {ElementFlags(2)});
  add("catch-all with key", EINVAL, {Plain()}, {ElementFlags(2), Key("abcd")});
  add("flags 3", EINVAL, {Kind(nft::kSetInterval)}, {ElementFlags(3)});
  add("flags 4", EOPNOTSUPP, {Plain()}, {ElementFlags(4), Key("abcd")});
  add("end in an interval set", 0, {Kind(nft::kSetInterval)}, {ElementFlags(1), Key("abcd")});
  add("end in a plain set", EINVAL, {Plain()}, {ElementFlags(1), Key("abcd")});
  add("key end in a plain set", EINVAL, {Plain()}, {Key("abcd"), KeyEnd("abce")});
  add("key end in an interval set", EINVAL, {Kind(nft::kSetInterval)}, {Key("abcd"), KeyEnd("abce")});
  const std::string low("abcd\0\1\0\0", 8), high("abce\0\2\0\0", 8), crossed("abcf\0\0\0\0", 8),
      padded("abce\0\2\7\7", 8);
  add("range", 0, {Ranges()}, {Key(low), KeyEnd(high)});
  add("range of one", 0, {Ranges()}, {Key(low)});
  add("range with padding bytes", 0, {Ranges()}, {Key(low), KeyEnd(padded)});
  add("range with an early field", EINVAL, {Ranges()}, {Key(low), KeyEnd(crossed)});
  add("range with an end flag", EINVAL, {Ranges()}, {Key(low), ElementFlags(1)});
  add("range of a short end", EINVAL, {Ranges()}, {Key(low), KeyEnd("abce")});
  add("catch-all with key end", EINVAL, {Ranges()}, {ElementFlags(2), KeyEnd(high)});
  add("user data of 254", 0, {Plain()}, {Key("abcd"), Attr(kElementUserdata, Bytes(254))});
  add("user data of 255", EINVAL, {Plain()}, {Key("abcd"), Attr(kElementUserdata, Bytes(255))});
  add("user data of 256", 0, {Plain()}, {Key("abcd"), Attr(kElementUserdata, Bytes(256))});
  add("user data of 257", ERANGE, {Plain()}, {Key("abcd"), Attr(kElementUserdata, Bytes(257))});
  add("user data of an end", EINVAL, {Kind(nft::kSetInterval)},
      {ElementFlags(1), Key("abcd"), Attr(kElementUserdata, "a")});
}

void AddDataCases(std::vector<Case>& cases) {
  const ElementAdder add{cases};
  const Message base = ChainMessage(kIp, {Str(kChainName, "b"), Nest(kChainHook, {U32(1, 1), U32(2, 0)})});
  const Message counter = ObjectMessage(kIp, "o", 1, {});
  const std::string key = Key("abcd");
  add("map data", 0, {Map()}, {key, Value(kElementData, "wxyz")});
  add("map without data", EINVAL, {Map()}, {key});
  add("short map data", EINVAL, {Map()}, {key, Value(kElementData, "wxy")});
  add("verdict in a data map", EINVAL, {Map()}, {key, Verdict(kElementData, 1)});
  add("data in a plain set", EINVAL, {Plain()}, {key, Value(kElementData, "wxyz")});
  add("data of an end", EINVAL, {IntervalMap()}, {key, ElementFlags(1), Value(kElementData, "wxyz")});
  add("end without data in a map", 0, {IntervalMap()}, {key, ElementFlags(1)});
  for (const int code : {0, 1, -1, -2, -5}) add("verdict", 0, {Verdicts()}, {key, Verdict(kElementData, code)});
  for (const int code : {2, 3, -6, -3}) add("bad verdict", EINVAL, {Verdicts()}, {key, Verdict(kElementData, code)});
  add("value in a verdict map", EINVAL, {Verdicts()}, {key, Value(kElementData, "wxyz")});
  add("jump", 0, {Verdicts()}, {key, Verdict(kElementData, -3, "c")});
  add("jump to a missing chain", ENOENT, {Verdicts()}, {key, Verdict(kElementData, -3, "nowhere")});
  add("goto to a base chain", EOPNOTSUPP, {base, Verdicts()}, {key, Verdict(kElementData, -4, "b")});
  add("object", 0, {counter, Objects()}, {key, Str(kElementObjref, "o")});
  add("object map without object", EINVAL, {counter, Objects()}, {key});
  add("object in another set", EINVAL, {counter, Plain()}, {key, Str(kElementObjref, "o")});
  add("missing object", ENOENT, {Objects()}, {key, Str(kElementObjref, "o")});
}

void AddTimeoutAndExpressionCases(std::vector<Case>& cases) {
  const ElementAdder add{cases};
  const std::string key = Key("abcd");
  const Message timed = Kind(nft::kSetTimeout), fixed = Kind(nft::kSetTimeout, {U64(kSetTimeoutMs, 8000)});
  const auto timeout = [](uint64_t ms) { return U64(kElementTimeout, ms); };
  const auto expiration = [](uint64_t ms) { return U64(kElementExpiration, ms); };
  add("timeout", 0, {timed}, {key, timeout(60000)});
  add("timeout without flag", EINVAL, {Plain()}, {key, timeout(60000)});
  add("expiration without flag", EINVAL, {Plain()}, {key, expiration(60000)});
  add("expiration without timeout", EOPNOTSUPP, {timed}, {key, expiration(4000)});
  add("expiration of the set's timeout", 0, {fixed}, {key, expiration(4000)});
  add("expiration after the set's timeout", ERANGE, {fixed}, {key, expiration(8004)});
  add("expiration after the own timeout", ERANGE, {fixed}, {key, timeout(2000), expiration(4000)});
  add("timeout 0", 0, {fixed}, {key, timeout(0)});
  add("timeout of the set", 0, {fixed}, {key, timeout(8000)});
  add("timeout beyond time", ERANGE, {timed}, {key, timeout(uint64_t{1} << 63)});
  add("timeout of an end", EINVAL, {Kind(nft::kSetTimeout | nft::kSetInterval)}, {key, ElementFlags(1), timeout(8000)});
  const std::string counter = Expr("counter", {}), last = Expr("last", {});
  const auto single = [](const char* name, Parts data = {}) {
    return Nest(kElementExpr, {Str(kExprName, name), Nest(kExprData, data)});
  };
  const auto list = [](Parts expressions) { return Nest(kElementExpressions, expressions); };
  add("expression", 0, {Plain()}, {key, single("counter", {U64(1, 5), U64(2, 6)})});
  add("non-stateful expression", EOPNOTSUPP, {Plain()}, {key, single("notrack")});
  add("two expressions", 0, {Plain()}, {key, list({counter, last})});
  add("three expressions", E2BIG, {Plain()}, {key, list({counter, last, counter})});
  add("expression item of number 2", EINVAL, {Plain()}, {key, list({Nest(2, {Str(1, "counter")})})});
  add("expression of an end", EINVAL, {Kind(nft::kSetInterval)}, {key, ElementFlags(1), single("counter")});
  add("declared expressions", 0, {Declaring({counter, last})}, {key});
  add("declared expressions, none for an end", 0,
      {Kind(nft::kSetInterval | nft::kSetExpr, {Nest(kSetExpressions, {counter})})}, {key, ElementFlags(1)});
  add("declared expression repeated", 0, {Declaring({counter})}, {key, single("counter")});
  add("declared expression in a list", 0, {Declaring({counter})}, {key, list({counter})});
  add("other expression than declared", EOPNOTSUPP, {Declaring({counter})}, {key, single("last")});
  add("one of two declared", EOPNOTSUPP, {Declaring({counter, last})}, {key, single("counter")});
  add("more than declared", E2BIG, {Declaring({counter})}, {key, list({counter, last})});
  add("fewer than declared", EOPNOTSUPP, {Declaring({counter, last})}, {key, list({counter})});
  add("connlimit", 0, {Plain()}, {key, single("connlimit", {U32(1, 1)})});
  const std::string connlimit = single("connlimit", {U32(1, 1)});
  const Message sized = Kind(0, {Nest(kSetDesc, {U32(kSetDescSize, 9)})});
  add("connlimit in intervals", 0, {Kind(nft::kSetInterval)}, {key, connlimit});
  add("connlimit in ranges", 0, {Ranges()}, {Key("abcd" + std::string(4, '\0')), connlimit});
  add("connlimit in a set of a size", EOPNOTSUPP, {sized}, {key, connlimit});
  add("connlimit with timeouts", EOPNOTSUPP, {timed}, {key, connlimit});
}

}  // namespace

std::vector<Case> ElementCases() {
  std::vector<Case> cases;
  AddKeyCases(cases);
  AddDataCases(cases);
  AddTimeoutAndExpressionCases(cases);
  return cases;
}

std::vector<Case> ObjectCases() {
  std::vector<Case> cases;
  const auto add = [&cases](const std::string& name, int error, Family family, uint32_t type, Parts data) {
    cases.push_back({"object: " + name, {}, ObjectMessage(family, "o", type, data), error});
  };
  cases.push_back({"object without type", {}, {kNewObj, 0x400, kIp, Str(1, "t") + Str(2, "o") + Nest(4, {})}, EINVAL});
  cases.push_back({"object without data", {}, {kNewObj, 0x400, kIp, Str(1, "t") + Str(2, "o") + U32(3, 1)}, EINVAL});
  for (const uint32_t type : {0U, 11U, 99U}) add("type " + std::to_string(type), ENOENT, kIp, type, {});
  add("counter", 0, kIp, 1, {U64(1, 5), U64(2, 6)});
  add("quota", 0, kIp, 2, {U64(1, 1000), U32(2, 1)});
  add("quota without bytes", EINVAL, kIp, 2, {});
  add("limit", 0, kIp, 4, {U64(1, 5), U64(2, 1)});
  add("limit of bytes", 0, kIp, 4, {U64(1, 5), U64(2, 1), U32(4, 1)});
  add("limit without rate", EINVAL, kIp, 4, {U64(2, 1)});
  add("limit without unit", EINVAL, kIp, 4, {U64(1, 5)});
  add("connlimit", 0, kIp, 5, {U32(1, 5), U32(2, 1)});
  add("synproxy", 0, kIp, 10, {U16(1, 1460), U8(2, 7), U32(3, 3)});
  add("synproxy flags 16", EOPNOTSUPP, kIp, 10, {U32(3, 16)});
  for (const size_t length : {size_t{0}, size_t{255}, size_t{256}}) {
    cases.push_back({"object name of " + std::to_string(length),
                     {},
                     ObjectMessage(kIp, std::string(length, 'o'), 1, {}),
                     length == 256 ? ERANGE : 0});
  }
  cases.push_back({"object without name", {}, {kNewObj, 0x400, kIp, Str(1, "t") + U32(3, 1) + Nest(4, {})}, EINVAL});
  for (const Family family : {Family::kNetdev, Family::kArp, Family::kBridge}) {
    const int error = family == Family::kBridge ? 0 : EPROTO;  // A bridge has conntrack, unless a kernel has not.
    add("connlimit there", error, family, 5, {U32(1, 5)});
    add("synproxy there", error, family, 10, {});
    add("ct timeout there", error, family, 7, {U8(2, 6), Nest(3, {})});
  }
  add("ct helper", 0, kIp, 3, {Str(1, "ftp"), U16(2, 2), U8(3, 6)});
  add("ct helper of the table's family", 0, Family::kInet, 3, {Str(1, "ftp"), U8(3, 6)});
  add("ct helper of another protocol", ENOENT, kIp, 3, {Str(1, "ftp"), U8(3, 17)});
  add("unknown ct helper", ENOENT, kIp, 3, {Str(1, "nonsense"), U8(3, 6)});
  add("ct helper of protocol 0", ENOENT, kIp, 3, {Str(1, "ftp"), U8(3, 0)});
  add("ct helper of ip6", EINVAL, kIp, 3, {Str(1, "ftp"), U16(2, 10), U8(3, 6)});
  add("ct helper of ip", EINVAL, Family::kIp6, 3, {Str(1, "ftp"), U16(2, 2), U8(3, 6)});
  add("ct helper for ip alone", ENOENT, Family::kIp6, 3, {Str(1, "irc"), U8(3, 6)});
  add("ct helper without name", EINVAL, kIp, 3, {U8(3, 6)});
  add("ct helper without protocol", EINVAL, kIp, 3, {Str(1, "ftp")});
  add("ct helper in netdev", EPROTO, Family::kNetdev, 3, {Str(1, "ftp"), U8(3, 6)});
  add("ct helper in arp", EAFNOSUPPORT, Family::kArp, 3, {Str(1, "ftp"), U8(3, 6)});
  for (const uint8_t protocol : {1, 6, 17, 47, 58, 132, 136, 255}) {
    add("ct timeout of " + std::to_string(protocol), 0, Family::kInet, 7,
        {U16(1, 2), U8(2, protocol), Nest(3, {U32(1, 31), U32(2, 32), U32(40, 1)})});
  }
  add("ct timeout of 2", EOPNOTSUPP, kIp, 7, {U8(2, 2), Nest(3, {})});
  add("ct timeout without protocol", EINVAL, kIp, 7, {Nest(3, {})});
  add("ct timeout without data", EINVAL, kIp, 7, {U8(2, 6)});
  const std::string rest = U16(3, 5000) + U32(4, 1000) + U8(5, 8);
  add("ct expectation", 0, kIp, 9, {U16(1, 2), U8(2, 6), rest});
  add("ct expectation of the table's family", 0, kIp, 9, {U8(2, 17), rest});
  add("ct expectation of an inet table's family", EAFNOSUPPORT, Family::kInet, 9, {U8(2, 17), rest});
  add("ct expectation of ip6", EINVAL, kIp, 9, {U16(1, 10), U8(2, 6), rest});
  add("ct expectation of ip6 in inet", 0, Family::kInet, 9, {U16(1, 10), U8(2, 6), rest});
  add("ct expectation of arp", EAFNOSUPPORT, Family::kInet, 9, {U16(1, 3), U8(2, 6), rest});
  add("ct expectation of protocol 99", EOPNOTSUPP, kIp, 9, {U8(2, 99), rest});
  add("ct expectation without protocol", EINVAL, kIp, 9, {rest});
  add("ct expectation without size", EINVAL, kIp, 9, {U8(2, 6), U16(3, 1), U32(4, 1)});
  add("secmark without context", EINVAL, kIp, 8, {});
  const std::string address = Nest(2, {U32(1, 0x01020304), U32(2, 0x01020305)});
  add("tunnel", 0, Family::kNetdev, 6, {U32(1, 5), address});
  add("tunnel with all", 0, Family::kNetdev, 6,
      {U32(1, 5), address, U16(7, 10), U16(8, 11), U32(4, 7), U8(5, 1), U8(6, 2), Nest(9, {Nest(1, {U32(1, 3)})})});
  add("tunnel of ip6", 0, Family::kNetdev, 6, {U32(1, 5), Nest(3, {Attr(2, Bytes(16)), U32(3, 9)})});
  add("tunnel without id", EINVAL, Family::kNetdev, 6, {address});
  add("tunnel without addresses", EINVAL, Family::kNetdev, 6, {U32(1, 5)});
  add("tunnel without destination", EINVAL, Family::kNetdev, 6, {U32(1, 5), Nest(2, {})});
  add("tunnel flags 8", EOPNOTSUPP, Family::kNetdev, 6, {U32(1, 5), address, U32(4, 8)});
  add("tunnel in ip", ENOENT, kIp, 6, {U32(1, 5), address});
  for (const size_t size : {256U, 257U}) {
    Message object = ObjectMessage(kIp, "o", 1, {});
    object.body += Attr(kObjectUserdata, Bytes(size));
    cases.push_back({"object user data of " + std::to_string(size), {}, object, size == 256 ? 0 : ERANGE});
  }
  return cases;
}

}  // namespace nftjit::netlink
