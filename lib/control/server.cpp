#include "lib/control/server.h"

#include <absl/strings/str_format.h>
#include <linux/netlink.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <iterator>
#include <utility>

#include "lib/control/dump.h"
#include "lib/control/operations.h"
#include "lib/control/reply.h"
#include "lib/control/service_names.h"
#include "lib/control/wire.h"
#include "lib/netlink/numbers.h"

namespace nftjit::control {
namespace {

constexpr uint8_t kOsfSubsystem = 5;      // Fingerprints of operating systems, which nft loads for `osf`.
constexpr uint8_t kCompatSubsystem = 11;  // Asks whether an xtables extension exists.

// nfnl_compat_get: the answer to "do you have revision R of extension E" repeats the question.
std::vector<std::string> AnswerCompat(const Message& request) {
  Datagram answer(request);
  const size_t header = netlink::kMessageHeaderSize;
  const std::string_view body(reinterpret_cast<const char*>(request.bytes.data()) + header,
                              request.bytes.size() - header);
  answer.BeginRaw(request.type, 0, body);
  return {answer.Finish()};
}

nft::Handle HighestHandle(const nft::Table& table) {
  nft::Handle last = 0;
  const auto see = [&](const auto& items) {
    for (const auto& item : items) last = std::max(last, item.handle);
  };
  see(table.chains);
  see(table.sets);
  see(table.objects);
  see(table.flowtables);
  for (const nft::Chain& chain : table.chains) see(chain.rules);
  return last;
}

// 0 for other names.
uint64_t BindingChainNumber(std::string_view name) {
  uint64_t number = 0;
  if (name.starts_with(kBindingChainPrefix)) {
    std::from_chars(name.data() + kBindingChainPrefix.size(), name.data() + name.size(), number);
  }
  return number;
}

ClientHandler::Answer FindEntry(const std::map<std::string, uint32_t>& entries, std::string_view name) {
  if (entries.empty()) return {.result = NFTJIT_ASK_MACHINE};
  const auto found = entries.find(std::string(name));
  if (found == entries.end()) return {};
  return {.result = NFTJIT_FOUND, .number = found->second, .name = found->first};
}

ClientHandler::Answer FindEntry(const std::map<std::string, uint32_t>& entries, uint32_t id) {
  if (entries.empty()) return {.result = NFTJIT_ASK_MACHINE};
  for (const auto& [name, number] : entries) {
    if (number == id) return {.result = NFTJIT_FOUND, .number = number, .name = name};
  }
  return {};
}

ClientHandler::Answer ToAnswer(const std::optional<Service>& service) {
  if (!service.has_value()) return {};
  return {.result = NFTJIT_FOUND,
          .number = service->port,
          .protocol = service->protocol,
          .name = std::string(service->name)};
}

ClientHandler::Answer ToAnswer(const std::optional<Protocol>& protocol) {
  if (!protocol.has_value()) return {};
  return {.result = NFTJIT_FOUND, .number = protocol->number, .name = std::string(protocol->name)};
}

}  // namespace

Server::Server(ServerOptions options) : options_(std::move(options)) {
  (void)options_.links.Add("lo");  // Fails only for an index of its own that was given already.
}

void Server::Restore(const nft::Ruleset& ruleset) {
  state_ = State{.tables = {}, .issued = ruleset.issued};
  nft::Issued& issued = state_.issued;
  for (const nft::Table& table : ruleset.tables) {
    auto kept = std::make_shared<nft::Table>(table);
    kept->last_handle = std::max(table.last_handle, HighestHandle(table));
    state_.tables.push_back(std::move(kept));
    issued.table = std::max(issued.table, table.handle);
    for (const nft::Chain& chain : table.chains) {
      if (chain.base.has_value()) issued.registration = std::max(issued.registration, chain.base->registration);
      issued.binding_chain = std::max(issued.binding_chain, BindingChainNumber(chain.name));
    }
  }
}

nft::Ruleset Server::ruleset() const {
  nft::Ruleset ruleset;
  for (const auto& table : state_.tables) ruleset.tables.push_back(*table);
  ruleset.interfaces = options_.links.interfaces();
  ruleset.issued = state_.issued;
  return ruleset;
}

std::vector<std::string> Server::Request(const Caller& caller, uint16_t bus, ByteSpan messages) {
  client_ = {.port = caller.pid, .program = caller.program};
  if (bus == NETLINK_NETFILTER) return Handle(messages);
  std::vector<std::string> datagrams;
  while (const std::optional<Message> message = NextMessage(messages)) {
    for (std::string& datagram : AnswerLinks(options_.links, *message)) datagrams.push_back(std::move(datagram));
  }
  return datagrams;
}

std::vector<std::string> Server::Handle(ByteSpan request) {
  std::vector<std::string> datagrams;
  while (const std::optional<Message> message = NextMessage(request)) {
    std::vector<std::string> answers = HandleMessage(*message, request);
    std::move(answers.begin(), answers.end(), std::back_inserter(datagrams));
  }
  return datagrams;
}

std::vector<std::string> Server::Get(const Message& message) {
  std::vector<Dumped> dumped;
  std::vector<std::string> answers = AnswerGet(state_, message, dumped);
  if (IsReset(message)) state_ = Reset(state_, dumped);
  return answers;
}

std::vector<std::string> Server::HandleMessage(const Message& message, ByteSpan& rest) {
  if (!message.has_family_header()) return {Acknowledge(message, Refused(EINVAL, {}, "the message is too short"))};
  if (message.type == netlink::kBatchBegin) {
    BatchResult result = RunBatch(state_, message, rest, client_, options_.features, options_.rule_answer);
    state_ = std::move(result.state);
    refused_rules_.insert(refused_rules_.end(), result.refused_rules.begin(), result.refused_rules.end());
    return std::move(result.replies);
  }
  switch (message.subsystem()) {
    case netlink::kNftablesSubsystem:
      if (IsGet(message)) return Get(message);
      return {Acknowledge(message, Refused(EINVAL, {}, "a change must stand in a batch"))};
    case kCompatSubsystem:
      return AnswerCompat(message);
    case kOsfSubsystem:
      return {Acknowledge(message, Fine())};
    default:
      return {Acknowledge(
          message, Refused(EINVAL, {}, absl::StrFormat("nothing answers for subsystem %d", message.subsystem())))};
  }
}

ClientHandler::Answer Server::Lookup(uint32_t kind, uint32_t number, std::string_view key) {
  switch (kind) {
    case NFTJIT_SERVICE_BY_NAME:
      return ToAnswer(ServiceByName(key, static_cast<uint8_t>(number)));
    case NFTJIT_SERVICE_BY_PORT:
      return ToAnswer(ServiceByPort(static_cast<uint16_t>(number), static_cast<uint8_t>(number >> 16)));
    case NFTJIT_PROTOCOL_BY_NAME:
      return ToAnswer(ProtocolByName(key));
    case NFTJIT_PROTOCOL_BY_NUMBER:
      return ToAnswer(ProtocolByNumber(number));
    case NFTJIT_USER_BY_NAME:
      return FindEntry(options_.users, key);
    case NFTJIT_USER_BY_ID:
      return FindEntry(options_.users, number);
    case NFTJIT_GROUP_BY_NAME:
      return FindEntry(options_.groups, key);
    case NFTJIT_GROUP_BY_ID:
      return FindEntry(options_.groups, number);
    default:
      return {};
  }
}

}  // namespace nftjit::control
