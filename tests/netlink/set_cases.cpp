// Set declarations, and the expressions that name sets and objects: validation 5 and 6.
#include <cerrno>

#include "lib/nft/ruleset.h"
#include "tests/netlink/messages.h"

namespace nftjit::netlink {
namespace {

constexpr uint32_t kVerdicts = nft::kDataTypeVerdict;

std::string SetFlags(uint32_t flags) { return U32(kSetFlags, flags); }
std::string Key(uint32_t length) { return U32(kSetKeyType, 7) + U32(kSetKeyLen, length); }
std::string Data(uint32_t type, uint32_t length) { return U32(kSetDataType, type) + U32(kSetDataLen, length); }
std::string Size(uint32_t size) { return Nest(kSetDesc, {U32(kSetDescSize, size)}); }
std::string Fields(const std::vector<uint32_t>& lengths) {
  std::string list;
  for (const uint32_t length : lengths) list += Nest(kListElem, {U32(kSetFieldLen, length)});
  return Nest(kSetDesc, {Attr(kSetDescConcat, list)});
}
std::string Declared(std::string_view name, Parts data = {}) {
  return Nest(kSetExprAttribute, {Str(kExprName, name), Nest(kExprData, data)});
}

void AddFlagCases(std::vector<Case>& cases) {
  // All combinations with the attributes that their flags call for. Anonymous ones want a rule in the same batch and
  // are tried in tests/control.
  for (uint32_t flags = 0; flags < 0x200; flags += 2) {
    const auto has = [flags](uint32_t pair) { return (flags & pair) == pair; };
    const bool refused = has(nft::kSetMap | nft::kSetObject) || has(nft::kSetEval | nft::kSetObject) ||
                         has(nft::kSetConstant | nft::kSetTimeout) || has(nft::kSetInterval | nft::kSetEval);
    std::string rest = SetFlags(flags) + Key(8);
    if (has(nft::kSetMap)) rest += Data(5, 4);
    if (has(nft::kSetObject)) rest += U32(kSetObjType, 1);
    if (has(nft::kSetConcat)) rest += Fields({4, 4});
    cases.push_back({"set flags " + std::to_string(flags), {}, SetMessage(kIp, "s", {rest}), refused ? EOPNOTSUPP : 0});
  }
}

void AddDeclarationCases(std::vector<Case>& cases) {
  const auto add = [&cases](const char* name, int error, Parts attributes) {
    cases.push_back({name, {}, SetMessage(kIp, "s", attributes), error});
  };
  add("set flag 0x200", EOPNOTSUPP, {Key(4), SetFlags(0x200)});
  add("set policy 1", 0, {Key(4), U32(kSetPolicy, 1)});
  add("set policy 2", EOPNOTSUPP, {Key(4), U32(kSetPolicy, 2)});
  add("set without flags", 0, {Key(4)});
  add("set without key length", EINVAL, {});
  add("set key length 0", EINVAL, {Key(0)});
  add("set key length 64", 0, {Key(64)});
  add("set key length 65", EINVAL, {Key(65)});
  add("set key type reserved", EINVAL, {U32(kSetKeyType, 0xffffff01), U32(kSetKeyLen, 4)});
  add("map without data type", EINVAL, {Key(4), SetFlags(8)});
  add("map without data length", EINVAL, {Key(4), SetFlags(8), U32(kSetDataType, 5)});
  add("map data length 0", EINVAL, {Key(4), SetFlags(8), Data(5, 0)});
  add("map data length 64", 0, {Key(4), SetFlags(8), Data(5, 64)});
  add("map data length 65", EINVAL, {Key(4), SetFlags(8), Data(5, 65)});
  add("verdict map", 0, {Key(4), SetFlags(8), U32(kSetDataType, kVerdicts)});
  add("verdict map with a length", 0, {Key(4), SetFlags(8), Data(kVerdicts, 99)});
  add("map data type reserved", EINVAL, {Key(4), SetFlags(8), Data(0xffffff01, 4)});
  add("data type without map", EINVAL, {Key(4), Data(5, 4)});
  add("data length without map", 0, {Key(4), U32(kSetDataLen, 4)});
  add("object map", 0, {Key(4), SetFlags(0x40), U32(kSetObjType, 10)});
  add("object map without type", EINVAL, {Key(4), SetFlags(0x40)});
  add("object type without flag", EINVAL, {Key(4), U32(kSetObjType, 1)});
  add("object type 0", EOPNOTSUPP, {Key(4), SetFlags(0x40), U32(kSetObjType, 0)});
  add("object type 11", EOPNOTSUPP, {Key(4), SetFlags(0x40), U32(kSetObjType, 11)});
  add("set timeout", 0, {Key(4), SetFlags(0x10), U64(kSetTimeoutMs, 8000), U32(kSetGcInterval, 1000)});
  add("set timeout without flag", EINVAL, {Key(4), U64(kSetTimeoutMs, 8000)});
  add("set gc interval without flag", EINVAL, {Key(4), U32(kSetGcInterval, 1000)});
  add("set timeout beyond time", ERANGE, {Key(4), SetFlags(0x10), U64(kSetTimeoutMs, uint64_t{1} << 63)});
  add("set size", 0, {Key(4), Size(10)});
  add("set user data of 256", 0, {Key(4), Attr(kSetUserdata, Bytes(256))});
  add("set user data of 257", ERANGE, {Key(4), Attr(kSetUserdata, Bytes(257))});
  add("concat without description", EINVAL, {Key(8), SetFlags(0x80)});
  add("concat of one field", EINVAL, {Key(4), SetFlags(0x80), Fields({4})});
  add("two fields without concat", EINVAL, {Key(8), Fields({4, 4})});
  add("one field without concat", 0, {Key(4), Fields({4})});
  add("fields 4+2 in 8", 0, {Key(8), SetFlags(0x80), Fields({4, 2})});
  add("fields 4+2 in 6", EINVAL, {Key(6), SetFlags(0x80), Fields({4, 2})});
  add("field of 0", EINVAL, {Key(4), SetFlags(0x80), Fields({4, 0})});
  add("field of 65", EINVAL, {Key(64), SetFlags(0x80), Fields({65, 4})});
  add("field of 256", EINVAL, {Key(64), SetFlags(0x80), Fields({256, 4})});
  add("field without length", EINVAL, {Key(4), SetFlags(0x80), Nest(kSetDesc, {Nest(kSetDescConcat, {Nest(1, {})})})});
  add("16 fields", 0, {Key(64), SetFlags(0x80), Fields(std::vector<uint32_t>(16, 4))});
  add("17 fields", E2BIG, {Key(64), SetFlags(0x80), Fields(std::vector<uint32_t>(17, 4))});
  add("range field of 16", 0, {Key(20), SetFlags(0x84), Fields({16, 4})});
  add("range field of 17", EOPNOTSUPP, {Key(24), SetFlags(0x84), Fields({17, 4})});
  const std::string counter = Expr("counter", {}), last = Expr("last", {});
  add("set with an expression", 0, {Key(4), Declared("counter")});
  add("set with a non-stateful expression", EOPNOTSUPP, {Key(4), Declared("notrack")});
  add("set with an unknown expression", ENOENT, {Key(4), Declared("nonsense")});
  add("set with two expressions", 0, {Key(4), SetFlags(0x100), Nest(kSetExpressions, {counter, last})});
  add("set with a list of one", 0, {Key(4), SetFlags(0x100), Nest(kSetExpressions, {counter})});
  add("set with an empty list", 0, {Key(4), SetFlags(0x100), Nest(kSetExpressions, {})});
  add("set with three expressions", E2BIG, {Key(4), SetFlags(0x100), Nest(kSetExpressions, {counter, last, counter})});
  add("set with a non-stateful expression in a list", EOPNOTSUPP,
      {Key(4), SetFlags(0x100), Nest(kSetExpressions, {counter, Expr("notrack", {})})});
  add("expressions without flag", EINVAL, {Key(4), Nest(kSetExpressions, {counter, last})});
  add("set with connlimit", 0, {Key(4), Declared("connlimit", {U32(1, 1)})});
  add("set of a size with connlimit", EOPNOTSUPP, {Key(4), Size(9), Declared("connlimit", {U32(1, 1)})});
  add("timeout set with connlimit", EOPNOTSUPP, {Key(4), SetFlags(0x30), Declared("connlimit", {U32(1, 1)})});
  const auto raw = [&cases](const char* name, const std::string& attributes) {
    cases.push_back({name, {}, {kNewSet, 0x400, kIp, Str(kSetTable, "t") + attributes}, EINVAL});
  };
  raw("set without name", U32(kSetId, 7) + Key(4));
  raw("set without id", Str(kSetName, "s") + Key(4));
  for (const size_t length : {size_t{0}, size_t{255}, size_t{256}}) {
    cases.push_back({"set name of " + std::to_string(length),
                     {},
                     SetMessage(kIp, std::string(length, 's'), {Key(4)}),
                     length == 256 ? ERANGE : 0});
  }
  for (const char* name : {"a%s", "a%d%d", "a%", "a%dx%"}) {
    cases.push_back({std::string("anonymous set ") + name, {}, SetMessage(kIp, name, {Key(4), SetFlags(1)}), EINVAL});
  }
}

// A set of the kind, for the expressions below.
Message Kind(Parts attributes) { return SetMessage(kIp, "s", attributes); }

void AddLookupCases(std::vector<Case>& cases) {
  const auto add = [&cases](const char* name, int error, const Message& set, Parts attributes) {
    std::string all;
    for (const std::string& part : attributes) all += part;
    cases.push_back(RuleCase(name, error, kIp, {Fill(), Expr("lookup", {all})}, {set}));
  };
  const Message set = Kind({Key(4)}), map = Kind({Key(4), SetFlags(8), Data(5, 6)}),
                verdicts = Kind({Key(4), SetFlags(8), U32(kSetDataType, kVerdicts)});
  const std::string name = Str(1, "s"), sreg = U32(2, 1);
  add("lookup", 0, set, {name, sreg});
  add("lookup inverted", 0, set, {name, sreg, U32(5, 1)});
  add("lookup flags 2", EINVAL, set, {name, sreg, U32(5, 2)});
  add("lookup without set", EINVAL, set, {sreg, U32(4, 7)});
  add("lookup without sreg", EINVAL, set, {name});
  add("lookup of a missing set", ENOENT, set, {Str(1, "z"), sreg});
  add("lookup by id under another name", 0, set, {Str(1, "z"), sreg, U32(4, 7)});
  add("lookup of a key never stored", ENODATA, Kind({Key(32)}), {name, sreg});
  add("lookup with dreg in a set", EINVAL, set, {name, sreg, U32(3, 2)});
  add("map lookup", 0, map, {name, sreg, U32(3, 2)});
  add("map lookup without dreg", 0, map, {name, sreg});
  add("map lookup inverted", 0, map, {name, sreg, U32(5, 1)});
  add("map lookup inverted with dreg", EINVAL, map, {name, sreg, U32(3, 2), U32(5, 1)});
  add("map lookup into register 0", EINVAL, map, {name, sreg, U32(3, 0)});
  add("map lookup past the registers", ERANGE, map, {name, sreg, U32(3, 23)});
  add("verdict map lookup", 0, verdicts, {name, sreg, U32(3, 0)});
  add("verdict map lookup into data", EINVAL, verdicts, {name, sreg, U32(3, 2)});
  add("object map lookup", 0, Kind({Key(4), SetFlags(0x40), U32(kSetObjType, 1)}), {name, sreg});
}

void AddDynsetCases(std::vector<Case>& cases) {
  const auto add = [&cases](const char* name, int error, const Message& set, Parts attributes) {
    std::string all;
    for (const std::string& part : attributes) all += part;
    cases.push_back(RuleCase(name, error, kIp, {Fill(), Expr("dynset", {all})}, {set}));
  };
  const Message set = Kind({Key(4), SetFlags(0x20)}), map = Kind({Key(4), SetFlags(0x28), Data(5, 4)}),
                timed = Kind({Key(4), SetFlags(0x30)});
  const std::string name = Str(1, "s"), op = U32(3, 0), key = U32(4, 1);
  const std::string counter = Expr("counter", {}), last = Expr("last", {});
  const std::string single = Nest(7, {Str(1, "counter"), Nest(2, {})});
  for (uint32_t number = 0; number <= 2; ++number) add("dynset op", 0, set, {name, U32(3, number), key});
  add("dynset op 3", EOPNOTSUPP, set, {name, U32(3, 3), key});
  add("dynset op 256", ERANGE, set, {name, U32(3, 256), key});
  add("dynset without key", EINVAL, set, {name, op});
  add("dynset of a missing set", ENOENT, set, {Str(1, "z"), op, key});
  add("dynset inverted", 0, set, {name, op, key, U32(9, 1)});
  add("dynset flags 4", EOPNOTSUPP, set, {name, op, key, U32(9, 4)});
  add("dynset of a map", 0, map, {name, op, key, U32(5, 1)});
  add("dynset of a map without data", EINVAL, map, {name, op, key});
  add("dynset with data in a set", EOPNOTSUPP, set, {name, op, key, U32(5, 1)});
  add("dynset of a verdict map", EOPNOTSUPP, Kind({Key(4), SetFlags(0x28), U32(kSetDataType, kVerdicts)}),
      {name, op, key, U32(5, 1)});
  add("dynset timeout", 0, timed, {name, op, key, U64(6, 8000)});
  add("dynset timeout without flag", EOPNOTSUPP, set, {name, op, key, U64(6, 8000)});
  add("dynset of a flagless set", 0, Kind({Key(4)}), {name, op, key});
  add("dynset of a flagless map", 0, Kind({Key(2), SetFlags(8), Data(5, 4)}), {name, op, key, U32(5, 1)});
  add("dynset of a set of a size", EOPNOTSUPP, Kind({Key(4), Size(10)}), {name, op, key});
  add("dynset of a bitmap", EOPNOTSUPP, Kind({Key(2)}), {name, op, key});
  add("dynset of intervals", EOPNOTSUPP, Kind({Key(4), SetFlags(4)}), {name, op, key});
  add("dynset of ranges", EOPNOTSUPP, Kind({Key(8), SetFlags(0x84), Fields({4, 4})}), {name, op, key});
  add("dynset of an object map", EOPNOTSUPP, Kind({Key(4), SetFlags(0x40), U32(kSetObjType, 1)}), {name, op, key});
  add("dynset of a constant set", EBUSY, Kind({Key(4), SetFlags(0x22)}), {name, op, key});
  add("dynset with an expression", 0, set, {name, op, key, single});
  add("dynset with an expression, no flag", EINVAL, Kind({Key(4)}), {name, op, key, single});
  add("dynset with a non-stateful expression", EOPNOTSUPP, set,
      {name, op, key, Nest(7, {Str(1, "notrack"), Nest(2, {})})});
  add("dynset with a non-stateful expression in a list", EOPNOTSUPP, set,
      {name, op, key, U32(9, 2), Nest(10, {counter, Expr("notrack", {})})});
  add("dynset with two expressions", 0, set, {name, op, key, U32(9, 2), Nest(10, {counter, last})});
  add("dynset with a list of one", 0, set, {name, op, key, U32(9, 2), Nest(10, {counter})});
  add("dynset with two expressions, no flag", EINVAL, set, {name, op, key, Nest(10, {counter, last})});
  add("dynset with three expressions", E2BIG, set, {name, op, key, U32(9, 2), Nest(10, {counter, last, last})});
  const Message declares = Kind({Key(4), SetFlags(0x20), Declared("counter")});
  const Message declares_two = Kind({Key(4), SetFlags(0x120), Nest(kSetExpressions, {counter, last})});
  add("dynset of a declared expression", 0, declares, {name, op, key});
  add("dynset repeats the declared expression", 0, declares, {name, op, key, single});
  add("dynset with another than declared", EOPNOTSUPP, declares,
      {name, op, key, Nest(7, {Str(1, "last"), Nest(2, {})})});
  add("dynset with one of two declared", EOPNOTSUPP, declares_two, {name, op, key, single});
  add("dynset lists one of two declared", EOPNOTSUPP, declares_two, {name, op, key, U32(9, 2), Nest(10, {counter})});
  add("dynset lists more than declared", EINVAL, declares, {name, op, key, U32(9, 2), Nest(10, {counter, last})});
  add("dynset with connlimit", 0, set, {name, op, key, Nest(7, {Str(1, "connlimit"), Nest(2, {U32(1, 1)})})});
  add("dynset with connlimit and timeouts", EOPNOTSUPP, timed,
      {name, op, key, Nest(7, {Str(1, "connlimit"), Nest(2, {U32(1, 1)})})});
}

void AddObjrefCases(std::vector<Case>& cases) {
  const Message counter = ObjectMessage(kIp, "o", 1, {});
  const Message map = Kind({Key(4), SetFlags(0x40), U32(kSetObjType, 1)});
  const auto add = [&cases](const char* name, int error, std::vector<Message> setup, Parts attributes) {
    std::string all;
    for (const std::string& part : attributes) all += part;
    cases.push_back(RuleCase(name, error, kIp, {Fill(), Expr("objref", {all})}, std::move(setup)));
  };
  add("objref", 0, {counter}, {U32(1, 1), Str(2, "o")});
  add("objref of another type", ENOENT, {counter}, {U32(1, 2), Str(2, "o")});
  add("objref of a missing object", ENOENT, {}, {U32(1, 1), Str(2, "o")});
  add("objref of type 257", ENOENT, {counter}, {U32(1, 257), Str(2, "o")});
  add("objref without type", EOPNOTSUPP, {counter}, {Str(2, "o")});
  add("objref of nothing", EOPNOTSUPP, {}, {});
  add("objref map", 0, {map}, {U32(3, 1), Str(4, "s")});
  add("objref map by id", 0, {map}, {U32(3, 1), U32(5, 7)});
  add("objref of a missing map", ENOENT, {}, {U32(3, 1), Str(4, "s")});
  add("objref of another set", EINVAL, {Kind({Key(4)})}, {U32(3, 1), Str(4, "s")});
  add("objref map without register", EOPNOTSUPP, {map}, {Str(4, "s")});
}

}  // namespace

std::vector<Case> SetCases() {
  std::vector<Case> cases;
  AddFlagCases(cases);
  AddDeclarationCases(cases);
  AddLookupCases(cases);
  AddDynsetCases(cases);
  AddObjrefCases(cases);
  return cases;
}

}  // namespace nftjit::netlink
