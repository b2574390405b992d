#include "lib/control/child.h"

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "lib/control/child_setup.h"
#include "lib/control/wire.h"

extern char** environ;

namespace nftjit::control {
namespace {

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() { Close(); }
  void Close() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  // Above the three standard descriptors, which the child overwrites.
  void Lift() {
    if (fd_ < 0 || fd_ > STDERR_FILENO) return;
    *this = Descriptor(fcntl(fd_, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct Ends {
  Descriptor ours, childs;
};

absl::Status SystemError(std::string_view what) {
  return absl::InternalError(absl::StrFormat("%s: %s", what, strerror(errno)));
}

absl::StatusOr<Ends> OpenPipe() {
  int fds[2];
  if (pipe2(fds, O_CLOEXEC) != 0) return SystemError("pipe");
  Ends ends{Descriptor(fds[0]), Descriptor(fds[1])};
  ends.ours.Lift();
  ends.childs.Lift();
  fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return ends;
}

absl::StatusOr<Ends> OpenDoor() {
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0) return SystemError("socketpair");
  Ends ends{Descriptor(fds[0]), Descriptor(fds[1])};
  ends.ours.Lift();
  ends.childs.Lift();
  fcntl(ends.ours.get(), F_SETFL, O_NONBLOCK);
  return ends;
}

// A file in memory that reads as `text`, or /dev/null. A client may open /dev/stdin anew.
absl::StatusOr<Descriptor> OpenInput(const std::optional<std::string>& text) {
  if (!text.has_value()) {
    Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null.open()) return SystemError("/dev/null");
    null.Lift();
    return null;
  }
  Descriptor file(memfd_create("nftjit-input", MFD_CLOEXEC));
  if (!file.open()) return SystemError("memfd_create");
  file.Lift();
  for (size_t written = 0; written < text->size();) {
    const ssize_t n = write(file.get(), text->data() + written, text->size() - written);
    if (n < 0) return SystemError("writing the client's input");
    written += static_cast<size_t>(n);
  }
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

// Reads what is there. Closes the descriptor at its end.
void Drain(Descriptor& from, std::string& into) {
  char buffer[65536];
  while (from.open()) {
    const ssize_t n = read(from.get(), buffer, sizeof buffer);
    if (n > 0) {
      into.append(buffer, static_cast<size_t>(n));
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
      from.Close();
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

// One process that came in at the door.
class Peer {
 public:
  Peer(Descriptor socket, ClientHandler& handler) : socket_(std::move(socket)), connection_(handler) {}

  [[nodiscard]] pollfd Wanted() const {
    return {socket_.get(), static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  }
  void Serve() {
    std::string received;
    Drain(socket_, received);
    connection_.Feed({reinterpret_cast<const uint8_t*>(received.data()), received.size()}, unsent_);
    size_t sent = 0;
    while (socket_.open() && sent < unsent_.size()) {
      const ssize_t n = send(socket_.get(), unsent_.data() + sent, unsent_.size() - sent, MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        if (errno != EAGAIN) socket_.Close();
        break;
      }
      sent += static_cast<size_t>(n);
    }
    unsent_.erase(0, sent);
  }
  [[nodiscard]] bool open() const { return socket_.open(); }
  [[nodiscard]] bool greeted() const { return connection_.greeted(); }

 private:
  Descriptor socket_;
  Connection connection_;
  std::string unsent_;
};

// The socket that a process handed in; closed if there is none to take.
Descriptor TakeSocket(int door) {
  char byte;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(door, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0) return Descriptor();
  const cmsghdr* rights = CMSG_FIRSTHDR(&message);
  if (rights == nullptr || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof(int))) {
    return Descriptor();
  }
  int fd;
  memcpy(&fd, CMSG_DATA(rights), sizeof fd);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return Descriptor(fd);
}

// The parent's side of a running child.
class Supervisor {
 public:
  Supervisor(pid_t pid, Descriptor door, Descriptor out, Descriptor err, ClientHandler& handler)
      : pid_(pid),
        end_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))),
        door_(std::move(door)),
        out_(std::move(out)),
        err_(std::move(err)),
        handler_(handler) {}

  ChildOutcome Run(std::chrono::milliseconds timeout) {
    const Clock::time_point start = Clock::now();
    while (!Reap(WNOHANG)) {
      const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
      if (timeout.count() != 0 && passed >= timeout) {
        kill(pid_, SIGKILL);
        Reap(0);
        outcome_.end = ChildOutcome::End::kTimedOut;
        break;
      }
      Serve();
    }
    // What the child wrote is in the pipes; somebody who inherited them is not waited for.
    Drain(out_, outcome_.output);
    Drain(err_, outcome_.errors);
    return std::move(outcome_);
  }

 private:
  bool Reap(int flags) {
    int status = 0;
    pid_t ended;
    do {
      ended = waitpid(pid_, &status, flags);
    } while (ended < 0 && errno == EINTR);
    if (ended == 0) return false;
    if (ended < 0) {
      outcome_.end = ChildOutcome::End::kLost;
    } else if (WIFSIGNALED(status)) {
      outcome_.end = ChildOutcome::End::kSignalled;
      outcome_.code = WTERMSIG(status);
    } else {
      outcome_.end = ChildOutcome::End::kExited;
      outcome_.code = WEXITSTATUS(status);
    }
    return true;
  }

  void Serve() {
    // The child's end wakes us, where the kernel can tell it.
    const int wait_ms = end_.open() ? 50 : 2;
    std::vector<pollfd> fds = {
        {door_.get(), POLLIN, 0}, {out_.get(), POLLIN, 0}, {err_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
    for (const std::unique_ptr<Peer>& peer : peers_) fds.push_back(peer->Wanted());
    if (poll(fds.data(), fds.size(), wait_ms) <= 0) return;
    Drain(out_, outcome_.output);
    Drain(err_, outcome_.errors);
    for (const std::unique_ptr<Peer>& peer : peers_) {
      peer->Serve();
      outcome_.greeted = outcome_.greeted || peer->greeted();
    }
    std::erase_if(peers_, [](const std::unique_ptr<Peer>& peer) { return !peer->open(); });
    if (fds[0].revents == 0) return;
    Descriptor socket = TakeSocket(door_.get());
    if (socket.open()) {
      peers_.push_back(std::make_unique<Peer>(std::move(socket), handler_));
    } else if ((fds[0].revents & POLLHUP) != 0) {
      door_.Close();
    }
  }

  const pid_t pid_;
  Descriptor end_;  // Readable when the child has ended.
  Descriptor door_, out_, err_;
  ClientHandler& handler_;
  std::vector<std::unique_ptr<Peer>> peers_;
  ChildOutcome outcome_;
};

// The caller's environment with the shim's variables; the strings live as long as the object.
class ChildEnvironment {
 public:
  ChildEnvironment(const std::string& preload, int socket) {
    std::string libraries = preload;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const std::string_view text = *variable;
      if (text.starts_with("LD_PRELOAD=")) {
        libraries += ":" + std::string(text.substr(strlen("LD_PRELOAD=")));
      } else if (!text.starts_with(NFTJIT_FD_VARIABLE "=")) {
        strings_.emplace_back(text);
      }
    }
    strings_.push_back("LD_PRELOAD=" + libraries);
    strings_.push_back(absl::StrFormat("%s=%d", NFTJIT_FD_VARIABLE, socket));
  }
  std::vector<char*> Pointers() { return PointersTo(strings_); }

  static std::vector<char*> PointersTo(std::vector<std::string>& strings) {
    std::vector<char*> pointers;
    for (std::string& text : strings) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }

 private:
  std::vector<std::string> strings_;
};

}  // namespace

std::string DescribeEnd(const ChildOutcome& outcome, const ChildCommand& command) {
  switch (outcome.end) {
    case ChildOutcome::End::kExited:
      return absl::StrFormat("exited with status %d", outcome.code);
    case ChildOutcome::End::kSignalled:
      return absl::StrFormat("was killed by signal %d (%s)", outcome.code, strsignal(outcome.code));
    case ChildOutcome::End::kTimedOut:
      return absl::StrFormat("did not end within %g s", std::chrono::duration<double>(command.timeout).count());
    case ChildOutcome::End::kLost:
      return "ended, but its status is lost: this process ignores SIGCHLD or reaps all children";
  }
  return "ended";
}

absl::StatusOr<ChildOutcome> RunChild(const ChildCommand& command, ClientHandler& handler) {
  absl::StatusOr<Ends> door = OpenDoor();
  absl::StatusOr<Ends> exec_error = OpenPipe();
  absl::StatusOr<Ends> out = command.callers_streams ? Ends() : OpenPipe();
  absl::StatusOr<Ends> err = command.callers_streams ? Ends() : OpenPipe();
  absl::StatusOr<Descriptor> input = command.callers_streams ? Descriptor() : OpenInput(command.input);
  for (const absl::Status& status : {door.status(), out.status(), err.status(), exec_error.status(), input.status()}) {
    if (!status.ok()) return status;
  }

  // LD_PRELOAD splits at spaces and colons: such a path goes in as a descriptor.
  Descriptor shim;
  std::string preload = command.shim;
  if (preload.find_first_of(" :") != std::string::npos) {
    shim = Descriptor(open(command.shim.c_str(), O_RDONLY | O_CLOEXEC));
    if (!shim.open()) return SystemError(command.shim);
    shim.Lift();
    preload = absl::StrFormat("/proc/self/fd/%d", shim.get());
  }
  ChildEnvironment environment(preload, door->childs.get());
  std::vector<char*> environment_pointers = environment.Pointers();
  std::vector<std::string> arguments = command.arguments;
  std::vector<char*> argument_pointers = ChildEnvironment::PointersTo(arguments);
  const ChildSetup setup{.program = command.program.c_str(),
                         .arguments = argument_pointers.data(),
                         .environment = environment_pointers.data(),
                         .input = command.callers_streams ? STDIN_FILENO : input->get(),
                         .output = command.callers_streams ? STDOUT_FILENO : out->childs.get(),
                         .errors = command.callers_streams ? STDERR_FILENO : err->childs.get(),
                         .door = door->childs.get(),
                         .shim = shim.get(),
                         .exec_error = exec_error->childs.get(),
                         .parent = getpid()};
  const pid_t pid = fork();
  if (pid < 0) return SystemError("fork");
  if (pid == 0) BecomeChild(setup);
  door->childs.Close();
  out->childs.Close();
  err->childs.Close();
  exec_error->childs.Close();

  // Ends at exec, or carries the error number.
  fcntl(exec_error->ours.get(), F_SETFL, 0);
  int failure = 0;
  ssize_t got;
  do {
    got = read(exec_error->ours.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof failure) {
    waitpid(pid, nullptr, 0);
    return absl::NotFoundError(absl::StrFormat("%s: cannot be run: %s", command.program, strerror(failure)));
  }
  return Supervisor(pid, std::move(door->ours), std::move(out->ours), std::move(err->ours), handler)
      .Run(command.timeout);
}

}  // namespace nftjit::control
