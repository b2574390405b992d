// Spreads the messages of a dump over datagrams of a size that clients' buffers take.
#ifndef NFTJIT_LIB_CONTROL_DUMP_WRITER_H_
#define NFTJIT_LIB_CONTROL_DUMP_WRITER_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/control/message.h"
#include "lib/control/reply.h"

namespace nftjit::control {

class DumpWriter {
 public:
  DumpWriter(const Message& request, uint32_t generation)
      : request_(request), generation_(generation), datagram_(request) {}

  // One message; `write` takes an AttributeWriter.
  template <class Write>
  void Add(uint8_t operation, nft::Family family, Write&& write) {
    if (datagram_.size() >= kFull) Flush();
    datagram_.Begin(operation, request_.is_dump() ? kFlagMulti : 0, static_cast<uint8_t>(family), generation_);
    netlink::AttributeWriter out = datagram_.attributes();
    write(out);
    ++messages_;
  }
  [[nodiscard]] size_t messages() const { return messages_; }
  // The datagrams, with DONE for dumps and an acknowledgement where one was asked for.
  std::vector<std::string> Finish() {
    Flush();
    if (request_.is_dump()) {
      datagrams_.push_back(Done(request_));
    } else if (request_.has(kFlagAck)) {
      datagrams_.push_back(Acknowledge(request_, {}));
    }
    return std::move(datagrams_);
  }

  // Bytes after which a datagram or a list of elements is closed. The kernel's are 16 to 32 KiB.
  static constexpr size_t kFull = 16384;

 private:
  void Flush() {
    if (datagram_.empty()) return;
    datagrams_.push_back(datagram_.Finish());
    datagram_ = Datagram(request_);
  }

  const Message& request_;
  uint32_t generation_;
  Datagram datagram_;
  size_t messages_ = 0;
  std::vector<std::string> datagrams_;
};

}  // namespace nftjit::control

#endif  // NFTJIT_LIB_CONTROL_DUMP_WRITER_H_
