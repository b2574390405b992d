#include "tests/netlink/messages.h"

#include <cstring>

#include "lib/netlink/attributes.h"

namespace nftjit::netlink {
namespace {

constexpr uint16_t kCreateFlag = 0x400, kAppendFlag = 0x800;

std::string Join(Parts parts) {
  std::string all;
  for (const std::string& part : parts) all += part;
  return all;
}

template <class Write>
std::string Written(Write&& write) {
  std::string out;
  AttributeWriter writer(&out);
  write(writer);
  return out;
}

}  // namespace

std::string Attr(uint16_t type, std::string_view payload) {
  return Written([&](AttributeWriter& out) { out.Raw(type, payload); });
}
std::string U8(uint16_t type, uint8_t value) {
  return Written([&](AttributeWriter& out) { out.U8(type, value); });
}
std::string U16(uint16_t type, uint16_t value) {
  return Written([&](AttributeWriter& out) { out.U16(type, value); });
}
std::string U32(uint16_t type, uint32_t value) {
  return Written([&](AttributeWriter& out) { out.U32(type, value); });
}
std::string U64(uint16_t type, uint64_t value) {
  return Written([&](AttributeWriter& out) { out.U64(type, value); });
}
std::string Str(uint16_t type, std::string_view text) {
  return Written([&](AttributeWriter& out) { out.String(type, text); });
}
std::string Nest(uint16_t type, Parts parts) { return Attr(type, Join(parts)); }
std::string Value(uint16_t type, std::string_view bytes) { return Nest(type, {Attr(kDataValue, bytes)}); }
std::string Verdict(uint16_t type, int32_t code, std::string_view chain) {
  const std::string target = chain.empty() ? std::string() : Str(kVerdictChain, chain);
  return Nest(type, {Nest(kDataVerdict, {U32(kVerdictCode, static_cast<uint32_t>(code)), target})});
}
std::string Expr(std::string_view name, Parts data) {
  return Nest(kListElem, {Str(kExprName, name), Nest(kExprData, data)});
}
std::string Element(Parts attributes) { return Nest(kListElem, attributes); }
std::string Bytes(size_t count, char byte) { return std::string(count, byte); }

Message TableMessage(Family family, Parts attributes) {
  return {kNewTable, kCreateFlag, family, Str(kTableName, "t") + Join(attributes)};
}
Message ChainMessage(Family family, Parts attributes) {
  return {kNewChain, kCreateFlag, family, Str(kChainTable, "t") + Join(attributes)};
}
Message RuleMessage(Family family, const std::vector<std::string>& expressions) {
  std::string list;
  for (const std::string& expression : expressions) list += expression;
  return {kNewRule, kCreateFlag | kAppendFlag, family,
          Str(kRuleTable, "t") + Str(kRuleChain, "c") + Attr(kRuleExpressions, list)};
}
Message SetMessage(Family family, std::string_view name, Parts attributes) {
  return {kNewSet, kCreateFlag, family, Str(kSetTable, "t") + Str(kSetName, name) + U32(kSetId, 7) + Join(attributes)};
}
Message ElementsMessage(Family family, std::string_view set, Parts elements) {
  return {kNewSetElem, kCreateFlag, family,
          Str(kElementsTable, "t") + Str(kElementsSet, set) + Nest(kElementsList, elements)};
}
Message ObjectMessage(Family family, std::string_view name, uint32_t type, Parts data) {
  return {kNewObj, kCreateFlag, family,
          Str(kObjectTable, "t") + Str(kObjectName, name) + U32(kObjectTypeNumber, type) + Nest(kObjectData, data)};
}
Message FlowtableMessage(Family family, Parts attributes) {
  return {kNewFlowtable, kCreateFlag, family, Str(kFlowtableTable, "t") + Str(kFlowtableName, "f") + Join(attributes)};
}

Case RuleCase(std::string name, int error, Family family, const std::vector<std::string>& expressions,
              std::vector<Message> setup) {
  return {std::move(name), std::move(setup), RuleMessage(family, expressions), error};
}
std::string ErrorText(int error) { return error == 0 ? "ok" : std::strerror(error); }

void RuleAdder::operator()(const std::string& name, int error, const std::string& expression) const {
  cases.push_back(RuleCase(name + " in " + std::string(nft::Name(family)), error, family, {FillAll(), expression}));
}

std::string Imm(uint32_t reg, std::string_view bytes) { return Expr("immediate", {U32(1, reg), Value(2, bytes)}); }
std::string Fill(uint32_t reg) { return Imm(reg, Bytes(16)); }
std::string FillAll() { return Fill(1) + Fill(2) + Fill(3) + Fill(4); }

std::string ToBytes(const Message& message) {
  std::string bytes(kMessageHeaderSize + kFamilyHeaderSize, '\0');
  bytes += message.body;
  auto* p = reinterpret_cast<uint8_t*>(bytes.data());
  StoreNative(p, static_cast<uint32_t>(bytes.size()));
  StoreNative(p + 4, static_cast<uint16_t>(kNftablesSubsystem << 8 | message.type));
  StoreNative(p + 6, message.flags);
  p[kMessageHeaderSize] = static_cast<uint8_t>(message.family);
  return bytes;
}

std::vector<Case> AllCases() {
  std::vector<Case> all;
  for (auto* cases : {CompareCases, PacketCases, StatementCases, SetCases, ElementCases, ObjectCases, ChainCases}) {
    for (Case& item : cases()) all.push_back(std::move(item));
  }
  return all;
}

}  // namespace nftjit::netlink
