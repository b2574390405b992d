// A network namespace of the test's own, with TUN and TAP devices in it: where packets for the live kernel go.
//
// Threads are inside during Inside() and the calls built on it, and for as long as what Enter() gave lives; sockets and
// devices opened there stay there. Nothing outside is touched, and the kernel removes the namespace with its last user,
// also if the test crashes.
#ifndef NFTJIT_TESTS_SUPPORT_NETWORK_NAMESPACE_H_
#define NFTJIT_TESTS_SUPPORT_NETWORK_NAMESPACE_H_

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/support/bytes.h"

namespace nftjit::testing {

// A file descriptor that closes itself. Move-only.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

class NetworkNamespace {
 public:
  // A new namespace with loopback up, forwarding on, reverse-path filters off, and no IPv6 chatter of its own
  // (link-local addresses, duplicate detection, router solicitations).
  // Errors: Unavailable where the process may not.
  static absl::StatusOr<std::unique_ptr<NetworkNamespace>> Create();
  // Likewise, with the calling thread in the namespace until the object goes.
  static absl::StatusOr<std::unique_ptr<NetworkNamespace>> Enter();
  ~NetworkNamespace();
  NetworkNamespace(const NetworkNamespace&) = delete;
  NetworkNamespace& operator=(const NetworkNamespace&) = delete;
  // Whether this machine has all that the tests need: the right, nf_tables, TUN, `ip`. Found out once per process.
  static absl::Status Available();

  // Runs `work` with the calling thread in the namespace. Programs that it starts are in it too.
  absl::Status Inside(absl::FunctionRef<absl::Status()> work) const;
  // Runs `ip -batch -` with `commands`, one a line.
  absl::Status Ip(std::string_view commands) const;
  // Writes `value` to /proc/sys/net/`path`. A file that this kernel lacks is no error.
  absl::Status Sysctl(std::string_view path, std::string_view value) const;

 private:
  NetworkNamespace(FileDescriptor home, FileDescriptor own) : home_(std::move(home)), own_(std::move(own)) {}
  FileDescriptor home_, own_;
  bool entered_ = false;
};

// Runs a program found on PATH or in /usr/sbin with `input` on its standard input. Errors carry what it printed.
absl::Status RunProgram(const std::vector<std::string>& arguments, std::string_view input,
                        std::string* output = nullptr);

enum class LinkType : uint8_t { kTun, kTap };  // Raw IP packets; Ethernet frames.

// A TUN or TAP device of the namespace that the thread is in when it opens it. What is written to it, the kernel
// receives.
class TunDevice {
 public:
  // `index` 0: the kernel chooses. The device is down.
  static absl::StatusOr<TunDevice> Open(const std::string& name, LinkType type, uint32_t index = 0);
  // The kernel has run every hook that the packet reaches when this returns. False: the device refused it
  // (no IP version in the first byte, a frame shorter than its header).
  [[nodiscard]] bool Inject(ByteSpan packet) const;
  // What the kernel sent out through the device since the last call.
  [[nodiscard]] std::vector<std::vector<uint8_t>> Drain() const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] uint32_t index() const { return index_; }

 private:
  FileDescriptor fd_;
  std::string name_;
  uint32_t index_ = 0;
};

}  // namespace nftjit::testing

#endif  // NFTJIT_TESTS_SUPPORT_NETWORK_NAMESPACE_H_
