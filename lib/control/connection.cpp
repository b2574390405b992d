#include "lib/control/connection.h"

#include "lib/control/wire.h"

namespace nftjit::control {
namespace {

template <class T>
std::string_view AsText(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

std::string_view AsText(ByteSpan bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

void AppendFrame(uint16_t kind, std::string_view payload, std::string& output) {
  const nftjit_frame header{.length = static_cast<uint32_t>(payload.size()), .kind = kind, .bus = 0};
  output += AsText(header);
  output += payload;
}

}  // namespace

void Connection::Feed(ByteSpan bytes, std::string& output) {
  if (failed_) return;
  input_ += AsText(bytes);
  size_t done = 0;
  while (!failed_ && input_.size() - done >= sizeof(nftjit_frame)) {
    const uint8_t* at = reinterpret_cast<const uint8_t*>(input_.data()) + done;
    const auto header = LoadNative<nftjit_frame>(at);
    if (header.length > NFTJIT_FRAME_LIMIT) {
      Fail("a frame is too long", output);
      break;
    }
    if (input_.size() - done - sizeof header < header.length) {
      input_.reserve(done + sizeof header + header.length);
      break;
    }
    HandleFrame(header.kind, header.bus, {at + sizeof header, header.length}, output);
    done += sizeof header + header.length;
  }
  input_.erase(0, done);
}

void Connection::HandleFrame(uint16_t kind, uint16_t bus, ByteSpan payload, std::string& output) {
  if (kind == NFTJIT_FRAME_HELLO) return HandleHello(payload, output);
  if (!greeted_) return Fail("the first frame is not a hello", output);
  switch (kind) {
    case NFTJIT_FRAME_REQUEST:
      for (const std::string& datagram : handler_.Request(caller_, bus, payload)) {
        AppendFrame(NFTJIT_FRAME_REPLY, datagram, output);
      }
      return AppendFrame(NFTJIT_FRAME_END, {}, output);
    case NFTJIT_FRAME_LOOKUP:
      return HandleLookup(payload, output);
    default:
      return Fail("unknown kind of frame", output);
  }
}

void Connection::HandleHello(ByteSpan payload, std::string& output) {
  if (payload.size() < sizeof(nftjit_hello)) return Fail("short hello", output);
  const auto hello = LoadNative<nftjit_hello>(payload.data());
  if (hello.version != NFTJIT_WIRE_VERSION) return Fail("the shim belongs to another version of nftjit", output);
  greeted_ = true;
  caller_ = {.pid = hello.pid, .program = std::string(AsText(payload.subspan(sizeof hello)))};
  const nftjit_welcome welcome{.version = NFTJIT_WIRE_VERSION, .host_names = handler_.allows_host_names() ? 1U : 0U};
  AppendFrame(NFTJIT_FRAME_WELCOME, AsText(welcome), output);
}

void Connection::HandleLookup(ByteSpan payload, std::string& output) {
  if (payload.size() < sizeof(nftjit_lookup)) return Fail("short lookup", output);
  const auto lookup = LoadNative<nftjit_lookup>(payload.data());
  const ClientHandler::Answer found =
      handler_.Lookup(lookup.kind, lookup.number, AsText(payload.subspan(sizeof lookup)));
  const nftjit_answer answer{.result = found.result, .number = found.number, .protocol = found.protocol};
  AppendFrame(NFTJIT_FRAME_ANSWER, std::string(AsText(answer)) + found.name, output);
}

void Connection::Fail(std::string_view why, std::string& output) {
  failed_ = true;
  AppendFrame(NFTJIT_FRAME_FATAL, why, output);
}

}  // namespace nftjit::control
