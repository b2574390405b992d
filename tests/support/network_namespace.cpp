#include "tests/support/network_namespace.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "tests/support/netlink_socket.h"

namespace nftjit::testing {
namespace {

absl::Status SystemError(std::string_view what) {
  return absl::UnavailableError(absl::StrCat(absl::string_view(what.data(), what.size()), ": ", std::strerror(errno)));
}

// Reads everything from `fd` while writing `input` would deadlock on big outputs, so the input goes through a file.
FileDescriptor InputFile(std::string_view input) {
  FileDescriptor file(open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid()) return file;
  if (write(file.get(), input.data(), input.size()) != static_cast<ssize_t>(input.size())) return {};
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Going on in the wrong namespace would send packets of later tests where they do not belong.
void GoTo(const FileDescriptor& ns) {
  if (setns(ns.get(), CLONE_NEWNET) != 0) std::abort();
}

absl::Status Probe() {
  absl::StatusOr<std::unique_ptr<NetworkNamespace>> ns = NetworkNamespace::Create();
  if (!ns.ok()) return ns.status();
  return (*ns)->Inside([]() -> absl::Status {
    absl::StatusOr<TunDevice> tun = TunDevice::Open("probe0", LinkType::kTun);
    if (!tun.ok()) return tun.status();
    absl::StatusOr<NetlinkSocket> socket = NetlinkSocket::Open();
    if (!socket.ok()) return socket.status();
    Batch batch;
    batch.BeginMessage(netlink::kNewTable, kCreate, nft::Family::kInet).String(netlink::kTableName, "probe");
    batch.EndMessage();
    if (absl::Status status = socket->Apply(batch); !status.ok()) {
      return absl::UnavailableError(absl::StrCat("no nf_tables in this kernel: ", status.message()));
    }
    return absl::OkStatus();
  });
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) close(fd_);
    fd_ = other.fd_;
    other.fd_ = -1;
  }
  return *this;
}
FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) close(fd_);
}

absl::Status NetworkNamespace::Available() {
  static const absl::Status status = Probe();
  return status;
}

absl::StatusOr<std::unique_ptr<NetworkNamespace>> NetworkNamespace::Create() {
  FileDescriptor home(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!home.valid()) return SystemError("/proc/thread-self/ns/net");
  if (unshare(CLONE_NEWNET) != 0) return SystemError("unshare of the network namespace");
  FileDescriptor own(open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  GoTo(home);
  if (!own.valid()) return SystemError("/proc/thread-self/ns/net");
  std::unique_ptr<NetworkNamespace> ns(new NetworkNamespace(std::move(home), std::move(own)));
  constexpr std::array<std::array<std::string_view, 2>, 16> kSettings = {{
      {"ipv6/conf/all/accept_dad", "0"},
      {"ipv6/conf/default/accept_dad", "0"},
      {"ipv6/conf/default/addr_gen_mode", "1"},
      {"ipv6/conf/all/router_solicitations", "0"},
      {"ipv6/conf/default/router_solicitations", "0"},
      {"ipv6/conf/all/forwarding", "1"},
      {"ipv6/conf/all/accept_source_route", "1"},
      {"ipv6/conf/default/accept_source_route", "1"},
      {"ipv4/ip_forward", "1"},
      {"ipv4/conf/all/rp_filter", "0"},
      {"ipv4/conf/default/rp_filter", "0"},
      {"ipv4/conf/default/accept_local", "1"},
      {"ipv4/conf/all/accept_source_route", "1"},
      {"ipv4/conf/default/accept_source_route", "1"},
      {"ipv4/conf/all/send_redirects", "0"},
      {"ipv4/conf/default/send_redirects", "0"},
  }};
  for (const auto& [path, value] : kSettings) {
    if (absl::Status status = ns->Sysctl(path, value); !status.ok()) return status;
  }
  if (absl::Status status = ns->Ip("link set lo up\n"); !status.ok()) return status;
  return ns;
}

absl::Status NetworkNamespace::Inside(absl::FunctionRef<absl::Status()> work) const {
  GoTo(own_);
  absl::Status status = work();
  GoTo(entered_ ? own_ : home_);
  return status;
}

absl::StatusOr<std::unique_ptr<NetworkNamespace>> NetworkNamespace::Enter() {
  absl::StatusOr<std::unique_ptr<NetworkNamespace>> ns = Create();
  if (!ns.ok()) return ns;
  GoTo((*ns)->own_);
  (*ns)->entered_ = true;
  return ns;
}

NetworkNamespace::~NetworkNamespace() {
  if (entered_) GoTo(home_);
}

absl::Status NetworkNamespace::Ip(std::string_view commands) const {
  return Inside([&] { return RunProgram({"ip", "-batch", "-"}, commands); });
}

absl::Status NetworkNamespace::Sysctl(std::string_view path, std::string_view value) const {
  return Inside([&]() -> absl::Status {
    const std::string file = std::string("/proc/sys/net/").append(path);
    const FileDescriptor fd(open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.valid()) return errno == ENOENT ? absl::OkStatus() : SystemError(file);
    if (write(fd.get(), value.data(), value.size()) < 0) return SystemError(file);
    return absl::OkStatus();
  });
}

absl::Status RunProgram(const std::vector<std::string>& arguments, std::string_view input, std::string* output) {
  const FileDescriptor in = InputFile(input);
  std::array<int, 2> pipe_fds{};
  if (!in.valid() || pipe2(pipe_fds.data(), O_CLOEXEC) != 0) return SystemError("input and output of " + arguments[0]);
  FileDescriptor read_end(pipe_fds[0]);
  FileDescriptor write_end(pipe_fds[1]);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const std::string beside = "/usr/sbin/" + arguments[0];
  const pid_t child = fork();
  if (child < 0) return SystemError("fork");
  if (child == 0) {
    dup2(in.get(), 0);
    dup2(write_end.get(), 1);
    dup2(write_end.get(), 2);
    execvp(argv[0], argv.data());
    execv(beside.c_str(), argv.data());
    _exit(127);
  }
  write_end = FileDescriptor();
  std::string printed;
  std::array<char, 4096> buffer{};
  for (ssize_t got; (got = read(read_end.get(), buffer.data(), buffer.size())) > 0;) printed.append(buffer.data(), got);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (output != nullptr) *output = printed;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    return absl::UnavailableError(absl::StrCat("program ", arguments[0], " was not found"));
  }
  return absl::InternalError(absl::StrCat(arguments[0], " failed: ", printed));
}

absl::StatusOr<TunDevice> TunDevice::Open(const std::string& name, LinkType type, uint32_t index) {
  TunDevice device;
  device.fd_ = FileDescriptor(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!device.fd_.valid()) return SystemError("/dev/net/tun");
  const int fd = device.fd_.get();
  if (index != 0 && ioctl(fd, TUNSETIFINDEX, &index) != 0) return SystemError("TUNSETIFINDEX");
  ifreq request{};
  if (name.size() >= sizeof request.ifr_name) return absl::InvalidArgumentError("interface name too long: " + name);
  std::memcpy(request.ifr_name, name.data(), name.size());
  request.ifr_flags = static_cast<short>((type == LinkType::kTap ? IFF_TAP : IFF_TUN) | IFF_NO_PI);
  if (ioctl(fd, TUNSETIFF, &request) != 0) return SystemError("TUNSETIFF " + name);
  device.name_ = name;
  device.index_ = if_nametoindex(name.c_str());
  return device;
}

bool TunDevice::Inject(ByteSpan packet) const { return write(fd_.get(), packet.data(), packet.size()) >= 0; }

std::vector<std::vector<uint8_t>> TunDevice::Drain() const {
  std::vector<std::vector<uint8_t>> packets;
  std::vector<uint8_t> buffer(70000);
  for (ssize_t got; (got = read(fd_.get(), buffer.data(), buffer.size())) >= 0;) {
    packets.emplace_back(buffer.begin(), buffer.begin() + got);
  }
  return packets;
}

}  // namespace nftjit::testing
