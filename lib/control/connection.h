// The server's end of a client's connection (wire.h): bytes in, bytes out, no file descriptors.
#ifndef NFTJIT_LIB_CONTROL_CONNECTION_H_
#define NFTJIT_LIB_CONTROL_CONNECTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/support/bytes.h"

namespace nftjit::control {

// The process that asks.
struct Caller {
  uint32_t pid = 0;
  std::string program;
};

// What a client asks. One request is answered before the next one is read.
class ClientHandler {
 public:
  virtual ~ClientHandler() = default;

  // What the client sent on a socket of netlink protocol `bus`, one or more messages. Returns the datagrams that it is
  // to read.
  virtual std::vector<std::string> Request(const Caller& caller, uint16_t bus, ByteSpan messages) = 0;
  struct Answer {
    uint32_t result = 0;  // nftjit_lookup_result.
    uint32_t number = 0;
    uint32_t protocol = 0;
    std::string name;
  };
  virtual Answer Lookup(uint32_t kind, uint32_t number, std::string_view key) = 0;
  [[nodiscard]] virtual bool allows_host_names() const = 0;
};

// Cuts a byte stream into frames and answers them. A frame that breaks the protocol ends the connection with a `fatal`
// frame; after that nothing is read any more.
class Connection {
 public:
  explicit Connection(ClientHandler& handler) : handler_(handler) {}

  // Takes bytes as they come, in any pieces. Bytes to send are appended to `output`.
  void Feed(ByteSpan bytes, std::string& output);

  [[nodiscard]] bool greeted() const { return greeted_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void HandleFrame(uint16_t kind, uint16_t bus, ByteSpan payload, std::string& output);
  void HandleHello(ByteSpan payload, std::string& output);
  void HandleLookup(ByteSpan payload, std::string& output);
  void Fail(std::string_view why, std::string& output);

  ClientHandler& handler_;
  std::string input_;
  Caller caller_;
  bool greeted_ = false;
  bool failed_ = false;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_CONNECTION_H_
