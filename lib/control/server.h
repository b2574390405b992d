// The user-space nf_tables server: netlink requests in, datagrams out, a ruleset inside.
//
// It has no sockets and no threads: whoever brings the requests (a client run by RunClient, a listening socket, a
// test) calls it from one thread at a time.
#ifndef NFTJIT_LIB_CONTROL_SERVER_H_
#define NFTJIT_LIB_CONTROL_SERVER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/control/batch.h"
#include "lib/control/connection.h"
#include "lib/control/links.h"
#include "lib/control/state.h"
#include "lib/netlink/resolve.h"
#include "lib/nft/ruleset.h"

namespace nftjit::control {

struct ServerOptions {
  Links links;                             // The interfaces that clients see; lo is added.
  bool host_names = false;                 // Clients may look host names up.
  std::map<std::string, uint32_t> users;   // Empty: the machine's.
  std::map<std::string, uint32_t> groups;  // Likewise.
  netlink::KernelFeatures features;
  RuleAnswer rule_answer = RuleAnswer::kTrue;  // kRefuseAll: see batch.h.
};

class Server : public ClientHandler {
 public:
  explicit Server(ServerOptions options = {});

  // Begins with the tables of `ruleset`, which must be what a server gave or an image holds: consistent, with handles.
  void Restore(const nft::Ruleset& ruleset);

  // One datagram sent on a netfilter socket: batches, gets. Bytes after a message of impossible length are ignored, as
  // the kernel does.
  std::vector<std::string> Handle(ByteSpan request);

  // A copy of everything stored.
  [[nodiscard]] nft::Ruleset ruleset() const;
  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const Links& links() const { return options_.links; }
  // With kRefuseAll: the rules refused so far, in the order of their messages.
  [[nodiscard]] const std::vector<RuleName>& refused_rules() const { return refused_rules_; }

  std::vector<std::string> Request(const Caller& caller, uint16_t bus, ByteSpan messages) override;
  Answer Lookup(uint32_t kind, uint32_t number, std::string_view key) override;
  [[nodiscard]] bool allows_host_names() const override { return options_.host_names; }

 private:
  std::vector<std::string> Get(const Message& message);
  std::vector<std::string> HandleMessage(const Message& message, ByteSpan& rest);

  ServerOptions options_;
  State state_;
  Client client_;
  std::vector<RuleName> refused_rules_;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_SERVER_H_
