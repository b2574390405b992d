#include "tests/control/batches.h"

#include <absl/functional/function_ref.h>
#include <absl/strings/escaping.h>
#include <absl/strings/str_format.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/support/network_namespace.h"
#include "tests/support/requirement.h"

namespace nftjit::control {
namespace {

constexpr uint16_t kRequest = 1;

std::string Header(uint16_t type, uint16_t flags, uint32_t sequence, uint8_t family, uint16_t resource,
                   std::string_view body) {
  std::string bytes(netlink::kMessageHeaderSize + netlink::kFamilyHeaderSize, '\0');
  auto* at = reinterpret_cast<uint8_t*>(bytes.data());
  StoreNative(at + 4, type);
  StoreNative(at + 6, static_cast<uint16_t>(flags | kRequest));
  StoreNative(at + 8, sequence);
  at[16] = family;
  StoreBig16(at + 18, resource);
  bytes += body;
  StoreNative(reinterpret_cast<uint8_t*>(bytes.data()), static_cast<uint32_t>(bytes.size()));
  bytes.resize((bytes.size() + 3) & ~size_t{3});
  return bytes;
}

// Attributes of events that are left out: what counts the uses of a thing, which the kernel tells as of the end of the
// batch, and which backend a set has.
bool IsLeftOut(uint8_t operation, uint16_t attribute) {
  constexpr uint16_t kSetBackend = 19, kSetElementCount = 20;
  switch (operation) {
    case netlink::kNewTable:
    case netlink::kDelTable:
      return attribute == netlink::kTableUse;
    case netlink::kNewChain:
    case netlink::kDelChain:
      return attribute == netlink::kChainUse;
    case netlink::kNewObj:
    case netlink::kDelObj:
      return attribute == netlink::kObjectUse;
    case netlink::kNewSet:
    case netlink::kDelSet:
      return attribute == kSetBackend || attribute == kSetElementCount;
    default:
      return false;
  }
}

// What an event says, as text.
std::string Event(const Message& message) {
  constexpr size_t kHeaders = netlink::kMessageHeaderSize + netlink::kFamilyHeaderSize;
  std::string text = absl::StrFormat("%d flags %x sequence %d family %d:", message.operation(), message.flags,
                                     message.sequence, message.family);
  for (netlink::AttributeCursor at(message.bytes.subspan(kHeaders), kHeaders); at.Next();) {
    if (IsLeftOut(message.operation(), at.attribute().type())) continue;
    const std::string_view bytes = at.attribute().Raw();
    absl::StrAppendFormat(&text, " %d=%s", at.attribute().type(), absl::BytesToHexString({bytes.data(), bytes.size()}));
  }
  return text;
}

// Sorts the errors in a datagram to the messages that they are about.
void Collect(std::string_view datagram, Answers& answers, std::vector<std::string>& events) {
  ByteSpan rest{reinterpret_cast<const uint8_t*>(datagram.data()), datagram.size()};
  while (const std::optional<Message> message = NextMessage(rest)) {
    // A new generation's event names the process.
    const bool event = message->subsystem() == netlink::kNftablesSubsystem && message->operation() != netlink::kNewGen;
    if (event) events.push_back(Event(*message));
    if (message->type != kTypeError || message->sequence == 0 || message->sequence > answers.size()) continue;
    answers[message->sequence - 1].push_back(-LoadNative<int32_t>(message->bytes.data() + 16));
  }
}

std::string AskGeneration() { return Header(netlink::kNftablesSubsystem << 8 | netlink::kGetGen, 0, 1, 0, 0, ""); }

uint32_t GenerationIn(std::string_view datagram) {
  ByteSpan rest{reinterpret_cast<const uint8_t*>(datagram.data()), datagram.size()};
  const std::optional<Message> message = NextMessage(rest);
  constexpr size_t kFirstAttribute = netlink::kMessageHeaderSize + netlink::kFamilyHeaderSize;
  REQUIRE(message.has_value());
  REQUIRE(message->bytes.size() >= kFirstAttribute + 8);
  return LoadBig32(message->bytes.data() + kFirstAttribute + 4);
}

std::string Describe(const Answers& answers) {
  std::string text;
  for (const std::vector<int>& of_one : answers) {
    text += "[";
    for (const int error : of_one) text += (text.back() == '[' ? "" : " ") + std::to_string(error);
    text += "] ";
  }
  return text;
}

}  // namespace

std::string Assemble(const BatchText& batch) {
  uint32_t sequence = 1;
  std::string bytes = Header(netlink::kBatchBegin, batch.begin_flags, sequence++, 0, batch.resource,
                             batch.generation.has_value() ? U32(netlink::kGenId, *batch.generation) : std::string());
  for (const TestMessage& message : batch.messages) {
    const auto type =
        static_cast<uint16_t>(message.type > 255 ? message.type : netlink::kNftablesSubsystem << 8 | message.type);
    bytes += Header(type, message.flags, sequence++, message.family, 0, message.body);
  }
  if (batch.end) bytes += Header(netlink::kBatchEnd, batch.end_flags, sequence, 0, 10, "");
  return bytes;
}

// A namespace with an nfnetlink socket in it.
class Judges::Kernel {
 public:
  static std::unique_ptr<Kernel> Start() {
    auto network = testing::NetworkNamespace::Create();
    REQUIRE(network.ok());
    auto kernel = std::make_unique<Kernel>();
    kernel->namespace_ = *std::move(network);
    REQUIRE(kernel->namespace_
                ->Inside([&] {
                  kernel->socket_ = testing::FileDescriptor(socket(AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER));
                  return absl::OkStatus();
                })
                .ok());
    REQUIRE(kernel->socket_.valid());
    const int room = 1 << 22;
    setsockopt(kernel->socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    return kernel;
  }
  // The kernel answers before send() returns.
  Answers Send(const std::string& request, size_t messages, std::vector<std::string>& events) {
    Answers answers(messages);
    Ask(request, [&](std::string_view datagram) { Collect(datagram, answers, events); });
    return answers;
  }
  uint32_t Generation() {
    uint32_t generation = 0;
    Ask(AskGeneration(), [&](std::string_view datagram) { generation = GenerationIn(datagram); });
    return generation;
  }

 private:
  void Ask(const std::string& request, absl::FunctionRef<void(std::string_view)> answer) {
    REQUIRE(send(socket_.get(), request.data(), request.size(), 0) == static_cast<ssize_t>(request.size()));
    std::string buffer(1 << 17, '\0');
    for (;;) {
      const ssize_t n = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (n <= 0) break;
      answer({buffer.data(), static_cast<size_t>(n)});
    }
  }

  std::unique_ptr<testing::NetworkNamespace> namespace_;
  testing::FileDescriptor socket_;
};

namespace {

ServerOptions WithFeatures(const netlink::KernelFeatures& features) {
  ServerOptions options;
  options.features = features;
  return options;
}

}  // namespace

Judges::Judges(const netlink::KernelFeatures& features) : server_(WithFeatures(features)) {
  if (testing::MayRun("kernel", testing::NetworkNamespace::Available())) kernel_ = Kernel::Start();
}

Judges::~Judges() = default;

Answers Judges::Send(const BatchText& batch, bool ask_kernel) {
  const std::string request = Assemble(batch);
  Answers ours(batch.messages.size() + 2);
  std::vector<std::string> our_events, their_events;
  for (const std::string& datagram :
       server_.Handle({reinterpret_cast<const uint8_t*>(request.data()), request.size()})) {
    Collect(datagram, ours, our_events);
  }
  if (kernel_ != nullptr && ask_kernel) {
    // The kernel answers a failed commit before the messages, and clients do not depend on the order.
    Answers theirs = kernel_->Send(request, ours.size(), their_events);
    Answers sorted = ours;
    for (Answers* answers : {&sorted, &theirs}) {
      for (std::vector<int>& of_one : *answers) std::sort(of_one.begin(), of_one.end());
    }
    INFO("server " << Describe(sorted) << "\nkernel " << Describe(theirs));
    CHECK(sorted == theirs);
    CHECK(our_events == their_events);
    disagreed_ = disagreed_ || sorted != theirs;
    const std::string question = AskGeneration();
    const std::vector<std::string> generation =
        server_.Handle({reinterpret_cast<const uint8_t*>(question.data()), question.size()});
    REQUIRE(generation.size() == 1);
    CHECK(GenerationIn(generation[0]) == kernel_->Generation());
  }
  return ours;
}

Answers Judges::Send(const std::vector<TestMessage>& messages, bool ask_kernel) {
  Answers answers = Send(BatchText{.messages = messages, .generation = std::nullopt}, ask_kernel);
  answers.erase(answers.begin());
  answers.pop_back();
  return answers;
}

std::vector<int> Judges::Errors(const std::vector<TestMessage>& messages, bool ask_kernel) {
  std::vector<int> errors;
  for (const std::vector<int>& of_one : Send(messages, ask_kernel)) {
    errors.push_back(of_one.empty() ? -1 : *std::max_element(of_one.begin(), of_one.end()));
  }
  return errors;
}

void CheckCases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Judges judges;
    if (!c.before.empty()) {
      REQUIRE(judges.Errors(c.before, c.ask_kernel) == std::vector<int>(c.before.size(), 0));
    }
    CHECK(judges.Errors(c.messages, c.ask_kernel) == c.errors);
  }
}

}  // namespace nftjit::control
