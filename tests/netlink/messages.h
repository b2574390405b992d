// Messages by hand for the codec's tests: attributes as strings, cases as a set-up and the message under test.
#ifndef NFTJIT_TESTS_NETLINK_MESSAGES_H_
#define NFTJIT_TESTS_NETLINK_MESSAGES_H_

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "lib/netlink/numbers.h"
#include "lib/nft/types.h"

namespace nftjit::netlink {

// Attributes, padded. Integers are big-endian.
std::string Attr(uint16_t type, std::string_view payload);
std::string U8(uint16_t type, uint8_t value);
std::string U16(uint16_t type, uint16_t value);
std::string U32(uint16_t type, uint32_t value);
std::string U64(uint16_t type, uint64_t value);
std::string Str(uint16_t type, std::string_view text);  // With its zero.
using Parts = std::initializer_list<std::string>;
std::string Nest(uint16_t type, Parts parts);
std::string Value(uint16_t type, std::string_view bytes);  // A data nest.
std::string Verdict(uint16_t type, int32_t code, std::string_view chain = {});

// List items.
std::string Expr(std::string_view name, Parts data);
std::string Element(Parts attributes);
// `count` bytes of value `byte`.
std::string Bytes(size_t count, char byte = '\1');

struct Message {
  MessageType type;
  uint16_t flags;  // NLM_F_CREATE …
  nft::Family family;
  std::string body;
};

// One thing to try. Table "t" and regular chain "c" exist; then comes `setup`, all of which is accepted, then `last`.
struct Case {
  std::string name;
  std::vector<Message> setup;
  Message last;
  int error = 0;  // What `last` is answered.
};

using nft::Family;
inline constexpr Family kIp = Family::kIp;

Message TableMessage(Family family, Parts attributes);                            // With NAME "t".
Message ChainMessage(Family family, Parts attributes);                            // With TABLE "t".
Message RuleMessage(Family family, const std::vector<std::string>& expressions);  // In "c".
Message SetMessage(Family family, std::string_view name, Parts attributes);       // With TABLE, NAME, ID 7.
Message ElementsMessage(Family family, std::string_view set, Parts elements);
Message ObjectMessage(Family family, std::string_view name, uint32_t type, Parts data);
Message FlowtableMessage(Family family, Parts attributes);  // With TABLE "t", NAME "f".

// A case whose last message is a rule.
Case RuleCase(std::string name, int error, Family family, const std::vector<std::string>& expressions,
              std::vector<Message> setup = {});
// Adds cases of one expression in a rule.
struct RuleAdder {
  std::vector<Case>& cases;
  Family family = Family::kIp;
  void operator()(const std::string& name, int error, const std::string& expression) const;
};
// Immediates: `bytes` into register `reg`; 16 bytes into one; 16 bytes into each of the four.
std::string Imm(uint32_t reg, std::string_view bytes);
std::string Fill(uint32_t reg = 1);
std::string FillAll();

std::string ErrorText(int error);  // "ok" for 0.
// The whole bytes of a message, nlmsghdr first.
std::string ToBytes(const Message& message);

// The cases of each subject.
std::vector<Case> CompareCases();    // immediate … byteorder, registers, verdicts, rule limits.
std::vector<Case> PacketCases();     // payload, inner, exthdr, meta, ct, rt, socket, fib, osf, xfrm, tunnel.
std::vector<Case> StatementCases();  // counter … target.
std::vector<Case> SetCases();        // Declarations, lookup, dynset, objref.
std::vector<Case> ElementCases();
std::vector<Case> ObjectCases();
std::vector<Case> ChainCases();  // Tables, chains, flowtables.
std::vector<Case> AllCases();

}  // namespace nftjit::netlink

#endif  // NFTJIT_TESTS_NETLINK_MESSAGES_H_
