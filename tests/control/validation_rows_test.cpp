// Every row of docs/reference/validation.md has a test: which one is said here, and a row without one fails.
#include <catch2/catch.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/files.h"

namespace {

struct Row {
  std::string section, text;  // "7", and the row's first cell.
};

std::string Trim(const std::string& text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The rows of all tables but for their heads.
std::vector<Row> ReadRows() {
  std::vector<Row> rows;
  std::ifstream file(NFTJIT_SOURCE_DIR "/docs/reference/validation.md");
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) section = line.substr(3, line.find('.') - 3);
    if (!line.starts_with("| ")) continue;
    if (line.starts_with("| --- ")) {
      rows.pop_back();  // What stands above it is the head.
      continue;
    }
    rows.push_back({section, Trim(line.substr(1, line.find('|', 1) - 1))});
  }
  return rows;
}

// The beginning of a row, and where it is tested: a file below tests/ and words in it that the test has to itself.
struct Evidence {
  const char *section, *row, *file, *words;
};

constexpr const char* kTransaction = "control/transaction_test.cpp";
constexpr const char* kTables = "control/tables_and_chains_test.cpp";
constexpr const char* kChains = "netlink/chain_cases.cpp";
constexpr const char* kRules = "control/rules_test.cpp";
constexpr const char* kCompare = "netlink/compare_cases.cpp";
constexpr const char* kHooks = "netlink/validate_test.cpp";
constexpr const char* kPlaces = "netlink/places_test.cpp";
constexpr const char* kPackets = "netlink/packet_cases.cpp";
constexpr const char* kStatements = "netlink/statement_cases.cpp";
constexpr const char* kSets = "netlink/set_cases.cpp";
constexpr const char* kServerSets = "control/sets_and_elements_test.cpp";
constexpr const char* kElements = "netlink/element_cases.cpp";
constexpr const char* kServerObjects = "control/objects_test.cpp";
constexpr const char* kRandom = "control/random_elements_test.cpp";

constexpr Evidence kEvidence[] = {
    {"1", "any message fails", kTransaction,
     "a failed message undoes the batch, and the others are answered all the same"},
    {"1", "a 0 ACK for a message", kTransaction, "std::vector<int>{0, ENOENT, ENOENT, 0}"},
    {"1", "loop, depth or hook violation", kTransaction, "two loops, one flushed between"},
    {"1", "found only at commit", kTransaction,
     "what nothing binds is found at commit, and blamed on the first message"},
    {"1", "ACK flag on BATCH_BEGIN", kTransaction, "BATCH_BEGIN and BATCH_END are acknowledged when asked"},
    {"1", "change message outside a batch", kTransaction, "a change outside a batch is refused"},
    {"1", "BATCH_BEGIN with a res_id", kTransaction, ".resource = 99"},
    {"1", "no BATCH_END", kTransaction, "without BATCH_END messages are answered and nothing is applied"},
    {"1", "GET message or unknown message type", kTransaction, "gets and unknown messages have no place in a batch"},
    {"1", "generation id attribute", kTransaction, ".generation = 77"},
    {"1", "empty batch", kTransaction, "an empty batch is well"},
    {"1", "unknown attribute number", kTransaction, "an unknown attribute"},
    {"1", "integer attribute too short", kTransaction, "an integer too short"},
    {"1", "nest without the nested bit", kTransaction, "a nest need not say that it is one"},
    {"1", "family 0, 4, 12, 255", kTransaction, "families that do not exist"},
    {"1", "GET one missing table", "control/get_test.cpp", "getting what is not there"},
    {"2", "NEWTABLE existing", kTables, "existing, exclusive"},
    {"2", "NEWTABLE without name", kTables, "names of 0, 255 and 256 bytes"},
    {"2", "table flags", kTables, "known flags"},
    {"2", "adding the owner flag", kTables, "owner added later"},
    {"2", "user data 256 / 257", kTables, "user data of 256 and 257 bytes"},
    {"2", "user data of an element", kElements, "user data of 255"},
    {"2", "DELTABLE missing", kTables, "deleting a missing one"},
    {"2", "DELTABLE with contents", kTables, "deleting with contents, not recursively"},
    {"2", "NEWCHAIN in a missing table", kTables, "in a missing table"},
    {"2", "NEWCHAIN without name and id", kTables, "without name and id"},
    {"2", "NEWCHAIN existing", kTables, "existing base, same hook"},
    {"2", "existing chain: other priority", kTables, "regular to base"},
    {"2", "hook nest without hook number", kTables, "hook without number"},
    {"2", "hook without TYPE", kTables, "hook without type"},
    {"2", "TYPE without hook", kTables, "type without hook"},
    {"2", "unknown TYPE", kChains, "unknown type in "},
    {"2", "hook number not allowed", kChains, "\"filter \" + at"},
    {"2", "nat priority", kTables, "nat above and at -200"},
    {"2", "policy other than 0, 1", kTables, "a policy on a regular chain"},
    {"2", "chain flags 8 and above", kChains, "flags offload in netdev"},
    {"2", "chain flag base without hook", kTables, "flag base without hook"},
    {"2", "flag binding on a named chain", kChains, "flags binding with a hook"},
    {"2", "hw offload on a netdev chain", kChains, "flags offload without device"},
    {"2", "binding chain by id", kTables, "two jumps"},
    {"2", "counters nest without packets", kTables, "counters without packets"},
    {"2", "device on an ip", kTables, "a device on an ip chain"},
    {"2", "netdev or inet ingress without device", kChains, "missing device"},
    {"2", "same device twice", kChains, "same device twice"},
    {"2", "item of DEVS", kChains, "list item of number 3"},
    {"2", "DEV (3) and DEVS (4) both", kChains, "\"both\" + in"},
    {"2", "DELCHAIN missing", kTables, "missing, destroyed"},
    {"2", "DELCHAIN with rules", kTables, "with rules, not recursively"},
    {"3", "missing table, chain, or CHAIN_ID", kRules, "missing table"},
    {"3", "no chain attribute", kRules, "no chain"},
    {"3", "no EXPRESSIONS attribute", kRules, "no expressions"},
    {"3", "list element of another type", kCompare, "list item of number 2"},
    {"3", "unknown expression", kRules, "unknown expression"},
    {"3", "128 / 129 expressions", kCompare, "129 expressions"},
    {"3", "80 / 90 16-byte compares", kCompare, "90 wide compares"},
    {"3", "NLM_F_REPLACE without handle", kRules, "replace with unknown handle"},
    {"3", "handle without NLM_F_REPLACE", kRules, "existing handle, exclusive"},
    {"3", "POSITION or POSITION_ID unknown", kRules, "unknown position id"},
    {"3", "DELRULE unknown handle", kRules, "destroying an unknown handle"},
    {"3", "constant verdict 0", kCompare, "verdict with a chain "},
    {"3", "2, 3, 4, 5", kCompare, "verdict without code"},
    {"3", "verdict into a data register", kCompare, "verdict into register 1"},
    {"3", "jump or goto to a missing chain", kRules, "base chain as target"},
    {"3", "cycle not reached", kRules, "a cycle that one reaches"},
    {"3", "15 / 16 chains", kHooks, "16 chains"},
    {"3", "hook, family or chain-type violation", kHooks, "masq not reached"},
    {"3", "same once reached", kRules, "in a dormant table"},
    {"4", "immediate, cmp, range", kPlaces, "{\"immediate, cmp, range\""},
    {"4", "payload base 4", kPlaces, "{\"payload base 4\""},
    {"4", "meta load 0-11", kPlaces, "{\"meta load 0-11\""},
    {"4", "meta load 12", kPlaces, "{\"meta load 12\""},
    {"4", "meta load 25", kPlaces, "{\"meta load 25\""},
    {"4", "meta load 33", kPlaces, "{\"meta load 33\""},
    {"4", "meta set 2", kPlaces, "{\"meta set 2\""},
    {"4", "meta set 19", kPlaces, "{\"meta set 19\""},
    {"4", "meta set of any other key", kPlaces, "{\"meta set of any other key\""},
    {"4", "ct load and set", kPlaces, "{\"ct load and set\""},
    {"4", "rt classid", kPlaces, "{\"rt classid\""},
    {"4", "rt tcpmss", kPlaces, "{\"rt tcpmss\""},
    {"4", "fib result oif", kPlaces, "{\"fib result oif\""},
    {"4", "fib type, no", kPlaces, "{\"fib type, no\""},
    {"4", "fib type with IIF", kPlaces, "{\"fib type with IIF\""},
    {"4", "socket", kPlaces, "{\"socket\""},
    {"4", "tproxy", kPlaces, "{\"tproxy\""},
    {"4", "osf", kPlaces, "{\"osf\""},
    {"4", "xfrm", kPlaces, "{\"xfrm\""},
    {"4", "tunnel", kPlaces, "{\"tunnel\""},
    {"4", "reject", kPlaces, "{\"reject\""},
    {"4", "nat snat", kPlaces, "{\"nat snat\""},
    {"4", "masq / redir", kPlaces, "{\"masq / redir\""},
    {"4", "dup", kPlaces, "{\"dup\""},
    {"4", "fwd", kPlaces, "{\"fwd\""},
    {"4", "synproxy", kPlaces, "{\"synproxy\""},
    {"4", "exthdr ipv4", kPlaces, "{\"exthdr ipv4\""},
    {"4", "exthdr dccp", kPlaces, "{\"exthdr dccp\""},
    {"4", "queue, flow_offload", kPlaces, "{\"queue, flow_offload\""},
    {"4", "xtables `match`", kPlaces, "{\"xtables `match`\""},
    {"4", "xtables `target`", kPlaces, "{\"xtables `target`\""},
    {"5", "immediate", kCompare, "\"immediate"},
    {"5", "cmp", kCompare, "cmp with a verdict"},
    {"5", "range", kCompare, "\"range"},
    {"5", "bitwise", kCompare, "\"bitwise"},
    {"5", "byteorder", kCompare, "\"byteorder"},
    {"5", "payload", kPackets, "\"payload "},
    {"5", "meta", kPackets, "meta with both registers"},
    {"5", "ct", kPackets, "ct set with direction "},
    {"5", "lookup", kSets, "lookup by id under another name"},
    {"5", "dynset", kSets, "dynset of a constant set"},
    {"5", "quota", kStatements, "quota overdrawn"},
    {"5", "limit", kStatements, "limit 1/day burst 2^32-1"},
    {"5", "connlimit", kStatements, "connlimit without count"},
    {"5", "counter", kStatements, "counter too short"},
    {"5", "log", kStatements, "log group and level"},
    {"5", "reject", kStatements, "reject icmpx 4"},
    {"5", "nat", kStatements, "nat without address and port"},
    {"5", "redir, masq", kStatements, "masq with a maximum only"},
    {"5", "numgen", kStatements, "numgen beyond 2^32"},
    {"5", "hash", kStatements, "jhash beyond 2^32"},
    {"5", "exthdr", kPackets, "exthdr present of 2 bytes"},
    {"5", "socket", kPackets, "\"socket "},
    {"5", "rt", kPackets, "\"rt "},
    {"5", "xfrm", kPackets, "\"xfrm "},
    {"5", "osf", kPackets, "\"osf "},
    {"5", "fib", kPackets, "\"fib "},
    {"5", "synproxy", kStatements, "synproxy flags 16"},
    {"5", "inner", kPackets, "\"inner "},
    {"5", "objref", kSets, "objref map without register"},
    {"5", "tproxy", kStatements, "tproxy without address and port"},
    {"6", "flag bits", kSets, "set flag 0x200"},
    {"6", "no name, KEY_LEN", kSets, "set key length 65"},
    {"6", "MAP without DATA_TYPE", kSets, "map without data length"},
    {"6", "DATA_TYPE without MAP", kSets, "data length without map"},
    {"6", "data type 0xffffff01", kSets, "map data type reserved"},
    {"6", "OBJECT without OBJ_TYPE", kSets, "object type 11"},
    {"6", "TIMEOUT or GC_INTERVAL", kSets, "set gc interval without flag"},
    {"6", "CONCAT with no description", kSets, "concat without description"},
    {"6", "sum of fields", kSets, "fields 4+2 in 6"},
    {"6", "16 / 17 fields", kSets, "17 fields"},
    {"6", "INTERVAL+CONCAT", kSets, "range field of 17"},
    {"6", "EXPRESSIONS without the EXPR flag", kSets, "set with three expressions"},
    {"6", "EXPR (single", kSets, "set with an expression"},
    {"6", "anonymous set whose name", kServerSets, "another conversion"},
    {"6", "existing: same", kServerSets, "existing, other size"},
    {"6", "second rule binding", kServerSets, "elements after the rule"},
    {"6", "named CONSTANT set", kServerSets, "a constant set takes elements until a rule uses it"},
    {"6", "DELSET missing", kServerSets, "deleting one in use"},
    {"7", "missing set", kServerSets, "no list"},
    {"7", "no KEY; wrong length", kElements, "verdict as key"},
    {"7", "element flags > 3", kElements, "flags 4"},
    {"7", "map element without data", kElements, "value in a verdict map"},
    {"7", "verdict data", kServerSets, "a base chain"},
    {"7", "object map without OBJREF", kElements, "object in another set"},
    {"7", "KEY_END outside pipapo", kElements, "range with an early field"},
    {"7", "TIMEOUT or EXPIRATION without", kElements, "timeout of an end"},
    {"7", "EXPIRATION where neither", kElements, "expiration without timeout"},
    {"7", "key or data of more than 64", kElements, "key of 65 bytes"},
    {"7", "connlimit in a hash", kElements, "connlimit with timeouts"},
    {"7", "list shorter / longer", kElements, "more than declared"},
    {"7", "EXPIRATION > timeout", kElements, "expiration after the own timeout"},
    {"7", "expression on an end element", kElements, "expression of an end"},
    {"7", "stateful expression in a set", kElements, "\"expression\", 0"},
    {"7", "expression differing", kElements, "other expression than declared"},
    {"7", "three expressions", kElements, "three expressions"},
    {"7", "same key again", kServerSets, "twice in one message, exclusive"},
    {"7", "more than size", kServerSets, "two boundaries an interval, the null end free"},
    {"7", "DELSETELEM missing", kServerSets, "deleting without a list"},
    {"7", "delete and re-add", kServerSets, "deleted and added again"},
    {"7", "start, same start exists", kRandom, "random elements are taken and refused as by the kernel"},
    {"7", "start", "control/element_index_test.cpp", "two starts in a row: anonymous sets only"},
    {"7", "end, same end exists", kRandom, "random elements are taken and refused as by the kernel"},
    {"7", "end", "control/element_index_test.cpp", "intervals beside [5, 10)"},
    {"8", "no TYPE or DATA", kServerObjects, "unknown types"},
    {"8", "same name and type again", kServerObjects, "the same name of another type"},
    {"8", "bad body", kServerObjects, "a limit without rate"},
    {"8", "ct helper with L3PROTO", kElements, "ct helper of ip6"},
    {"8", "ct timeout of a protocol", kElements, "ct timeout of 2"},
    {"8", "tunnel object", kElements, "tunnel flags 8"},
    {"8", "DELOBJ missing", kServerObjects, "deleting one of another type"},
};

// What is said of a row: by the longest beginning, so that a new row cannot hide behind one with a shorter name.
const Evidence* EvidenceOf(const Row& row) {
  const Evidence* longest = nullptr;
  for (const Evidence& evidence : kEvidence) {
    if (row.section != evidence.section || !row.text.starts_with(evidence.row)) continue;
    if (longest == nullptr || std::string_view(longest->row).size() < std::string_view(evidence.row).size()) {
      longest = &evidence;
    }
  }
  return longest;
}

TEST_CASE("every row of validation.md has a test of its own") {
  const std::vector<Row> rows = ReadRows();
  std::map<const Evidence*, std::string> taken;
  for (const Row& row : rows) {
    CAPTURE(row.section, row.text);
    const Evidence* evidence = EvidenceOf(row);
    CHECK(evidence != nullptr);
    if (evidence == nullptr) continue;
    const auto [place, first] = taken.emplace(evidence, row.text);
    INFO("said of the row already: " << place->second);
    CHECK(first);
  }
  std::cerr << "rows of validation.md: " << rows.size() << ", with a test " << taken.size() << '\n';
  REQUIRE(taken.size() == rows.size());
  REQUIRE(taken.size() == std::size(kEvidence));
  REQUIRE(rows.size() >= 178);
}

// Whether the words stand in code: a line's comment begins behind its literals.
bool IsInCode(const std::string& source, std::string_view words) {
  for (size_t at = source.find(words); at != std::string::npos; at = source.find(words, at + 1)) {
    const size_t line = source.rfind('\n', at) + 1;
    if (source.substr(line, at - line).find("//") == std::string::npos) return true;
  }
  return false;
}

TEST_CASE("the tests of validation.md's rows exist") {
  std::map<std::pair<std::string_view, std::string_view>, const Evidence*> by_words;
  for (const Evidence& evidence : kEvidence) {
    CAPTURE(evidence.section, evidence.row, evidence.file, evidence.words);
    CHECK(
        IsInCode(nftjit::testing::ReadFile(std::string(NFTJIT_SOURCE_DIR "/tests/") + evidence.file), evidence.words));
    // One row's test is no other's; but random boundaries, judged by the kernel, are starts and ends alike.
    const bool first = by_words.emplace(std::pair(evidence.file, evidence.words), &evidence).second;
    CHECK((first || evidence.file == std::string_view(kRandom)));
  }
}

}  // namespace
