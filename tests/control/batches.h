// Raw batches for the server and, where there is one, for the live kernel: the same bytes to both, the same errnos,
// events and generation back.
#ifndef NFTJIT_TESTS_CONTROL_BATCHES_H_
#define NFTJIT_TESTS_CONTROL_BATCHES_H_

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/control/message.h"
#include "lib/control/server.h"
#include "lib/netlink/numbers.h"
#include "lib/nft/ruleset.h"

namespace nftjit::control {

// ---- Attributes, as bytes that can be put together -----------------------------------------------------------------

std::string U8(uint16_t type, uint8_t value);
std::string U16(uint16_t type, uint16_t value);
std::string U32(uint16_t type, uint32_t value);
std::string U64(uint16_t type, uint64_t value);
std::string Text(uint16_t type, std::string_view text);    // With its final zero.
std::string Bytes(uint16_t type, std::string_view bytes);  // As they are.
std::string Nest(uint16_t type, std::initializer_list<std::string> parts);
std::string Nest(uint16_t type, const std::vector<std::string>& parts);

// ---- Expressions ---------------------------------------------------------------------------------------------------

std::string Expression(std::string_view name, std::initializer_list<std::string> attributes = {});
std::string VerdictExpression(int32_t code, std::string_view chain = "");
std::string JumpToId(uint32_t chain_id);
std::string LoadSourceAddress();  // Four bytes of the IPv4 header into register 1.
std::string LookupExpression(std::string_view set, std::optional<uint32_t> id = std::nullopt, bool map = false);

// ---- Messages ------------------------------------------------------------------------------------------------------

struct TestMessage {
  uint16_t type;   // The low byte for nf_tables, or the whole of a message type above 255.
  uint16_t flags;  // Besides REQUEST.
  uint8_t family;
  std::string body;
};

inline constexpr uint8_t kIpFamily = 2, kInetFamily = 1;
inline constexpr int32_t kAccept = 1, kJump = -3, kGoto = -4;  // Codes of verdicts.

// In table `t` of family ip unless they say otherwise. All ask for an ACK.
TestMessage Make(uint8_t operation, std::initializer_list<std::string> attributes, uint16_t flags = kFlagCreate,
                 uint8_t family = kIpFamily);
TestMessage AddTable(std::string_view name = "t", uint8_t family = kIpFamily);
TestMessage AddChain(std::string_view name);
TestMessage AddBaseChain(std::string_view name, uint32_t hook = 1, int32_t priority = 0,
                         std::string_view type = "filter");
TestMessage AddRule(std::string_view chain, std::initializer_list<std::string> expressions);
TestMessage AddSet(std::string_view name, uint32_t key_len, uint32_t flags = 0,
                   std::initializer_list<std::string> more = {}, uint32_t id = 1);

std::string Key(std::string_view bytes);
std::string ElementItem(std::initializer_list<std::string> attributes);
TestMessage AddElements(std::string_view set, std::initializer_list<std::string> items, uint16_t flags = kFlagCreate,
                        std::optional<uint32_t> set_id = std::nullopt);
TestMessage DeleteElements(std::string_view set, std::initializer_list<std::string> items);

// ---- Judges --------------------------------------------------------------------------------------------------------

// The errnos that came back for each message, in order; a message may be answered twice or not at all.
using Answers = std::vector<std::vector<int>>;

struct BatchText {
  std::vector<TestMessage> messages;
  bool end = true;                     // With a BATCH_END.
  uint16_t resource = 10;              // Of BATCH_BEGIN.
  std::optional<uint32_t> generation;  // Of BATCH_BEGIN.
  uint16_t begin_flags = 0, end_flags = 0;
};

// The request's bytes: BATCH_BEGIN has sequence number 1, then one number a message, BATCH_END last.
std::string Assemble(const BatchText& batch);

// The server, fresh, and a kernel in a namespace of its own if this machine has one.
class Judges {
 public:
  explicit Judges(const netlink::KernelFeatures& features = {});
  ~Judges();

  // Sends the batch to the server, and to the kernel unless told otherwise. Fails the running test if their answers
  // differ. Returns the server's: those to BATCH_BEGIN first, to BATCH_END last.
  Answers Send(const BatchText& batch, bool ask_kernel = true);
  // The answers to the messages alone, of a batch of nothing special.
  Answers Send(const std::vector<TestMessage>& messages, bool ask_kernel = true);
  // The first errno of each message: 0 where all went well.
  std::vector<int> Errors(const std::vector<TestMessage>& messages, bool ask_kernel = true);

  Server& server() { return server_; }
  [[nodiscard]] nft::Table table() const { return server_.ruleset().tables.at(0); }
  // Whether server and kernel have disagreed.
  [[nodiscard]] bool disagreed() const { return disagreed_; }

 private:
  class Kernel;
  Server server_;
  bool disagreed_ = false;
  std::unique_ptr<Kernel> kernel_;
};

// A row of a table of cases: `before` must go in, then `messages` get `errors`, from the server and from the kernel.
struct Case {
  const char* name;
  std::vector<TestMessage> before, messages;
  std::vector<int> errors;
  bool ask_kernel = true;  // False, with a reason beside it, for what the kernel at hand lacks.
};
void CheckCases(const std::vector<Case>& cases);

}  // namespace nftjit::control

#endif  // NFTJIT_TESTS_CONTROL_BATCHES_H_
