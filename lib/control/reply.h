// Writes the datagrams that answer a request.
#ifndef NFTJIT_LIB_CONTROL_REPLY_H_
#define NFTJIT_LIB_CONTROL_REPLY_H_

#include <string>
#include <vector>

#include "lib/control/message.h"
#include "lib/netlink/attributes.h"
#include "lib/netlink/error.h"

namespace nftjit::control {

// Messages of one datagram that answer `request`. The port id in them is 0.
class Datagram {
 public:
  explicit Datagram(const Message& request) : sequence_(request.sequence) {}

  // A message of nf_tables with nfgenmsg; attributes are then written through attributes() until the next call.
  void Begin(uint8_t operation, uint16_t flags, uint8_t family, uint32_t generation);
  // A message with a header of its own kind.
  void BeginRaw(uint16_t type, uint16_t flags, std::string_view header);
  netlink::AttributeWriter attributes() { return netlink::AttributeWriter(&bytes_); }
  [[nodiscard]] size_t size() const { return bytes_.size(); }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  // Drops the message that was begun last.
  void Withdraw() {
    bytes_.resize(start_);
    started_ = false;
  }
  std::string Finish();

 private:
  void FinishMessage();

  std::string bytes_;
  size_t start_ = 0;
  bool started_ = false;
  uint32_t sequence_;
};

// The answer to NLM_F_ACK, or an error with its place (NLMSGERR_ATTR_OFFS) and words (NLMSGERR_ATTR_MSG).
std::string Acknowledge(const Message& request, const netlink::NetlinkError& error);
// The end of a dump.
std::string Done(const Message& request);

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_REPLY_H_
