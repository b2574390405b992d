// Registers, verdicts, rule limits, immediate, cmp, range, bitwise, byteorder: validation 3 and 5.
#include <cerrno>

#include "tests/netlink/messages.h"

namespace nftjit::netlink {
namespace {

const std::string kShift("\x04\0\0\0", 4);

std::string Cmp(uint32_t sreg, uint32_t op, std::string_view data) {
  return Expr("cmp", {U32(1, sreg), U32(2, op), Value(3, data)});
}
std::string Range(uint32_t op, std::string_view from, std::string_view to) {
  return Expr("range", {U32(1, 1), U32(2, op), Value(3, from), Value(4, to)});
}
std::string Bitwise(uint32_t sreg, uint32_t dreg, uint32_t len, Parts rest) {
  std::string all = U32(1, sreg) + U32(2, dreg) + U32(3, len);
  for (const std::string& part : rest) all += part;
  return Expr("bitwise", {all});
}
std::string Byteorder(uint32_t sreg, uint32_t dreg, uint32_t op, uint32_t len, uint32_t size) {
  return Expr("byteorder", {U32(1, sreg), U32(2, dreg), U32(3, op), U32(4, len), U32(5, size)});
}
std::string Load(uint32_t dreg, uint32_t len) {
  return Expr("payload", {U32(1, dreg), U32(2, 1), U32(3, 0), U32(4, len)});
}
std::string Give(int32_t code, std::string_view chain = {}) {
  return Expr("immediate", {U32(1, 0), Verdict(2, code, chain)});
}
std::string Repeat(const std::string& expression, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += expression;
  return all;
}

void AddRegisterCases(std::vector<Case>& cases) {
  for (const uint32_t reg : {5U, 6U, 7U, 24U, 255U, 0xffffffffU}) {
    cases.push_back(RuleCase("store to register " + std::to_string(reg), ERANGE, kIp, {Load(reg, 4)}));
    cases.push_back(RuleCase("load of register " + std::to_string(reg), ERANGE, kIp, {Fill(), Cmp(reg, 0, "a")}));
  }
  for (uint32_t reg = 8; reg <= 23; ++reg) {
    cases.push_back(RuleCase("32-bit register " + std::to_string(reg), 0, kIp, {Load(reg, 4), Cmp(reg, 0, "abcd")}));
  }
  cases.push_back(RuleCase("data into register 0", EINVAL, kIp, {Load(0, 4)}));
  cases.push_back(RuleCase("value into register 0", EINVAL, kIp, {Imm(0, "abcd")}));
  cases.push_back(RuleCase("data from register 0", EINVAL, kIp, {Fill(), Cmp(0, 0, "a")}));
  cases.push_back(RuleCase("verdict into register 1", EINVAL, kIp, {Expr("immediate", {U32(1, 1), Verdict(2, 1)})}));
  cases.push_back(RuleCase("64 bytes into register 1", 0, kIp, {Load(1, 64)}));
  cases.push_back(RuleCase("65 bytes into register 1", ERANGE, kIp, {Load(1, 65)}));
  cases.push_back(RuleCase("48 bytes into register 2", 0, kIp, {Load(2, 48)}));
  cases.push_back(RuleCase("49 bytes into register 2", ERANGE, kIp, {Load(2, 49)}));
  cases.push_back(RuleCase("16 bytes into register 21", ERANGE, kIp, {Fill(21)}));
  cases.push_back(RuleCase("never stored", ENODATA, kIp, {Cmp(1, 0, "abcd")}));
  cases.push_back(RuleCase("4 bytes stored, 8 read", ENODATA, kIp, {Load(1, 4), Cmp(1, 0, "abcdabcd")}));
  cases.push_back(RuleCase("5 bytes stored, 8 read", 0, kIp, {Load(1, 5), Cmp(1, 0, "abcdabcd")}));
  cases.push_back(RuleCase("stored after it is read", ENODATA, kIp, {Cmp(9, 0, "abcd"), Load(9, 4)}));
}

void AddVerdictCases(std::vector<Case>& cases) {
  const Message base = ChainMessage(kIp, {Str(kChainName, "b"), Nest(kChainHook, {U32(1, 1), U32(2, 0)})});
  const Message other = ChainMessage(kIp, {Str(kChainName, "d")});
  for (const int code : {0, 1, -1, -2, -5}) {
    cases.push_back(RuleCase("verdict " + std::to_string(code), 0, kIp, {Give(code)}));
    cases.push_back(RuleCase("verdict with a chain " + std::to_string(code), 0, kIp, {Give(code, "nowhere")}));
  }
  for (const int code : {2, 3, 4, 5, -6, 0x8000, 0x10003, -3, -4}) {
    cases.push_back(RuleCase("verdict " + std::to_string(code), EINVAL, kIp, {Give(code)}));
  }
  for (const int code : {-3, -4}) {
    const std::string name = code == -3 ? "jump" : "goto";
    cases.push_back(RuleCase(name + " to a chain", 0, kIp, {Give(code, "d")}, {other}));
    cases.push_back(RuleCase(name + " to a missing chain", ENOENT, kIp, {Give(code, "nowhere")}));
    cases.push_back(RuleCase(name + " to a base chain", EOPNOTSUPP, kIp, {Give(code, "b")}, {base}));
  }
  cases.push_back(RuleCase("verdict without code", EINVAL, kIp,
                           {Expr("immediate", {U32(1, 0), Nest(2, {Nest(kDataVerdict, {})})})}));
  const std::string by_id = Nest(2, {Nest(kDataVerdict, {U32(kVerdictCode, 0xfffffffd), U32(kVerdictChainId, 9)})});
  cases.push_back(RuleCase("jump by chain id", 0, kIp, {Expr("immediate", {U32(1, 0), by_id})},
                           {ChainMessage(kIp, {U32(kChainId, 9), U32(kChainFlags, 4)})}));
  cases.push_back(RuleCase("jump by the id of no chain", ENOENT, kIp, {Expr("immediate", {U32(1, 0), by_id})}));
}

void AddRuleCases(std::vector<Case>& cases) {
  const std::string notrack = Expr("notrack", {});
  const std::string wide = Cmp(1, 0, Bytes(16));
  cases.push_back(RuleCase("no expressions", 0, kIp, {}));
  cases.push_back({"no list", {}, {kNewRule, 0xc00, kIp, Str(kRuleTable, "t") + Str(kRuleChain, "c")}, 0});
  cases.push_back({"missing chain", {}, {kNewRule, 0xc00, kIp, Str(kRuleTable, "t") + Str(kRuleChain, "z")}, ENOENT});
  cases.push_back(RuleCase("list item of number 2", EINVAL, kIp, {Nest(2, {Str(1, "counter")})}));
  cases.push_back(RuleCase("expression without name", EINVAL, kIp, {Nest(1, {Nest(2, {})})}));
  cases.push_back(RuleCase("expression without data", 0, kIp, {Nest(1, {Str(1, "counter")})}));
  cases.push_back(RuleCase("name without its zero", 0, kIp, {Nest(1, {Attr(1, "counter"), Nest(2, {})})}));
  cases.push_back(RuleCase("unknown expression", ENOENT, kIp, {Expr("nonsense", {})}));
  cases.push_back(RuleCase("name of 42 bytes", ENOENT, kIp, {Expr(Bytes(42, 'x'), {})}));
  cases.push_back(RuleCase("name of 43 bytes", ERANGE, kIp, {Expr(Bytes(43, 'x'), {})}));
  cases.push_back(RuleCase("128 expressions", 0, kIp, {Repeat(notrack, 128)}));
  cases.push_back(RuleCase("129 expressions", EINVAL, kIp, {Repeat(notrack, 129)}));
  cases.push_back(RuleCase("80 wide compares", 0, kIp, {Fill(), Repeat(wide, 80)}));
  cases.push_back(RuleCase("90 wide compares", EFBIG, kIp, {Fill(), Repeat(wide, 90)}));
  // 32 + 84 * 48 = 4064 bytes, and 3 or 4 of 8.
  cases.push_back(RuleCase("4088 bytes", 0, kIp, {Fill(), Repeat(wide, 84), Repeat(notrack, 3)}));
  cases.push_back(RuleCase("4096 bytes", EFBIG, kIp, {Fill(), Repeat(wide, 84), Repeat(notrack, 4)}));
  cases.push_back(RuleCase("a parse error wins over an earlier check", EINVAL, kIp, {Cmp(1, 0, "a"), Cmp(1, 9, "a")}));
  cases.push_back(RuleCase("the budget wins over an earlier check", EFBIG, kIp, {Repeat(wide, 90)}));
  cases.push_back(RuleCase("the first check wins", ENODATA, kIp, {Cmp(1, 0, "a"), Fill(), Range(2, "a", "a")}));
  for (const size_t size : {256U, 257U}) {
    Message rule = RuleMessage(kIp, {});
    rule.body += Attr(kRuleUserdata, Bytes(size));
    cases.push_back({"user data of " + std::to_string(size), {}, rule, size == 256 ? 0 : ERANGE});
  }
  Message extra = RuleMessage(kIp, {Fill()});
  extra.body += U32(40, 7);
  cases.push_back({"unknown attribute of the message", {}, extra, 0});
  cases.push_back(RuleCase("truncated tail in the list", 0, kIp, {Fill() + std::string("\x20\0\1\0", 4)}));
}

void AddImmediateAndCmpCases(std::vector<Case>& cases) {
  cases.push_back(RuleCase("immediate without data", EINVAL, kIp, {Expr("immediate", {U32(1, 1)})}));
  cases.push_back(RuleCase("immediate without register", EINVAL, kIp, {Expr("immediate", {Value(2, "a")})}));
  cases.push_back(RuleCase("immediate of 0 bytes", EINVAL, kIp, {Imm(1, "")}));
  cases.push_back(
      RuleCase("immediate with an empty data nest", EINVAL, kIp, {Expr("immediate", {U32(1, 1), Nest(2, {})})}));
  cases.push_back(RuleCase("immediate of 1 byte", 0, kIp, {Imm(1, "a")}));
  cases.push_back(RuleCase("immediate of 17 bytes", EOVERFLOW, kIp, {Imm(1, Bytes(17))}));
  cases.push_back(RuleCase("register number of 2 bytes", ERANGE, kIp, {Expr("immediate", {U16(1, 1), Value(2, "a")})}));
  cases.push_back(
      RuleCase("register number of 8 bytes", 0, kIp, {Expr("immediate", {U64(1, 1ULL << 32), Value(2, "a")})}));
  for (uint32_t op = 0; op <= 5; ++op) {
    cases.push_back(RuleCase("cmp op " + std::to_string(op), 0, kIp, {Fill(), Cmp(1, op, "abcde")}));
  }
  cases.push_back(RuleCase("cmp op 6", EINVAL, kIp, {Fill(), Cmp(1, 6, "a")}));
  cases.push_back(RuleCase("cmp op 256", EINVAL, kIp, {Fill(), Cmp(1, 256, "a")}));
  cases.push_back(RuleCase("cmp of 0 bytes", EINVAL, kIp, {Fill(), Cmp(1, 0, "")}));
  cases.push_back(RuleCase("cmp of 16 bytes", 0, kIp, {Fill(), Cmp(1, 0, Bytes(16))}));
  cases.push_back(RuleCase("cmp of 17 bytes", EOVERFLOW, kIp, {FillAll(), Cmp(1, 0, Bytes(17))}));
  cases.push_back(
      RuleCase("cmp with a verdict", EINVAL, kIp, {Fill(), Expr("cmp", {U32(1, 1), U32(2, 0), Verdict(3, 1)})}));
  cases.push_back(RuleCase("cmp without data", EINVAL, kIp, {Fill(), Expr("cmp", {U32(1, 1), U32(2, 0)})}));
  cases.push_back(RuleCase("range", 0, kIp, {Fill(), Range(0, "ab", "cd"), Range(1, "ab", "cd")}));
  cases.push_back(RuleCase("range from above to", 0, kIp, {Fill(), Range(0, "cd", "ab")}));
  cases.push_back(RuleCase("range op 2", EINVAL, kIp, {Fill(), Range(2, "ab", "cd")}));
  cases.push_back(RuleCase("range op 256", ERANGE, kIp, {Fill(), Range(256, "ab", "cd")}));
  cases.push_back(RuleCase("range of unequal lengths", EINVAL, kIp, {Fill(), Range(0, "ab", "cde")}));
  cases.push_back(RuleCase("range of 17 bytes", EOVERFLOW, kIp, {FillAll(), Range(0, Bytes(17), Bytes(17))}));
  cases.push_back(
      RuleCase("range without to", EINVAL, kIp, {Fill(), Expr("range", {U32(1, 1), U32(2, 0), Value(3, "a")})}));
}

void AddBitwiseCases(std::vector<Case>& cases) {
  const auto add = [&cases](const char* name, int error, const std::string& expression) {
    cases.push_back(RuleCase(name, error, kIp, {FillAll(), expression}));
  };
  const std::string mask = Value(4, "abcd"), xor_bits = Value(5, "abcd"), data = Value(7, "abcd");
  add("mask-xor", 0, Bitwise(1, 2, 4, {mask, xor_bits}));
  add("mask-xor by op 0", 0, Bitwise(1, 2, 4, {mask, xor_bits, U32(6, 0)}));
  add("mask-xor of 3 bytes", 0, Bitwise(1, 2, 3, {Value(4, "abc"), Value(5, "abc")}));
  add("mask-xor of 16 bytes", 0, Bitwise(1, 2, 16, {Value(4, Bytes(16)), Value(5, Bytes(16))}));
  add("mask-xor of 17 bytes", EOVERFLOW, Bitwise(1, 3, 17, {Value(4, Bytes(17)), Value(5, Bytes(17))}));
  add("mask-xor of 17 bytes with 16", EINVAL, Bitwise(1, 3, 17, {Value(4, Bytes(16)), Value(5, Bytes(16))}));
  add("bitwise without len", EINVAL, Expr("bitwise", {U32(1, 1), U32(2, 2), mask, xor_bits}));
  add("bitwise of 0 bytes", EINVAL, Bitwise(1, 2, 0, {mask, xor_bits}));
  add("bitwise len 65", ERANGE, Bitwise(1, 1, 65, {U32(6, 1), data}));
  add("bitwise len 256", ERANGE, Bitwise(1, 1, 256, {U32(6, 1), data}));
  add("mask without xor", EINVAL, Bitwise(1, 2, 4, {mask}));
  add("xor without mask", EINVAL, Bitwise(1, 2, 4, {xor_bits}));
  add("mask of another length", EINVAL, Bitwise(1, 2, 4, {Value(4, "abc"), xor_bits}));
  add("xor of another length", EINVAL, Bitwise(1, 2, 4, {mask, Value(5, "abc")}));
  add("mask-xor with data", EINVAL, Bitwise(1, 2, 4, {mask, xor_bits, data}));
  add("mask-xor with sreg2", EINVAL, Bitwise(1, 2, 4, {mask, xor_bits, U32(8, 1)}));
  for (const char bits : {'\0', '\x20', '\x1f', '\1'}) {
    const std::string count(std::string(1, bits) + std::string(3, '\0'));
    const bool good = bits > 0 && bits < 32;
    cases.push_back(RuleCase("shift by " + std::to_string(bits), good ? 0 : EINVAL, kIp,
                             {FillAll(), Bitwise(1, 2, 4, {U32(6, 1), Value(7, count)})}));
  }
  add("shift to the right over all registers", 0, Bitwise(1, 1, 64, {U32(6, 2), Value(7, kShift)}));
  add("shift count of 2 bytes", EINVAL, Bitwise(1, 2, 4, {U32(6, 1), Value(7, kShift.substr(0, 2))}));
  add("shift without data", EINVAL, Bitwise(1, 2, 4, {U32(6, 1)}));
  add("shift with sreg2", EINVAL, Bitwise(1, 2, 4, {U32(6, 1), Value(7, kShift), U32(8, 1)}));
  add("shift with mask", EINVAL, Bitwise(1, 2, 4, {U32(6, 1), Value(7, kShift), mask}));
  add("and with data", 0, Bitwise(1, 2, 4, {U32(6, 3), data}));
  add("or with data of 16 bytes", 0, Bitwise(1, 2, 16, {U32(6, 4), Value(7, Bytes(16))}));
  add("xor with data of 2 bytes", 0, Bitwise(1, 2, 2, {U32(6, 5), Value(7, "ab")}));
  add("xor with data of 17 bytes", EOVERFLOW, Bitwise(1, 1, 17, {U32(6, 5), Value(7, Bytes(17))}));
  add("or with sreg2", 0, Bitwise(1, 3, 8, {U32(6, 4), U32(8, 2)}));
  add("or of 64 bytes with itself", 0, Bitwise(1, 1, 64, {U32(6, 4), U32(8, 1)}));
  add("and with both", EINVAL, Bitwise(1, 2, 4, {U32(6, 3), data, U32(8, 1)}));
  add("and with neither", EINVAL, Bitwise(1, 2, 4, {U32(6, 3)}));
  add("and with data of another length", EINVAL, Bitwise(1, 2, 8, {U32(6, 3), data}));
  add("and with mask", EINVAL, Bitwise(1, 2, 4, {U32(6, 3), data, mask}));
  add("bitwise op 6", EOPNOTSUPP, Bitwise(1, 2, 4, {U32(6, 6), data}));
  add("bitwise op 256", ERANGE, Bitwise(1, 2, 4, {U32(6, 256), data}));
  add("overlap of 8 to 9", EINVAL, Bitwise(8, 9, 8, {Value(4, Bytes(8)), Value(5, Bytes(8))}));
  add("overlap of 9 to 8", EINVAL, Bitwise(9, 8, 8, {Value(4, Bytes(8)), Value(5, Bytes(8))}));
  add("neighbours 8 and 9", 0, Bitwise(8, 9, 4, {mask, xor_bits}));
  add("in place by both numbers", 0, Bitwise(8, 1, 8, {Value(4, Bytes(8)), Value(5, Bytes(8))}));
  add("overlap of sreg2", EINVAL, Bitwise(1, 2, 8, {U32(6, 4), U32(8, 13)}));
  add("sreg2 is dreg", 0, Bitwise(1, 2, 8, {U32(6, 4), U32(8, 2)}));
}

void AddByteorderCases(std::vector<Case>& cases) {
  const auto add = [&cases](const char* name, int error, const std::string& expression) {
    cases.push_back(RuleCase(name, error, kIp, {FillAll(), expression}));
  };
  add("ntoh 2", 0, Byteorder(1, 1, 0, 2, 2));
  add("hton 4", 0, Byteorder(1, 2, 1, 8, 4));
  add("hton 8 of 6 bytes", 0, Byteorder(1, 2, 1, 6, 8));
  add("byteorder size 1", EINVAL, Byteorder(1, 1, 0, 2, 1));
  add("byteorder size 16", EINVAL, Byteorder(1, 1, 0, 16, 16));
  add("byteorder size 256", ERANGE, Byteorder(1, 1, 0, 16, 256));
  add("byteorder op 2", EINVAL, Byteorder(1, 1, 2, 2, 2));
  add("byteorder len 0", EINVAL, Byteorder(1, 1, 0, 0, 2));
  add("byteorder len 64", 0, Byteorder(1, 1, 0, 64, 2));
  add("byteorder len 65", ERANGE, Byteorder(1, 1, 0, 65, 2));
  add("byteorder overlap", EINVAL, Byteorder(8, 9, 0, 8, 8));
  add("byteorder without size", EINVAL, Expr("byteorder", {U32(1, 1), U32(2, 1), U32(3, 0), U32(4, 2)}));
}

}  // namespace

std::vector<Case> CompareCases() {
  std::vector<Case> cases;
  AddRegisterCases(cases);
  AddVerdictCases(cases);
  AddRuleCases(cases);
  AddImmediateAndCmpCases(cases);
  AddBitwiseCases(cases);
  AddByteorderCases(cases);
  return cases;
}

}  // namespace nftjit::netlink
