#include "tests/control/batches.h"

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

// Sorts the errors in a datagram to the messages that they are about.
void Collect(std::string_view datagram, Answers& answers) {
  ByteSpan rest{reinterpret_cast<const uint8_t*>(datagram.data()), datagram.size()};
  while (const std::optional<Message> message = NextMessage(rest)) {
    if (message->type != kTypeError || message->sequence == 0 || message->sequence > answers.size()) continue;
    answers[message->sequence - 1].push_back(-LoadNative<int32_t>(message->bytes.data() + 16));
  }
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
  Answers Send(const std::string& request, size_t messages) {
    Answers answers(messages);
    REQUIRE(send(socket_.get(), request.data(), request.size(), 0) == static_cast<ssize_t>(request.size()));
    std::string buffer(1 << 17, '\0');
    for (;;) {
      const ssize_t n = recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (n <= 0) break;
      Collect({buffer.data(), static_cast<size_t>(n)}, answers);
    }
    return answers;
  }

 private:
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
  for (const std::string& datagram :
       server_.Handle({reinterpret_cast<const uint8_t*>(request.data()), request.size()})) {
    Collect(datagram, ours);
  }
  if (kernel_ != nullptr && ask_kernel) {
    // The kernel answers a failed commit before the messages, and clients do not depend on the order.
    Answers theirs = kernel_->Send(request, ours.size());
    Answers sorted = ours;
    for (Answers* answers : {&sorted, &theirs}) {
      for (std::vector<int>& of_one : *answers) std::sort(of_one.begin(), of_one.end());
    }
    INFO("server " << Describe(sorted) << "\nkernel " << Describe(theirs));
    CHECK(sorted == theirs);
    disagreed_ = disagreed_ || sorted != theirs;
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
