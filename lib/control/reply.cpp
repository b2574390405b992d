#include "lib/control/reply.h"

#include "lib/netlink/numbers.h"

namespace nftjit::control {
namespace {

constexpr uint16_t kErrorMessage = 1, kErrorOffset = 2;  // NLMSGERR_ATTR_*.
// An error repeats the message that it is about, but clients' buffers end a little above 64 KiB.
constexpr size_t kLongestRepeated = 32768;

template <class T>
void AppendNative(T value, std::string& out) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendHeader(uint16_t type, uint16_t flags, uint32_t sequence, std::string& out) {
  AppendNative(uint32_t{0}, out);  // The length, known at the end.
  AppendNative(type, out);
  AppendNative(flags, out);
  AppendNative(sequence, out);
  AppendNative(uint32_t{0}, out);
}

}  // namespace

void Datagram::FinishMessage() {
  if (!started_) return;
  StoreNative(reinterpret_cast<uint8_t*>(bytes_.data()) + start_, static_cast<uint32_t>(bytes_.size() - start_));
  bytes_.resize((bytes_.size() + 3) & ~size_t{3});
  started_ = false;
}

void Datagram::BeginRaw(uint16_t type, uint16_t flags, std::string_view header) {
  FinishMessage();
  start_ = bytes_.size();
  started_ = true;
  AppendHeader(type, flags, sequence_, bytes_);
  bytes_ += header;
}

void Datagram::Begin(uint8_t operation, uint16_t flags, uint8_t family, uint32_t generation) {
  // nfgenmsg: family, version 0, and in res_id the low bits of the generation.
  const char header[4] = {static_cast<char>(family), 0, static_cast<char>(generation >> 8),
                          static_cast<char>(generation)};
  BeginRaw(static_cast<uint16_t>(netlink::kNftablesSubsystem << 8 | operation), flags, {header, sizeof header});
}

std::string Datagram::Finish() {
  FinishMessage();
  return std::move(bytes_);
}

std::string Acknowledge(const Message& request, const netlink::NetlinkError& error) {
  std::string out;
  const bool failed = error.error != 0;
  const bool capped = !failed || request.bytes.size() > kLongestRepeated;
  const bool attributes = failed && (error.offset != 0 || !error.message.empty());
  AppendHeader(kTypeError, static_cast<uint16_t>((capped ? kFlagCapped : 0) | (attributes ? kFlagAckAttributes : 0)),
               request.sequence, out);
  AppendNative(static_cast<int32_t>(-error.error), out);
  const size_t repeated = capped ? netlink::kMessageHeaderSize : request.bytes.size();
  out.append(reinterpret_cast<const char*>(request.bytes.data()), repeated);
  if (!capped) out.resize((out.size() + 3) & ~size_t{3});
  if (attributes) {
    netlink::AttributeWriter writer(&out);
    if (!error.message.empty()) writer.String(kErrorMessage, error.message);
    if (error.offset != 0) {
      const auto offset = static_cast<uint32_t>(error.offset);  // Native order, unlike nf_tables' own.
      writer.Bytes(kErrorOffset, {reinterpret_cast<const uint8_t*>(&offset), sizeof offset});
    }
  }
  StoreNative(reinterpret_cast<uint8_t*>(out.data()), static_cast<uint32_t>(out.size()));
  return out;
}

std::string Done(const Message& request) {
  std::string out;
  AppendHeader(kTypeDone, kFlagMulti, request.sequence, out);
  AppendNative(int32_t{0}, out);
  StoreNative(reinterpret_cast<uint8_t*>(out.data()), static_cast<uint32_t>(out.size()));
  return out;
}

}  // namespace nftjit::control
