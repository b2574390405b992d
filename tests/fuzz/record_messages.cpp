// Seeds for messages_fuzz: what nft sends when it loads a ruleset.
//
//   record_messages RULESET.nft PREFIX     writes PREFIX.0, PREFIX.1 …, a datagram each
#include <fstream>
#include <iostream>
#include <string>

#include "lib/control/frontend.h"
#include "lib/control/server.h"

namespace {

class Recorder final : public nftjit::control::Server {
 public:
  explicit Recorder(std::string prefix) : prefix_(std::move(prefix)) {}
  std::vector<std::string> Request(const nftjit::control::Caller& caller, uint16_t bus,
                                   nftjit::ByteSpan messages) override {
    std::ofstream out(prefix_ + '.' + std::to_string(count_++), std::ios::binary);
    out.write(reinterpret_cast<const char*>(messages.data()), static_cast<std::streamsize>(messages.size()));
    return Server::Request(caller, bus, messages);
  }

 private:
  std::string prefix_;
  int count_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: record_messages RULESET.nft PREFIX\n";
    return 2;
  }
  Recorder server(argv[2]);
  const absl::StatusOr<nftjit::control::ChildOutcome> outcome =
      nftjit::control::RunClient(server, {"nft", "-f", argv[1]});
  if (outcome.ok()) return 0;
  std::cerr << "record_messages: " << outcome.status() << '\n';
  return 2;
}
