#include "tests/support/netlink_socket.h"

#include <absl/strings/str_cat.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace nftjit::testing {
namespace {

using netlink::kFamilyHeaderSize;
using netlink::kMessageHeaderSize;

constexpr size_t kReceiveBytes = 1 << 20;

std::string Header(uint32_t length, uint16_t type, uint16_t flags, uint32_t sequence, uint8_t family,
                   uint16_t resource) {
  std::string out(kMessageHeaderSize + kFamilyHeaderSize, '\0');
  auto* p = reinterpret_cast<uint8_t*>(out.data());
  StoreNative(p, length);
  StoreNative(p + 4, type);
  StoreNative(p + 6, flags);
  StoreNative(p + 8, sequence);
  p[16] = family;
  StoreBig16(p + 18, resource);
  return out;
}

uint16_t SubsystemType(netlink::MessageType type) {
  return static_cast<uint16_t>(netlink::kNftablesSubsystem << 8 | type);
}

// The offset in the extended ack of an error message, 0 if it has none. The socket asks the kernel not to repeat the
// message, so that the attributes follow the header.
uint32_t AckOffset(ByteSpan message) {
  constexpr size_t kAttributes = kMessageHeaderSize + 4 + kMessageHeaderSize;
  const auto flags = LoadNative<uint16_t>(message.data() + 6);
  if ((flags & NLM_F_ACK_TLVS) == 0 || message.size() <= kAttributes) return 0;
  for (netlink::AttributeCursor at(message.subspan(kAttributes), kAttributes); at.Next();) {
    const ByteSpan value = at.attribute().payload();
    if (at.attribute().type() == NLMSGERR_ATTR_OFFS && value.size() >= 4) return LoadNative<uint32_t>(value.data());
  }
  return 0;
}

absl::Status SocketError(const char* what) {
  return absl::UnavailableError(absl::StrCat("netlink ", what, ": ", std::strerror(errno)));
}

}  // namespace

netlink::AttributeWriter& Batch::BeginMessage(netlink::MessageType type, uint16_t flags, nft::Family family) {
  starts_.push_back(bytes_.size());
  bytes_ += Header(0, SubsystemType(type), flags | NLM_F_REQUEST | NLM_F_ACK, 0, static_cast<uint8_t>(family), 0);
  return writer_;
}

void Batch::EndMessage() {
  StoreNative(reinterpret_cast<uint8_t*>(bytes_.data()) + starts_.back(),
              static_cast<uint32_t>(bytes_.size() - starts_.back()));
}

absl::StatusOr<NetlinkSocket> NetlinkSocket::Open() {
  NetlinkSocket socket;
  socket.fd_ = FileDescriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
  if (!socket.fd_.valid()) return SocketError("socket");
  const int fd = socket.fd_.get();
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  if (bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return SocketError("bind");
  const int bytes = 1 << 25;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes);
  const int on = 1;
  setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  const timeval patience{.tv_sec = 3, .tv_usec = 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  socket.buffer_.resize(kReceiveBytes);
  return socket;
}

absl::StatusOr<size_t> NetlinkSocket::Receive() {
  const ssize_t got = recv(fd_.get(), buffer_.data(), buffer_.size(), 0);
  if (got < 0) return SocketError("receive");
  return static_cast<size_t>(got);
}

absl::StatusOr<std::vector<int>> NetlinkSocket::Send(Batch& batch, std::vector<uint32_t>* offsets) {
  const uint32_t begin = ++sequence_;
  std::string bytes = Header(20, netlink::kBatchBegin, NLM_F_REQUEST, begin, 0, netlink::kNftablesSubsystem);
  for (const size_t start : batch.starts_) {
    StoreNative(reinterpret_cast<uint8_t*>(batch.bytes_.data()) + start + 8, ++sequence_);
  }
  bytes += batch.bytes_;
  // BATCH_END asks for an ack: it comes last, and only if the batch was applied. Else the answers to all messages are
  // the end.
  const uint32_t end = ++sequence_;
  bytes += Header(20, netlink::kBatchEnd, NLM_F_REQUEST | NLM_F_ACK, end, 0, netlink::kNftablesSubsystem);
  if (send(fd_.get(), bytes.data(), bytes.size(), 0) < 0) return SocketError("send");

  std::vector<int> errors(batch.size(), 0);
  if (offsets != nullptr) offsets->assign(batch.size(), 0);
  std::vector<bool> answered(batch.size(), false);
  size_t waiting = batch.size();
  bool refused = false;
  for (bool done = false; !done;) {
    absl::StatusOr<size_t> got = Receive();
    if (!got.ok()) return got.status();
    const auto* p = reinterpret_cast<const uint8_t*>(buffer_.data());
    for (size_t at = 0; at + kMessageHeaderSize + 4 <= *got;) {
      const auto length = LoadNative<uint32_t>(p + at);
      const auto type = LoadNative<uint16_t>(p + at + 4);
      const auto sequence = LoadNative<uint32_t>(p + at + 8);
      const int error = type == NLMSG_ERROR ? -LoadNative<int32_t>(p + at + kMessageHeaderSize) : 0;
      // Sequence numbers of this batch only; late answers to an earlier one are passed over.
      if (type == NLMSG_ERROR && sequence - begin <= end - begin) {
        const uint32_t number = sequence - begin;
        const bool of_message = number > 0 && number <= errors.size();
        if (of_message && !answered[number - 1]) {
          answered[number - 1] = true;
          --waiting;
        }
        refused = refused || error != 0;
        if (of_message && error != 0 && errors[number - 1] == 0) {
          errors[number - 1] = error;
          const size_t end_of_message = std::min<size_t>(at + length, *got);
          if (offsets != nullptr) (*offsets)[number - 1] = AckOffset(ByteSpan(p + at, end_of_message - at));
        }
        if (number == 0 && error != 0)
          return absl::InternalError(absl::StrCat("batch refused: ", std::strerror(error)));
        done = done || sequence == end || (refused && waiting == 0);
      }
      at += (length + 3) & ~3U;
      if (length < kMessageHeaderSize) break;
    }
  }
  return errors;
}

absl::Status NetlinkSocket::Apply(Batch& batch) {
  absl::StatusOr<std::vector<int>> errors = Send(batch);
  if (!errors.ok()) return errors.status();
  for (size_t i = 0; i < errors->size(); ++i) {
    if ((*errors)[i] == 0) continue;
    const auto type =
        LoadNative<uint16_t>(reinterpret_cast<const uint8_t*>(batch.bytes_.data()) + batch.starts_[i] + 4);
    return absl::InternalError(absl::StrCat("the kernel refused message ", i, " of ", errors->size(), " (type ",
                                            type & 0xff, "): ", std::strerror((*errors)[i])));
  }
  return absl::OkStatus();
}

absl::Status NetlinkSocket::Dump(netlink::MessageType type, nft::Family family, std::string_view attributes,
                                 absl::FunctionRef<void(nft::Family, netlink::AttributeCursor)> visit) {
  const uint32_t sequence = ++sequence_;
  std::string message = Header(static_cast<uint32_t>(20 + attributes.size()), SubsystemType(type),
                               NLM_F_REQUEST | NLM_F_DUMP, sequence, static_cast<uint8_t>(family), 0);
  message += attributes;
  if (send(fd_.get(), message.data(), message.size(), 0) < 0) return SocketError("send");
  for (;;) {
    absl::StatusOr<size_t> got = Receive();
    if (!got.ok()) return got.status();
    const auto* p = reinterpret_cast<const uint8_t*>(buffer_.data());
    for (size_t at = 0; at + kMessageHeaderSize <= *got;) {
      const auto length = LoadNative<uint32_t>(p + at);
      const auto answer = LoadNative<uint16_t>(p + at + 4);
      if (length < kMessageHeaderSize || at + length > *got) break;
      if (LoadNative<uint32_t>(p + at + 8) == sequence) {
        if (answer == NLMSG_DONE) return absl::OkStatus();
        if (answer == NLMSG_ERROR) {
          const int error = -LoadNative<int32_t>(p + at + kMessageHeaderSize);
          return error == 0 ? absl::OkStatus() : absl::InternalError(absl::StrCat("dump: ", std::strerror(error)));
        }
        const size_t headers = kMessageHeaderSize + kFamilyHeaderSize;
        visit(static_cast<nft::Family>(p[at + kMessageHeaderSize]),
              netlink::AttributeCursor(ByteSpan(p + at + headers, length - headers), headers));
      }
      at += (length + 3) & ~3U;
    }
  }
}

}  // namespace nftjit::testing
