#include "lib/control/child_setup.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iterator>

namespace nftjit::control {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
constexpr unsigned kX32Bit = 0x40000000;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
constexpr unsigned kX32Bit = 0;
#else
constexpr unsigned kArchitecture = 0;
constexpr unsigned kX32Bit = 0;
#endif

// Of socket()'s type; the rest are flags.
constexpr unsigned kSocketTypeMask = 0xf;

void KeepOpen(int fd) {
  if (fd >= 0) fcntl(fd, F_SETFD, 0);
}

}  // namespace

bool RefuseKernelSockets() {
  if (kArchitecture == 0) return false;
  // Without new privileges a setuid or setcap client runs as an ordinary one and heeds the preload.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket | kX32Bit, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[0])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 5, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kSocketTypeMask),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_RAW, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{};
  program.len = static_cast<unsigned short>(std::size(filter));
  program.filter = filter;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void BecomeChild(const ChildSetup& setup) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != setup.parent) _exit(127);  // It ended before the line above.

  dup2(setup.input, STDIN_FILENO);
  dup2(setup.output, STDOUT_FILENO);
  dup2(setup.errors, STDERR_FILENO);
#if defined(SYS_close_range)
  // The caller's other descriptors are none of the client's business. (4: CLOSE_RANGE_CLOEXEC.)
  syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, 4U);
#endif
  KeepOpen(setup.door);
  KeepOpen(setup.shim);

  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  struct sigaction ordinary {};
  ordinary.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &ordinary, nullptr);

  // Where there is no seccomp, the shim alone keeps the client from the kernel.
  (void)RefuseKernelSockets();
  execve(setup.program, setup.arguments, setup.environment);
  const int failure = errno;
  (void)!write(setup.exec_error, &failure, sizeof failure);
  _exit(127);
}

}  // namespace nftjit::control
